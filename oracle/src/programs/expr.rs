//! Expressions of a type.

use super::{Function, Maker, Profile, T};

impl Maker {
    /// An expression of a type; it has that type by itself.
    pub(super) fn expr(&mut self, ty: &T, depth: usize) -> String {
        if depth == 0 || self.fuel == 0 {
            return self.simple(ty);
        }
        self.fuel -= 1;
        if let Some(text) = self.of_world(ty, depth) {
            return text;
        }
        match self.dice.below(20) {
            0..=3 => return self.simple(ty),
            4 => {
                let condition = self.expr(&T::B, depth - 1);
                let (yes, no) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
                return format!("(if {condition} {{ {yes} }} else {{ {no} }})");
            }
            5 => {
                if let Some(call) = self.call(ty, depth) {
                    return call;
                }
            }
            6 | 7 => {
                if let Some(element) = self.element(ty, depth) {
                    return element;
                }
            }
            // The page of builtins says that `select` takes any type, but it takes scalars and vectors
            // only.
            8 if !matches!(ty, T::A(..) | T::S(_) | T::E(_)) => {
                let (a, b) = (self.expr(ty, depth - 1), self.expr(ty, depth - 1));
                let condition = self.expr(&T::B, depth - 1);
                return format!("select({a}, {b}, {condition})");
            }
            _ => {}
        }
        match ty {
            T::F => self.float(depth),
            T::I => self.signed(depth),
            T::U => self.unsigned(depth),
            T::B => self.truth(depth),
            T::V(n) => self.vector(*n, depth),
            T::A(element, n) => self.array(element, *n, depth),
            T::S(_) | T::E(_) | T::O => self.simple(ty),
        }
    }

    /// A value for a declaration that writes the type: of an array sometimes one for all elements.
    pub(super) fn declared(&mut self, ty: &T, depth: usize) -> String {
        let mut element = ty;
        while let T::A(inner, _) = element {
            element = inner;
        }
        match element != ty && self.dice.chance(25) {
            true => self.expr(element, depth),
            false => self.expr(ty, depth),
        }
    }

    /// A name of the type, or the shortest way to make a value.
    pub(super) fn simple(&mut self, ty: &T) -> String {
        let here: Vec<String> = self
            .visible()
            .iter()
            .filter(|variable| variable.ty == *ty)
            .map(|variable| variable.name.clone())
            .collect();
        if !here.is_empty() && self.dice.chance(75) {
            return self.dice.pick(&here).clone();
        }
        match ty {
            T::I if self.dice.chance(30) => (*self.dice.pick(self.launch_values())).to_owned(),
            T::F if self.here.draws && self.dice.chance(12) => {
                self.drew = true;
                "random()".into()
            }
            T::F | T::I | T::U | T::B => self.typed_literal(ty),
            T::V(n) => {
                let parts: Vec<String> = (0..*n).map(|_| self.literal(&T::F).0).collect();
                format!("vec{n}({})", parts.join(", "))
            }
            T::A(element, n) => {
                let value = self.simple(element);
                format!("[{value}; {n}]")
            }
            T::S(k) => {
                let fields = self.structs[*k].clone();
                let fields: Vec<String> = fields.iter().map(|field| self.simple(field)).collect();
                format!("S{k}({})", fields.join(", "))
            }
            T::E(k) if self.dice.chance(30) => {
                // A constant must number a variant: with a value of the launch it is none.
                let launch = *self.dice.pick(self.launch_values());
                match self.dice.chance(50) {
                    true => format!("E{k}({launch} % 7 - 1)"),
                    false => format!("E{k}(u32({launch}) % 7u)"),
                }
            }
            T::E(k) => {
                let v = self.dice.below(self.enums[*k]);
                match self.dice.chance(50) {
                    true => format!("V{k}{v}"),
                    false => format!("E{k}.V{k}{v}"),
                }
            }
            T::O => "world[0]".into(),
        }
    }

    /// Two operands; one of them may be a bare literal, which takes the type of the other.
    fn operands(&mut self, ty: &T, depth: usize) -> (String, String) {
        let a = self.expr(ty, depth - 1);
        let b = match self.dice.chance(30) {
            true => self.literal(ty).0,
            false => self.expr(ty, depth - 1),
        };
        match self.dice.chance(50) {
            true => (a, b),
            false => (b, a),
        }
    }

    fn call(&mut self, ty: &T, depth: usize) -> Option<String> {
        let (draws, own) = (self.here.draws, self.may_name_own());
        let fits = |function: &&Function| {
            function.result == *ty && (draws || !function.draws) && (own || !function.own)
        };
        let fitting: Vec<Function> = self.functions.iter().filter(fits).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let function = self.dice.pick(&fitting).clone();
        self.drew |= function.draws;
        let arguments: Vec<String> = function
            .params
            .iter()
            .map(|ty| self.expr(ty, depth - 1))
            .collect();
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }

