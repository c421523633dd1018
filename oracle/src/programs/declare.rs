//! Declarations and launch values.

use super::{Function, Here, Maker, Profile, Program, T, world};

impl Maker {
    pub(super) fn model(&mut self) {
        let (agents, steps) = (self.agents, self.steps);
        self.line(&format!("agents {agents}"));
        self.line(&format!("steps {steps}"));
        if let Some(world) = self.world {
            self.line(&format!("world {}", world.size));
        }
        for k in 0..self.dice.below(3) {
            let count = 2 + self.dice.below(4);
            self.enums.push(count);
            let variants: Vec<String> = (0..count).map(|v| format!("V{k}{v}")).collect();
            self.line(&format!("enum E{k} {{ {} }}", variants.join(", ")));
        }
        for k in 0..self.dice.below(3) {
            let count = 1 + self.dice.below(4);
            let fields: Vec<T> = (0..count).map(|_| self.any_type(1)).collect();
            let text: Vec<String> = fields
                .iter()
                .enumerate()
                .map(|(f, ty)| format!("f{f}: {}", self.written(ty)))
                .collect();
            self.line(&format!("struct S{k} {{ {} }}", text.join(", ")));
            self.structs.push(fields);
        }
        self.constants();
        self.params();
        self.tables();
        self.inputs();
        for k in 0..self.dice.below(4) {
            self.function(k);
        }
        self.near_functions();
        self.world_states();
        for k in 0..2 + self.dice.below(5) {
            self.here.draws = true;
            let ty = self.any_type(2);
            let value = self.declared(&ty, 2);
            self.line(&format!("state s{k}: {} = {value}", self.written(&ty)));
            self.declare_own(&format!("s{k}"), &ty, true);
        }
        self.near_states();
        self.blocks();
        self.outputs();
        self.series();
    }

    fn constants(&mut self) {
        for k in 0..self.dice.below(4) {
            let count = 1 + self.dice.below(5);
            let (ty, text) = match self.dice.below(6) {
                0 => (T::I, format!("const C{k} = {}", self.dice.below(30))),
                1 => (T::A(Box::new(T::I), count), {
                    let list: Vec<String> = (0..count)
                        .map(|_| self.dice.range(-9, 99).to_string())
                        .collect();
                    format!("const C{k}: [i32; {count}] = [{}]", list.join(", "))
                }),
                2 => (
                    T::A(Box::new(T::I), count),
                    format!("const C{k}: [i32; {count}] = [for i in 0..{count}: 3 * i - 4]"),
                ),
                3 => (
                    T::U,
                    format!("const C{k}: u32 = 0x{:x} - 1", self.dice.below(1 << 20) + 1),
                ),
                4 if self.profile == Profile::Whole => (
                    T::F,
                    format!("const C{k}: f32 = 1.0 / {}", 1 + self.dice.below(9)),
                ),
                5 if self.profile == Profile::Whole => (
                    T::A(Box::new(T::F), count),
                    format!("const C{k}: [f32; {count}] = [for i in 0..{count}: 0.5 * f32(i)]"),
                ),
                _ => (T::I, format!("const C{k}: i32 = 7 / 2 + 2 ** 3")),
            };
            self.line(&text);
            // An abstract constant would have to be wrapped wherever it stands: only typed ones have
            // names here.
            if text.contains(':') {
                self.declare(&format!("C{k}"), &ty, false);
            }
        }
    }

    fn params(&mut self) {
        for k in 0..self.dice.below(4) {
            let ty = self.scalar();
            let ty = match self.dice.chance(20) {
                true => T::A(Box::new(ty), 1 + self.dice.below(4)),
                false => ty,
            };
            let value = match &ty {
                T::A(element, n) => {
                    let list: Vec<String> = (0..*n).map(|_| self.literal(element).0).collect();
                    format!("[{}]", list.join(", "))
                }
                scalar => self.literal(scalar).0,
            };
            self.line(&format!("param p{k}: {} = {value}", self.written(&ty)));
            if self.dice.chance(40) {
                self.give(&format!("p{k}"), &ty, 1, false);
            }
            self.declare(&format!("p{k}"), &ty, false);
        }
    }

