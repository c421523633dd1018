//! What a trace shows: which variables, under which names.

use crate::{failure::Failure, problem, source::Source, table::spellings};
use sim_compiler::{
    ir::{Len, Program, Value, VarId, VarKind},
    manifest::{Field, Manifest, RealType},
};
use sim_runtime::Trace;
use std::collections::HashMap;

/// More values of one name are shown only where it is asked for.
pub(super) const WIDE: u32 = 8;

/// A variable, and its column or columns.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    var: VarId,
    /// Of a state that is integrated: what is added to it.
    low: Option<VarId>,
    /// Its name in the table, its type and shape.
    pub(super) field: Field,
    /// Whether it has a value in each step.
    is_state: bool,
    /// The only one of its values that is shown.
    pick: Option<usize>,
}

/// Values of a variable in a step: its words, and how often it was given any; none where it was not.
pub(super) type Cells = Option<(Vec<u32>, u32)>;

impl Shown {
    /// The names of its columns.
    pub(super) fn names(&self) -> Vec<String> {
        let all = spellings(&self.field, 0);
        match self.pick {
            Some(at) => vec![all[at].clone()],
            None => all,
        }
    }

    /// Its values now.
    pub(super) fn cells(&self, trace: &mut Trace<'_>) -> Cells {
        let mut values = Vec::new();
        let mut times = 0;
        trace.values(self.var, &mut |count, all| {
            times = count;
            values.extend_from_slice(all);
        });
        if let Some(low) = self.low {
            trace.values(low, &mut |_, lows| {
                for (value, low) in values.iter_mut().zip(lows) {
                    *value = sum(*value, *low);
                }
            });
        }
        let mut words: Vec<u32> = values.iter().flat_map(Value::words).collect();
        if let Some(at) = self.pick {
            words = vec![words[at]];
        }
        match self.is_state {
            true => Some((words, 1)),
            false => (times > 0).then_some((words, times)),
        }
    }

    /// What of it `name` means: all, an element or a component, or nothing.
    fn of_name(&self, name: &str) -> Option<Shown> {
        let own = &self.field.name;
        // Names that occur twice have their line behind them.
        let plain = own.split(':').next().unwrap_or(own);
        let inside = |own: &str| {
            let rest = own.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if inside(own) || inside(plain) {
            return Some(self.clone());
        }
        let at = spellings(&self.field, 0)
            .iter()
            .position(|spelled| spelled == name)?;
        Some(Shown {
            pick: Some(at),
            ..self.clone()
        })
    }
}

/// As the program adds them.
fn sum(a: Value, b: Value) -> Value {
    let parts: Vec<f32> = a
        .floats()
        .iter()
        .zip(b.floats())
        .map(|(a, b)| a + b)
        .collect();
    Value::from_floats(&parts)
}

/// The columns of a trace, and the names that are too wide for it, with their numbers of values.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) shown: Vec<Shown>,
    pub(super) wide: Vec<(String, u32)>,
}

/// The columns that are asked for: all states, and all other names if `lets` says so; or those of `wanted`.
///
/// # Errors
/// If one of `wanted` is not there.
pub(super) fn columns(
    source: &Source,
    program: &Program,
    manifest: &Manifest,
    lets: bool,
    wanted: &[String],
) -> Result<Columns, Failure> {
    let states = states(program, manifest);
    let locals = locals(source, program, &states);
    if wanted.is_empty() {
        let all = states
            .into_iter()
            .chain(locals.into_iter().filter(|_| lets));
        let (shown, wide): (Vec<Shown>, Vec<Shown>) = all.partition(|it| it.field.values() <= WIDE);
        let wide = wide
            .into_iter()
            .map(|it| (it.field.name.clone(), it.field.values()));
        return Ok(Columns {
            shown,
            wide: wide.collect(),
        });
    }
    let all: Vec<Shown> = states.into_iter().chain(locals).collect();
    let mut shown = Vec::new();
    for name in wanted {
        let before = shown.len();
        shown.extend(all.iter().filter_map(|it| it.of_name(name)));
        if shown.len() == before {
            return Err(unknown(name, &all));
        }
    }
    Ok(Columns {
        shown,
        wide: Vec::new(),
    })
}

fn unknown(name: &str, all: &[Shown]) -> Failure {
    let names = all.iter().take(20).map(|it| format!("`{}`", it.field.name));
    let more = if all.len() > 20 { ", …" } else { "" };
    let names: Vec<String> = names.collect();
    problem::not_traced(name, &(names.join(", ") + more)).into()
}

fn states(program: &Program, manifest: &Manifest) -> Vec<Shown> {
    let world = manifest.world_rows();
    let lists = [
        (&manifest.states, &program.states),
        (&world.states, &program.world_states),
    ];
    let mut shown = Vec::new();
    for (fields, vars) in lists {
        for field in fields {
            let Some(&var) = vars.iter().find(|&&var| program[var].word == field.word) else {
                continue;
            };
            let hidden = |&&low: &&VarId| {
                let is_shown = fields.iter().any(|field| field.word == program[low].word);
                !is_shown && program[low].name == format!("{}_low", field.name)
            };
            shown.push(Shown {
                var,
                low: vars.iter().find(hidden).copied(),
                field: field.clone(),
                is_state: true,
                pick: None,
            });
        }
    }
    shown
}

/// `let`s, `var`s and indices of loops of the model, in the order of their declarations.
fn locals(source: &Source, program: &Program, states: &[Shown]) -> Vec<Shown> {
    let is_local = |var: VarId| {
        let it = &program[var];
        // What the compiler made of an expression has its place, but not its name.
        let declared = source.text.get(it.span.range()).is_some_and(|text| {
            let name = it.name.split('.').next().unwrap_or_default();
            !name.is_empty() && text.contains(name)
        });
        declared && matches!(it.kind, VarKind::Let | VarKind::Local | VarKind::Index)
    };
    let vars = (0..program.vars.len() as u32).map(VarId);
    let mut vars: Vec<VarId> = vars.filter(|&var| is_local(var)).collect();
    vars.sort_by_key(|&var| program[var].span.start);
    let mut uses: HashMap<&str, u32> = HashMap::new();
    for name in states.iter().map(|it| it.field.name.as_str()) {
        *uses.entry(name).or_default() += 1;
    }
    for &var in &vars {
        *uses.entry(&program[var].name).or_default() += 1;
    }
    let mut copies: HashMap<String, u32> = HashMap::new();
    let lines = Lines::of(&source.text);
    let shown = vars.iter().map(|&var| {
        let it = &program[var];
        let mut name = it.name.clone();
        if uses[it.name.as_str()] > 1 {
            name = format!("{name}:{}", lines.number(it.span.start));
            let copy = copies.entry(name.clone()).or_default();
            *copy += 1;
            // A function that is written out where it is called has its names once for each call.
            if *copy > 1 {
                name = format!("{name}#{copy}");
            }
        }
        let shape = match it.len {
            Len::Fixed(count) => vec![count],
            Len::One | Len::Open { .. } => Vec::new(),
        };
        Shown {
            var,
            low: None,
            field: Field {
                name,
                doc: String::new(),
                scalar: it.ty.stored(RealType::F32),
                shape,
                components: it.ty.components() as u32,
                variants: Vec::new(),
                word: 0,
            },
            is_state: false,
            pick: None,
        }
    });
    shown.collect()
}

/// Where lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Lines(breaks.map(|(at, _)| at).collect())
    }

    fn number(&self, place: u32) -> usize {
        1 + self.0.partition_point(|&end| end < place as usize)
    }
}
