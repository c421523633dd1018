//! The blocks that a program consists of.

use super::{Block, Expr, ExprId, Launch, Owner, Program};

/// A block of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The body of the function of that number.
    Function(usize),
    /// The body of that number in [`Program::input_defaults`], which the host runs.
    InputDefault(usize),
    /// At birth.
    Init,
    /// Before the time loop.
    Prologue,
    /// The phase of that number in each step.
    Phase(usize),
    /// The phase of that number in [`Program::ends`].
    End(usize),
    /// The body of that number in [`Program::samples`].
    Sample(usize),
    /// After the time loop.
    Finish,
}

impl Section {
    /// Does it run in each step?
    pub fn is_phase(self) -> bool {
        matches!(self, Section::Phase(_))
    }

    /// Does an agent run it? Not functions, which other sections call, nor the defaults of inputs.
    pub fn is_of_agent(self) -> bool {
        match self {
            Section::Function(_) | Section::InputDefault(_) => false,
            Section::Init
            | Section::Prologue
            | Section::Phase(_)
            | Section::End(_)
            | Section::Sample(_)
            | Section::Finish => true,
        }
    }
}

impl Program {
    /// Every section, callees before callers and the prologue before the phases, which see its names.
    pub fn sections(&self) -> Vec<Section> {
        let functions = (0..self.functions.len()).map(Section::Function);
        let defaults = (0..self.input_defaults.len()).map(Section::InputDefault);
        let phases = (0..self.phases.len()).map(Section::Phase);
        functions
            .chain(defaults)
            .chain([Section::Init, Section::Prologue])
            .chain(phases)
            .chain((0..self.samples.len()).map(Section::Sample))
            .chain((0..self.ends.len()).map(Section::End))
            .chain([Section::Finish])
            .collect()
    }

    /// The blocks that an agent runs: not functions, nor the defaults of inputs.
    pub fn agent_blocks(&self) -> std::vec::IntoIter<&Block> {
        let mut blocks = vec![&self.init, &self.prologue];
        blocks.extend(self.phases.iter().map(|phase| &phase.body));
        blocks.extend(self.ends.iter().map(|phase| &phase.body));
        blocks.extend(self.samples.iter().map(|sample| &sample.body));
        blocks.push(&self.finish);
        blocks.into_iter()
    }

    /// What a section is called in complaints and printed programs.
    pub fn section_name(&self, section: Section) -> String {
        match section {
            Section::Function(number) => format!("fn {}", self.functions[number].name),
            Section::InputDefault(number) => {
                format!("default of {}", self.input_defaults[number].input)
            }
            Section::Init => "init".to_owned(),
            Section::Prologue => "prologue".to_owned(),
            Section::Phase(0) => "step".to_owned(),
            Section::Phase(number) => format!("step {number}"),
            Section::End(number) => format!("end {number}"),
            Section::Sample(number) => format!("every {}", self.samples[number].every),
            Section::Finish => "finish".to_owned(),
        }
    }

    /// Who runs a section: what is the same for all agents of a world, or an agent.
    pub fn owner(&self, section: Section) -> Owner {
        match section {
            Section::Phase(number) => self.phases[number].owner,
            Section::End(number) => self.ends[number].owner,
            Section::Sample(_) => Owner::World,
            Section::Function(_)
            | Section::InputDefault(_)
            | Section::Init
            | Section::Prologue
            | Section::Finish => Owner::Agent,
        }
    }

    /// Do agents run together: do they read one another or where they are in their world, has a world values
    /// of its own, or is anything sampled?
    pub fn has_worlds(&self) -> bool {
        let combines = |expr: &Expr| matches!(expr, Expr::AcrossWorld { .. });
        !self.samples.is_empty() || self.speaks_of_worlds() || self.exprs.iter().any(combines)
    }

    /// Do agents read one another or where they are in their world, or has a world values of its own?
    pub fn speaks_of_worlds(&self) -> bool {
        let lists = [&self.world_inputs, &self.world_states, &self.world_outputs];
        let reads = |expr: &Expr| {
            matches!(
                expr,
                Expr::Other { .. } | Expr::Launch(Launch::Member | Launch::Members | Launch::World)
            )
        };
        lists.iter().any(|list| !list.is_empty()) || self.exprs.iter().any(reads)
    }

    /// Do agents know of worlds: read one another, a world's values or a place in it?
    pub fn knows_worlds(&self) -> bool {
        let numbers = [Launch::Member, Launch::Members, Launch::World];
        let knows = |expr: &Expr| matches!(expr, Expr::Launch(number) if numbers.contains(number));
        self.has_worlds() || self.exprs.iter().any(knows)
    }

    /// The block of a section.
    pub fn section(&self, section: Section) -> &Block {
        match section {
            Section::Function(number) => &self.functions[number].body,
            Section::InputDefault(number) => &self.input_defaults[number].body,
            Section::Init => &self.init,
            Section::Prologue => &self.prologue,
            Section::Phase(number) => &self.phases[number],
            Section::End(number) => &self.ends[number],
            Section::Sample(number) => &self.samples[number].body,
            Section::Finish => &self.finish,
        }
    }

    /// The block of a section, to be changed.
    pub fn section_mut(&mut self, section: Section) -> &mut Block {
        match section {
            Section::Function(number) => &mut self.functions[number].body,
            Section::InputDefault(number) => &mut self.input_defaults[number].body,
            Section::Init => &mut self.init,
            Section::Prologue => &mut self.prologue,
            Section::Phase(number) => &mut self.phases[number],
            Section::End(number) => &mut self.ends[number],
            Section::Sample(number) => &mut self.samples[number].body,
            Section::Finish => &mut self.finish,
        }
    }

    /// Hands every section's block out of the program to `visit` and puts it back.
    pub fn each_section(&mut self, mut visit: impl FnMut(&mut Program, Section, &mut Block)) {
        for section in self.sections() {
            let mut block = std::mem::take(self.section_mut(section));
            visit(self, section, &mut block);
            *self.section_mut(section) = block;
        }
    }

    /// Hands the block of every phase out of the program to `visit` and puts it back.
    pub fn each_phase(&mut self, mut visit: impl FnMut(&mut Program, &mut Block)) {
        for phase in 0..self.phases.len() {
            let mut block = std::mem::take(&mut self.phases[phase].body);
            visit(self, &mut block);
            self.phases[phase].body = block;
        }
    }

    /// Shows `visit` every node of every section.
    pub fn each_node(&self, visit: &mut impl FnMut(ExprId)) {
        for section in self.sections() {
            self.each_node_of(self.section(section), visit);
        }
    }
}
