//! Binding: checks every param, table and input from the caller against the manifest and lays it out in
//! words, as backends need it.

mod draws;
mod interpreter;
mod share;
mod worlds;

pub(crate) use interpreter::{with_interpreter, with_interpreter_of};

use crate::{
    array::{Array, doubles_of},
    error::{Error, Role},
    field::{describe, unknown_of},
    memory::{Need, zeroed},
    parallel::*,
    variation::Variation,
};
use sim_compiler::{
    artifact::Artifact,
    ir::{Owner, Program},
    manifest::{
        Counter, Field, Input, MOST_AGENTS, MOST_STEPS, Manifest, Param, Scalar, Source, header,
    },
};
use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

/// What the caller has set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) agents: Option<u32>,
    pub(crate) first_agent: u32,
    pub(crate) population: Option<u32>,
    pub(crate) steps: Option<u32>,
    pub(crate) world: Option<u32>,
    pub(crate) seed: u64,
    pub(crate) params: BTreeMap<String, Array>,
    pub(crate) data: BTreeMap<String, Array>,
    pub(crate) inputs: BTreeMap<String, Array>,
}

/// Everything that a backend needs beside the artifact.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    /// The number of agents of this run.
    pub(crate) agents: u32,
    /// The number of the first of them in the population.
    pub(crate) first_agent: u32,
    /// The value of `agents` in the model.
    pub(crate) population: u32,
    /// The number of steps.
    pub(crate) steps: u32,
    /// The number of agents in a world, or in a unit: see [`Manifest::members`].
    pub(crate) members: u32,
    /// The seed of every draw.
    pub(crate) seed: u64,
    /// The uniform block; the header's words that differ by dispatch are 0.
    pub(crate) uniform: Vec<u32>,
    /// The tables' words, in the manifest's order.
    pub(crate) data: Vec<Arc<[u32]>>,
    /// One padded row per agent; empty if no input is given.
    pub(crate) inputs: Arc<Vec<u32>>,
    /// One padded row per world.
    pub(crate) world_inputs: Arc<Vec<u32>>,
    /// By word of a row: whether the caller gave it.
    pub(crate) given: Vec<bool>,
    /// Indices into the program's `input_defaults`: the inputs that the model computes.
    pub(crate) absent: Vec<usize>,
    /// Whether any of them is drawn.
    pub(crate) draws_inputs: bool,
}

impl Launch {
    /// The number of worlds of this run, or of units, of which the last may have fewer agents.
    pub(crate) fn worlds(&self) -> u32 {
        self.agents.div_ceil(self.members)
    }

    /// The launch with another seed.
    pub(crate) fn with_seed(&self, seed: u64) -> Launch {
        let mut launch = self.clone();
        launch.set_seed(seed);
        launch
    }

    fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
        self.uniform[header::SEED as usize] = seed as u32;
        self.uniform[header::SEED as usize + 1] = (seed >> 32) as u32;
    }

    /// Writes the words from the caller over rows that the model computed. The model computes whole structs,
    /// of which only some fields may be absent.
    pub(crate) fn overwrite_given(&self, rows: &mut [u32]) {
        let stride = self.given.len().max(1);
        for (row, given) in rows.chunks_mut(stride).zip(self.inputs.chunks(stride)) {
            for ((word, &value), &is_given) in row.iter_mut().zip(given).zip(&self.given) {
                if is_given {
                    *word = value;
                }
            }
        }
    }

    /// The launch with rows of all inputs.
    pub(crate) fn with_inputs(&self, rows: Vec<u32>) -> Launch {
        Launch {
            inputs: Arc::new(rows),
            absent: Vec::new(),
            given: vec![true; self.given.len()],
            ..self.clone()
        }
    }

    /// The words of the program's tables, which can be fewer than the manifest's: a pass may remove the last
    /// use of a table.
    pub(crate) fn tables(&self, program: &Program, artifact: &Artifact) -> Vec<&[u32]> {
        (program.data.iter())
            .map(|&table| {
                let binding = program[table].word;
                let tables = &artifact.manifest.data;
                let place = tables.iter().position(|data| data.binding == binding);
                place.map_or(&[][..], |place| &self.data[place][..])
            })
            .collect()
    }
}