    /// Launch values for so many rows of a type without structs.
    pub(super) fn give(&mut self, name: &str, ty: &T, rows: usize, any: bool) {
        let (mut scalar, mut count) = (ty, 1);
        while let T::A(element, n) = scalar {
            scalar = element;
            count *= n;
        }
        if let T::V(n) = scalar {
            count *= n;
        }
        if let T::S(k) = *scalar {
            for (f, field) in self.structs[k].clone().into_iter().enumerate() {
                self.give(&format!("{name}.f{f}"), &field, rows * count, any);
            }
            return;
        }
        let scalar = scalar.clone();
        let words = (0..rows * count).map(|_| self.word(&scalar, any)).collect();
        self.launch.values.insert(name.to_owned(), words);
    }

    fn tables(&mut self) {
        for k in 0..self.dice.below(3) {
            let ty = self.any_type(1);
            let name = format!("d{k}");
            let text = self.written(&ty);
            // Enough rows for `t + 2` and `agent + 2`.
            let rows = (self.agents + self.steps) as usize + 3 + self.dice.below(4);
            if self.dice.chance(60) {
                self.line(&format!("data {name}: [{text}]"));
                self.tables.push((name.clone(), ty.clone()));
            } else {
                self.line(&format!("data {name}: [{text}; {rows}]"));
                self.declare(&name, &T::A(Box::new(ty.clone()), rows), false);
            }
            self.give(&name, &ty, rows, true);
        }
    }

    fn inputs(&mut self) {
        self.world_input(0);
        self.spread();
        for k in 0..self.dice.below(4) {
            let ty = self.any_type(2);
            let (name, text) = (format!("w{k}"), self.written(&ty));
            let whole = self.profile == Profile::Whole;
            match self.dice.below(4) {
                0 if ty == T::I => self.line(&format!("input {name} = 3 * agent - agents")),
                1 if ty == T::F => {
                    let value = self.literal(&T::F).0;
                    self.line(&format!("input {name}: f32 = {value}"));
                }
                2 if whole => {
                    let n = 1 + self.dice.below(3);
                    self.line(&format!("input {name}: [f32; {n}] ~ random()"));
                    self.declare_own(&name, &T::A(Box::new(T::F), n), false);
                    continue;
                }
                _ => {
                    self.line(&format!("input {name}: {text}"));
                    self.give(&name, &ty, self.agents as usize, true);
                }
            }
            self.declare_own(&name, &ty, false);
        }
        self.world_input(1);
    }

    fn function(&mut self, k: usize) {
        let params: Vec<T> = (0..self.dice.below(4)).map(|_| self.any_type(1)).collect();
        let result = self.any_type(1);
        let text: Vec<String> = params
            .iter()
            .enumerate()
            .map(|(p, ty)| format!("a{p}: {}", self.written(ty)))
            .collect();
        let name = format!("g{k}");
        let begin = self.text.len();
        self.line(&format!(
            "fn {name}({}) -> {} {{",
            text.join(", "),
            self.written(&result)
        ));
        self.scopes.push(Vec::new());
        for (p, ty) in params.iter().enumerate() {
            self.declare(&format!("a{p}"), ty, false);
        }
        self.here = Here {
            draws: self.dice.chance(30),
            ..Here::default()
        };
        self.drew = false;
        self.result = Some(result.clone());
        self.indent += 1;
        self.scopes.push(Vec::new());
        for _ in 0..self.dice.below(4) {
            self.stmt(3);
        }
        let value = self.expr(&result, 2);
        self.line(&format!("return {value}"));
        self.scopes.pop();
        self.scopes.pop();
        self.indent -= 1;
        self.result = None;
        self.line("}");
        self.functions.push(Function {
            name,
            params,
            result,
            draws: self.drew,
            own: self.has_own(begin),
        });
    }

    fn near_functions(&mut self) {
        if self.profile == Profile::Whole {
            self.line("fn near_slope(x: f32, y: f32) -> f32 { return 0.5 * y - 0.25 * x }");
        }
    }

    fn near_states(&mut self) {
        if self.profile == Profile::Whole {
            self.line("state near_x = 1.0");
            self.line("state near_v = vec2(0.5, -1.0)");
            self.line("state near_z = 0.0");
        }
    }

