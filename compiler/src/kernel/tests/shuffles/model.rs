//! Random models of loops over arrays, which are read at indices of all kinds. Sums are of integers, and
//! floats are multiples of powers of two, so that no order of them changes a bit.

use std::fmt::Write;

struct Random {
    state: u64,
    /// Elements of the arrays.
    count: usize,
    /// Local arrays.
    locals: usize,
    /// Arrays that all lanes have.
    collected: usize,
    /// The loops around this place whose index is `i`.
    in_loop: bool,
    /// The array that the loop writes.
    written: String,
}

/// A model with several arrays, and loops that read them all over the place; and how many elements they have.
pub(crate) fn model(seed: u64) -> (String, usize) {
    let mut random = Random {
        state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        count: 0,
        locals: 0,
        collected: 0,
        in_loop: false,
        written: String::new(),
    };
    random.count = [8, 16, 32][random.below(3)];
    let n = random.count;
    let mut text = format!(
        "state s = agent % 5
state a: [i32; {n}] = [for i in 0..{n}: (agent + 3 * i) % 17]
state b: [i32; {n}] = [for i in 0..{n}: i * i % 11 - 5]
state g: [[i32; {n}]; 3] = [for r in 0..3: [for i in 0..{n}: r * i % 7]]
state w: [[i32; 4]; {n}] = [for i in 0..{n}: [for k in 0..4: (i + k * k) % 9]]
state x: [f32; {n}] = [for i in 0..{n}: f32(i) / 8.0]
step t {{
"
    );
    for _ in 0..2 + random.below(4) {
        random.statement(&mut text, 2);
        if random.below(8) == 0 {
            let _ = writeln!(text, "if s % 7 == {} {{ stop }}", random.below(7));
        }
    }
    text += "}\noutput last = s\n";
    (text, n)
}

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % n
    }

    fn statement(&mut self, text: &mut String, depth: usize) {
        let n = self.count;
        let kinds = if depth > 0 { 13 } else { 9 };
        match self.below(kinds) {
            0 if depth == 2 => {
                self.in_loop = true;
                let (value, name) = (self.value(3), format!("h{}", self.locals));
                let _ = writeln!(text, "let {name} = [for i in 0..{n}: {value}]");
                self.in_loop = false;
                self.locals += 1;
            }
            1 => {
                let value = self.value(2);
                let _ = writeln!(text, "s = ({value}) % 1000");
            }
            2 | 3 => {
                self.in_loop = true;
                let value = self.value(2);
                self.in_loop = false;
                let fold = ["sum", "min", "max"][self.below(3)];
                let _ = writeln!(text, "s = s ^ {fold}(for i in 0..{n}: {value})");
            }
            // Not at a loop's own index.
            4 if self.below(4) == 0 => {
                let value = self.value(2);
                let _ = writeln!(text, "a[abs(s) % {n}] = {value}");
            }
            0 | 4..=8 => self.writes(text),
            12 => self.collects(text),
            9 => {
                let _ = writeln!(text, "if s % 3 != {} {{", self.below(3));
                self.statement(text, depth - 1);
                text.push_str("}\n");
            }
            _ => {
                let bound = ["2", "abs(s) % 3 + 1"][self.below(2)];
                let _ = writeln!(text, "for r{depth} in 0..{bound} {{");
                self.statement(text, depth - 1);
                text.push_str("}\n");
            }
        }
    }

    /// An array of what loops over all elements give, as many as the run says, which all lanes have.
    fn collects(&mut self, text: &mut String) {
        let (n, number) = (self.count, self.collected);
        self.collected += 1;
        let name = format!("c{number}");
        let length = [5, 20, 48][self.below(3)];
        let bound = [format!("abs(s) % {length} + 1"), "t + 3".to_owned()][self.below(2)].clone();
        self.in_loop = true;
        let (first, second) = (self.value(1), self.value(1));
        self.in_loop = false;
        let (ty, term, whole) = match self.below(2) {
            0 => ("i32", format!("({first}) * (q + 1)"), format!("{name}[q]")),
            _ => {
                let term = format!("f32(({first}) % 64) * f32(q + 1)");
                ("f32", term, format!("i32({name}[q])"))
            }
        };
        let _ = writeln!(
            text,
            "var {name}: [{ty}; {length}] = {}
let most{number} = {bound}
for q in 0..most{number} {{ {name}[q] = {name}[q] + sum(for i in 0..{n}: {term}) }}
for q in 0..most{number} {{ {name}[q] = {name}[q] - {name}[most{number} - 1 - q] }}
for i in 0..{n} {{
var all{number} = 0
for q in 0..most{number} {{ if {whole} > i - q {{ all{number} += {whole} % 8 * (i - q) }} }}
b[i] = all{number} % 64
}}",
            self.below(3)
        );
        let _ = writeln!(text, "s = (s ^ max(for i in 0..{n}: {second})) % 1000");
    }

    /// A loop that writes an array at its own index.
    fn writes(&mut self, text: &mut String) {
        let n = self.count;
        let targets = ["a", "b", "g", "w", "x"];
        let target = targets[self.below(5)];
        // Reading what other iterations write makes the order of iterations count.
        self.written = if self.below(12) > 0 { target } else { "" }.to_owned();
        self.in_loop = true;
        let value = self.value(3);
        let place = match target {
            "g" => format!("g[{}][i]", ["t % 3", "1", "s"][self.below(3)]),
            "w" => format!("w[i][{}]", ["t % 4", "2", "i % 4"][self.below(3)]),
            _ => format!("{target}[i]"),
        };
        let value = match target {
            "x" => format!("0.5 * x[i] + f32(({value}) % 64) / 4.0"),
            _ => value,
        };
        let assigned = match self.below(4) {
            0 => format!("if ({}) % 2 == 0 {{ {place} = {value} }}", self.value(1)),
            _ => format!("{place} = {value}"),
        };
        self.in_loop = false;
        self.written.clear();
        let _ = writeln!(text, "for i in 0..{n} {{ {assigned} }}");
    }

    /// An integer.
    fn value(&mut self, depth: usize) -> String {
        if depth == 0 || self.below(4) == 0 {
            return match self.below(5) {
                0 => format!("{}", self.below(9)),
                1 => "s".to_owned(),
                2 if self.in_loop => "i".to_owned(),
                _ => self.element(),
            };
        }
        let (a, b) = (self.value(depth - 1), self.value(depth - 1));
        match self.below(8) {
            0 => format!("({a} - {b})"),
            1 => format!("({a} ^ {b})"),
            2 => format!("({a} * {b}) % 256"),
            3 => format!("(if {a} > {b} {{ {a} }} else {{ {} }})", self.element()),
            4 if depth == 3 => {
                let n = self.count;
                let array = self.array();
                let term = ["k", "3", "s"][self.below(3)];
                format!("sum(for k in 0..{n}: {array}[k] * {term})")
            }
            _ => format!("({a} + {b})"),
        }
    }

    /// An array of integers that may be read at any index.
    fn array(&mut self) -> String {
        let mut all = vec!["a".to_owned(), "b".to_owned()];
        all.retain(|array| *array != self.written);
        all.extend((0..self.locals).map(|k| format!("h{k}")));
        all.swap_remove(self.below(all.len()))
    }

    fn element(&mut self) -> String {
        let (n, array) = (self.count, self.array());
        let by = 1 + self.below(2);
        if self.in_loop {
            match self.below(14) {
                0 => return format!("{array}[i - {by}]"),
                1 => return format!("{array}[min(i + {by}, {})]", n - 1),
                2 => return format!("{array}[(i + {by}) % {n}]"),
                3 => return format!("{array}[(i + {}) % {n}]", n - by),
                4 => return format!("g[{}][i]", self.below(3)),
                5 => return format!("w[i][{}]", self.below(4)),
                // In another lane, and each lane asks another one.
                6 if self.below(6) == 0 => return format!("{array}[(i * 3) % {n}]"),
                // Remainders of negative numbers do not wrap.
                7 if self.below(6) == 0 => return format!("{array}[(i - {by}) % {n}]"),
                8 => return format!("{array}[clamp(i + {by}, 0, {})]", n - 1),
                9 | 10 => return format!("{array}[i]"),
                _ => {}
            }
        }
        match self.below(4) {
            0 if self.written != "w" => format!("w[{}][abs(s) % 4]", self.below(n)),
            1 if self.written != "g" => format!("g[t % 3][{}]", self.below(n)),
            2 => format!("{array}[{}]", self.below(n)),
            _ => format!("{array}[abs(s) % {n}]"),
        }
    }
}
