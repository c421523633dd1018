//! Abstract numbers take the type of their place: docs/language.md, "Abstract numbers".

use super::super::typed::{Node, Rounds, Typed};
use super::super::value::{Ty, Value};
use super::{Checker, Outcome};

impl Checker<'_> {
    /// An expression in the type of its place.
    pub(super) fn coerce(&self, typed: Typed, ty: &Ty) -> Outcome<Typed> {
        if typed.ty == *ty {
            return Ok(typed);
        }
        if !typed.ty.is_abstract() {
            return Err(format!("{:?} where {ty:?} is due", typed.ty));
        }
        let element = |of: &Ty| match of {
            Ty::Array(element, _) => (**element).clone(),
            other => other.clone(),
        };
        let inner = element(ty);
        let push = |x: Typed| self.coerce(x, ty);
        let push_boxed = |x: Box<Typed>| push(*x).map(Box::new);
        let node = match typed.node {
            Node::Known(value) => Node::Known(known(value, ty)?),
            Node::Unary(operator, x) => Node::Unary(operator, push_boxed(x)?),
            Node::Binary(operator @ ("<<" | ">>"), sides) => {
                let [left, right] = *sides;
                Node::Binary(operator, Box::new([push(left)?, right]))
            }
            Node::Binary(operator, sides) => {
                Node::Binary(operator, Box::new(self.all(*sides, ty)?))
            }
            Node::Power(x, n) => Node::Power(push_boxed(x)?, n),
            Node::If(branches) => {
                let [condition, yes, no] = *branches;
                Node::If(Box::new([condition, push(yes)?, push(no)?]))
            }
            Node::Index(sides) => {
                let [base, index] = *sides;
                let Ty::Array(_, length) = base.ty else {
                    return Err("an index of no array".into());
                };
                let base = self.coerce(base, &Ty::Array(Box::new(ty.clone()), length))?;
                Node::Index(Box::new([base, index]))
            }
            Node::List(elements) => {
                let list = elements.into_iter().map(|x| self.coerce(x, &inner));
                Node::List(list.collect::<Outcome<_>>()?)
            }
            Node::Repeat(x, count) => Node::Repeat(Box::new(self.coerce(*x, &inner)?), count),
            Node::Rounds(rounds) => Node::Rounds(self.rounds_of(*rounds, &inner)?),
            Node::FoldRounds(name, rounds) => Node::FoldRounds(name, self.rounds_of(*rounds, ty)?),
            Node::FoldArray(name, array) => {
                let Ty::Array(_, length) = array.ty else {
                    return Err("a fold of no array".into());
                };
                let array = self.coerce(*array, &Ty::Array(Box::new(ty.clone()), length))?;
                Node::FoldArray(name, Box::new(array))
            }
            Node::Builtin(name, arguments) if name == "select" => {
                let mut arguments = arguments;
                let condition = arguments.pop().ok_or("select without condition")?;
                let mut list = arguments
                    .into_iter()
                    .map(push)
                    .collect::<Outcome<Vec<_>>>()?;
                list.push(condition);
                Node::Builtin(name, list)
            }
            Node::Builtin(name, arguments) => {
                let list = arguments.into_iter().map(push);
                Node::Builtin(name, list.collect::<Outcome<_>>()?)
            }
            other => return Err(format!("{other:?} has no machine type")),
        };
        let ty = ty.clone();
        Ok(Typed { ty, node })
    }

    /// The value of a declaration in the type that it writes: of an array also one for all elements.
    pub(super) fn declared_in(&self, typed: Typed, ty: &Ty) -> Outcome<Typed> {
        let mut lengths = Vec::new();
        let mut element = ty;
        while let Ty::Array(inner, length) = element {
            lengths.push(*length);
            element = inner;
        }
        if !matches!(typed.ty, Ty::Whole | Ty::Real) && typed.ty != *element {
            return self.coerce(typed, ty);
        }
        let mut filled = self.coerce(typed, element)?;
        for length in lengths.into_iter().rev() {
            filled = Typed {
                ty: Ty::Array(Box::new(filled.ty.clone()), length),
                node: Node::Repeat(Box::new(filled), length),
            };
        }
        Ok(filled)
    }

    fn all(&self, sides: [Typed; 2], ty: &Ty) -> Outcome<[Typed; 2]> {
        let [left, right] = sides;
        Ok([self.coerce(left, ty)?, self.coerce(right, ty)?])
    }

    fn rounds_of(&self, rounds: Rounds, ty: &Ty) -> Outcome<Box<Rounds>> {
        Ok(Box::new(Rounds {
            body: self.coerce(rounds.body.clone(), ty)?,
            ..rounds
        }))
    }

    /// Where nothing asks.
    pub(super) fn concrete(&self, typed: Typed) -> Outcome<Typed> {
        let ty = typed.ty.concrete();
        self.coerce(typed, &ty)
    }

    /// Several expressions in one type, which one of them may dictate.
    pub(super) fn alike(&self, list: Vec<Typed>) -> Outcome<Vec<Typed>> {
        let mut ty = list.first().ok_or("nothing to compare")?.ty.clone();
        for other in &list[1..] {
            ty = join(&ty, &other.ty)?;
        }
        list.into_iter().map(|x| self.coerce(x, &ty)).collect()
    }
}

/// The type that two expressions can both have.
pub(super) fn join(a: &Ty, b: &Ty) -> Outcome<Ty> {
    Ok(match (a, b) {
        _ if a == b => a.clone(),
        (Ty::Whole, Ty::Real) | (Ty::Real, Ty::Whole) => Ty::Real,
        (Ty::Whole, Ty::I32 | Ty::U32 | Ty::F32) | (Ty::Real, Ty::F32) => b.clone(),
        (Ty::I32 | Ty::U32 | Ty::F32, Ty::Whole) | (Ty::F32, Ty::Real) => a.clone(),
        (Ty::Array(a, n), Ty::Array(b, m)) if n == m => Ty::Array(Box::new(join(a, b)?), *n),
        _ => return Err(format!("{a:?} and {b:?} have no type in common")),
    })
}

/// An abstract value in a type.
fn known(value: Value, ty: &Ty) -> Outcome<Value> {
    let wrong = |value: &Value| Err(format!("{value:?} does not fit {ty:?}"));
    Ok(match (&value, ty) {
        (Value::Whole(x), Ty::F32) => Value::F(*x as f32),
        (Value::Whole(x), Ty::I32) => match i32::try_from(*x) {
            Ok(x) => Value::I(x),
            Err(_) => return wrong(&value),
        },
        (Value::Whole(x), Ty::U32) => match u32::try_from(*x) {
            Ok(x) => Value::U(x),
            Err(_) => return wrong(&value),
        },
        (Value::Whole(x), Ty::Real) => Value::Real(*x as f64),
        (Value::Real(x), Ty::F32) if !(*x as f32).is_finite() => return wrong(&value),
        (Value::Real(x), Ty::F32) => Value::F(*x as f32),
        (Value::A(elements), Ty::Array(inner, _)) => {
            let list = elements.iter().map(|element| known(element.clone(), inner));
            Value::A(list.collect::<Outcome<_>>()?)
        }
        (_, Ty::Whole | Ty::Real | Ty::I32 | Ty::U32 | Ty::F32 | Ty::Array(..)) => {
            return if matches!(value, Value::Whole(_) | Value::Real(_)) {
                wrong(&value)
            } else {
                Ok(value)
            };
        }
        _ => return wrong(&value),
    })
}
