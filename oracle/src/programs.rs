//! Random programs for the evaluator and the compiler: well-typed, every loop short, every declaration
//! of the language, each with the values of its launch. A program is a pure function of its seed.
//!
//! Values are compared to the bit. So float expressions are made of operations that are rounded
//! correctly; functions that are only defined within bounds, `integrate` and `normal` stand alone in
//! columns whose names begin with `near_`, and nothing else depends on them.

mod declare;
mod expr;
mod number;
mod series;
mod stmt;
mod world;

use crate::dice::Dice;
use crate::language::Launch;

/// A program and its launch.
#[derive(Clone, Debug)]
pub struct Program {
    /// The model.
    pub text: String,
    /// What it is launched with.
    pub launch: Launch,
}

/// What programs are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Everything.
    Whole,
    /// Integers and truths only: a GPU gives the same bits.
    Integers,
}

/// A type.
#[derive(Clone, Debug, PartialEq)]
enum T {
    F,
    I,
    U,
    B,
    V(usize),
    A(Box<T>, usize),
    S(usize),
    E(usize),
    /// An agent of the world.
    O,
}

/// A name that can be read here.
#[derive(Clone, Debug)]
struct Variable {
    name: String,
    ty: T,
    assignable: bool,
    /// Has only an agent one?
    own: bool,
    /// Is it of the world, though it is a local?
    shared: bool,
}

/// A function of the model.
#[derive(Clone, Debug)]
struct Function {
    name: String,
    params: Vec<T>,
    result: T,
    draws: bool,
    /// Does it read what only an agent has?
    own: bool,
}

/// What may stand here.
#[derive(Clone, Copy, Debug, Default)]
struct Here {
    draws: bool,
    in_loop: bool,
    may_stop: bool,
    loops: usize,
    /// Is this the code of a world?
    world: bool,
    /// May agents of the world be read?
    others: bool,
    /// Folds over the world around this.
    folds: usize,
    /// Only what is of the world is named, and the scopes from this one on.
    only_shared: Option<usize>,
}

/// The worlds of a model.
#[derive(Clone, Copy, Debug)]
struct World {
    size: u32,
    count: u32,
}

struct Maker {
    dice: Dice,
    profile: Profile,
    text: String,
    indent: usize,
    structs: Vec<Vec<T>>,
    enums: Vec<usize>,
    functions: Vec<Function>,
    /// Innermost scope last; names of the innermost block are at its own place.
    scopes: Vec<Vec<Variable>>,
    /// Open tables: name, type of a row.
    tables: Vec<(String, T)>,
    /// The result of the function that is being written.
    result: Option<T>,
    here: Here,
    /// Expressions that may still be written before they become simple.
    fuel: usize,
    launch: Launch,
    agents: u32,
    steps: u32,
    world: Option<World>,
    /// States and inputs of agents: what is read of others.
    fields: Vec<(String, T)>,
    names: usize,
    /// Did the function that is being written draw?
    drew: bool,
}

/// The program of a seed; with `worlds`, every third one has worlds.
pub fn program(seed: u64, profile: Profile, worlds: bool) -> Program {
    let mut dice = Dice::new(seed ^ 0x70_726f_6772_616d);
    let (mut agents, steps) = (1 + dice.below(5) as u32, dice.below(5) as u32);
    let world = (worlds && seed % 3 == 2).then(|| world::size(seed));
    if let Some(world) = world {
        agents = world.size * world.count;
    } else if dice.chance(3) {
        // Beyond what a workgroup sums at a time.
        agents = 120 + dice.below(150) as u32;
    }
    let mut maker = Maker {
        fuel: 150 + dice.below(700),
        dice,
        profile,
        text: String::new(),
        indent: 0,
        structs: Vec::new(),
        enums: Vec::new(),
        functions: Vec::new(),
        scopes: vec![Vec::new()],
        tables: Vec::new(),
        result: None,
        here: Here::default(),
        launch: Launch::default(),
        agents,
        steps,
        world,
        fields: Vec::new(),
        names: 0,
        drew: false,
    };
    if maker.large() {
        maker.fuel /= 3;
    }
    maker.launch.seed = maker.dice.word();
    maker.model();
    Program {
        text: maker.text,
        launch: maker.launch,
    }
}

impl Maker {
    fn line(&mut self, text: &str) {
        self.text += &"    ".repeat(self.indent);
        self.text += text;
        self.text.push('\n');
    }

    fn fresh(&mut self, head: &str) -> String {
        self.names += 1;
        format!("{head}{}", self.names)
    }

    fn declare(&mut self, name: &str, ty: &T, assignable: bool) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(Variable {
                name: name.to_owned(),
                ty: ty.clone(),
                assignable,
                own: false,
                shared: false,
            });
        }
    }

    /// All names that can be read, each with what it means here.
    fn visible(&self) -> Vec<&Variable> {
        let mut found: Vec<(usize, &Variable)> = Vec::new();
        let scopes = self.scopes.iter().enumerate().rev();
        for (level, variable) in
            scopes.flat_map(|(level, scope)| scope.iter().rev().map(move |one| (level, one)))
        {
            if !found.iter().any(|(_, other)| other.name == variable.name) {
                found.push((level, variable));
            }
        }
        found.retain(|(level, variable)| self.may_name(*level, variable));
        found.into_iter().map(|(_, variable)| variable).collect()
    }

    fn written(&self, ty: &T) -> String {
        match ty {
            T::F => "f32".into(),
            T::I => "i32".into(),
            T::U => "u32".into(),
            T::B => "bool".into(),
            T::V(n) => format!("vec{n}"),
            T::A(element, n) => format!("[{}; {n}]", self.written(element)),
            T::S(k) => format!("S{k}"),
            T::E(k) => format!("E{k}"),
            T::O => "world".into(),
        }
    }

    /// A scalar type.
    fn scalar(&mut self) -> T {
        match (self.profile, self.dice.below(10)) {
            (Profile::Whole, 0..=3) => T::F,
            (_, 0..=5) => T::I,
            (_, 6..=7) => T::U,
            _ => T::B,
        }
    }

    /// A type of values without names in it.
    fn any_type(&mut self, depth: usize) -> T {
        match self.dice.below(12) {
            0 | 1 if depth > 0 => {
                let element = self.any_type(depth - 1);
                T::A(Box::new(element), 1 + self.dice.below(5))
            }
            2 if self.profile == Profile::Whole => T::V(2 + self.dice.below(3)),
            3 if !self.structs.is_empty() => T::S(self.dice.below(self.structs.len())),
            4 if !self.enums.is_empty() => T::E(self.dice.below(self.enums.len())),
            _ => self.scalar(),
        }
    }
}
