//! Statements of the shapes in which passes, lowering and the vector machine have gone wrong: a few random
//! statements in a row hardly ever produce them.

use super::{Generator, Ty, Variable};

impl Generator {
    /// One of the shapes that fits here.
    pub(crate) fn shape(&mut self) {
        match self.dice.below(7) {
            0 if self.indent < 3 => self.accumulation(),
            1 => self.both_arms(),
            2 if self.indent < 4 => self.whole_array(),
            3 => self.between_reads(),
            4 if self.in_step && self.result.is_none() => self.inner_stop(),
            5 if self.result.is_some() && self.indent < 3 => self.return_from_loops(),
            _ => self.both_arms(),
        }
    }

    /// A new variable, in scope from here on.
    fn local(&mut self, ty: Ty, value: &str) -> String {
        let name = self.name("v");
        self.line(&format!("var {name}: {} = {value}", self.type_name(&ty)));
        self.scope.push(Variable {
            name: name.clone(),
            ty,
            mutable: true,
        });
        name
    }

    fn scalar_with_sum(&mut self) -> Ty {
        [Ty::F32, Ty::F32, Ty::I32, Ty::U32][self.dice.below(4)].clone()
    }

    /// A value made of another of the type: small floats stay small, and multiples of 1/8.
    fn mixed(&mut self, ty: &Ty, with: &str) -> String {
        let other = self.expr(ty, 1);
        match ty {
            Ty::F32 => match self.dice.below(3) {
                0 => format!("q({with} + {other})"),
                1 => format!("q(0.5 * {with} - {other})"),
                _ => format!("q({with} * {other})"),
            },
            Ty::I32 | Ty::U32 => {
                let op = ["+", "-", "*", "^", "%"][self.dice.below(5)];
                format!("({with} {op} {other})")
            }
            Ty::Bool => format!("({with} != {other})"),
            Ty::Vec2 | Ty::Vec3 => format!("min({with}, {other})"),
            Ty::Array(..) | Ty::Struct(_) | Ty::Enum => {
                let condition = self.expr(&Ty::Bool, 1);
                format!("if {condition} {{ {with} }} else {{ {other} }}")
            }
        }
    }

    /// A variable that may be assigned here, of one of these types.
    fn target(&mut self, fits: impl Fn(&Ty) -> bool) -> Option<Variable> {
        let fitting: Vec<Variable> = (self.scope.iter())
            .filter(|variable| variable.mutable && fits(&variable.ty))
            .cloned()
            .collect();
        (!fitting.is_empty()).then(|| fitting[self.dice.below(fitting.len())].clone())
    }

    /// Assigns a name to something that outlives it.
    fn give(&mut self, name: &str, ty: &Ty) {
        if let Some(target) = self.target(|other| other == ty)
            && target.name != name
        {
            let value = self.mixed(ty, name);
            self.line(&format!("{} = {value}", target.name));
        }
    }

    /// An end of a range that is known when the model runs.
    fn bound(&mut self) -> String {
        match self.dice.below(4) {
            0 => format!("({} & 3)", self.number()),
            1 => format!("(steps - {})", self.dice.below(4)),
            2 => format!("({} & 3)", self.leaf(&Ty::I32)),
            _ => format!("{}", 1 + self.dice.below(3)),
        }
    }

