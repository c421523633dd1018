//! Random statements.

use super::{Generator, Ty, Variable};

impl Generator {
    /// Statements of a block; what they declare goes out of scope with it.
    pub(crate) fn statements(&mut self, count: usize) {
        let depth = self.scope.len();
        self.indent += 1;
        for _ in 0..1 + self.dice.below(count) {
            self.statement();
        }
        self.indent -= 1;
        self.scope.truncate(depth);
    }

    fn statement(&mut self) {
        if self.reads_others() && self.dice.chance(15) {
            return self.world_statement();
        }
        if self.shapes && self.dice.chance(30) {
            return self.shape();
        }
        match self.dice.below(14) {
            0 | 1 => self.declaration("let"),
            2 => self.declaration("var"),
            3..=6 => self.assignment(),
            7 => self.branch(),
            8 if self.indent < 4 => self.counted_loop(),
            9 if self.indent < 4 => self.bounded_loop(),
            10 => self.matching(),
            11 => self.leaving(),
            12 if self.in_step && self.result.is_none() && self.dice.chance(25) => {
                let condition = self.expr(&Ty::Bool, 2);
                self.line(&format!("if {condition} {{ stop }}"));
            }
            _ => self.assignment(),
        }
    }

    fn declaration(&mut self, word: &str) {
        let ty = self.any_type(2);
        let value = self.expr(&ty, 3);
        let name = self.name("v");
        self.line(&format!("{word} {name}: {} = {value}", self.type_name(&ty)));
        self.scope.push(Variable {
            name,
            ty,
            mutable: word == "var",
        });
    }

    fn assignment(&mut self) {
        // A function may assign only its own variables, which are the mutable ones in its scope.
        let targets: Vec<Variable> = self
            .scope
            .iter()
            .filter(|variable| variable.mutable)
            .cloned()
            .collect();
        if targets.is_empty() {
            return self.declaration("var");
        }
        let Variable { name, ty, .. } = targets[self.dice.below(targets.len())].clone();
        match &ty {
            Ty::Array(element, length) if self.dice.chance(60) || self.in_loop => {
                let index = if self.dice.chance(40) {
                    self.dice.below(*length as usize).to_string()
                } else {
                    format!("{} + {}", self.number(), self.expr(&Ty::I32, 2))
                };
                let value = self.bounded(element, 3);
                self.line(&format!("{name}[{index}] = {value}"));
            }
            Ty::Struct(id) if self.dice.chance(60) || self.in_loop => {
                let fields = self.structs[*id].clone();
                let (field, ty) = fields[self.dice.below(fields.len())].clone();
                let value = self.bounded(&ty, 3);
                self.line(&format!("{name}.{field} = {value}"));
            }
            Ty::Vec2 | Ty::Vec3 if self.dice.chance(50) => {
                let value = self.bounded(&Ty::F32, 2);
                let part = ["x", "y"][self.dice.below(2)];
                self.line(&format!("{name}.{part} = {value}"));
            }
            Ty::I32 | Ty::U32 if self.dice.chance(40) => {
                let ops = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];
                let op = ops[self.dice.below(ops.len())];
                let value = self.expr(&ty, 2);
                self.line(&format!("{name} {op} {value}"));
            }
            _ => {
                let value = self.bounded(&ty, 3);
                self.line(&format!("{name} = {value}"));
            }
        }
    }

    /// An expression for a variable that may be in it: of floats, what a loop cannot make grow until
    /// sums round.
    fn bounded(&mut self, ty: &Ty, depth: usize) -> String {
        let value = self.expr(ty, depth);
        match ty {
            Ty::F32 => format!("clamp({value}, -999.0, 999.0)"),
            Ty::Vec2 => format!("clamp({value}, vec2(-999.0), vec2(999.0))"),
            Ty::Vec3 => format!("clamp({value}, vec3(-999.0), vec3(999.0))"),
            Ty::I32 | Ty::U32 | Ty::Bool | Ty::Array(..) | Ty::Struct(_) | Ty::Enum => value,
        }
    }

    fn branch(&mut self) {
        let condition = self.expr(&Ty::Bool, 3);
        self.line(&format!("if {condition} {{"));
        self.statements(2);
        if self.dice.chance(30) {
            let condition = self.expr(&Ty::Bool, 2);
            self.line(&format!("}} else if {condition} {{"));
            self.statements(2);
        }
        if self.dice.chance(50) {
            self.line("} else {");
            self.statements(2);
        }
        self.line("}");
    }

    fn counted_loop(&mut self) {
        let index = self.name("at");
        let end = if self.dice.chance(60) {
            self.dice.below(5).to_string()
        } else {
            format!("({} & 3)", self.expr(&Ty::I32, 2))
        };
        self.line(&format!("for {index} in 0..{end} {{"));
        self.loop_body(Some(index));
    }

    fn bounded_loop(&mut self) {
        let condition = self.expr(&Ty::Bool, 2);
        let limit = 1 + self.dice.below(4);
        self.line(&format!("while {condition} limit {limit} {{"));
        self.loop_body(None);
    }

    fn loop_body(&mut self, index: Option<String>) {
        let outer = std::mem::replace(&mut self.in_loop, true);
        self.rounds *= 5;
        let depth = self.scope.len();
        self.scope.extend(index.map(|name| Variable {
            name,
            ty: Ty::I32,
            mutable: false,
        }));
        self.statements(3);
        self.scope.truncate(depth);
        self.rounds /= 5;
        self.in_loop = outer;
        self.line("}");
    }

    fn matching(&mut self) {
        let (value, arms): (String, &[&str]) = match self.dice.below(3) {
            0 => (self.expr(&Ty::Enum, 2), &["Red", "Green | Blue"]),
            1 => (self.expr(&Ty::I32, 2), &["0", "1 | -1", "_"]),
            _ => (self.expr(&Ty::Enum, 2), &["Blue", "_"]),
        };
        self.line(&format!("match {value} {{"));
        self.indent += 1;
        for arm in arms {
            self.line(&format!("{arm} => {{"));
            self.statements(2);
            self.line("}");
        }
        self.indent -= 1;
        self.line("}");
    }

    fn leaving(&mut self) {
        let condition = self.expr(&Ty::Bool, 2);
        if let (Some(ty), true) = (self.result.clone(), self.dice.chance(50)) {
            let value = self.expr(&ty, 2);
            self.line(&format!("if {condition} {{ return {value} }}"));
        } else if self.in_loop {
            let word = ["break", "continue"][self.dice.below(2)];
            self.line(&format!("if {condition} {{ {word} }}"));
        } else {
            self.assignment();
        }
    }
}
