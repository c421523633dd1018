//! Worlds: their declarations, phases and draws, and agents that read one another.

use super::{Here, Maker, Profile, T, Variable, World};
use crate::dice::Dice;

/// The blocks of models with worlds.
pub(super) const PHASES: [&[&str]; 4] = [
    &["init", "step", "world step t", "step t", "finish"],
    &[
        "world step",
        "step t",
        "step",
        "world step t",
        "finish",
        "finish",
    ],
    &["step t", "world step"],
    &["step"],
];

/// The worlds of a seed's model.
pub(super) fn size(seed: u64) -> World {
    let mut dice = Dice::new(seed ^ 0x77_6f72_6c64);
    // From four agents on a tree adds in another order than a loop.
    let size = *dice.pick(&[1, 2, 3, 4, 5, 5, 7, 8, 8, 33]);
    let most = if size > 8 { 2 } else { 3 };
    let count = 1 + dice.below(most) as u32;
    World { size, count }
}

impl Maker {
    /// What only an agent has: world code has none of it, nor has what is of the world.
    pub(super) fn may_name_own(&self) -> bool {
        !self.here.world && self.here.only_shared.is_none()
    }

    /// May a variable of the scope at that level be named here?
    pub(super) fn may_name(&self, level: usize, variable: &Variable) -> bool {
        let from = self.here.only_shared.unwrap_or(0);
        let near = level == 0 || level >= from || variable.shared;
        near && (self.may_name_own() || !variable.own)
    }