    fn open_loop(&mut self, head: &str, index: Option<String>) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
        self.rounds *= 4;
        self.scope.extend(index.map(|name| Variable {
            name,
            ty: Ty::I32,
            mutable: false,
        }));
    }

    fn close_loop(&mut self, depth: usize) {
        self.scope.truncate(depth);
        self.rounds /= 4;
        self.indent -= 1;
        self.line("}");
    }

    /// A comparison with the ends of a remainder's range.
    pub(crate) fn remainder_test(&mut self) -> String {
        let value = self.expr(&Ty::I32, 1);
        let by = 2 + self.dice.below(5) as i64;
        let end = [by, by - 1, by - 2, -by, 1 - by, 2 - by, 0][self.dice.below(7)];
        let op = ["<", "<=", ">", ">=", "==", "!="][self.dice.below(6)];
        format!("({value} % {by} {op} {end})")
    }

    /// A fold whose filter may leave nothing, of a range that may have no iteration.
    pub(crate) fn filtered_fold(&mut self, ty: &Ty) -> String {
        let folds: &[&str] = match ty {
            // Without an element `min`, `max` and `mean` of floats are infinite or NaN, and the order of
            // products is open.
            Ty::F32 => &["sum"],
            Ty::I32 => &["sum", "min", "max", "count", "argmin", "argmax"],
            Ty::Bool => &["any", "all"],
            _ => &["sum", "min", "max"],
        };
        let fold = folds[self.dice.below(folds.len())];
        let end = self.bound();
        let start = self.dice.below(3);
        let index = self.name("at");
        self.scope.push(Variable {
            name: index.clone(),
            ty: Ty::I32,
            mutable: false,
        });
        self.rounds *= 4;
        let filter = match self.dice.below(3) {
            0 => format!("{index} > 8"),
            1 => format!("{index} % 2 == 1"),
            _ => self.expr(&Ty::Bool, 1),
        };
        let value = self.expr(ty, 1);
        self.rounds /= 4;
        self.scope.pop();
        format!("{fold}(for {index} in {start}..{end} if {filter}: {value})")
    }

    /// Loops in loops that add up: the outer one reads what the inner one made.
    fn accumulation(&mut self) {
        let ty = self.scalar_with_sum();
        let start = self.leaf(&ty);
        let (sum, total) = (self.local(ty.clone(), &start), self.local(ty.clone(), "0"));
        let outside = self.scope.len();
        let outer = self.name("at");
        let end = self.bound();
        self.open_loop(&format!("for {outer} in 0..{end}"), Some(outer.clone()));
        if self.dice.chance(30) {
            let value = self.mixed(&ty, &total);
            self.line(&format!("{sum} = {value}"));
        }
        let between = self.scope.len();
        let inner = self.name("at");
        let end = match self.dice.below(3) {
            0 => format!("{outer} + 1"),
            _ => self.bound(),
        };
        self.open_loop(&format!("for {inner} in 0..{end}"), Some(inner));
        let value = self.mixed(&ty, &sum);
        self.line(&format!("{sum} = {value}"));
        self.close_loop(between);
        let value = match ty {
            Ty::F32 => format!("clamp({total} + q(sqrt(abs({sum}))), -999.0, 999.0)"),
            _ => format!("{total} * 3 + {sum}"),
        };
        self.line(&format!("{total} = {value}"));
        if self.dice.chance(30) {
            self.give(&sum, &ty);
        }
        self.close_loop(outside);
        self.give(&total, &ty);
    }

    /// Branches that assign the same variables, in orders of their own.
    fn both_arms(&mut self) {
        let fits = |ty: &Ty| matches!(ty, Ty::F32 | Ty::I32 | Ty::U32 | Ty::Bool | Ty::Vec2);
        let Some(first) = self.target(fits) else {
            self.local(Ty::F32, "1.5");
            return;
        };
        let mut vars = vec![first.clone()];
        while vars.len() < 2 + self.dice.below(2) {
            let same = self.target(|ty| *ty == first.ty);
            let other = same.filter(|other| vars.iter().all(|var| var.name != other.name));
            vars.push(other.unwrap_or_else(|| {
                let value = self.leaf(&first.ty);
                Variable {
                    name: self.local(first.ty.clone(), &value),
                    ty: first.ty.clone(),
                    mutable: true,
                }
            }));
        }
        let condition = self.expr(&Ty::Bool, 2);
        self.line(&format!("if {condition} {{"));
        for arm in 0..2 {
            self.indent += 1;
            let turn = self.dice.below(vars.len());
            let count = vars.len() - usize::from(self.dice.chance(25));
            for k in 0..count {
                let at = match arm {
                    0 => k,
                    _ => (turn + vars.len() - k) % vars.len(),
                };
                let from = vars[self.dice.below(vars.len())].name.clone();
                let value = self.mixed(&first.ty, &from);
                self.line(&format!("{} = {value}", vars[at].name));
            }
            self.indent -= 1;
            self.line(if arm == 0 { "} else {" } else { "}" });
        }
        let last = vars[vars.len() - 1].name.clone();
        self.give(&last, &first.ty);
    }

    /// An array of scalars that may be assigned: its name, element type and length.
    fn row(&mut self) -> (String, Ty, u32) {
        let scalar = |ty: &Ty| matches!(ty, Ty::F32 | Ty::I32 | Ty::U32 | Ty::Bool);
        let found = self.target(|ty| matches!(ty, Ty::Array(element, _) if scalar(element)));
        if let Some(Variable {
            name,
            ty: Ty::Array(element, length),
            ..
        }) = found
            && self.dice.chance(80)
        {
            return (name, *element, length);
        }
        let element = self.scalar_with_sum();
        let length = 2 + self.dice.below(3) as u32;
        let ty = Ty::Array(Box::new(element.clone()), length);
        let value = self.expr(&ty, 2);
        (self.local(ty, &value), element, length)
    }

    /// A loop over all elements whose indices reach one further, on either side.
    fn whole_array(&mut self) {
        let (row, element, length) = self.row();
        let start = self.leaf(&element);
        let sum = self.local(element.clone(), &start);
        let outside = self.scope.len();
        let index = self.name("at");
        let end = match self.dice.below(3) {
            0 => format!("len({row})"),
            1 => format!("{length}"),
            _ => format!("({} & 3) + 2", self.leaf(&Ty::I32)),
        };
        self.open_loop(&format!("for {index} in 0..{end}"), Some(index.clone()));
        for _ in 0..1 + self.dice.below(2) {
            let offset = ["", " + 1", " - 1", " + 2"][self.dice.below(4)];
            let at = format!("{row}[{index}{offset}]");
            if self.dice.chance(50) {
                let value = self.mixed(&element, &sum);
                self.line(&format!("{at} = {value}"));
            } else {
                let value = self.mixed(&element, &at);
                self.line(&format!("{sum} = {value}"));
            }
        }
        self.close_loop(outside);
        self.give(&sum, &element);
    }

    fn place(&mut self, row: &str, length: u32) -> String {
        match self.dice.below(3) {
            0 => format!("{row}[{}]", self.dice.below(length as usize)),
            1 => format!("{row}[{} & 3]", self.number()),
            _ => {
                let number = self.number();
                format!("{row}[({number} + {}) % {length}]", self.leaf(&Ty::I32))
            }
        }
    }

    /// A name of a value that reads an element, an assignment of an element, and a use of both.
    fn between_reads(&mut self) {
        let (row, element, length) = self.row();
        let before = self.place(&row, length);
        let value = self.mixed(&element, &before);
        let name = self.name("v");
        self.line(&format!(
            "let {name}: {} = {value}",
            self.type_name(&element)
        ));
        let (place, value) = (self.place(&row, length), self.mixed(&element, &before));
        self.line(&format!("{place} = {value}"));
        self.scope.push(Variable {
            name: name.clone(),
            ty: element.clone(),
            mutable: false,
        });
        let after = self.place(&row, length);
        let start = self.mixed(&element, &after);
        let sum = self.local(element.clone(), &start);
        self.give(&sum, &element);
        self.give(&name, &element);
    }

    /// What follows an `if` with `stop` in a branch.
    fn inner_stop(&mut self) {
        let (outer, inner) = (self.expr(&Ty::Bool, 1), self.expr(&Ty::Bool, 1));
        self.line(&format!("if {outer} {{"));
        self.statements(1);
        self.indent += 1;
        self.line(&format!("if {inner} {{"));
        self.statements(1);
        self.line("    stop");
        self.line("}");
        self.indent -= 1;
        self.statements(2);
        self.line("}");
    }

    /// `return` in a loop in a loop.
    fn return_from_loops(&mut self) {
        let Some(result) = self.result.clone() else {
            return;
        };
        let outside = self.scope.len();
        let outer = self.name("at");
        let end = self.bound();
        self.open_loop(&format!("for {outer} in 0..{end}"), Some(outer));
        let between = self.scope.len();
        let condition = self.expr(&Ty::Bool, 1);
        let limit = 1 + self.dice.below(3);
        self.open_loop(&format!("while {condition} limit {limit}"), None);
        let condition = self.expr(&Ty::Bool, 2);
        let value = self.expr(&result, 1);
        self.line(&format!("if {condition} {{ return {value} }}"));
        self.indent -= 1;
        self.statements(1);
        self.indent += 1;
        self.close_loop(between);
        self.indent -= 1;
        self.statements(1);
        self.indent += 1;
        self.close_loop(outside);
    }
}
