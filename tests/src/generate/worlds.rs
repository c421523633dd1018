//! Random models whose agents see each other: phases of agents and of worlds, values of a world, folds over
//! it, and values that are sampled as a run goes on.

use super::{Callable, Generator, Ty, Variable};

/// What a model with worlds has.
pub(crate) struct Worlds {
    members: usize,
    /// States and inputs of agents: the fields of other agents.
    fields: Vec<Variable>,
    place: Place,
    /// May the code here read other agents?
    reads: bool,
}

/// Whose code is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Agent,
    World,
    /// A function that both call.
    Both,
}

impl Worlds {
    pub(crate) fn number(&self) -> &'static str {
        match self.place {
            Place::Agent => "agent",
            Place::World => "world.number",
            Place::Both => "agents",
        }
    }

    pub(crate) fn is_of_agents(&self) -> bool {
        self.place == Place::Agent
    }
}

/// The most iterations of loops inside one another.
const MOST_ROUNDS: usize = 70;

fn constant(name: &str, ty: Ty) -> Variable {
    Variable {
        name: name.into(),
        ty,
        mutable: false,
    }
}

fn mutable(variables: &[Variable], mutable: bool) -> impl Iterator<Item = Variable> {
    variables.iter().map(move |variable| Variable {
        mutable,
        ..variable.clone()
    })
}

impl Generator {
    /// Everything of a model with worlds.
    pub(crate) fn whole_of_worlds(&mut self) {
        let members = [1, 2, 3, 4, 5, 7, 8, 9, 16, 33][self.dice.below(10)];
        let agents = members * (1 + self.dice.below(4));
        let steps = self.dice.below(5);
        self.line(&format!(
            "agents {agents}\nworld {members}\nsteps {steps}\n"
        ));
        self.worlds = Some(Worlds {
            members,
            fields: Vec::new(),
            place: Place::Both,
            reads: false,
        });
        self.types();
        self.launch_values();
        let (inputs, shared): (Vec<Variable>, Vec<Variable>) = std::mem::take(&mut self.scope)
            .into_iter()
            .partition(|variable| variable.name.starts_with('x'));
        for _ in 0..self.dice.below(4) {
            let place = [Place::Agent, Place::Both][self.dice.below(2)];
            self.begin(place, false);
            self.scope = shared.clone();
            if place == Place::Agent {
                self.scope.extend(inputs.iter().cloned());
            }
            self.function();
        }
        let mut world = shared;
        world.push(constant("world.number", Ty::I32));
        world.push(constant("len(world)", Ty::I32));
        let first = world.len();
        self.world_values(&mut world);
        let mut agent: Vec<Variable> = mutable(&world, false).collect();
        agent.extend(inputs.iter().cloned());
        agent.push(constant("member", Ty::I32));
        self.begin(Place::Agent, false);
        self.scope.clone_from(&agent);
        self.states();
        let states = self.scope.split_off(agent.len());
        agent.extend(states.iter().cloned());
        let fields = inputs.into_iter().chain(mutable(&states, false)).collect();
        self.worlds.as_mut().expect("a model with worlds").fields = fields;
        self.phases(&agent, &world);
        self.scope = agent;
        self.outputs();
        self.begin(Place::World, true);
        self.scope = world;
        self.world_outputs(first);
        self.series(first, &states);
    }

    fn begin(&mut self, place: Place, reads: bool) {
        let worlds = self.worlds.as_mut().expect("a model with worlds");
        (worlds.place, worlds.reads) = (place, reads);
    }

    pub(crate) fn can_call(&self, function: &Callable) -> bool {
        let is_agent = (self.worlds.as_ref()).is_none_or(|worlds| worlds.place == Place::Agent);
        (self.draws || !function.draws) && (is_agent || !function.of_agents)
    }

    /// May one more value of other agents stand here?
    pub(crate) fn reads_others(&self) -> bool {
        let worlds = self.worlds.as_ref();
        worlds.is_some_and(|worlds| worlds.reads && self.rounds * worlds.members <= MOST_ROUNDS)
    }

