//! Folds: from the first element to the last, and those of the world; docs/language.md, "Folds" and "Folds
//! over a world", and docs/builtins.md.

use super::super::arithmetic;
use super::super::builtin::{larger, smaller};
use super::super::typed::{Over, Rounds, Typed};
use super::super::value::{Ty, Value};
use super::{Machine, Outcome};

impl Machine<'_> {
    pub(super) fn fold_rounds(&mut self, name: &str, rounds: &Rounds, ty: &Ty) -> Outcome<Value> {
        let mut elements = Vec::new();
        self.rounds(rounds, |_, k, value| elements.push((k, value)))?;
        match rounds.over {
            Over::Range(_) => {
                self.open_zeros(name, &elements);
                self.fold(name, &elements, ty)
            }
            Over::World { shared } => {
                let sum = match (name, shared) {
                    ("mean", true) => self.tree("sum", &elements, ty)?,
                    ("sum" | "product", true) => self.tree(name, &elements, ty)?,
                    ("mean", false) => self.fold("sum", &elements, ty)?,
                    _ => self.fold(name, &elements, ty)?,
                };
                let summed = matches!(name, "sum" | "mean") && rounds.filter.is_some();
                let sum = match (summed, &sum) {
                    (true, Value::F(_) | Value::V(_)) => {
                        arithmetic::binary("+", sum, Value::F(0.0))?
                    }
                    _ => sum,
                };
                match name {
                    "mean" => arithmetic::binary("/", sum, Value::F(elements.len() as f32)),
                    _ => Ok(sum),
                }
            }
        }
    }

    /// The sum or product of the world's agents as a tree. Places that have no element count as nothing.
    fn tree(&self, name: &str, elements: &[(i32, Value)], ty: &Ty) -> Outcome<Value> {
        let (operator, nothing) = match (name, ty) {
            ("sum", Ty::F32) => ("+", Value::F(-0.0)),
            ("sum", Ty::Vector(count)) => ("+", Value::V(vec![-0.0; *count])),
            ("sum", _) => ("+", self.of_nothing(name, ty)?),
            _ => ("*", self.of_nothing(name, ty)?),
        };
        let mut level = vec![nothing; self.size as usize];
        for (member, value) in elements {
            level[*member as usize] = counted(value, ty);
        }
        pairwise(operator, level)
    }

    pub(super) fn fold_array(&mut self, name: &str, array: &Typed, ty: &Ty) -> Outcome<Value> {
        let Value::A(elements) = self.value(array)? else {
            return Err("a fold of no array".into());
        };
        let elements: Vec<(i32, Value)> = (0..).zip(elements).collect();
        self.fold(name, &elements, ty)
    }

    /// Where a sum may be one of nothing, of negative zeros only it is 0.0, elsewhere -0.0; the page does not
    /// say.
    fn open_zeros(&mut self, name: &str, elements: &[(i32, Value)]) {
        let negative = |x: f32| x == 0.0 && x.is_sign_negative();
        let zero = |value: &Value| match value {
            Value::F(x) => negative(*x),
            Value::V(components) => components.iter().any(|x| negative(*x)),
            _ => false,
        };
        if matches!(name, "sum" | "mean")
            && !elements.is_empty()
            && elements.iter().all(|(_, x)| zero(x))
        {
            self.open = Some("the sign of a sum of negative zeros");
        }
    }

    pub(super) fn fold(
        &mut self,
        name: &str,
        elements: &[(i32, Value)],
        ty: &Ty,
    ) -> Outcome<Value> {
        let is_nan = |value: &Value| matches!(value, Value::F(x) if x.is_nan());
        // These pass over NaN, as a filter would.
        if matches!(name, "min" | "max") && elements.iter().any(|(_, x)| is_nan(x)) {
            let numbers: Vec<(i32, Value)> =
                (elements.iter().filter(|(_, x)| !is_nan(x)).cloned()).collect();
            return self.fold(name, &numbers, ty);
        }
        match name {
            "count" => {
                let counts = |value: &Value| !matches!(value, Value::B(false));
                let count = elements.iter().filter(|(_, value)| counts(value)).count();
                Ok(Value::I(count as i32))
            }
            "any" => Ok(Value::B(
                elements.iter().any(|(_, value)| *value == Value::B(true)),
            )),
            "all" => Ok(Value::B(
                elements.iter().all(|(_, value)| *value == Value::B(true)),
            )),
            "argmin" | "argmax" => self.best(name, elements),
            "mean" => {
                let sum = self.fold("sum", elements, ty)?;
                arithmetic::binary("/", sum, Value::F(elements.len() as f32))
            }
            _ => {
                let Some(((_, first), rest)) = elements.split_first() else {
                    return self.of_nothing(name, ty);
                };
                let mut sum = counted(first, ty);
                for (_, value) in rest {
                    sum = match name {
                        "sum" => arithmetic::binary("+", sum, counted(value, ty))?,
                        "product" => arithmetic::binary("*", sum, value.clone())?,
                        _ => self.extreme(name, sum, value.clone())?,
                    };
                }
                Ok(sum)
            }
        }
    }

    fn best(&mut self, name: &str, elements: &[(i32, Value)]) -> Outcome<Value> {
        let Some((mut index, mut best)) = elements.first().cloned() else {
            return Ok(Value::I(0));
        };
        let (operator, worst) = match name {
            "argmin" => ("<", f32::INFINITY),
            _ => (">", f32::NEG_INFINITY),
        };
        let number = |value: &Value| match value {
            Value::F(x) if x.is_nan() => Value::F(worst),
            other => other.clone(),
        };
        best = number(&best);
        for (k, value) in &elements[1..] {
            let value = &number(value);
            if arithmetic::binary(operator, value.clone(), best.clone())? == Value::B(true) {
                (index, best) = (*k, value.clone());
            }
        }
        Ok(Value::I(index))
    }

    fn extreme(&mut self, name: &str, a: Value, b: Value) -> Outcome<Value> {
        Ok(match (name, a, b) {
            ("min", Value::F(a), Value::F(b)) => Value::F(smaller(a, b, &mut self.open)),
            ("max", Value::F(a), Value::F(b)) => Value::F(larger(a, b, &mut self.open)),
            ("min", Value::I(a), Value::I(b)) => Value::I(a.min(b)),
            ("max", Value::I(a), Value::I(b)) => Value::I(a.max(b)),
            ("min", Value::U(a), Value::U(b)) => Value::U(a.min(b)),
            ("max", Value::U(a), Value::U(b)) => Value::U(a.max(b)),
            (name, a, b) => return Err(format!("`{name}` of {a:?} and {b:?}")),
        })
    }

    fn of_nothing(&self, name: &str, ty: &Ty) -> Outcome<Value> {
        let number = |float: f32, signed: i32, unsigned: u32| match ty {
            Ty::F32 => Ok(Value::F(float)),
            Ty::I32 | Ty::Whole => Ok(Value::I(signed)),
            Ty::U32 => Ok(Value::U(unsigned)),
            Ty::Vector(count) => Ok(Value::V(vec![float; *count])),
            other => Err(format!("`{name}` of nothing in {other:?}")),
        };
        match name {
            "sum" => number(0.0, 0, 0),
            "product" => number(1.0, 1, 1),
            "min" => number(f32::INFINITY, i32::MAX, u32::MAX),
            "max" => number(f32::NEG_INFINITY, i32::MIN, 0),
            _ => Err(format!("`{name}` is no fold")),
        }
    }
}

/// Neighbours are combined first, then the results in the same way, until one is left.
pub(super) fn pairwise(operator: &str, mut level: Vec<Value>) -> Outcome<Value> {
    while level.len() > 1 {
        let pairs = level.chunks(2).map(|pair| match pair {
            [left, right] => arithmetic::binary(operator, left.clone(), right.clone()),
            _ => Ok(pair[0].clone()),
        });
        level = pairs.collect::<Outcome<_>>()?;
    }
    level.pop().ok_or("nothing to combine".into())
}

/// In sums a truth counts as 0 or 1.
pub(super) fn counted(value: &Value, ty: &Ty) -> Value {
    match (value, ty) {
        (Value::B(truth), Ty::F32) => Value::F(f32::from(u8::from(*truth))),
        (Value::B(truth), _) => Value::I(i32::from(*truth)),
        (other, _) => other.clone(),
    }
}