/// Checks the settings and lays them out.
pub(crate) fn bind(artifact: &Artifact, settings: &Settings) -> Result<Launch, Error> {
    let manifest = &artifact.manifest;
    let mut launch = counts(manifest, settings)?;
    all_given(manifest, settings, &launch)?;
    launch.uniform = vec![0; manifest.uniform_words as usize];
    launch.set_seed(launch.seed);
    let uniform = &mut launch.uniform;
    uniform[header::POPULATION as usize] = launch.population;
    uniform[header::STEPS as usize] = launch.steps;
    uniform[header::GUARD as usize] = 2;
    for param in &manifest.params {
        put_param(uniform, param, settings.params.get(&param.field.name))?;
    }
    for table in &manifest.data {
        let field = &table.field;
        let array = settings.data.get(&field.name);
        let array = array.expect("`all_given` has refused launches without it");
        let rows = array.fit(Role::Data, field, &field.dims())?;
        launch.data.push(array.words_for(Role::Data, field)?);
        if let Some(word) = table.rows_word {
            uniform[word as usize] = rows;
        }
    }
    check_requirements(manifest, &launch)?;
    worlds::fill_inputs(artifact, settings, &mut launch)?;
    fill_inputs(artifact, settings, &mut launch)?;
    draws::check(artifact, &launch)?;
    Ok(launch)
}

/// The launch of a run that varies `base`, which was bound with `settings`.
pub(crate) fn vary(
    artifact: &Artifact,
    settings: &Settings,
    base: &Launch,
    variation: &Variation,
) -> Result<Launch, Error> {
    let manifest = &artifact.manifest;
    let mut launch = base.clone();
    if let Some(seed) = variation.seed {
        launch.set_seed(seed);
    }
    for (name, value) in &variation.params {
        let param = find_param(manifest, name)?;
        put_param(&mut launch.uniform, param, Some(value))?;
    }
    let mut settings = Cow::Borrowed(settings);
    if !variation.inputs.is_empty() {
        for (name, values) in &variation.inputs {
            let fields = all_inputs(manifest).map(|input| &input.field);
            if !fields.clone().any(|field| field.name == *name) {
                let names = fields.map(|field| field.name.as_str());
                return Err(unknown_of(manifest, Role::Input, name, names));
            }
            settings
                .to_mut()
                .inputs
                .insert(name.clone(), values.clone());
        }
        launch.given.fill(false);
        fill_inputs(artifact, &settings, &mut launch)?;
    }
    worlds::fill_inputs(artifact, &settings, &mut launch)?;
    draws::check(artifact, &launch)?;
    Ok(launch)
}

/// The inputs of agents and of worlds.
pub(crate) fn all_inputs(manifest: &Manifest) -> impl Iterator<Item = &Input> + Clone {
    manifest.inputs.iter().chain(&manifest.world_rows().inputs)
}

/// Finds a param by name.
pub(crate) fn find_param<'a>(manifest: &'a Manifest, name: &str) -> Result<&'a Param, Error> {
    let params = &manifest.params;
    let found = params.iter().find(|param| param.field.name == name);
    let names = || params.iter().map(|param| param.field.name.as_str());
    found.ok_or_else(|| unknown_of(manifest, Role::Param, name, names()))
}

/// Writes the words of a param to the uniform block.
fn put_param(uniform: &mut [u32], param: &Param, given: Option<&Array>) -> Result<(), Error> {
    let words = param_words(param, given)?;
    let first = param.field.word as usize;
    uniform[first..first + words.len()].copy_from_slice(&words);
    Ok(())
}

/// The numbers of a launch.
pub(crate) fn counts(manifest: &Manifest, settings: &Settings) -> Result<Launch, Error> {
    let agents = settings.agents.or(manifest.agents);
    let agents = agents.ok_or(Error::MissingCount { what: "agents" })?;
    in_range("agents", agents.into(), 1, MOST_AGENTS.into())?;
    // A model without `step` needs no number of steps.
    let none = (!manifest.has_step).then_some(0);
    let steps = settings.steps.or(manifest.steps).or(none);
    let steps = steps.ok_or(Error::MissingCount { what: "steps" })?;
    in_range("steps", steps.into(), 0, MOST_STEPS.into())?;
    let end = u64::from(settings.first_agent) + u64::from(agents);
    let population = settings.population.map_or(end, u64::from);
    in_range("population", population, end, MOST_AGENTS.into())?;
    let launch = Launch {
        agents,
        first_agent: settings.first_agent,
        population: population as u32,
        steps,
        members: worlds::members(manifest, settings)?,
        seed: settings.seed,
        uniform: Vec::new(),
        data: Vec::new(),
        inputs: Arc::default(),
        world_inputs: Arc::default(),
        given: vec![false; manifest.input_words as usize],
        absent: Vec::new(),
        draws_inputs: false,
    };
    worlds::check(manifest, &launch)?;
    Ok(launch)
}

