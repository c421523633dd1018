//! Random well-typed models, for differential tests: interpreter against GPU, optimised against not.
//!
//! The arithmetic of these models is exact by IEEE 754 and WGSL on every backend (`+ - * / sqrt`,
//! comparisons, integers, conversions, draws without transcendental functions), so results must agree to
//! the bit. Floats are kept finite and away from NaN, whose bits and order WGSL leaves open, and are
//! multiples of 1/8, since WGSL lets drivers reassociate and contract sums: of these they are exact.

mod expr;
mod shapes;
mod stmt;
mod worlds;

use std::fmt::Write;
use worlds::Worlds;

/// A type of the generated models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ty {
    F32,
    I32,
    U32,
    Bool,
    Vec2,
    Vec3,
    Array(Box<Ty>, u32),
    Struct(usize),
    Enum,
}

/// A variable that an expression may use.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    pub(crate) mutable: bool,
}

/// A function that an expression may call.
#[derive(Clone, Debug)]
pub(crate) struct Callable {
    pub(crate) name: String,
    pub(crate) params: Vec<Ty>,
    pub(crate) result: Ty,
    pub(crate) draws: bool,
    /// Does it read what only an agent has?
    pub(crate) of_agents: bool,
}

/// Splitmix64: the same models on every machine for a seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5151_5151)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

pub(crate) struct Generator {
    pub(crate) dice: Dice,
    pub(crate) scope: Vec<Variable>,
    pub(crate) structs: Vec<Vec<(String, Ty)>>,
    pub(crate) functions: Vec<Callable>,
    pub(crate) text: String,
    pub(crate) indent: usize,
    pub(crate) next: usize,
    /// May expressions draw here?
    pub(crate) draws: bool,
    pub(crate) in_loop: bool,
    pub(crate) in_step: bool,
    /// The type that `return` wants, in a function.
    pub(crate) result: Option<Ty>,
    /// Product of the iterations of the loops around.
    pub(crate) rounds: usize,
    /// Are there [`shapes`] among the statements?
    pub(crate) shapes: bool,
    /// What models have whose agents see each other.
    pub(crate) worlds: Option<Worlds>,
}

/// The model of a seed: its text.
pub fn model(seed: u64) -> String {
    generated(seed, true)
}

/// The model of a seed without the statements of `shapes`: those that found mistakes before there were any.
pub fn plain_model(seed: u64) -> String {
    generated(seed, false)
}

/// The model of a seed whose agents see each other and whose values are sampled as it runs.
pub fn world_model(seed: u64) -> String {
    let mut generator = Generator::new(seed, true);
    generator.whole_of_worlds();
    generator.text
}

fn generated(seed: u64, shapes: bool) -> String {
    let mut generator = Generator::new(seed, shapes);
    generator.line("agents 5\nsteps 4\n");
    generator.whole();
    generator.text
}

impl Generator {
    fn new(seed: u64, shapes: bool) -> Generator {
        Generator {
            dice: Dice::new(seed),
            scope: Vec::new(),
            structs: Vec::new(),
            functions: Vec::new(),
            text: format!("//! Generated from seed {seed}.\n\n"),
            indent: 0,
            next: 0,
            draws: false,
            in_loop: false,
            in_step: false,
            result: None,
            rounds: 1,
            shapes,
            worlds: None,
        }
    }