    /// An element, a field, a component or a row that has the type.
    fn element(&mut self, ty: &T, depth: usize) -> Option<String> {
        let mut found: Vec<(String, usize)> = Vec::new();
        for variable in self.visible() {
            match &variable.ty {
                T::A(element, n) if **element == *ty => found.push((variable.name.clone(), *n)),
                T::S(k) => {
                    for (f, field) in self.structs[*k].iter().enumerate() {
                        if field == ty {
                            found.push((format!("{}.f{f}", variable.name), 0));
                        }
                    }
                }
                T::V(_) if *ty == T::F => found.push((format!("{}.y", variable.name), 0)),
                _ => {}
            }
        }
        for (name, row) in &self.tables {
            if row == ty {
                // Constant rows are checked at the launch; there are at least four.
                found.push((name.clone(), 4));
            }
        }
        if found.is_empty() {
            return None;
        }
        let (name, length) = self.dice.pick(&found).clone();
        if length == 0 {
            return Some(name);
        }
        // What the compiler sees through to `agent` or `t` and a constant is checked at the launch; so
        // no more is added than the rows that every launch has.
        let depth = if name.starts_with('d') { 0 } else { depth };
        let index = self.index(length, depth);
        Some(format!("{name}[{index}]"))
    }

    /// An index: often the whole array, sometimes one past it, sometimes anywhere. A constant one is in
    /// range.
    pub(super) fn index(&mut self, length: usize, depth: usize) -> String {
        let names: Vec<String> = self
            .visible()
            .iter()
            .filter(|variable| variable.ty == T::I && !variable.name.starts_with('C'))
            .map(|variable| variable.name.clone())
            .chain([self.launch_values()[0].to_owned()])
            .collect();
        let name = self.dice.pick(&names).clone();
        match self.dice.below(8) {
            0 => self.dice.below(length).to_string(),
            1 | 2 => name,
            3 => format!("{name} + {}", 1 + self.dice.below(2)),
            4 => format!("{name} - 1"),
            5 => format!("{name} % {length}"),
            6 => format!("u32({name})"),
            _ if depth == 0 => format!("{name} * 2 - 3"),
            _ => {
                let any = self.expr(&T::I, depth.saturating_sub(1));
                format!("{name} + ({any})")
            }
        }
    }

    /// A small whole number for the end of a range.
    pub(super) fn bound(&mut self, depth: usize) -> String {
        match self.dice.below(4) {
            0 => self.dice.below(6).to_string(),
            1 => format!("-{}", self.dice.below(3)),
            _ => {
                let any = self.expr(&T::I, depth.saturating_sub(1));
                format!("({any}) % {}", 2 + self.dice.below(5))
            }
        }
    }

    /// A fold of a comprehension or of an array, of elements of the type.
    fn fold(&mut self, name: &str, element: &T, depth: usize) -> String {
        if self.dice.chance(40) {
            let length = 1 + self.dice.below(4);
            let array = self.expr(&T::A(Box::new(element.clone()), length), depth - 1);
            return format!("{name}({array})");
        }
        let (from, to) = (self.bound(depth), self.bound(depth));
        let index = self.fresh("k");
        self.scopes.push(Vec::new());
        self.declare(&index, &T::I, false);
        let filter = match self.dice.below(10) {
            0..=3 => format!(" if {}", self.expr(&T::B, depth - 1)),
            4 => format!(" if {index} > {}", self.dice.range(0, 9)),
            _ => String::new(),
        };
        let body = self.expr(element, depth - 1);
        self.scopes.pop();
        format!("{name}(for {index} in {from}..{to}{filter}: {body})")
    }

