//! Statements.

use super::{Here, Maker, Profile, T, Variable};

/// Names that are declared again in inner blocks, some of them those of builtin functions.
const NAMES: [&str; 10] = [
    "x", "y", "n", "acc", "sum", "max", "floor", "abs", "k", "len",
];

impl Maker {
    pub(super) fn stmt(&mut self, depth: usize) {
        let simple = depth == 0 || self.fuel == 0;
        if !simple && self.world_stmt(depth) {
            return;
        }
        match self.dice.below(21) {
            0..=3 => self.variable(depth),
            4..=9 => self.assignment(),
            _ if simple => self.assignment(),
            10 | 11 => self.branches(depth),
            12 => self.same_in_both(depth),
            13 | 14 => self.repeated(depth),
            15 => self.conditional(depth),
            16 => match self.dice.chance(50) {
                true => self.choice(depth),
                false => self.sweep(depth),
            },
            17 => self.leaving(depth),
            18 => {
                self.line("{");
                self.inner(depth, 2);
                self.line("}");
            }
            19 => self.asserted(),
            _ => self.accumulated(depth),
        }
    }

    /// An assertion that holds whatever the values are.
    fn asserted(&mut self) {
        let draws = std::mem::replace(&mut self.here.draws, false);
        let condition = match self.dice.below(3) {
            0 => {
                let p = self.expr(&T::B, 2);
                format!("({p}) || !({p})")
            }
            1 => {
                let (a, b) = (self.expr(&T::I, 2), self.expr(&T::I, 2));
                format!("min(i32({a}), i32({b})) <= max(i32({a}), i32({b}))")
            }
            _ => {
                let (a, b) = (self.expr(&T::I, 2), self.expr(&T::I, 2));
                format!("(i32({a}) & i32({b}) | i32({a})) == i32({a})")
            }
        };
        self.here.draws = draws;
        let messages = ["it holds", "\\\"always\\\", \\\\ // {", ""];
        let message = self.dice.pick(&messages);
        self.line(&format!("assert {condition}, \"{message}\""));
    }

    /// Some statements in a scope of their own.
    pub(super) fn inner(&mut self, depth: usize, most: usize) {
        self.indent += 1;
        self.scopes.push(Vec::new());
        for _ in 0..self.dice.below(most + 1) {
            self.stmt(depth - 1);
        }
        self.scopes.pop();
        self.indent -= 1;
    }

    fn variable(&mut self, depth: usize) {
        let ty = self.any_type(1);
        let name = match self.dice.chance(50) {
            true => (*self.dice.pick(&NAMES)).to_owned(),
            false => self.fresh("v"),
        };
        let here = self
            .scopes
            .last()
            .is_some_and(|scope| scope.iter().any(|other| other.name == name));
        if here {
            return self.assignment();
        }
        let annotated = self.dice.chance(30);
        let value = match annotated {
            true => self.declared(&ty, depth.min(3)),
            false => self.expr(&ty, depth.min(3)),
        };
        let assignable = self.dice.chance(70);
        let word = if assignable { "var" } else { "let" };
        let annotation = match annotated {
            true => format!(": {}", self.written(&ty)),
            false => String::new(),
        };
        self.line(&format!("{word} {name}{annotation} = {value}"));
        self.declare(&name, &ty, assignable);
    }

    /// A place that can be assigned, and its type; the one that was asked for, if there is one.
    fn place(&mut self) -> Option<(String, T)> {
        let all: Vec<Variable> = self
            .visible()
            .into_iter()
            .filter(|variable| variable.assignable)
            .cloned()
            .collect();
        if all.is_empty() {
            return None;
        }
        let variable = self.dice.pick(&all).clone();
        let (mut text, mut ty) = (variable.name, variable.ty);
        while self.dice.chance(75) {
            match ty {
                T::A(element, n) => {
                    text += &format!("[{}]", self.index(n, 1));
                    ty = *element;
                }
                T::S(k) => {
                    let f = self.dice.below(self.structs[k].len());
                    text += &format!(".f{f}");
                    ty = self.structs[k][f].clone();
                }
                T::V(_) => {
                    let (part, of) = [("x", T::F), ("y", T::F), ("yx", T::V(2)), ("gr", T::V(2))]
                        [self.dice.below(4)]
                    .clone();
                    text += &format!(".{part}");
                    return Some((text, of));
                }
                _ => break,
            }
        }
        Some((text, ty))
    }

    fn assignment(&mut self) {
        let Some((place, ty)) = self.place() else {
            return;
        };
        let operators: &[&str] = match &ty {
            T::F | T::V(_) => &["=", "+=", "-=", "*=", "/=", "%="],
            T::I | T::U => &[
                "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=",
            ],
            _ => &["="],
        };
        let operator = *self.dice.pick(operators);
        let value = match (&ty, operator) {
            (_, "<<=" | ">>=") => match self.dice.below(3) {
                0 => self.expr(&T::U, 2),
                // As an abstract number, a negative amount would be an error.
                1 => format!("i32({})", self.expr(&T::I, 2)),
                _ => self.dice.below(70).to_string(),
            },
            (T::F | T::I | T::U, _) if self.dice.chance(15) => self.abstract_value(&ty),
            (T::V(_), "*=" | "/=") if self.dice.chance(50) => self.expr(&T::F, 2),
            _ => self.expr(&ty, 3),
        };
        self.line(&format!("{place} {operator} {value}"));
    }