fn in_range(what: &'static str, value: u64, least: u64, most: u64) -> Result<(), Error> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(Error::CountOutOfRange {
            what,
            value,
            least,
            most,
        })
    }
}

/// Checks that what has no default is there.
fn all_given(manifest: &Manifest, settings: &Settings, launch: &Launch) -> Result<(), Error> {
    let params = manifest.params.iter().filter(|param| {
        param.default.is_none() && !settings.params.contains_key(&param.field.name)
    });
    let params = params.map(|param| (Role::Param, &param.field, param.field.dims()));
    let tables = manifest.data.iter().map(|table| &table.field);
    let tables = tables
        .filter(|field| !settings.data.contains_key(&field.name))
        .map(|field| (Role::Data, field, field.dims()));
    let of_worlds = &manifest.world_rows().inputs;
    let inputs = (manifest.inputs.iter().map(|input| (input, launch.agents)))
        .chain(of_worlds.iter().map(|input| (input, launch.worlds())));
    let inputs = inputs
        .filter(|(input, _)| {
            input.source == Source::Required && !settings.inputs.contains_key(&input.field.name)
        })
        .map(|(input, rows)| (Role::Input, &input.field, input_dims(&input.field, rows)));
    let mut absent = params.chain(tables).chain(inputs);
    let Some((role, field, dims)) = absent.next() else {
        return Ok(());
    };
    Err(Error::Missing {
        role,
        name: field.name.clone(),
        needs: describe(field.scalar, &dims),
        others: absent
            .map(|(role, field, _)| (role, field.name.clone()))
            .collect(),
    })
}

/// Checks the value of a param and converts it to words.
pub(crate) fn param_words(param: &Param, given: Option<&Array>) -> Result<Arc<[u32]>, Error> {
    let field = &param.field;
    let words = match (given, &param.default) {
        (Some(array), _) => {
            array.fit(Role::Param, field, &field.dims())?;
            array.words_for(Role::Param, field)?
        }
        (None, Some(default)) => default.as_slice().into(),
        (None, None) => {
            return Err(Error::Missing {
                role: Role::Param,
                name: field.name.clone(),
                needs: describe(field.scalar, &field.dims()),
                others: Vec::new(),
            });
        }
    };
    for value in numbers(field.scalar, &words) {
        if value.is_nan() {
            return Err(Error::NotANumber {
                name: field.name.clone(),
            });
        }
        let Some([first, last]) = param.range else {
            continue;
        };
        // The bounds are rounded to the param's type: 0.01 as an f32 is less than 0.01.
        let end = |end: f64| match field.scalar {
            Scalar::F32 => f64::from(end as f32),
            Scalar::F64 | Scalar::I32 | Scalar::U32 | Scalar::Bool => end,
        };
        if !(end(first)..=end(last)).contains(&value) {
            return Err(Error::OutOfRange {
                name: field.name.clone(),
                value,
                first,
                last,
            });
        }
    }
    Ok(words)
}

/// The numbers in words.
pub(crate) fn numbers(scalar: Scalar, words: &[u32]) -> Vec<f64> {
    let each = |number: fn(u32) -> f64| words.iter().map(|&word| number(word)).collect();
    match scalar {
        Scalar::F32 => each(|word| f32::from_bits(word).into()),
        Scalar::F64 => doubles_of(words).collect(),
        Scalar::I32 => each(|word| (word as i32).into()),
        Scalar::U32 | Scalar::Bool => each(f64::from),
    }
}