    /// The first is one that differs between those who run.
    pub(super) fn launch_values(&self) -> &'static [&'static str] {
        match (self.world.is_some(), self.may_name_own()) {
            (false, _) => &["agent", "agents", "steps"],
            (true, true) => &[
                "agent",
                "agents",
                "steps",
                "member",
                "world.number",
                "len(world)",
            ],
            (true, false) => &["world.number", "agents", "steps", "len(world)"],
        }
    }

    pub(super) fn declare_own(&mut self, name: &str, ty: &T, assignable: bool) {
        self.declare(name, ty, assignable);
        if let Some(last) = self.scopes.last_mut().and_then(|scope| scope.last_mut()) {
            last.own = true;
        }
        self.fields.push((name.to_owned(), ty.clone()));
    }

    /// The last name is of the world.
    pub(super) fn mark_shared(&mut self) {
        if let Some(last) = self.scopes.last_mut().and_then(|scope| scope.last_mut()) {
            last.shared = true;
        }
    }

    /// Does the text from there on name what only an agent has?
    pub(super) fn has_own(&self, begin: usize) -> bool {
        let words = self.text[begin..].split(|c: char| !c.is_alphanumeric() && c != '_');
        let own = |word: &str| {
            matches!(word, "agent" | "member")
                || self.fields.iter().any(|(name, _)| name == word)
                || self.functions.iter().any(|one| one.own && one.name == word)
        };
        words.into_iter().any(own)
    }

    /// Numbers whose sums are not exact, so that their order shows.
    pub(super) fn spread(&mut self) {
        if self.world.is_some() && self.profile == Profile::Whole {
            self.line("input spread: f32 ~ random()");
            self.declare_own("spread", &T::F, false);
            self.line("fn spread_plain(x: f32) -> f32 { return x + 0.3 }");
            self.line(
                "fn spread_own(x: f32) -> f32 { return spread_plain(x) + 0.1 * f32(member % 2) }",
            );
            self.line("fn spread_drawn(x: f32) -> f32 { return x * random() }");
        }
    }

    pub(super) fn world_input(&mut self, k: usize) {
        let Some(world) = self.world else { return };
        let ty = self.any_type(1);
        let name = format!("q{k}");
        let ty = match self.dice.below(5) {
            0 => {
                self.line(&format!("world input {name} = 3 * world.number - agents"));
                T::I
            }
            1 => {
                self.line(&format!(
                    "world input {name}: i32 ~ randint(-5, len(world))"
                ));
                T::I
            }
            2 if self.profile == Profile::Whole => {
                self.line(&format!("world input {name}: [f32; 2] ~ random()"));
                T::A(Box::new(T::F), 2)
            }
            3 => return,
            _ => {
                self.line(&format!("world input {name}: {}", self.written(&ty)));
                self.give(&name, &ty, world.count as usize, true);
                ty
            }
        };
        self.declare(&name, &ty, false);
    }

    pub(super) fn world_states(&mut self) {
        if self.world.is_none() {
            return;
        }
        if self.profile == Profile::Whole {
            self.line("world state u_kept: f32 = 0.0");
            self.declare("u_kept", &T::F, false);
            self.line("state kept: f32 = 0.0");
            self.declare_own("kept", &T::F, true);
        }
        for k in 0..1 + self.dice.below(3) {
            self.here = Here {
                draws: true,
                world: true,
                ..Here::default()
            };
            let ty = self.any_type(2);
            let value = self.expr(&ty, 2);
            self.line(&format!(
                "world state u{k}: {} = {value}",
                self.written(&ty)
            ));
            self.declare(&format!("u{k}"), &ty, false);
        }
        self.here = Here::default();
    }

    /// World states are assigned by the world only.
    pub(super) fn assign_worlds(&mut self, may: bool) {
        let states = self.scopes[0].iter_mut();
        for state in states.filter(|state| state.name.starts_with('u')) {
            state.assignable = may;
        }
    }

    pub(super) fn world_outputs(&mut self) {
        if self.world.is_none() {
            return;
        }
        self.here = Here {
            world: true,
            others: true,
            ..Here::default()
        };
        for k in 0..1 + self.dice.below(3) {
            let ty = self.any_type(2);
            let value = self.expr(&ty, 3);
            self.line(&format!(
                "world output z{k}: {} = {value}",
                self.written(&ty)
            ));
        }
        self.sum("world output z");
    }

    /// An output that is certainly a fold over the world.
    pub(super) fn sum(&mut self, head: &str) {
        let ty = match self.profile {
            Profile::Whole => T::F,
            Profile::Integers => T::I,
        };
        if let Some(value) = self.world_fold(&ty, 4) {
            self.line(&format!("{head}: {} = {value}", self.written(&ty)));
        }
    }

    /// A loop over the world, a name for an agent of it, or a value that is the same for the whole world.
    pub(super) fn world_stmt(&mut self, depth: usize) -> bool {
        if !self.here.others || !self.dice.chance(15) {
            return false;
        }
        match self.dice.below(3) {
            0 if self.here.loops == 0 => {
                let index = self.fresh("o");
                self.line(&format!("for {index} in world {{"));
                self.scopes.push(Vec::new());
                self.declare(&index, &T::O, false);
                let outside = self.here;
                self.here.in_loop = true;
                self.here.loops += 2;
                self.inner(depth, 3);
                self.here = outside;
                self.scopes.pop();
                self.line("}");
            }
            1 => {
                let agent = self.member(depth);
                let name = self.fresh("b");
                self.line(&format!("let {name} = {agent}"));
                self.declare(&name, &T::O, false);
            }
            _ => {
                let outside = self.only_shared();
                let ty = self.scalar();
                let fold = match ty {
                    T::F => self.world_fold(&ty, 3),
                    _ => None,
                };
                let value = match fold {
                    Some(fold) => fold,
                    None => self.expr(&ty, 3),
                };
                self.here = outside;
                let name = self.fresh("m");
                self.line(&format!("let {name} = {value}"));
                self.declare(&name, &ty, false);
                self.mark_shared();
                if ty == T::F && self.profile == Profile::Whole {
                    self.keep(&name);
                }
            }
        }
        true
    }

    /// A fold over the world with a name that is of the world, and one with a variable of its value.
    fn keep(&mut self, name: &str) {
        let place = match self.here.world {
            true => "u_kept",
            false => "kept",
        };
        let (index, variable) = (self.fresh("o"), self.fresh("v"));
        self.line(&format!("var {variable} = {name}"));
        let factor = self.dice.pick(&[name, &variable]).to_string();
        self.line(&format!(
            "{place} += sum(for {index} in world: {index}.spread * {factor})"
        ));
    }

    /// From here on only what is of the world is named; gives what held before.
    fn only_shared(&mut self) -> Here {
        let outside = self.here;
        self.here.draws = false;
        let here = self.scopes.len();
        self.here.only_shared.get_or_insert(here);
        outside
    }

    /// `world[k]`
    fn member(&mut self, depth: usize) -> String {
        let size = self.world.map_or(1, |world| world.size as usize);
        let index = self.index(size, depth.min(2));
        format!("world[{index}]")
    }

    /// What is read of agents, and draws that are exact; sometimes.
    pub(super) fn of_world(&mut self, ty: &T, depth: usize) -> Option<String> {
        if !self.here.others || !self.dice.chance(25) {
            return None;
        }
        match (self.dice.below(6), ty) {
            // A launch with an empty range for a draw that every agent makes is refused: bounds are above -6.
            (0, T::I) if self.here.draws => Some(match self.dice.chance(70) {
                true => format!("randint(-6, {})", self.bound(1)),
                false => "geometric(0.3)".into(),
            }),
            (0, T::B) if self.here.draws && self.profile == Profile::Whole => {
                Some("bernoulli(0.3)".into())
            }
            (0..=2, _) => {
                let names = self.named(|variable| variable.ty == T::O);
                let agent = match !names.is_empty() && self.dice.chance(70) {
                    true => self.dice.pick(&names).clone(),
                    false => self.member(depth - 1),
                };
                self.field(&agent, ty, depth - 1)
            }
            _ => self.world_fold(ty, depth),
        }
    }

    /// A field of an agent that has the type, or an element or a part of one.
    fn field(&mut self, agent: &str, ty: &T, depth: usize) -> Option<String> {
        let mut found: Vec<(String, usize)> = Vec::new();
        for (name, of) in &self.fields {
            match of {
                _ if of == ty => found.push((name.clone(), 0)),
                T::A(element, n) if **element == *ty => found.push((name.clone(), *n)),
                T::S(k) => {
                    let fields = self.structs[*k].iter().enumerate();
                    let fitting = fields.filter(|(_, field)| *field == ty);
                    found.extend(fitting.map(|(f, _)| (format!("{name}.f{f}"), 0)));
                }
                T::V(_) if *ty == T::F => found.push((format!("{name}.y"), 0)),
                _ => {}
            }
        }
        if *ty == T::I {
            found.extend([("member".to_owned(), 0), ("agent".to_owned(), 0)]);
        }
        if found.is_empty() {
            return None;
        }
        let (name, length) = self.dice.pick(&found).clone();
        if length == 0 {
            return Some(format!("{agent}.{name}"));
        }
        let index = self.index(length, depth);
        Some(format!("{agent}.{name}[{index}]"))
    }

    /// A fold over the world that gives the type, half of the time of the world.
    pub(super) fn world_fold(&mut self, ty: &T, depth: usize) -> Option<String> {
        let large = self.large();
        let most = if large { 1 } else { 2 };
        if self.here.folds >= most || large && self.here.loops > 0 {
            return None;
        }
        let any = self.scalar();
        let number = if any == T::B { T::I } else { any.clone() };
        let (names, element): (&[&str], T) = match (ty, self.dice.below(4)) {
            (T::F, 0) => (&["mean"], T::B),
            (T::F, _) => (
                &["sum", "product", "min", "max", "mean", "sum", "mean"],
                T::F,
            ),
            (T::I, 0) => (&["sum", "count"], T::B),
            (T::I, 1) => (&["argmin", "argmax"], number),
            (T::I, 2) => (&["count"], any),
            (T::I, _) => (&["sum", "product", "min", "max"], T::I),
            (T::U, _) => (&["sum", "product", "min", "max"], T::U),
            (T::B, _) => (&["any", "all"], T::B),
            (T::V(_), _) => (&["sum"], ty.clone()),
            _ => return None,
        };
        let name = *self.dice.pick(names);
        let outside = match self.dice.chance(50) {
            true => self.only_shared(),
            false => self.here,
        };
        self.here.draws &= !self.here.world;
        self.here.folds += 1;
        let index = self.fresh("o");
        self.scopes.push(Vec::new());
        self.declare(&index, &T::O, false);
        let filter = match self.dice.below(10) {
            0..=2 => format!(" if {}", self.expr(&T::B, depth - 1)),
            3 => format!(" if {index}.member != {}", self.launch_values()[0]),
            _ => String::new(),
        };
        let body = self.world_element(&index, &element, depth);
        self.scopes.pop();
        self.here = outside;
        Some(format!("{name}(for {index} in world{filter}: {body})"))
    }

    /// An element of a fold over the world: a field of the agent, a term with one, or anything.
    fn world_element(&mut self, index: &str, element: &T, depth: usize) -> String {
        let choice = self.dice.below(6);
        if *element == T::F && choice >= 2 && self.profile == Profile::Whole {
            return self.spread_element(index);
        }
        let field = self.field(index, element, depth - 1);
        match (choice, field, element) {
            (0 | 1, Some(field), _) => field,
            (2, Some(field), T::F | T::I | T::U | T::V(_)) => {
                let other = self.expr(element, depth - 1);
                format!("({field} {} {other})", self.dice.pick(&["+", "-", "*"]))
            }
            (2, None, T::B) => {
                let other = self.expr(&T::I, depth - 1);
                format!("({index}.member > {other})")
            }
            _ => self.expr(element, depth - 1),
        }
    }

    /// A term that `spread` is in: of this agent, of one around, or a fold within.
    fn spread_element(&mut self, index: &str) -> String {
        let of = format!("{index}.spread");
        let around = self.named(|variable| variable.ty == T::O);
        let shared = self.named(|variable| variable.shared && variable.ty == T::F);
        let factor = match self.dice.below(9) {
            0 => return of,
            1 => format!("{}.spread", self.dice.pick(&around)),
            2 if self.here.folds < 2 && (self.here.world || !self.large()) => {
                let inner = self.fresh("o");
                let factor = self.dice.pick(&around).clone();
                format!("sum(for {inner} in world: {inner}.spread * ({factor}.spread + 0.1))")
            }
            3..=5 => self.spread_call(&of),
            6 | 7 if !shared.is_empty() => self.dice.pick(&shared).clone(),
            _ => self.simple(&T::F),
        };
        format!("({of} * {factor})")
    }

    /// Too large for folds within folds, and within loops.
    pub(super) fn large(&self) -> bool {
        self.world.is_some_and(|world| world.size > 8)
    }

    /// Names that fit.
    fn named(&self, fits: impl Fn(&Variable) -> bool) -> Vec<String> {
        let all = self.visible().into_iter();
        let fitting = all.filter(|variable| fits(variable));
        fitting.map(|variable| variable.name.clone()).collect()
    }

    /// A function of that number that may be called here.
    fn spread_call(&mut self, of: &str) -> String {
        let name = match self.dice.below(5) {
            0 | 1 if self.may_name_own() => "spread_own",
            2 | 3 if self.here.draws => "spread_drawn",
            _ => "spread_plain",
        };
        format!("{name}({of})")
    }
}
