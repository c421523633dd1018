//! Random expressions of a given type.

use super::{Generator, Ty};

impl Generator {
    pub(crate) fn expr(&mut self, ty: &Ty, depth: usize) -> String {
        if depth == 0 || self.dice.chance(15) {
            return self.leaf(ty);
        }
        if self.reads_others()
            && self.dice.chance(15)
            && let Some(text) = self.of_others(ty, depth - 1)
        {
            return text;
        }
        match self.dice.below(12) {
            0 => {
                let condition = self.expr(&Ty::Bool, depth - 1);
                let (a, b) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
                format!("if {condition} {{ {a} }} else {{ {b} }}")
            }
            1 => self
                .call(ty, depth)
                .unwrap_or_else(|| self.by_type(ty, depth)),
            2 => self
                .element(ty, depth)
                .unwrap_or_else(|| self.by_type(ty, depth)),
            3 if self.draws && self.rounds < 20 => self
                .draw(ty, depth)
                .unwrap_or_else(|| self.by_type(ty, depth)),
            _ => self.by_type(ty, depth),
        }
    }

    /// A variable of the type, or a literal.
    pub(crate) fn leaf(&mut self, ty: &Ty) -> String {
        let fitting: Vec<String> = self
            .scope
            .iter()
            .filter(|variable| variable.ty == *ty)
            .map(|variable| variable.name.clone())
            .collect();
        if !fitting.is_empty() && self.dice.chance(70) {
            return fitting[self.dice.below(fitting.len())].clone();
        }
        self.literal(ty)
    }

    fn literal(&mut self, ty: &Ty) -> String {
        match ty {
            Ty::F32 => ["0.5", "-1.25", "2.0", "0.0", "1.5", "-0.75", "3.0", "0.125"]
                [self.dice.below(8)]
            .into(),
            // Converted, so that constants of these wrap as everything else does instead of overflowing.
            Ty::I32 => {
                let value = [
                    "0",
                    "1",
                    "-1",
                    "7",
                    "-13",
                    "100",
                    "2147483647",
                    "-2147483648",
                ][self.dice.below(8)];
                format!("i32({value})")
            }
            Ty::U32 => ["0u", "1u", "5u", "31u", "1000u", "4294967295u"][self.dice.below(6)].into(),
            Ty::Bool => ["true", "false"][self.dice.below(2)].into(),
            Ty::Vec2 => "vec2(0.5, -1.5)".into(),
            Ty::Vec3 => "vec3(1.0, 0.25, -0.5)".into(),
            Ty::Enum => ["Red", "Green", "Blue", "Colour.Green"][self.dice.below(4)].into(),
            Ty::Array(element, length) => {
                let (element, length) = ((**element).clone(), *length);
                if self.dice.chance(30) {
                    return format!("[{}; {length}]", self.leaf(&element));
                }
                let parts: Vec<String> = (0..length).map(|_| self.leaf(&element)).collect();
                format!("[{}]", parts.join(", "))
            }
            Ty::Struct(id) => {
                let fields = self.structs[*id].clone();
                let parts: Vec<String> = fields.iter().map(|(_, ty)| self.leaf(ty)).collect();
                format!("S{id}({})", parts.join(", "))
            }
        }
    }

    fn by_type(&mut self, ty: &Ty, depth: usize) -> String {
        match ty {
            Ty::F32 => self.float(depth - 1),
            Ty::I32 => self.integer(&Ty::I32, depth - 1),
            Ty::U32 => self.integer(&Ty::U32, depth - 1),
            Ty::Bool => self.truth(depth - 1),
            Ty::Vec2 | Ty::Vec3 => self.vector(ty, depth - 1),
            Ty::Enum => self.leaf(ty),
            Ty::Array(element, length) => self.array(element, *length, depth - 1),
            Ty::Struct(id) => {
                let fields = self.structs[*id].clone();
                let parts: Vec<String> = fields
                    .iter()
                    .map(|(_, ty)| self.expr(ty, depth - 1))
                    .collect();
                format!("S{id}({})", parts.join(", "))
            }
        }
    }