    /// A value without a machine type of its own, which takes that of its place.
    fn abstract_value(&mut self, ty: &T) -> String {
        let (a, b) = (self.literal(ty).0, self.dice.below(100));
        match self.dice.below(4) {
            0 => "2 ** 7 - 5 * (17 / 3) % 4".into(),
            1 => b.to_string(),
            _ => a,
        }
    }

    /// A loop over a whole array and one past it, which reads and assigns elements and their neighbours.
    fn sweep(&mut self, depth: usize) {
        let all: Vec<(String, usize, T)> = self
            .visible()
            .iter()
            .filter(|variable| variable.assignable)
            .filter_map(|variable| match &variable.ty {
                T::A(element, n) if matches!(**element, T::F | T::I | T::U) => {
                    Some((variable.name.clone(), *n, (**element).clone()))
                }
                _ => None,
            })
            .collect();
        if all.is_empty() || self.here.loops >= 3 {
            return self.accumulated(depth);
        }
        let (name, length, element) = self.dice.pick(&all).clone();
        let index = self.fresh("k");
        let (from, to) = (
            self.dice.range(-1, 1),
            length as i64 + self.dice.range(-1, 1),
        );
        self.line(&format!("for {index} in {from}..{to} {{"));
        let outside = self.enter_loop();
        self.scopes.push(Vec::new());
        self.declare(&index, &T::I, false);
        self.indent += 1;
        self.scopes.push(Vec::new());
        let (a, b, c) = (
            self.dice.range(-1, 1),
            self.dice.range(-1, 1),
            self.dice.range(0, 1),
        );
        let old = self.fresh("old");
        let value = self.expr(&element, 2);
        self.line(&format!(
            "let {old} = {name}[{index} + {a}] * {value} + {name}[{index}]"
        ));
        self.declare(&old, &element, false);
        let value = self.expr(&element, 2);
        self.line(&format!("{name}[{index} + {b}] = {value} - {old}"));
        self.line("{");
        self.inner(depth, 1);
        self.line("}");
        self.line(&format!("{name}[{index}] += {old} + {name}[{index} + {c}]"));
        self.scopes.pop();
        self.indent -= 1;
        self.scopes.pop();
        self.here = outside;
        self.line("}");
    }

    fn branches(&mut self, depth: usize) {
        let condition = self.expr(&T::B, 2);
        self.line(&format!("if {condition} {{"));
        self.inner(depth, 3);
        if self.dice.chance(30) {
            let condition = self.expr(&T::B, 2);
            self.line(&format!("}} else if {condition} {{"));
            self.inner(depth, 2);
        }
        if self.dice.chance(50) {
            self.line("} else {");
            self.inner(depth, 3);
        }
        self.line("}");
    }

    /// Both arms assign the same two variables, in terms of one another and in either order.
    fn same_in_both(&mut self, depth: usize) {
        let of = |maker: &Maker, ty: &T| -> Vec<String> {
            let all = maker.visible();
            let fitting = all
                .into_iter()
                .filter(|variable| variable.assignable && variable.ty == *ty);
            fitting.map(|variable| variable.name.clone()).collect()
        };
        let ty = self.scalar();
        let names = of(self, &ty);
        if names.len() < 2 || ty == T::B {
            return self.branches(depth);
        }
        let a = self.dice.pick(&names).clone();
        let b = self.dice.pick(&names).clone();
        let condition = self.expr(&T::B, 2);
        self.line(&format!("if {condition} {{"));
        for arm in 0..2 {
            let mut lines = [
                format!("    {a} = {b} + {}", self.literal(&ty).0),
                format!("    {b} = {a} * {}", self.literal(&ty).0),
            ];
            if self.dice.chance(50) {
                lines.swap(0, 1);
            }
            for line in lines {
                self.line(&line);
            }
            if arm == 0 {
                self.line("} else {");
            }
        }
        self.line("}");
    }

    /// Gives what held outside the loop.
    fn enter_loop(&mut self) -> Here {
        let outside = self.here;
        self.here.in_loop = true;
        self.here.loops += 1;
        outside
    }

    fn repeated(&mut self, depth: usize) {
        if self.here.loops >= 3 {
            return self.assignment();
        }
        let (from, to) = (self.bound(2), self.bound(2));
        let index = match self.dice.chance(50) {
            true => "i".to_owned(),
            false => self.fresh("k"),
        };
        self.line(&format!("for {index} in {from}..{to} {{"));
        self.scopes.push(Vec::new());
        self.declare(&index, &T::I, false);
        let outside = self.enter_loop();
        self.inner(depth, 3);
        self.here = outside;
        self.scopes.pop();
        self.line("}");
    }