    fn near_steps(&mut self) {
        if self.profile == Profile::Integers || self.dice.chance(50) {
            return;
        }
        let method = *self.dice.pick(&["euler", "midpoint", "heun", "rk4"]);
        let size = *self
            .dice
            .pick(&["0.1", "0.25", "f32(1 + agent % 3) * 0.125"]);
        self.line(&format!("integrate {method}({size}) {{"));
        self.line("    var pull = -near_x");
        self.line("    for i in 0..2 { pull += 0.125 * f32(i) }");
        self.line("    near_v' = vec2(near_v.y, -near_v.x) * pull");
        self.line("    near_x' = near_slope(near_x, near_v.x) + pull");
        self.line("}");
        let normal = *self.dice.pick(&[
            "normal()",
            "normal(2.0, 0.5)",
            "lognormal(-1.0, 0.5)",
            "laplace(1.0, 0.25)",
            "0.5 + 2.0 * erfc(near_x) + normal_cdf(near_x)",
            "gamma(2.5 + sin(near_x)) - 0.5 * lgamma(3.0 + near_x * near_x)",
        ]);
        self.line(&format!("near_z = {normal}"));
    }

    fn blocks(&mut self) {
        let kinds: &[&str] = match self.dice.below(4) {
            choice if self.world.is_some() => world::PHASES[choice],
            0 => &["init", "step", "finish"],
            1 => &["step", "step t", "finish"],
            2 => &["init", "init", "step t", "step t"],
            _ => &["step t"],
        };
        for kind in kinds {
            self.line(&format!("{kind} {{"));
            self.scopes.push(Vec::new());
            if kind.ends_with(" t") {
                self.declare("t", &T::I, false);
                self.mark_shared();
            }
            self.here = Here {
                draws: true,
                may_stop: kind.starts_with("step"),
                world: kind.starts_with("world"),
                others: self.world.is_some() && *kind != "init",
                ..Here::default()
            };
            self.assign_worlds(self.here.world);
            self.indent += 1;
            self.scopes.push(Vec::new());
            for _ in 0..2 + self.dice.below(6) {
                self.stmt(4);
            }
            if !self.here.world {
                self.near_steps();
            }
            self.scopes.pop();
            self.scopes.pop();
            self.indent -= 1;
            self.line("}");
        }
    }

    fn outputs(&mut self) {
        self.world_outputs();
        self.here = Here {
            others: self.world.is_some(),
            ..Here::default()
        };
        for k in 0..1 + self.dice.below(4) {
            let ty = self.any_type(2);
            let value = self.expr(&ty, 3);
            self.line(&format!("output o{k}: {} = {value}", self.written(&ty)));
        }
        if self.world.is_some() {
            self.sum("output o");
        }
        if self.profile == Profile::Integers {
            return;
        }
        const NEAR: [&str; 34] = [
            "exp(X)",
            "exp2(X)",
            "log(X)",
            "log2(X)",
            "inverseSqrt(X)",
            "pow(X, Y)",
            "X ** Y",
            "acos(X)",
            "acosh(X)",
            "asin(X)",
            "asinh(X)",
            "atan(X)",
            "atan2(X, Y)",
            "atanh(X)",
            "cos(X)",
            "cosh(X)",
            "degrees(X)",
            "radians(X)",
            "sin(X)",
            "sinh(X)",
            "tan(X)",
            "tanh(X)",
            "erf(X)",
            "sigmoid(X)",
            "softplus(X)",
            "mix(A, B, 0.25)",
            "smoothstep(-1.0, 2.0, A)",
            "dot(vec2(A, B), vec2(B, 1.0))",
            "length(vec3(A, B, 2.0))",
            "distance(vec2(A, B), vec2(1.0, 2.0))",
            "normalize(vec2(A, 1.0)).x",
            "cross(vec3(A, B, 1.0), vec3(1.0, A, B)).y",
            "reflect(vec2(A, B), vec2(0.0, 1.0)).y",
            "mean([A, B, 1.0])",
        ];
        for k in 0..self.dice.below(3) {
            let form = *self.dice.pick(&NEAR);
            let (x, y) = (self.expr(&T::F, 2), self.expr(&T::F, 1));
            let (a, b) = (self.expr(&T::I, 1), self.expr(&T::I, 1));
            let text: String = form
                .chars()
                .map(|c| match c {
                    'X' => format!("f32({x})"),
                    'Y' => format!("f32({y})"),
                    'A' => format!("f32(({a}) % 16)"),
                    'B' => format!("f32(({b}) % 16)"),
                    c => c.to_string(),
                })
                .collect();
            self.line(&format!("output near_o{k} = {text}"));
        }
    }
}

impl Program {
    /// The launch as text, beside the program.
    pub fn launch_text(&self) -> String {
        let mut names: Vec<&String> = self.launch.values.keys().collect();
        names.sort();
        let mut text = format!("// seed {}\n", self.launch.seed);
        for name in names {
            text += &format!("// {name} = {:x?}\n", self.launch.values[name]);
        }
        text
    }
}