    /// A number that the code here knows.
    pub(crate) fn number(&self) -> &'static str {
        self.worlds.as_ref().map_or("agent", Worlds::number)
    }

    pub(crate) fn name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    pub(crate) fn line(&mut self, text: &str) {
        let indent = self.indent * 4;
        let _ = writeln!(self.text, "{:indent$}{text}", "");
    }

    pub(crate) fn type_name(&self, ty: &Ty) -> String {
        match ty {
            Ty::F32 => "f32".into(),
            Ty::I32 => "i32".into(),
            Ty::U32 => "u32".into(),
            Ty::Bool => "bool".into(),
            Ty::Vec2 => "vec2".into(),
            Ty::Vec3 => "vec3".into(),
            Ty::Array(element, length) => format!("[{}; {length}]", self.type_name(element)),
            Ty::Struct(id) => format!("S{id}"),
            Ty::Enum => "Colour".into(),
        }
    }

    pub(crate) fn scalar_type(&mut self) -> Ty {
        [
            Ty::F32,
            Ty::F32,
            Ty::I32,
            Ty::U32,
            Ty::Bool,
            Ty::Vec2,
            Ty::Vec3,
            Ty::Enum,
        ][self.dice.below(8)]
        .clone()
    }

    pub(crate) fn any_type(&mut self, depth: usize) -> Ty {
        match self.dice.below(10) {
            0..=1 if depth > 0 => Ty::Array(
                Box::new(self.any_type(depth - 1)),
                1 + self.dice.below(4) as u32,
            ),
            2 if depth > 0 && !self.structs.is_empty() => {
                Ty::Struct(self.dice.below(self.structs.len()))
            }
            _ => self.scalar_type(),
        }
    }

    /// Types, and functions that keep floats small.
    fn types(&mut self) {
        self.line("enum Colour { Red, Green, Blue }");
        for (name, ty) in [("q", "f32"), ("q2", "vec2"), ("q3", "vec3")] {
            let bound = if ty == "f32" {
                String::new()
            } else {
                ty.to_string()
            };
            self.line(&format!(
                "fn {name}(x: {ty}) -> {ty} {{ return clamp(floor(x * 8.0) / 8.0, {bound}(-99.0), \
                {bound}(99.0)) }}"
            ));
        }
        for id in 0..self.dice.below(3) {
            let count = 1 + self.dice.below(3);
            let fields: Vec<(String, Ty)> = (0..count)
                .map(|k| (format!("f{k}"), self.any_type(1)))
                .collect();
            let shown: Vec<String> = fields
                .iter()
                .map(|(name, ty)| format!("{name}: {}", self.type_name(ty)))
                .collect();
            self.line(&format!("struct S{id} {{ {} }}", shown.join(", ")));
            self.structs.push(fields);
        }
    }

    fn whole(&mut self) {
        self.types();
        self.launch_values();
        let globals = self.scope.clone();
        for _ in 0..self.dice.below(4) {
            self.function();
            self.scope = globals.clone();
        }
        self.states();
        let states = self.scope.clone();
        self.block("init", true, false, 3, &states);
        for _ in 0..1 + self.dice.below(2) {
            let index = self.dice.chance(50);
            let mut scope = states.clone();
            if index {
                scope.push(Variable {
                    name: "t".into(),
                    ty: Ty::I32,
                    mutable: false,
                });
            }
            self.block(if index { "step t" } else { "step" }, true, true, 6, &scope);
        }
        if self.dice.chance(40) {
            self.block("finish", true, false, 3, &states);
        }
        self.scope = states;
        self.outputs();
    }

    fn launch_values(&mut self) {
        for _ in 0..self.dice.below(4) {
            let name = self.name("p");
            let (ty, text) = match self.dice.below(5) {
                0 => (Ty::I32, format!("{}", self.dice.below(50) as i64 - 25)),
                1 => (Ty::U32, format!("{}u", self.dice.below(99))),
                2 => (
                    Ty::Array(Box::new(Ty::F32), 3),
                    "[0.5, -1.25, 2.0]".to_string(),
                ),
                3 => (Ty::Bool, "true".to_string()),
                _ => (Ty::F32, format!("{}.5", self.dice.below(4))),
            };
            self.line(&format!("param {name} = {text}"));
            self.scope.push(Variable {
                name,
                ty,
                mutable: false,
            });
        }
        for _ in 0..self.dice.below(3) {
            let name = self.name("x");
            let (ty, text) = match self.dice.below(4) {
                0 => (Ty::I32, "= 3".to_string()),
                1 => (
                    Ty::Array(Box::new(Ty::Bool), 4),
                    "~ bernoulli(0.5)".to_string(),
                ),
                2 => (
                    Ty::Array(Box::new(Ty::I32), 3),
                    "~ randint(-5, 9)".to_string(),
                ),
                _ => (Ty::F32, "= 0.625".to_string()),
            };
            self.line(&format!("input {name}: {} {text}", self.type_name(&ty)));
            self.scope.push(Variable {
                name,
                ty,
                mutable: false,
            });
        }
        for _ in 0..self.dice.below(3) {
            let name = self.name("C");
            let (ty, text) = match self.dice.below(3) {
                0 => (
                    Ty::Array(Box::new(Ty::I32), 5),
                    "[for i in 0..5: i * i - 3]".to_string(),
                ),
                1 => (
                    Ty::Array(Box::new(Ty::F32), 3),
                    "[0.25, 0.5, 1.75]".to_string(),
                ),
                _ => (Ty::F32, "1.0 / 8.0".to_string()),
            };
            let shown = self.type_name(&ty);
            self.line(&format!("const {name}: {shown} = {text}"));
            self.scope.push(Variable {
                name,
                ty,
                mutable: false,
            });
        }
    }

    fn function(&mut self) {
        let name = self.name("fun");
        let count = 1 + self.dice.below(3);
        let draws = self.dice.chance(30);
        let params: Vec<Ty> = (0..count).map(|_| self.any_type(1)).collect();
        let result = self.any_type(1);
        let mut shown = Vec::new();
        for ty in &params {
            let param = self.name("a");
            shown.push(format!("{param}: {}", self.type_name(ty)));
            self.scope.push(Variable {
                name: param,
                ty: ty.clone(),
                mutable: false,
            });
        }
        let head = format!(
            "fn {name}({}) -> {} {{",
            shown.join(", "),
            self.type_name(&result)
        );
        self.line(&head);
        self.draws = draws;
        self.result = Some(result.clone());
        self.statements(3);
        let value = self.expr(&result, 3);
        self.indent += 1;
        self.line(&format!("return {value}"));
        self.indent -= 1;
        self.line("}");
        self.result = None;
        self.draws = false;
        self.functions.push(Callable {
            name,
            params,
            result,
            draws,
            of_agents: self.worlds.as_ref().is_none_or(Worlds::is_of_agents),
        });
    }

    fn states(&mut self) {
        for _ in 0..1 + self.dice.below(5) {
            let ty = self.any_type(2);
            self.draws = self.dice.chance(50);
            let value = self.expr(&ty, 2);
            self.draws = false;
            let name = self.name("s");
            self.line(&format!("state {name}: {} = {value}", self.type_name(&ty)));
            self.scope.push(Variable {
                name,
                ty,
                mutable: true,
            });
        }
    }

    fn block(&mut self, head: &str, draws: bool, step: bool, count: usize, scope: &[Variable]) {
        self.scope = scope.to_vec();
        self.draws = draws;
        self.in_step = step;
        self.line(&format!("{head} {{"));
        self.statements(count);
        self.line("}");
        self.draws = false;
        self.in_step = false;
    }

    fn outputs(&mut self) {
        for variable in self.scope.clone() {
            if variable.mutable {
                self.line(&format!("output {}", variable.name));
            }
        }
        for _ in 0..1 + self.dice.below(3) {
            let ty = self.any_type(1);
            let value = self.expr(&ty, 3);
            let name = self.name("o");
            self.line(&format!("output {name}: {} = {value}", self.type_name(&ty)));
        }
    }
}