    fn conditional(&mut self, depth: usize) {
        if self.here.loops >= 3 {
            return self.assignment();
        }
        // The page does not say whether the last condition is evaluated when the limit ends the loop: no
        // draws there.
        let draws = std::mem::replace(&mut self.here.draws, false);
        let condition = self.expr(&T::B, 2);
        self.here.draws = draws;
        let limit = self.bound(2);
        self.line(&format!("while {condition} limit {limit} {{"));
        let outside = self.enter_loop();
        self.inner(depth, 3);
        self.here = outside;
        self.line("}");
    }

    fn choice(&mut self, depth: usize) {
        let ty = match (self.dice.below(3), self.enums.len()) {
            (0, count) if count > 0 => T::E(self.dice.below(count)),
            (1, _) => T::B,
            _ => T::I,
        };
        let value = self.expr(&ty, 2);
        self.line(&format!("match {value} {{"));
        self.indent += 1;
        let patterns: Vec<String> = match &ty {
            T::E(k) => (1..self.enums[*k]).map(|v| format!("V{k}{v}")).collect(),
            T::B => vec!["true".into()],
            _ => vec![
                "0 | 1".into(),
                "-1".into(),
                "(2 + 1)".into(),
                "2147483647".into(),
            ],
        };
        for pattern in patterns {
            self.line(&format!("{pattern} => {{"));
            self.inner(depth, 2);
            self.line("}");
        }
        let rest = match &ty {
            T::B if self.dice.chance(50) => "false",
            _ => "_",
        };
        self.line(&format!("{rest} => {{"));
        self.inner(depth, 2);
        self.line("}");
        self.indent -= 1;
        self.line("}");
    }

    /// `break`, `continue`, `stop` or `return` under a condition, within an inner `if` half of the time,
    /// and code after it.
    fn leaving(&mut self, depth: usize) {
        let mut ways: Vec<String> = Vec::new();
        if self.here.in_loop {
            ways.extend(["break".into(), "continue".into()]);
        }
        if self.here.may_stop {
            ways.push("stop".into());
        }
        if let Some(ty) = self.result.clone() {
            let value = self.expr(&ty, 1);
            ways.extend([format!("return {value}"), format!("return {value}")]);
        }
        if ways.is_empty() {
            return self.branches(depth);
        }
        let way = self.dice.pick(&ways).clone();
        let (outer, inner) = (self.expr(&T::B, 2), self.expr(&T::B, 2));
        let nested = self.dice.chance(50);
        self.line(&format!("if {outer} {{"));
        if nested {
            self.line(&format!("    if {inner} {{ {way} }}"));
            self.inner(depth, 2);
        } else {
            self.inner(depth, 1);
            self.line(&format!("    {way}"));
        }
        self.line("}");
    }

    /// Nested loops with bounds of the run and an accumulator; a read of an element, an assignment to
    /// it, a read.
    fn accumulated(&mut self, depth: usize) {
        let ty = match self.profile {
            Profile::Whole if self.dice.chance(50) => T::F,
            _ => T::I,
        };
        if self.here.loops >= 2 {
            return self.assignment();
        }
        let (acc, out, row) = (self.fresh("acc"), self.fresh("acc"), self.fresh("row"));
        let start = self.typed_literal(&ty);
        let n = 2 + self.dice.below(4);
        let array = self.expr(&T::A(Box::new(ty.clone()), n), 2);
        let (far, near) = (self.bound(2), self.bound(2));
        let (i, j) = (self.fresh("k"), self.fresh("j"));
        self.line(&format!("var {acc} = {start}"));
        self.line(&format!("var {out} = {start}"));
        self.line(&format!("var {row} = {array}"));
        self.declare(&acc, &ty, true);
        self.declare(&out, &ty, true);
        self.declare(&row, &T::A(Box::new(ty.clone()), n), true);
        self.line(&format!("for {i} in 0..{far} {{"));
        let outside = self.enter_loop();
        self.scopes.push(Vec::new());
        self.declare(&i, &T::I, false);
        self.indent += 1;
        self.scopes.push(Vec::new());
        let before = format!("let before = {row}[{i}] * 2 + {acc}");
        self.line(&before);
        self.line(&format!("for {j} in {near}..{i} + 2 {{"));
        self.scopes.push(Vec::new());
        self.declare(&j, &T::I, false);
        self.inner(depth, 2);
        self.line(&format!("    {acc} += {row}[{j}]"));
        self.scopes.pop();
        self.line("}");
        self.line(&format!("{row}[{i}] = {acc}"));
        self.declare("before", &ty, false);
        let value = match (&ty, self.dice.chance(50)) {
            (T::F, true) => format!("sqrt({acc}) + before"),
            _ => format!("{row}[{i} + 1] + before"),
        };
        self.line(&format!("{out} += {value}"));
        self.scopes.pop();
        self.indent -= 1;
        self.scopes.pop();
        self.here = outside;
        self.line("}");
    }
}
