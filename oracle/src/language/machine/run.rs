//! A run: states from top to bottom, `init`, the phases of the steps, `finish`, outputs; docs/language.md, "A
//! model" and "Worlds". In a model without worlds each agent is one of its own.

use super::super::draw::{self, Words};
use super::super::typed::Declared;
use super::super::value::{leaves, set_words, words, zero};
use super::super::{Column, Launch, Outcome as Result_, Results};
use super::sample::Samples;
use super::{Body, Flow, Machine, One, Outcome, Program, Ty, Typed, Value};

/// Worlds draw as agents from this number on.
const WORLDS: u32 = 1 << 31;

/// Runs a program.
///
/// # Errors
/// A launch value that is missing, a population that worlds do not divide, or a program that takes too long.
pub fn run(program: &Program, launch: &Launch) -> Result_<Results> {
    let agents = launch
        .agents
        .or(program.agents)
        .ok_or("no number of agents")?;
    let steps = launch.steps.or(program.steps).unwrap_or(0);
    let size = match launch.world.or(program.world) {
        Some(size) => size,
        None if program.has_worlds => return Err("no number of agents of a world".into()),
        None => 1,
    };
    let whole = |agents: u32| agents.checked_rem(size) == Some(0);
    if !whole(agents) || !whole(launch.first_agent) {
        return Err(format!("worlds of {size} do not divide the population"));
    }
    let mut machine = Machine::new(&program.functions, &program.structs);
    machine.agents = (launch.first_agent + agents) as i32;
    machine.steps = steps as i32;
    machine.size = size;
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
        world_outputs: columns(&program.world_outputs, program),
        world_states: columns(&program.world_states, program),
        series: Vec::new(),
        open: Vec::new(),
        open_worlds: Vec::new(),
    };
    let mut samples = Samples::of(program);
    for row in 0..agents / size {
        machine.number = launch.first_agent / size + row;
        machine.live(
            program,
            launch,
            steps,
            row as usize,
            &mut samples,
            &mut results,
        )?;
    }
    results.series = machine.series(program, samples, steps, &results.open)?;
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
    /// A world from its first value to its outputs.
    fn live(
        &mut self,
        program: &Program,
        launch: &Launch,
        steps: u32,
        row: usize,
        samples: &mut Samples,
        results: &mut Results,
    ) -> Outcome<()> {
        self.open = None;
        let mut agents = self.begin(program, launch, row)?;
        self.sample(program, 0, &mut agents, samples)?;
        for step in 0..steps {
            self.draw_from(launch.seed, step, &mut agents);
            for phase in &program.step {
                self.look(&agents);
                if phase.world {
                    self.block(&phase.body, step as i32)?;
                } else {
                    self.phase(&phase.body, step as i32, &mut agents)?;
                }
            }
            self.sample(program, step + 1, &mut agents, samples)?;
        }
        self.draw_from(launch.seed, draw::FINISH, &mut agents);
        agents.iter_mut().for_each(|agent| agent.stopped = false);
        for block in &program.finish {
            self.look(&agents);
            self.phase(block, 0, &mut agents)?;
        }
        self.look(&agents);
        for (member, agent) in (0..).zip(agents) {
            (self.me, self.member) = (agent, Some(member));
            let outputs = self.all(&program.outputs)?;
            collect(&mut results.outputs, &program.outputs, program, &outputs);
            collect(
                &mut results.states,
                &program.states,
                program,
                &self.me.states,
            );
        }
        (self.me, self.member) = (One::default(), None);
        let outputs = self.all(&program.world_outputs)?;
        let list = &program.world_outputs;
        collect(&mut results.world_outputs, list, program, &outputs);
        let list = &program.world_states;
        collect(&mut results.world_states, list, program, &self.world.states);
        // Agents of a world read one another.
        results.open_worlds.push(self.open);
        let all = results.open.len() + self.size as usize;
        results.open.resize(all, self.open);
        Ok(())
    }

    /// Inputs and initial values of a world and of its agents, and their `init` blocks.
    fn begin(&mut self, program: &Program, launch: &Launch, row: usize) -> Outcome<Vec<One>> {
        self.inputs_of.clear();
        self.states_of.clear();
        (self.world, self.member) = (One::default(), None);
        for input in &program.world_inputs {
            let value = self.input(input, launch, row)?;
            self.world.inputs.push(value);
        }
        self.world.words = Words::new(launch.seed, self.stream(), draw::INIT);
        for state in &program.world_states {
            let value = state.value.as_ref().ok_or("a state without value")?;
            let value = self.alone(value, state.slots)?;
            self.world.states.push(value);
        }
        let mut agents = Vec::new();
        for member in 0..self.size {
            (self.me, self.member) = (One::default(), Some(member));
            let row = row * self.size as usize + member as usize;
            for input in &program.inputs {
                let value = self.input(input, launch, row)?;
                self.me.inputs.push(value);
            }
            self.me.words = Words::new(launch.seed, self.stream(), draw::INIT);
            for state in &program.states {
                let value = state.value.as_ref().ok_or("a state without value")?;
                let value = self.alone(value, state.slots)?;
                self.me.states.push(value);
            }
            for block in &program.init {
                self.block(block, 0)?;
            }
            agents.push(std::mem::take(&mut self.me));
        }
        self.inputs_of = agents.iter().map(|agent| agent.inputs.clone()).collect();
        Ok(agents)
    }

    /// The number that the one who runs draws by.
    fn stream(&self) -> u32 {
        match self.member {
            Some(member) => self.agent(member) as u32,
            None => WORLDS + self.number,
        }
    }

    /// All draw from their first words of a step, the world as well.
    fn draw_from(&mut self, seed: u64, step: u32, agents: &mut [One]) {
        for (member, agent) in (0..).zip(agents) {
            self.member = Some(member);
            agent.words = Words::new(seed, self.stream(), step);
        }
        self.member = None;
        self.world.words = Words::new(seed, self.stream(), step);
    }

    /// A phase begins: this is what is read of agents until the next one; the world runs.
    pub(super) fn look(&mut self, agents: &[One]) {
        self.states_of = agents.iter().map(|agent| agent.states.clone()).collect();
        self.member = None;
    }

    /// A block of each agent that has not stopped.
    fn phase(&mut self, block: &Body, index: i32, agents: &mut [One]) -> Outcome<()> {
        for (member, agent) in (0..).zip(agents) {
            if !agent.stopped {
                (self.me, self.member) = (std::mem::take(agent), Some(member));
                self.me.stopped = self.block(block, index)? == Flow::Stop;
                *agent = std::mem::take(&mut self.me);
            }
        }
        Ok(())
    }

    fn block(&mut self, block: &Body, index: i32) -> Outcome<Flow> {
        self.locals = vec![Value::B(false); block.slots];
        if let Some(first) = self.locals.first_mut() {
            *first = Value::I(index);
        }
        self.steps(&block.steps)
    }

    fn all(&mut self, list: &[Declared]) -> Outcome<Vec<Value>> {
        let value = |declared: &Declared| {
            let value = declared.value.as_ref().ok_or("an output without value")?;
            self.alone(value, declared.slots)
        };
        list.iter().map(value).collect()
    }

    /// What the launch gives for a row, or what is drawn, or the default.
    fn input(&mut self, input: &Declared, launch: &Launch, row: usize) -> Outcome<Value> {
        if !input.drawn {
            return self.launched(input, launch, row);
        }
        if launch.has(input, self.structs) {
            let value = None;
            let plain = Declared {
                value,
                ..input.clone()
            };
            return self.launched(&plain, launch, row);
        }
        let step = draw::INPUT - input.number;
        self.runner().words = Words::new(launch.seed, self.stream(), step);
        self.drawn(input)
    }

    pub(super) fn alone(&mut self, value: &Typed, slots: usize) -> Outcome<Value> {
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