    /// A multiple of 1/8 of moderate size, so that sums are exact in any order: drivers may reassociate.
    fn float(&mut self, depth: usize) -> String {
        let a = self.expr(&Ty::F32, depth);
        match self.dice.below(14) {
            0 | 1 => format!("({a} + {})", self.expr(&Ty::F32, depth)),
            2 => format!("({a} - {})", self.expr(&Ty::F32, depth)),
            3 | 4 => format!("q({a} * {})", self.expr(&Ty::F32, depth)),
            5 => format!("q({a} / (1.0 + abs({})))", self.expr(&Ty::F32, depth)),
            6 => format!("q(sqrt(abs({a})))"),
            7 => format!("max({a}, {})", self.expr(&Ty::F32, depth)),
            8 => format!("floor({a})"),
            9 => format!("f32({} % 64)", self.expr(&Ty::I32, depth)),
            10 => format!("(-({a}))"),
            11 => {
                let vector = self.expr(&Ty::Vec3, depth);
                format!("({vector}).{}", ["x", "y", "z"][self.dice.below(3)])
            }
            12 if self.shapes && self.dice.chance(50) => {
                format!("q({})", self.filtered_fold(&Ty::F32))
            }
            12 => self.float_fold(depth),
            _ => format!(
                "select({a}, {}, {})",
                self.expr(&Ty::F32, depth),
                self.expr(&Ty::Bool, depth)
            ),
        }
    }

    fn float_fold(&mut self, depth: usize) -> String {
        let fold = ["sum", "min", "max", "mean"][self.dice.below(4)];
        let index = self.name("at");
        let end = 1 + self.dice.below(4);
        self.scope.push(super::Variable {
            name: index.clone(),
            ty: Ty::I32,
            mutable: false,
        });
        self.rounds *= 5;
        let value = self.expr(&Ty::F32, depth.min(2));
        self.rounds /= 5;
        self.scope.pop();
        format!("q({fold}(for {index} in 0..{end}: {value}))")
    }

    fn integer(&mut self, ty: &Ty, depth: usize) -> String {
        if self.shapes && self.dice.chance(10) {
            return self.filtered_fold(ty);
        }
        let a = self.expr(ty, depth);
        if self.dice.chance(20) {
            return match (ty, self.dice.below(4)) {
                (Ty::I32, 0) => format!("i32({})", self.expr(&Ty::F32, depth)),
                (Ty::I32, 1) => format!("i32({})", self.expr(&Ty::U32, depth)),
                (Ty::I32, 2) => format!("i32({})", self.expr(&Ty::Bool, depth)),
                (Ty::I32, _) => self.count(depth),
                (_, 0) => format!("u32({})", self.expr(&Ty::F32, depth)),
                (_, 1) => format!("u32({})", self.expr(&Ty::I32, depth)),
                (_, 2) => format!("bitcast<u32>({})", self.expr(&Ty::I32, depth)),
                (_, _) => format!("countOneBits({a})"),
            };
        }
        let b = self.expr(ty, depth);
        let op = [
            "+", "-", "*", "/", "%", "&", "|", "^", "min", "max", "<<", ">>", "abs",
        ][self.dice.below(13)];
        match op {
            "min" | "max" => format!("{op}({a}, {b})"),
            "abs" => format!("abs({a})"),
            "<<" | ">>" => format!("({a} {op} {})", self.expr(&Ty::U32, depth.min(1))),
            _ => format!("({a} {op} {b})"),
        }
    }

    fn count(&mut self, depth: usize) -> String {
        let index = self.name("at");
        self.scope.push(super::Variable {
            name: index.clone(),
            ty: Ty::I32,
            mutable: false,
        });
        self.rounds *= 5;
        let filter = self.expr(&Ty::Bool, depth.min(2));
        self.rounds /= 5;
        self.scope.pop();
        format!("count(for {index} in 0..4 if {filter}: 1)")
    }

    fn truth(&mut self, depth: usize) -> String {
        if self.shapes && self.dice.chance(20) {
            return match self.dice.below(3) {
                0 => self.filtered_fold(&Ty::Bool),
                _ => self.remainder_test(),
            };
        }
        match self.dice.below(8) {
            0 => format!(
                "({} && {})",
                self.expr(&Ty::Bool, depth),
                self.expr(&Ty::Bool, depth)
            ),
            1 => format!(
                "({} || {})",
                self.expr(&Ty::Bool, depth),
                self.expr(&Ty::Bool, depth)
            ),
            2 => format!("!({})", self.expr(&Ty::Bool, depth)),
            3 => format!(
                "({} == {})",
                self.expr(&Ty::Enum, depth),
                self.expr(&Ty::Enum, depth)
            ),
            4 => format!(
                "({} < {})",
                self.expr(&Ty::I32, depth),
                self.expr(&Ty::I32, depth)
            ),
            5 => format!(
                "({} >= {})",
                self.expr(&Ty::U32, depth),
                self.expr(&Ty::U32, depth)
            ),
            6 => format!(
                "({} != {})",
                self.expr(&Ty::I32, depth),
                self.expr(&Ty::I32, depth)
            ),
            _ => format!(
                "({} <= {})",
                self.expr(&Ty::F32, depth),
                self.expr(&Ty::F32, depth)
            ),
        }
    }

