//! The layout of launch values, inputs, states and outputs, and the manifest that describes it.

use super::{
    Lowerer,
    place::{Leaf, LeafType, Place, leaf_name, leaves},
};
use crate::{
    hir::{InputSource, Type},
    ir::{Len, Owner, Var, VarId, VarKind},
    manifest::{self, Field, Manifest, SeriesOf, Source, header},
    span::Span,
    value::{RealType, VEC4_WORDS},
};

const WORKGROUP_SIZE: u32 = 64;

/// What a declaration says about itself.
pub(super) struct Declared<'a> {
    pub(super) name: &'a str,
    pub(super) doc: &'a str,
    pub(super) ty: &'a Type,
    pub(super) span: Span,
}

impl Lowerer<'_> {
    /// Variables for everything that comes in or goes out.
    pub(super) fn declare_roots(&mut self) {
        self.declare_params();
        self.declare_data();
        self.declare_inputs();
        self.declare_states();
        self.declare_outputs();
        self.declare_series();
    }

    fn declare_params(&mut self) {
        let (model, real) = (self.model, self.model.real);
        let open = model
            .data
            .iter()
            .flat_map(|data| leaves(model, &data.ty))
            .filter(|leaf| leaf.dims.first() == Some(&0));
        let mut word = header::END + open.count() as u32;
        for param in &model.params {
            if self.is_full() {
                return;
            }
            let declared = Declared {
                name: &param.name,
                doc: &param.doc,
                ty: &param.ty,
                span: param.span,
            };
            let place = self.root(&declared, VarKind::Param, &mut |leaf| {
                word = word.next_multiple_of(alignment(leaf, real));
                let at = word;
                word += words(leaf, real);
                // In the kernel an array is whole vec4s, and what follows begins after them.
                if !leaf.dims.is_empty() {
                    word = word.next_multiple_of(VEC4_WORDS);
                }
                at
            });
            self.params.push(place);
        }
    }

    fn declare_data(&mut self) {
        let mut binding = manifest::FIRST_DATA_BINDING;
        for data in &self.model.data {
            if self.is_full() {
                return;
            }
            let declared = Declared {
                name: &data.name,
                doc: &data.doc,
                ty: &data.ty,
                span: data.span,
            };
            let place = self.root(&declared, VarKind::Data, &mut |_| {
                binding += 1;
                binding - 1
            });
            self.data.push(place);
        }
    }

    fn declare_inputs(&mut self) {
        let (mut words, real) = ([0; 2], self.model.real);
        for input in &self.model.inputs {
            if self.is_full() {
                return;
            }
            let declared = Declared {
                name: &input.name,
                doc: &input.doc,
                ty: &input.ty,
                span: input.span,
            };
            let kind = match input.owner {
                Owner::Agent => VarKind::Input,
                Owner::World => VarKind::WorldInput,
            };
            let word = &mut words[input.owner as usize];
            let place = self.root(&declared, kind, &mut |leaf| take(word, leaf, real));
            self.inputs.push(place);
        }
    }

    fn declare_states(&mut self) {
        let (mut words, real) = ([0; 2], self.model.real);
        for state in &self.model.states {
            if self.is_full() {
                return;
            }
            let declared = Declared {
                name: &state.name,
                doc: &state.doc,
                ty: &state.ty,
                span: state.span,
            };
            let kind = match state.owner {
                Owner::Agent => VarKind::State,
                Owner::World => VarKind::WorldState,
            };
            let word = &mut words[state.owner as usize];
            let place = self.root(&declared, kind, &mut |leaf| take(word, leaf, real));
            self.states.push(place);
        }
        self.declare_low_parts(words[Owner::Agent as usize]);
    }

    fn declare_outputs(&mut self) {
        let (mut words, real) = ([0; 2], self.model.real);
        for output in &self.model.outputs {
            if self.is_full() {
                return;
            }
            let declared = Declared {
                name: &output.name,
                doc: &output.doc,
                ty: &output.ty,
                span: output.span,
            };
            let kind = match output.owner {
                Owner::Agent => VarKind::Output,
                Owner::World => VarKind::WorldOutput,
            };
            let word = &mut words[output.owner as usize];
            let place = self.root(&declared, kind, &mut |leaf| take(word, leaf, real));
            self.outputs.push(place);
        }
    }

    pub(super) fn root(
        &mut self,
        declared: &Declared<'_>,
        kind: VarKind,
        place: &mut dyn FnMut(&LeafType) -> u32,
    ) -> Place {
        self.span = declared.span;
        let mut places = Vec::new();
        for leaf in leaves(self.model, declared.ty) {
            let stride: u32 = leaf.dims.iter().filter(|dim| **dim != 0).product();
            let len = match leaf.dims.first() {
                None => Len::One,
                Some(0) => Len::Open { stride },
                Some(_) => Len::Fixed(stride),
            };
            let name = leaf_name(declared.name, &leaf.path);
            self.text += name.len() + declared.doc.len();
            let full = self.is_full();
            let var = self.program.add_var(Var {
                name,
                doc: if full { "" } else { declared.doc }.to_string(),
                ty: leaf.ty,
                len,
                kind,
                word: place(&leaf),
                span: declared.span,
            });
            let list = match kind {
                VarKind::Param => &mut self.program.params,
                VarKind::Data => &mut self.program.data,
                VarKind::Input => &mut self.program.inputs,
                VarKind::State => &mut self.program.states,
                VarKind::Output => &mut self.program.outputs,
                VarKind::WorldInput => &mut self.program.world_inputs,
                VarKind::WorldState => &mut self.program.world_states,
                VarKind::WorldOutput => &mut self.program.world_outputs,
                VarKind::Record => &mut self.program.samples[self.sampling].records,
                VarKind::WorldRecord => &mut self.program.samples[self.sampling].world_records,
                VarKind::Constant
                | VarKind::Let
                | VarKind::Local
                | VarKind::Index
                | VarKind::Argument => unreachable!("{kind:?} is no declaration of a model"),
            };
            list.push(var);
            places.push(Leaf::whole(var, leaf.dims));
        }
        Place {
            ty: declared.ty.clone(),
            leaves: places,
        }
    }

    pub(super) fn manifest(&self) -> Manifest {
        let model = self.model;
        let manifest::Rows {
            inputs,
            states,
            outputs,
            input_words,
            state_words,
            output_words,
        } = self.rows(Owner::Agent);
        let hidden = self.fields_of_checks();
        let steps = model.step.iter().any(|step| step.owner == Owner::World);
        let observes = model
            .series
            .iter()
            .any(|series| series.of == SeriesOf::Worlds);
        let has_worlds =
            model.world.is_some() || steps || observes || self.program.speaks_of_worlds();
        let world = has_worlds.then(|| manifest::World {
            members: model.world,
            binding: manifest::FIRST_DATA_BINDING + self.program.data.len() as u32,
            rows: self.rows(Owner::World),
        });
        let params = self.params_of_manifest();
        let end = params
            .iter()
            .map(|param| param.field.word + param.field.words())
            .max();
        let data = self.data_of_manifest();
        let open = data.iter().filter(|data| data.rows_word.is_some()).count() as u32;
        Manifest {
            version: manifest::VERSION,
            doc: model.doc.clone(),
            generator: String::new(),
            agents: model.agents,
            steps: model.steps,
            has_step: !model.step.is_empty(),
            params,
            data,
            inputs,
            states,
            outputs: outputs.into_iter().chain(hidden).collect(),
            world,
            samplings: self.samplings(),
            series: self.series_of_manifest(),
            requirements: self.requirements.clone(),
            uniform_words: end
                .unwrap_or(header::END + open)
                .max(header::END + open)
                .next_multiple_of(VEC4_WORDS),
            input_words,
            state_words,
            output_words,
            workgroup_size: WORKGROUP_SIZE,
            inner_iterations: None,
            step_table: None,
            spill: None,
            constants: None,
            real: model.real,
        }
    }

    /// What an agent or a world has.
    fn rows(&self, owner: Owner) -> manifest::Rows {
        let (model, program) = (self.model, &self.program);
        let [input_vars, state_vars, output_vars] = match owner {
            Owner::Agent => [&program.inputs, &program.states, &program.outputs],
            Owner::World => [
                &program.world_inputs,
                &program.world_states,
                &program.world_outputs,
            ],
        };
        let inputs = || model.inputs.iter().filter(|item| item.owner == owner);
        let states = model.states.iter().filter(|item| item.owner == owner);
        let outputs = model.outputs.iter().filter(|item| item.owner == owner);
        let states = self.fields(states.map(|item| (&item.name, &item.ty)), state_vars);
        let outputs = self.fields(outputs.map(|item| (&item.name, &item.ty)), output_vars);
        let input_fields = self.fields(inputs().map(|item| (&item.name, &item.ty)), input_vars);
        let sources = inputs().flat_map(|input| {
            let source = match input.source {
                InputSource::Required => Source::Required,
                InputSource::Default(_) => Source::Default,
                InputSource::Drawn(_) => Source::Drawn,
            };
            std::iter::repeat_n(source, self.fields.count(&input.ty))
        });
        let inputs = input_fields.into_iter().zip(sources);
        manifest::Rows {
            inputs: inputs
                .map(|(field, source)| manifest::Input { field, source })
                .collect(),
            states,
            outputs,
            input_words: program.row_words(input_vars).next_multiple_of(VEC4_WORDS),
            state_words: program.row_words(state_vars),
            output_words: program.row_words(output_vars),
        }
    }

    fn fields<'b>(
        &self,
        items: impl Iterator<Item = (&'b String, &'b Type)>,
        vars: &[VarId],
    ) -> Vec<Field> {
        let mut vars = vars.iter();
        let mut fields = Vec::new();
        for (name, ty) in items {
            for leaf in leaves(self.model, ty) {
                let var = &self.program[*vars.next().expect("every leaf has a variable")];
                fields.push(self.field(name, &leaf, var));
            }
        }
        fields
    }

    pub(super) fn field(&self, name: &str, leaf: &LeafType, var: &Var) -> Field {
        let path: Vec<&str> = std::iter::once(name)
            .chain(leaf.path.iter().map(String::as_str))
            .collect();
        let variants = match &leaf.source {
            Type::Enum(id) => self.model[*id].variants.clone(),
            _ => Vec::new(),
        };
        Field {
            name: path.join("."),
            doc: var.doc.clone(),
            scalar: leaf.ty.stored(self.model.real),
            shape: leaf.dims.clone(),
            components: leaf.ty.components() as u32,
            variants,
            word: if var.kind == VarKind::Data {
                0
            } else {
                var.word
            },
        }
    }

    fn params_of_manifest(&self) -> Vec<manifest::Param> {
        let mut vars = self.program.params.iter();
        let mut params = Vec::new();
        for param in &self.model.params {
            let default = param.default.as_ref();
            let mut defaults = default
                .map(|default| self.leaf_values(default, &param.ty))
                .map(Vec::into_iter);
            for leaf in &leaves(self.model, &param.ty) {
                let var = &self.program[*vars.next().expect("every leaf has a variable")];
                let default = defaults.as_mut().and_then(Iterator::next);
                let real = self.model.real;
                let default = default.map(|values| {
                    (values.iter())
                        .flat_map(|value| value.words_of(real))
                        .collect()
                });
                let field = self.field(&param.name, leaf, var);
                params.push(manifest::Param {
                    field,
                    default,
                    range: param.range,
                });
            }
        }
        params
    }

    fn data_of_manifest(&self) -> Vec<manifest::Data> {
        let mut vars = self.program.data.iter();
        let mut rows_word = header::END;
        let mut tables = Vec::new();
        for data in &self.model.data {
            for leaf in leaves(self.model, &data.ty) {
                let var = &self.program[*vars.next().expect("every leaf has a variable")];
                let open = leaf.dims.first() == Some(&0);
                let rows = open.then(|| {
                    rows_word += 1;
                    rows_word - 1
                });
                let field = self.field(&data.name, &leaf, var);
                tables.push(manifest::Data {
                    field,
                    binding: var.word,
                    rows_word: rows,
                });
            }
        }
        tables
    }
}

fn words(leaf: &LeafType, real: RealType) -> u32 {
    leaf.dims.iter().product::<u32>() * leaf.ty.words_of(real)
}

/// The alignment in words of a param in the uniform block, as WGSL's uniform layout requires.
fn alignment(leaf: &LeafType, real: RealType) -> u32 {
    match leaf.dims.is_empty() {
        true => leaf.ty.words_of(real).next_power_of_two(),
        false => VEC4_WORDS,
    }
}

/// The next free word for a leaf that lies right behind the last one.
pub(super) fn take(word: &mut u32, leaf: &LeafType, real: RealType) -> u32 {
    let at = *word;
    *word += words(leaf, real);
    at
}
