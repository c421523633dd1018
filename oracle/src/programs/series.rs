//! Values over time: records and observations of every kind.

use super::{Here, Maker, Profile, T};

impl Maker {
    pub(super) fn series(&mut self) {
        for k in 0..self.dice.below(6) {
            // There is something left to sample.
            self.fuel = self.fuel.max(12);
            self.here = Here::default();
            match (self.world.is_some(), self.dice.below(8)) {
                (_, 0..=1) => self.record(k),
                (true, 2..=3) => self.world_value(k),
                (true, 4..=5) => self.fold_of_agents("world observe", k),
                _ => self.fold_of_agents("observe", k),
            }
        }
        self.here = Here::default();
        if self.profile == Profile::Whole {
            for _ in 0..self.dice.below(3) {
                let every = self.every();
                let series = [
                    "record near_x",
                    "record near_v",
                    "record near_z",
                    "record near_r = near_v.x + near_x",
                    "observe near_m = mean(near_v)",
                    "observe near_s = sum(near_x)",
                ];
                let series = *self.dice.pick(&series);
                let name = series.split(' ').nth(1).unwrap_or_default();
                // A series of a name there is but one.
                let taken = [" ", "\n"].iter().any(|end| {
                    let (record, observe) = (
                        format!("record {name}{end}"),
                        format!("observe {name}{end}"),
                    );
                    self.text.contains(&record) || self.text.contains(&observe)
                });
                if !taken {
                    self.line(&format!("{series}{every}"));
                }
            }
        }
    }

    /// ` every K`, sometimes.
    fn every(&mut self) -> String {
        let k = 1 + self.dice.below(self.steps as usize + 2);
        match self.dice.below(8) {
            0..=3 => String::new(),
            4 => format!(" every {k}u"),
            5 => format!(" every {} - {}", k + 3, 3),
            6 => " every 7 / 2".into(),
            _ => format!(" every {k}"),
        }
    }

    fn record(&mut self, k: usize) {
        let every = self.every();
        if self.dice.chance(30) {
            // The state of that name; there are two at least.
            if k < 2 {
                self.line(&format!("record s{k}{every}"));
                return;
            }
        }
        let ty = self.any_type(2);
        let value = self.expr(&ty, 3);
        let written = self.written(&ty);
        // The name may be that of an output.
        match self.dice.chance(50) {
            true => self.line(&format!("record o{k}: {written} = {value}{every}")),
            false => self.line(&format!("record r{k} = {value}{every}")),
        }
    }

    /// World code: a world state, or an expression that is no call with the name of a fold.
    fn world_value(&mut self, k: usize) {
        let every = self.every();
        if k == 0 && self.dice.chance(60) {
            self.line(&format!("world observe u0{every}"));
            return;
        }
        self.here = Here {
            world: true,
            others: true,
            ..Here::default()
        };
        let ty = self.any_type(2);
        let value = match self.dice.chance(40) {
            true => self.world_fold(&ty, 3),
            false => None,
        };
        let value = match value {
            Some(fold) => fold,
            None if matches!(ty, T::F | T::I | T::U) && self.dice.chance(50) => {
                // Calls with a fold's name that are world code: of two values, of an array that is a name.
                let arrays: Vec<String> = (self.visible().iter())
                    .filter(|one| matches!(&one.ty, T::A(element, _) if **element == ty))
                    .map(|one| one.name.clone())
                    .collect();
                match !arrays.is_empty() && self.dice.chance(60) {
                    true => format!("sum({})", self.dice.pick(&arrays)),
                    false if self.dice.chance(30) => {
                        format!("sum([{}, {}])", self.simple(&ty), self.expr(&ty, 2))
                    }
                    false => format!("max({}, {})", self.simple(&ty), self.expr(&ty, 2)),
                }
            }
            None => {
                let value = self.expr(&ty, 3);
                // A fold of an array without a name would be one of agents.
                let folds = ["sum(", "mean(", "min(", "max(", "count(", "any(", "all("];
                let is_fold = folds.iter().any(|fold| value.starts_with(fold));
                match is_fold && !value.contains("(for ") {
                    true => self.simple(&ty),
                    false => value,
                }
            }
        };
        self.line(&format!(
            "world observe z{k}: {} = {value}{every}",
            self.written(&ty)
        ));
    }

    /// What follows the value in a call of a fold.
    fn constants_of(&mut self, name: &str) -> String {
        match name {
            "quantiles" => {
                let fractions = [
                    "0.0",
                    "0.1",
                    "0.25",
                    "0.5",
                    "1.0 / 3.0",
                    "0.9",
                    "1",
                    "0.999",
                ];
                let count = 1 + self.dice.below(4);
                let list: Vec<&str> = (0..count).map(|_| *self.dice.pick(&fractions)).collect();
                format!(", {}", list.join(", "))
            }
            "histogram" => {
                let bins = [
                    "-2.0, 2.0, 4",
                    "0, 1, 3",
                    "0, 49, 49",
                    "-0.5, 7.25, 7",
                    "0.0, 10.0, 1",
                    "-1e30, 1e30, 5",
                    "0.1, 0.7, 6",
                ];
                format!(", {}", self.dice.pick(&bins))
            }
            _ => String::new(),
        }
    }

    fn fold_of_agents(&mut self, head: &str, k: usize) {
        let every = self.every();
        let whole = self.profile == Profile::Whole;
        let of = [T::F, T::I, T::U, T::B];
        let number = self
            .dice
            .pick(if whole { &of[..3] } else { &of[1..3] })
            .clone();
        let any = self.dice.pick(if whole { &of } else { &of[1..] }).clone();
        let (name, element, result) = match self.dice.below(16) {
            0 if whole => {
                let n = 2 + self.dice.below(3);
                let name = *self.dice.pick(&["sum", "mean"]);
                (name, T::V(n), Some(T::V(n)))
            }
            1..=3 if whole => (*self.dice.pick(&["sum", "mean"]), T::F, Some(T::F)),
            4 if whole => ("mean", T::B, Some(T::F)),
            5 => ("sum", T::B, Some(T::I)),
            6 | 7 => {
                let name = *self.dice.pick(&["min", "max"]);
                (name, number.clone(), Some(number))
            }
            8 => ("count", T::B, Some(T::I)),
            9 => (*self.dice.pick(&["any", "all"]), T::B, Some(T::B)),
            10 | 11 => (*self.dice.pick(&["var", "sd"]), any, Some(T::F)),
            12 => ("quantiles", any, None),
            13 => ("histogram", any, None),
            _ => ("sum", number.clone(), Some(number)),
        };
        let value = match (name, &element) {
            ("sum" | "mean", T::F) if self.world.is_some() && self.dice.chance(50) => {
                let other = self.simple(&T::F);
                (*self.dice.pick(&["spread", &format!("(spread * {other})")])).to_owned()
            }
            // An abstract value takes a type, too.
            ("sum" | "min" | "max", T::I) if self.dice.chance(5) => "3".into(),
            _ => self.expr(&element, 3),
        };
        let arguments = self.constants_of(name);
        let ty = match result {
            Some(ty) if self.dice.chance(40) => format!(": {}", self.written(&ty)),
            _ => String::new(),
        };
        // A bare name of an array of the world would be world code, but none has this type.
        self.line(&format!(
            "{head} m{k}{ty} = {name}({value}{arguments}){every}"
        ));
    }
}