    /// Inputs and states of the world.
    fn world_values(&mut self, world: &mut Vec<Variable>) {
        self.begin(Place::World, false);
        for _ in 0..self.dice.below(3) {
            let name = self.name("wi");
            let (ty, text) = match self.dice.below(3) {
                0 => (Ty::I32, "~ randint(-5, 9)".to_string()),
                1 => {
                    let ty = Ty::Array(Box::new(Ty::Bool), 3);
                    (ty, "~ bernoulli(0.5)".to_string())
                }
                _ => (Ty::F32, "= 0.375".to_string()),
            };
            self.line(&format!(
                "world input {name}: {} {text}",
                self.type_name(&ty)
            ));
            world.push(constant(&name, ty));
        }
        for _ in 0..1 + self.dice.below(3) {
            let ty = self.any_type(1);
            self.scope = mutable(world, false).collect();
            self.draws = self.dice.chance(50);
            let value = self.expr(&ty, 2);
            self.draws = false;
            let name = self.name("w");
            self.line(&format!(
                "world state {name}: {} = {value}",
                self.type_name(&ty)
            ));
            let mutable = true;
            world.push(Variable { name, ty, mutable });
        }
    }

    fn phases(&mut self, agent: &[Variable], world: &[Variable]) {
        if self.dice.chance(50) {
            self.begin(Place::Agent, false);
            self.block("init", true, false, 3, agent);
        }
        for _ in 0..1 + self.dice.below(4) {
            let of_world = self.dice.chance(40);
            let (mut scope, place, word) = match of_world {
                true => (world.to_vec(), Place::World, "world step"),
                false => (agent.to_vec(), Place::Agent, "step"),
            };
            let index = self.dice.chance(50);
            if index {
                scope.push(constant("t", Ty::I32));
            }
            self.begin(place, true);
            let head = format!("{word}{}", if index { " t" } else { "" });
            self.block(&head, true, !of_world, 5, &scope);
        }
        self.begin(Place::Agent, true);
        if self.dice.chance(40) {
            self.block("finish", true, false, 3, agent);
        }
    }

    /// The states of the world, which come after `first` others, and values of it.
    fn world_outputs(&mut self, first: usize) {
        let states = self.scope[first..]
            .iter()
            .filter(|variable| variable.mutable);
        let lines: Vec<String> = states
            .map(|state| format!("world output {}", state.name))
            .collect();
        lines.iter().for_each(|line| self.line(line));
        for _ in 0..1 + self.dice.below(3) {
            let ty = self.any_type(1);
            let value = self.expr(&ty, 3);
            let name = self.name("o");
            self.line(&format!(
                "world output {name}: {} = {value}",
                self.type_name(&ty)
            ));
        }
    }

    /// Samples of all kinds. The scope is that of the world.
    fn series(&mut self, first: usize, states: &[Variable]) {
        let world = self.scope.clone();
        if self.dice.chance(30) {
            let state = states[self.dice.below(states.len())].name.clone();
            let every = self.every();
            self.line(&format!("record {state}{every}"));
        }
        let owned = world[first..].iter().find(|variable| variable.mutable);
        if let Some(state) = owned.filter(|_| self.dice.chance(30)) {
            let every = self.every();
            self.line(&format!("world observe {}{every}", state.name));
        }
        if self.dice.chance(50) {
            let ty = self.any_type(1);
            let value = self.expr(&ty, 2);
            let (name, every) = (self.name("m"), self.every());
            let ty = self.type_name(&ty);
            self.line(&format!("world observe {name}: {ty} = {value}{every}"));
        }
        self.begin(Place::Agent, false);
        let fields = self
            .worlds
            .as_ref()
            .expect("a model with worlds")
            .fields
            .clone();
        self.scope = mutable(&world, false).collect();
        self.scope.extend(fields);
        self.scope.push(constant("member", Ty::I32));
        for _ in 0..self.dice.below(3) {
            let ty = self.any_type(1);
            let value = self.expr(&ty, 2);
            let (name, every) = (self.name("r"), self.every());
            let ty = self.type_name(&ty);
            self.line(&format!("record {name}: {ty} = {value}{every}"));
        }
        for _ in 0..self.dice.below(4) {
            let fold = self.observer();
            let (name, every) = (self.name("m"), self.every());
            let word = ["observe", "world observe"][self.dice.below(2)];
            self.line(&format!("{word} {name} = {fold}{every}"));
        }
    }

    fn every(&mut self) -> String {
        match self.dice.below(3) {
            0 => String::new(),
            _ => format!(" every {}", 1 + self.dice.below(3)),
        }
    }

    /// A fold of a value of each agent.
    fn observer(&mut self) -> String {
        let number = [Ty::F32, Ty::I32, Ty::U32][self.dice.below(3)].clone();
        let (fold, ty): (&str, Ty) = match self.dice.below(6) {
            0 => (
                ["any", "all", "count", "mean"][self.dice.below(4)],
                Ty::Bool,
            ),
            1 => (["sum", "mean"][self.dice.below(2)], Ty::Vec2),
            2 => (["var", "sd"][self.dice.below(2)], number),
            3 => {
                let value = self.expr(&number, 2);
                let bins = 1 + self.dice.below(5);
                return format!("histogram({value}, -3.0, 5.5, {bins})");
            }
            4 => {
                let value = self.expr(&number, 2);
                return format!("quantiles({value}, 0.0, 0.25, 0.8)");
            }
            _ => {
                let fold = ["sum", "min", "max", "count", "mean"][self.dice.below(5)];
                // Only floats have a mean.
                (fold, if fold == "mean" { Ty::F32 } else { number })
            }
        };
        format!("{fold}({})", self.expr(&ty, 2))
    }