/// Checks that tables indexed by the step or the agent are long enough.
fn check_requirements(manifest: &Manifest, launch: &Launch) -> Result<(), Error> {
    for requirement in &manifest.requirements {
        let table = (manifest.data.iter())
            .position(|table| table.field.name == requirement.data)
            .expect("the compiler names tables of the manifest");
        let field = &manifest.data[table].field;
        let rows = match field.shape.first() {
            Some(0) => launch.data[table].len() as u64 / u64::from(field.words().max(1)),
            Some(&rows) => rows.into(),
            None => 1,
        };
        let (first, count, what) = match requirement.counts {
            Counter::Constant => (0, 1, ""),
            Counter::Step => (0, launch.steps, "steps"),
            Counter::Agent => (launch.first_agent, launch.agents, "agents"),
        };
        if count == 0 {
            continue;
        }
        let lowest = i64::from(first).saturating_add(requirement.offset);
        let highest = lowest.saturating_add(i64::from(count) - 1);
        let index = if lowest < 0 { lowest } else { highest };
        if index < 0 || index as u64 >= rows {
            return Err(Error::TableTooShort {
                data: requirement.data.clone(),
                rows,
                index,
                why: match (requirement.counts, requirement.offset) {
                    (Counter::Constant, _) => "the index is a constant".to_owned(),
                    (Counter::Step | Counter::Agent, 0) => format!("the run has {count} {what}"),
                    (Counter::Step | Counter::Agent, offset) => {
                        format!("the run has {count} {what}, and the model adds {offset}")
                    }
                },
            });
        }
    }
    Ok(())
}

fn fill_inputs(artifact: &Artifact, settings: &Settings, launch: &mut Launch) -> Result<(), Error> {
    let manifest = &artifact.manifest;
    let row = manifest.input_words as usize;
    if row == 0 {
        return Ok(());
    }
    let given = |input: &Input| settings.inputs.get(&input.field.name);
    let absent: Vec<&Input> = manifest
        .inputs
        .iter()
        .filter(|input| given(input).is_none())
        .collect();
    launch.draws_inputs = (absent.iter()).any(|input| input.source == Source::Drawn);
    launch.absent = (artifact.program.input_defaults.iter().enumerate())
        .filter(|(_, default)| {
            default.owner == Owner::Agent
                && absent.iter().any(|input| default.is_of(&input.field.name))
        })
        .map(|(number, _)| number)
        .collect();
    if absent.len() == manifest.inputs.len() {
        return Ok(());
    }
    let mut need = Need::new(launch.agents);
    need.each("rows of inputs", row as u64);
    need.check()?;
    let mut all = Vec::new();
    for input in &manifest.inputs {
        if let Some(array) = given(input) {
            let given = Given::new(input, array, launch.agents)?;
            launch.given[given.first..given.first + given.width].fill(true);
            all.push(given);
        }
    }
    let mut rows = zeroed(launch.agents as usize * row)?;
    place_inputs(&all, &mut rows, row);
    launch.inputs = Arc::new(rows);
    Ok(())
}

/// The shape of an input of so many agents or worlds.
pub(crate) fn input_dims(field: &Field, rows: u32) -> Vec<u32> {
    let mut all = vec![rows];
    all.extend(field.dims());
    all
}

/// Rows of inputs of so many words are written by all threads.
const MANY_WORDS: usize = 1 << 16;
/// Rows that a thread writes at a time.
const BLOCK: usize = 512;

/// What the caller gave for an input, and where it belongs in a row.
pub(crate) struct Given {
    first: usize,
    width: usize,
    words: Arc<[u32]>,
    /// Whether all rows have the same words.
    is_same: bool,
}

impl Given {
    /// Checks an array for `count` rows.
    ///
    /// # Errors
    /// Those of its shape and its values.
    pub(crate) fn new(input: &Input, array: &Array, count: u32) -> Result<Given, Error> {
        let field = &input.field;
        let is_same = array.is_single() && field.values() == 1;
        if !is_same {
            array.fit(Role::Input, field, &input_dims(field, count))?;
        }
        Ok(Given {
            first: field.word as usize,
            width: field.words() as usize,
            words: array.words_for(Role::Input, field)?,
            is_same,
        })
    }

    /// Writes the words of some rows, of which this is the first.
    fn place(&self, first_row: usize, rows: &mut [u32], row: usize) {
        let to = self.first..self.first + self.width;
        let lines = rows.chunks_exact_mut(row);
        if self.is_same {
            return lines.for_each(|line| line[to.clone()].copy_from_slice(&self.words));
        }
        let words = self.words[first_row * self.width..].chunks_exact(self.width);
        for (line, words) in lines.zip(words) {
            line[to.clone()].copy_from_slice(words);
        }
    }
}

/// Writes what the caller gave to rows of `row` words.
pub(crate) fn place_inputs(given: &[Given], rows: &mut [u32], row: usize) {
    if rows.len() < MANY_WORDS {
        return given.iter().for_each(|it| it.place(0, rows, row));
    }
    let blocks = rows.par_chunks_mut(row * BLOCK).enumerate();
    blocks.for_each(|(block, rows)| {
        for it in given {
            it.place(block * BLOCK, rows, row);
        }
    });
}