    fn vector(&mut self, ty: &Ty, depth: usize) -> String {
        let size = if *ty == Ty::Vec2 { 2 } else { 3 };
        match self.dice.below(5) {
            0 => format!("({} + {})", self.expr(ty, depth), self.expr(ty, depth)),
            1 => format!(
                "q{size}({} * {})",
                self.expr(ty, depth),
                self.expr(&Ty::F32, depth)
            ),
            2 if size == 2 => format!(
                "({}).{}",
                self.expr(&Ty::Vec3, depth),
                ["xy", "zx", "yy"][self.dice.below(3)]
            ),
            2 => format!(
                "vec3({}, {})",
                self.expr(&Ty::Vec2, depth),
                self.expr(&Ty::F32, depth)
            ),
            3 => format!("min({}, {})", self.expr(ty, depth), self.expr(ty, depth)),
            _ => {
                let parts: Vec<String> = (0..size).map(|_| self.expr(&Ty::F32, depth)).collect();
                format!("vec{size}({})", parts.join(", "))
            }
        }
    }

    fn array(&mut self, element: &Ty, length: u32, depth: usize) -> String {
        match self.dice.below(3) {
            0 => {
                let index = self.name("at");
                self.scope.push(super::Variable {
                    name: index.clone(),
                    ty: Ty::I32,
                    mutable: false,
                });
                self.rounds *= 5;
                let value = self.expr(element, depth.min(2));
                self.rounds /= 5;
                self.scope.pop();
                let start = self.dice.below(3) as u32;
                format!("[for {index} in {start}..{}: {value}]", start + length)
            }
            1 => format!("[{}; {length}]", self.expr(element, depth)),
            _ => {
                let parts: Vec<String> = (0..length).map(|_| self.expr(element, depth)).collect();
                format!("[{}]", parts.join(", "))
            }
        }
    }

    /// A part of a variable: an element, constant or dynamic index, or a field.
    fn element(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let mut found = Vec::new();
        for variable in self.scope.clone() {
            match &variable.ty {
                Ty::Array(element, length) if **element == *ty => {
                    found.push((variable.name.clone(), Some(*length), ""))
                }
                Ty::Struct(id) => {
                    for (field, field_ty) in self.structs[*id].clone() {
                        if field_ty == *ty {
                            found.push((format!("{}.{field}", variable.name), None, ""));
                        }
                    }
                }
                _ => {}
            }
        }
        if found.is_empty() {
            return None;
        }
        let (name, length, _) = found[self.dice.below(found.len())].clone();
        Some(match length {
            None => name,
            Some(length) if self.dice.chance(50) => {
                format!("{name}[{}]", self.dice.below(length as usize))
            }
            Some(_) => {
                let number = self.number();
                format!("{name}[{number} + {}]", self.expr(&Ty::I32, depth.min(2)))
            }
        })
    }

    fn call(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        let fitting: Vec<super::Callable> = self
            .functions
            .iter()
            .filter(|function| function.result == *ty && self.can_call(function))
            .cloned()
            .collect();
        if fitting.is_empty() || self.rounds > 20 {
            return None;
        }
        let function = fitting[self.dice.below(fitting.len())].clone();
        let args: Vec<String> = function
            .params
            .iter()
            .map(|ty| self.expr(ty, depth - 1))
            .collect();
        Some(format!("{}({})", function.name, args.join(", ")))
    }

    fn draw(&mut self, ty: &Ty, depth: usize) -> Option<String> {
        Some(match ty {
            Ty::F32 => match self.dice.below(2) {
                0 => "q(random())".into(),
                _ => format!(
                    "q(uniform(-2.0, clamp({}, -2.0, 9.0)))",
                    self.expr(&Ty::F32, depth.min(1))
                ),
            },
            Ty::I32 => format!("randint(-4, {})", 1 + self.dice.below(9)),
            Ty::Bool => "bernoulli(0.4)".into(),
            Ty::U32 | Ty::Vec2 | Ty::Vec3 | Ty::Array(..) | Ty::Struct(_) | Ty::Enum => {
                return None;
            }
        })
    }
}
