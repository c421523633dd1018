//! A run: states from top to bottom, `init`, the steps, `finish`, outputs; docs/language.md, "A model".

use super::super::draw::{self, Words};
use super::super::typed::Declared;
use super::super::value::{leaves, set_words, words, zero};
use super::super::{Column, Launch, Outcome as Result_, Results};
use super::{Body, Flow, Machine, Outcome, Program, Ty, Typed, Value};

/// Runs a program.
///
/// # Errors
/// A launch value that is missing, or a program that takes too long.
pub fn run(program: &Program, launch: &Launch) -> Result_<Results> {
    let agents = launch
        .agents
        .or(program.agents)
        .ok_or("no number of agents")?;
    let steps = launch.steps.or(program.steps).unwrap_or(0);
    let mut machine = Machine::new(&program.functions, &program.structs);
    machine.agents = (launch.first_agent + agents) as i32;
    machine.steps = steps as i32;
    for param in &program.params {
        let value = machine.launched(param, launch, 0)?;
        machine.params.push(value);
    }
    for data in &program.data {
        let value = machine.table(data, launch)?;
        machine.data.push(value);
    }
    let mut results = Results {
        outputs: columns(&program.outputs, program),
        states: columns(&program.states, program),
        open: Vec::new(),
    };
    for row in 0..agents {
        machine.agent = (launch.first_agent + row) as i32;
        machine.open = None;
        let outputs = machine.live(program, launch, steps, row as usize)?;
        let states = std::mem::take(&mut machine.states);
        collect(&mut results.outputs, &program.outputs, program, &outputs);
        collect(&mut results.states, &program.states, program, &states);
        results.open.push(machine.open);
    }
    Ok(results)
}

fn columns(declared: &[Declared], program: &Program) -> Vec<Column> {
    let mut columns = Vec::new();
    for value in declared {
        for leaf in leaves(&value.ty, &program.structs) {
            columns.push(Column {
                name: format!("{}{}", value.name, leaf.suffix),
                float: leaf.scalar == Ty::F32,
                words: Vec::new(),
            });
        }
    }
    columns
}

fn collect(columns: &mut [Column], declared: &[Declared], program: &Program, values: &[Value]) {
    let mut columns = columns.iter_mut();
    for (value, declared) in values.iter().zip(declared) {
        for leaf in leaves(&declared.ty, &program.structs) {
            if let Some(column) = columns.next() {
                words(value, &leaf.path, &mut column.words);
            }
        }
    }
}

impl Machine<'_> {
    /// An agent from its first value to its outputs.
    fn live(
        &mut self,
        program: &Program,
        launch: &Launch,
        steps: u32,
        row: usize,
    ) -> Outcome<Vec<Value>> {
        let agent = self.agent as u32;
        self.inputs.clear();
        for (number, input) in (0..).zip(&program.inputs) {
            let given = launch.has(input, self.structs);
            let value = if input.drawn && !given {
                self.words = Words::new(launch.seed, agent, draw::INPUT - number);
                self.drawn(input)?
            } else if input.drawn {
                let plain = Declared {
                    value: None,
                    ..input.clone()
                };
                self.launched(&plain, launch, row)?
            } else {
                self.launched(input, launch, row)?
            };
            self.inputs.push(value);
        }
        self.states.clear();
        self.sums.clear();
        self.words = Words::new(launch.seed, agent, draw::INIT);
        for state in &program.states {
            let value = state.value.as_ref().ok_or("a state without value")?;
            let value = self.alone(value, state.slots)?;
            self.states.push(value);
        }
        self.blocks(&program.init, 0)?;
        for step in 0..steps {
            self.words = Words::new(launch.seed, agent, step);
            if self.blocks(&program.step, step as i32)? {
                break;
            }
        }
        self.words = Words::new(launch.seed, agent, draw::FINISH);
        self.blocks(&program.finish, 0)?;
        let mut outputs = Vec::new();
        for output in &program.outputs {
            let value = output.value.as_ref().ok_or("an output without value")?;
            outputs.push(self.alone(value, output.slots)?);
        }
        Ok(outputs)
    }

    /// True if the agent stops.
    fn blocks(&mut self, blocks: &[Body], index: i32) -> Outcome<bool> {
        for block in blocks {
            self.locals = vec![Value::B(false); block.slots];
            if let Some(first) = self.locals.first_mut() {
                *first = Value::I(index);
            }
            if self.steps(&block.steps)? == Flow::Stop {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn alone(&mut self, value: &Typed, slots: usize) -> Outcome<Value> {
        self.locals = vec![Value::B(false); slots];
        self.value(value)
    }

    /// A draw for each scalar, in row-major order.
    fn drawn(&mut self, input: &Declared) -> Outcome<Value> {
        let draw = input
            .value
            .as_ref()
            .ok_or("an input without distribution")?;
        let mut value = zero(&input.ty, self.structs);
        let mut count = Vec::new();
        for leaf in leaves(&input.ty, self.structs) {
            words(&value, &leaf.path, &mut count);
            let mut all = Vec::new();
            for _ in 0..count.len() {
                let one = self.alone(draw, input.slots)?;
                words(&one, &[], &mut all);
            }
            set_words(&mut value, &leaf.path, &mut all.into_iter());
            count.clear();
        }
        Ok(value)
    }

    /// What the launch gives for row `row`, or the default.
    fn launched(&mut self, declared: &Declared, launch: &Launch, row: usize) -> Outcome<Value> {
        let mut value = match &declared.value {
            Some(default) => filled(self.alone(default, declared.slots)?, &declared.ty),
            None if launch.has(declared, self.structs) => zero(&declared.ty, self.structs),
            None => return Err(format!("`{}` is not given", declared.name)),
        };
        for leaf in leaves(&declared.ty, self.structs) {
            let name = format!("{}{}", declared.name, leaf.suffix);
            let Some(given) = launch.values.get(&name) else {
                continue;
            };
            let mut own = Vec::new();
            words(&value, &leaf.path, &mut own);
            let row = given
                .get(row * own.len()..)
                .ok_or("too few launch values")?;
            set_words(&mut value, &leaf.path, &mut row.iter().copied());
        }
        Ok(value)
    }

    /// A table has as many rows as its first column.
    fn table(&mut self, data: &Declared, launch: &Launch) -> Outcome<Value> {
        let Ty::Open(element) = &data.ty else {
            return self.launched(data, launch, 0);
        };
        let mut rows = Vec::new();
        let row = zero(element, self.structs);
        for leaf in leaves(element, self.structs) {
            let mut own = Vec::new();
            words(&row, &leaf.path, &mut own);
            let name = format!("{}{}", data.name, leaf.suffix);
            let given = launch
                .values
                .get(&name)
                .ok_or(format!("`{name}` is not given"))?;
            rows.resize(given.len() / own.len(), row.clone());
            let mut given = given.iter().copied();
            for row in &mut rows {
                set_words(row, &leaf.path, &mut given);
            }
        }
        Ok(Value::A(rows))
    }
}

/// One value for all elements of an array.
fn filled(value: Value, ty: &Ty) -> Value {
    match (value, ty) {
        (Value::A(elements), Ty::Array(inner, _)) => Value::A(
            elements
                .into_iter()
                .map(|element| filled(element, inner))
                .collect(),
        ),
        (value, Ty::Array(inner, length)) => Value::A(vec![filled(value, inner); *length]),
        (value, _) => value,
    }
}