    fn float(&mut self, depth: usize) -> String {
        let one = |maker: &mut Maker| maker.expr(&T::F, depth - 1);
        match self.dice.below(16) {
            0..=5 => {
                let (a, b) = self.operands(&T::F, depth);
                let operator = *self.dice.pick(&["+", "-", "*", "/", "%"]);
                format!("({a} {operator} {b})")
            }
            6 | 7 => {
                let names = [
                    "abs", "ceil", "floor", "fract", "round", "trunc", "sqrt", "saturate", "relu",
                    "sign",
                ];
                let name = *self.dice.pick(&names);
                format!("{name}({})", one(self))
            }
            8 => {
                let (a, b) = self.operands(&T::F, depth);
                let name = *self.dice.pick(&["min", "max", "step"]);
                format!("{name}({a}, {b})")
            }
            9 => match self.dice.below(3) {
                0 => format!("clamp({}, -1.0, {})", one(self), one(self)),
                1 => format!("fma({}, {}, {})", one(self), one(self), one(self)),
                _ => format!("ldexp({}, {})", one(self), self.bound(depth)),
            },
            10 => format!("f32({})", self.expr(&T::I, depth - 1)),
            11 => match self.dice.below(3) {
                0 => format!("f32({})", self.expr(&T::U, depth - 1)),
                1 => format!("f32({})", self.expr(&T::B, depth - 1)),
                _ => format!("unit({})", self.expr(&T::U, depth - 1)),
            },
            12 => format!("(-{})", one(self)),
            13 => format!("({} ** {})", one(self), 1 + self.dice.below(4)),
            14 => {
                let name = *self.dice.pick(&["sum", "product", "min", "max", "mean"]);
                self.fold(name, &T::F, depth)
            }
            _ => {
                let n = 2 + self.dice.below(3);
                format!(
                    "({}).{}",
                    self.expr(&T::V(n), depth - 1),
                    self.dice.pick(&["x", "y", "g", "r"])
                )
            }
        }
    }

    fn signed(&mut self, depth: usize) -> String {
        let one = |maker: &mut Maker| maker.expr(&T::I, depth - 1);
        match self.dice.below(16) {
            0..=5 => {
                let (a, b) = self.operands(&T::I, depth);
                let operator = *self
                    .dice
                    .pick(&["+", "-", "*", "/", "%", "%", "&", "|", "^"]);
                format!("({a} {operator} {b})")
            }
            6 => {
                let by = match self.dice.chance(50) {
                    true => self.expr(&T::U, depth - 1),
                    false => self.expr(&T::I, depth - 1),
                };
                format!("({} {} {by})", one(self), self.dice.pick(&["<<", ">>"]))
            }
            7 => format!("({}{})", self.dice.pick(&["-", "~"]), one(self)),
            8 => {
                let (a, b) = self.operands(&T::I, depth);
                format!("{}({a}, {b})", self.dice.pick(&["min", "max"]))
            }
            9 => match self.dice.below(5) {
                0 => format!("abs({})", one(self)),
                1 => format!("sign({})", one(self)),
                2 => format!("clamp({}, -3, {})", one(self), one(self)),
                3 => format!("({} ** {})", one(self), self.dice.below(7)),
                _ => format!(
                    "{}({})",
                    self.dice.pick(&[
                        "countOneBits",
                        "reverseBits",
                        "firstLeadingBit",
                        "firstTrailingBit",
                        "countLeadingZeros",
                        "countTrailingZeros"
                    ]),
                    one(self)
                ),
            },
            10 => match (self.profile, self.dice.below(4)) {
                (Profile::Whole, 0 | 1) => format!("i32({})", self.expr(&T::F, depth - 1)),
                (_, 0 | 2) => format!("i32({})", self.expr(&T::B, depth - 1)),
                _ => format!("i32({})", self.expr(&T::U, depth - 1)),
            },
            11 if !self.enums.is_empty() => {
                let k = self.dice.below(self.enums.len());
                format!("i32({})", self.expr(&T::E(k), depth - 1))
            }
            12 | 13 => {
                let name = *self.dice.pick(&["sum", "product", "min", "max"]);
                self.fold(name, &T::I, depth)
            }
            14 => {
                let element = self.scalar();
                match (self.dice.below(3), &element) {
                    (0, _) | (_, T::B) => self.fold("count", &T::B, depth),
                    (1, _) => self.fold("argmin", &element, depth),
                    _ => self.fold("argmax", &element, depth),
                }
            }
            _ => match self.tables.first() {
                Some((name, _)) => format!("(len({name}) - {})", self.dice.below(9)),
                None => "agents".into(),
            },
        }
    }