    /// A value of other agents: of one, or a fold over all.
    pub(crate) fn of_others(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        if self.dice.chance(40) {
            return self.field(ty, depth);
        }
        let folds: &[&str] = match ty {
            Ty::F32 => &["sum", "mean", "min", "max"],
            Ty::I32 => &["sum", "product", "min", "max", "count", "argmin", "argmax"],
            Ty::U32 => &["sum", "product", "min", "max"],
            Ty::Bool => &["any", "all"],
            Ty::Vec2 | Ty::Vec3 => &["sum"],
            Ty::Array(..) | Ty::Struct(_) | Ty::Enum => return self.field(ty, depth),
        };
        let fold = folds[self.dice.below(folds.len())];
        let (other, outside) = (self.name("other"), self.scope.len());
        let draws = self.open_world(&other);
        if self.worlds.as_ref()?.place == Place::World {
            self.draws = false;
        }
        // Without an element `min`, `max` and `mean` of floats are infinite or NaN.
        let filtered = self.dice.chance(40) && (*ty != Ty::F32 || fold == "sum");
        let filter = match filtered {
            true => format!(" if {}", self.expr(&Ty::Bool, depth.min(2))),
            false => String::new(),
        };
        let element = self.expr(ty, depth.min(2));
        self.close_world(outside, draws);
        let text = format!("{fold}(for {other} in world{filter}: {element})");
        Some(match ty {
            Ty::F32 => format!("q({text})"),
            Ty::Vec2 => format!("q2({text})"),
            Ty::Vec3 => format!("q3({text})"),
            _ => text,
        })
    }

    /// Brings an agent of the world into scope, in a loop; gives whether draws were legal before.
    fn open_world(&mut self, name: &str) -> bool {
        self.rounds *= self.worlds.as_ref().map_or(1, |worlds| worlds.members);
        self.bring(name);
        self.draws
    }

    fn close_world(&mut self, outside: usize, draws: bool) {
        self.rounds /= self.worlds.as_ref().map_or(1, |worlds| worlds.members);
        self.scope.truncate(outside);
        self.draws = draws;
    }

    fn bring(&mut self, name: &str) {
        let fields = self.worlds.iter().flat_map(|worlds| &worlds.fields);
        let fields =
            fields.map(|field| constant(&format!("{name}.{}", field.name), field.ty.clone()));
        self.scope.extend(fields);
        for number in ["member", "agent"] {
            self.scope
                .push(constant(&format!("{name}.{number}"), Ty::I32));
        }
    }

    /// A field of one agent, or an element of it.
    fn field(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let mut found = Vec::new();
        for field in &self.worlds.as_ref()?.fields {
            match &field.ty {
                whole if whole == ty => found.push((field.name.clone(), None)),
                Ty::Array(element, length) if **element == *ty => {
                    found.push((field.name.clone(), Some(*length)));
                }
                _ => {}
            }
        }
        if found.is_empty() {
            return None;
        }
        let (name, length) = found.swap_remove(self.dice.below(found.len()));
        let place = self.expr(&Ty::I32, depth.min(2));
        let element = match length {
            Some(length) if self.dice.chance(50) => {
                format!("[{}]", self.dice.below(length as usize))
            }
            Some(_) => format!("[{} + {}]", self.number(), self.leaf(&Ty::I32)),
            None => String::new(),
        };
        Some(format!("world[{place}].{name}{element}"))
    }

    /// A loop over the world, or a name for one of its agents.
    pub(crate) fn world_statement(&mut self) {
        let (other, outside) = (self.name("other"), self.scope.len());
        if self.dice.chance(50) || self.indent > 3 {
            let place = self.expr(&Ty::I32, 2);
            self.line(&format!("let {other} = world[{place}]"));
            return self.bring(&other);
        }
        self.line(&format!("for {other} in world {{"));
        let in_loop = std::mem::replace(&mut self.in_loop, true);
        let draws = self.open_world(&other);
        self.statements(2);
        self.close_world(outside, draws);
        self.in_loop = in_loop;
        self.line("}");
    }
}