    fn unsigned(&mut self, depth: usize) -> String {
        let one = |maker: &mut Maker| maker.expr(&T::U, depth - 1);
        match self.dice.below(12) {
            0..=4 => {
                let (a, b) = self.operands(&T::U, depth);
                let operator = *self.dice.pick(&["+", "-", "*", "/", "%", "&", "|", "^"]);
                format!("({a} {operator} {b})")
            }
            5 => format!(
                "({} {} {})",
                one(self),
                self.dice.pick(&["<<", ">>"]),
                self.expr(&T::I, depth - 1)
            ),
            6 => format!("(~{})", one(self)),
            7 => match self.dice.below(4) {
                0 => format!("mul_high({}, {})", one(self), one(self)),
                1 => format!("extractBits({}, {}, {})", one(self), one(self), one(self)),
                2 => format!(
                    "insertBits({}, {}, {} % 40u, {} % 40u)",
                    one(self),
                    one(self),
                    one(self),
                    one(self)
                ),
                _ => format!(
                    "{}({})",
                    self.dice.pick(&["firstLeadingBit", "countTrailingZeros"]),
                    one(self)
                ),
            },
            8 | 9 => match (self.profile, self.dice.below(4)) {
                (Profile::Whole, 0) => format!("u32({})", self.expr(&T::F, depth - 1)),
                (Profile::Whole, 1) => {
                    format!("bitcast<u32>(f32({}))", self.expr(&T::I, depth - 1))
                }
                (_, 2) => format!("bitcast<u32>({})", self.expr(&T::I, depth - 1)),
                _ => format!("u32({})", self.expr(&T::I, depth - 1)),
            },
            10 => {
                let name = *self.dice.pick(&["sum", "product", "min", "max"]);
                self.fold(name, &T::U, depth)
            }
            _ => format!("max({}, {})", one(self), one(self)),
        }
    }

    fn truth(&mut self, depth: usize) -> String {
        match self.dice.below(10) {
            0..=4 => {
                let ty = match self.scalar() {
                    T::B => T::I,
                    ty => ty,
                };
                let (a, b) = self.operands(&ty, depth);
                format!(
                    "({a} {} {b})",
                    self.dice.pick(&["==", "!=", "<", "<=", ">", ">="])
                )
            }
            5 | 6 => {
                let (a, b) = (self.expr(&T::B, depth - 1), self.expr(&T::B, depth - 1));
                format!("({a} {} {b})", self.dice.pick(&["&&", "||", "==", "!="]))
            }
            7 => format!("(!{})", self.expr(&T::B, depth - 1)),
            8 => {
                let name = *self.dice.pick(&["any", "all"]);
                self.fold(name, &T::B, depth)
            }
            _ => {
                let ty = self.scalar();
                match self.enums.is_empty() {
                    true => format!("bool({})", self.expr(&ty, depth - 1)),
                    false => {
                        let ty = T::E(self.dice.below(self.enums.len()));
                        format!(
                            "({} == {})",
                            self.expr(&ty, depth - 1),
                            self.expr(&ty, depth - 1)
                        )
                    }
                }
            }
        }
    }

    fn vector(&mut self, n: usize, depth: usize) -> String {
        let one = |maker: &mut Maker| maker.expr(&T::V(n), depth - 1);
        match self.dice.below(8) {
            0 | 1 => {
                let operator = *self.dice.pick(&["+", "-", "*", "/", "%"]);
                format!("({} {operator} {})", one(self), one(self))
            }
            2 => {
                let scalar = self.expr(&T::F, depth - 1);
                match self.dice.chance(50) {
                    true => format!("({} * {scalar})", one(self)),
                    false => format!("({scalar} - {})", one(self)),
                }
            }
            3 => format!(
                "{}({})",
                self.dice.pick(&["abs", "floor", "sqrt", "sign"]),
                one(self)
            ),
            4 => format!(
                "{}({}, {})",
                self.dice.pick(&["min", "max"]),
                one(self),
                one(self)
            ),
            5 => {
                let letters = ["x", "y", "y", "x"];
                let m = 2 + self.dice.below(3);
                let taken: Vec<&str> = (0..n).map(|_| *self.dice.pick(&letters)).collect();
                format!("({}).{}", self.expr(&T::V(m), depth - 1), taken.concat())
            }
            6 => format!("vec{n}({})", self.expr(&T::F, depth - 1)),
            _ => {
                let mut parts: Vec<String> = Vec::new();
                let mut left = n;
                while left > 0 {
                    if left >= 2 && left < n && self.dice.chance(50) {
                        parts.push(self.expr(&T::V(2), depth - 1));
                        left -= 2;
                    } else {
                        parts.push(self.expr(&T::F, depth - 1));
                        left -= 1;
                    }
                }
                format!("vec{n}({})", parts.join(", "))
            }
        }
    }

    fn array(&mut self, element: &T, n: usize, depth: usize) -> String {
        match self.dice.below(4) {
            0 => format!("[{}; {n}]", self.expr(element, depth - 1)),
            1 => {
                let elements: Vec<String> = (0..n).map(|_| self.expr(element, depth - 1)).collect();
                format!("[{}]", elements.join(", "))
            }
            _ => {
                let index = self.fresh("k");
                let from = self.dice.range(-1, 2);
                self.scopes.push(Vec::new());
                self.declare(&index, &T::I, false);
                let body = self.expr(element, depth - 1);
                self.scopes.pop();
                format!("[for {index} in {from}..{}: {body}]", from + n as i64)
            }
        }
    }
}
