//! Calls: conversions, vectors, structs, builtin functions, folds, draws and functions of the model.

use super::super::tree::Expr;
use super::super::typed::{Node, Over, Rounds, Typed};
use super::super::value::{Ty, Value};
use super::expr::typed;
use super::{Checker, Outcome};

const FOLDS: [&str; 10] = [
    "sum", "product", "min", "max", "mean", "any", "all", "count", "argmin", "argmax",
];

const DRAWS: [&str; 17] = [
    "random",
    "uniform",
    "normal",
    "exponential",
    "bernoulli",
    "randint",
    "poisson",
    "categorical",
    "lognormal",
    "gamma",
    "beta",
    "chi_squared",
    "student_t",
    "cauchy",
    "laplace",
    "binomial",
    "geometric",
];

/// Functions of numbers that integers have, too.
const OF_INTEGERS: [&str; 5] = ["abs", "clamp", "max", "min", "sign"];

/// Functions of `i32` and `u32` only.
const OF_BITS: [&str; 6] = [
    "countLeadingZeros",
    "countOneBits",
    "countTrailingZeros",
    "firstLeadingBit",
    "firstTrailingBit",
    "reverseBits",
];

impl Checker<'_> {
    pub(super) fn call(&mut self, name: &str, arguments: &[Expr]) -> Outcome<Typed> {
        if let Some(k) = self
            .tree
            .functions
            .iter()
            .position(|function| function.name == name)
        {
            let (params, result) = match self.functions.get(k) {
                Some(known) => known.clone(),
                None => self.signature(k)?,
            };
            self.called.push(k);
            let arguments = self.arguments(arguments, &params)?;
            return Ok(typed(result, Node::Call(k, arguments)));
        }
        if let Some(k) = self.structs.iter().position(|(other, _)| other == name) {
            let types: Vec<Ty> = self.structs[k].1.iter().map(|(_, ty)| ty.clone()).collect();
            let fields = self.arguments(arguments, &types)?;
            return Ok(typed(Ty::Struct(k), Node::Struct(fields)));
        }
        if let Some(k) = self.tree.enums.iter().position(|(other, _)| other == name) {
            return self.variant_of(k, arguments);
        }
        match name {
            "f32" => self.conversion(Ty::F32, arguments),
            "i32" => self.conversion(Ty::I32, arguments),
            "u32" => self.conversion(Ty::U32, arguments),
            "bool" => self.conversion(Ty::Bool, arguments),
            "vec2" => self.vector(2, arguments),
            "vec3" => self.vector(3, arguments),
            "vec4" => self.vector(4, arguments),
            "len" => self.len(arguments),
            // Of one number, the function.
            "gamma" if arguments.len() == 1 => self.builtin(name, arguments),
            _ if DRAWS.contains(&name) => self.draw(name, arguments),
            _ if FOLDS.contains(&name) && arguments.len() == 1 => {
                let array = self.expr(&arguments[0])?;
                self.fold_array(name, array)
            }
            _ => self.builtin(name, arguments),
        }
    }

    fn arguments(&mut self, arguments: &[Expr], types: &[Ty]) -> Outcome<Vec<Typed>> {
        if arguments.len() != types.len() {
            return Err("another number of arguments".into());
        }
        let pairs = arguments.iter().zip(types);
        pairs
            .map(|(argument, ty)| self.expr_as(argument, ty))
            .collect()
    }

    fn conversion(&mut self, ty: Ty, arguments: &[Expr]) -> Outcome<Typed> {
        let [argument] = arguments else {
            return Err("a conversion has one argument".into());
        };
        let argument = self.expr(argument)?;
        // A literal that fits takes the type at once: `u32(4294967295)` and `f32(0.1)` are exact.
        if argument.ty.is_abstract()
            && ty != Ty::Bool
            && let Ok(direct) = self.coerce(argument.clone(), &ty)
        {
            return Ok(direct);
        }
        let argument = self.concrete(argument)?;
        Ok(typed(ty, Node::Convert(Box::new(argument))))
    }

    /// `Health(k)`: clamped, but for a constant, which must number a variant.
    fn variant_of(&mut self, owner: usize, arguments: &[Expr]) -> Outcome<Typed> {
        let [number] = arguments else {
            return Err("a conversion has one argument".into());
        };
        let number = self.expr(number)?;
        let number = self.concrete(number)?;
        if !matches!(number.ty, Ty::I32 | Ty::U32) {
            return Err(format!("{:?} numbers no variant", number.ty));
        }
        let count = self.tree.enums[owner].1.len();
        Ok(typed(
            Ty::Enum(owner),
            Node::Variant(Box::new(number), count),
        ))
    }

    fn vector(&mut self, count: usize, arguments: &[Expr]) -> Outcome<Typed> {
        let mut parts = Vec::new();
        for argument in arguments {
            let part = self.expr(argument)?;
            parts.push(match part.ty {
                Ty::Vector(_) => part,
                _ => self.coerce(part, &Ty::F32)?,
            });
        }
        if let [Typed { ty: Ty::F32, .. }] = parts[..] {
            let one = parts.remove(0);
            // One scalar is evaluated once, for all components.
            let places = vec![0; count];
            return Ok(typed(
                Ty::Vector(count),
                Node::Swizzle(Box::new(one), places),
            ));
        }
        Ok(typed(Ty::Vector(count), Node::Vector(parts)))
    }

    fn len(&mut self, arguments: &[Expr]) -> Outcome<Typed> {
        let [array] = arguments else {
            return Err("`len` has one argument".into());
        };
        if let Expr::World = array {
            return Ok(self.world_size());
        }
        let array = self.expr(array)?;
        match array.ty {
            Ty::Array(_, length) => Ok(typed(Ty::Whole, Node::Known(Value::Whole(length as i64)))),
            Ty::Open(_) => Ok(typed(Ty::I32, Node::Rows(Box::new(array)))),
            other => Err(format!("`len` of {other:?}")),
        }
    }

    fn draw(&mut self, name: &str, arguments: &[Expr]) -> Outcome<Typed> {
        let (of, ty) = match name {
            "bernoulli" => (Ty::F32, Ty::Bool),
            "randint" => (Ty::I32, Ty::I32),
            "poisson" | "categorical" | "binomial" | "geometric" => (Ty::F32, Ty::I32),
            _ => (Ty::F32, Ty::F32),
        };
        let mut list = Vec::new();
        for (k, argument) in arguments.iter().enumerate() {
            let argument = self.expr(argument)?;
            let of = match argument.ty {
                _ if name == "binomial" && k == 0 => Ty::I32,
                Ty::Array(_, length) => Ty::Array(Box::new(of.clone()), length),
                _ => of.clone(),
            };
            list.push(self.coerce(argument, &of)?);
        }
        Ok(typed(ty, Node::Draw(name.into(), list)))
    }

    /// The type of a fold's result for a type of elements; abstract elements become concrete unless the
    /// result is one.
    pub(super) fn fold_ty(&self, name: &str, element: &Ty) -> Ty {
        match name {
            "any" | "all" => Ty::Bool,
            "count" | "argmin" | "argmax" => Ty::I32,
            "mean" if element.is_abstract() || *element == Ty::Bool => Ty::F32,
            "sum" if *element == Ty::Bool => Ty::I32,
            _ => element.clone(),
        }
    }

    pub(super) fn fold(&mut self, name: &str, rounds: Rounds) -> Outcome<Typed> {
        let ty = self.fold_ty(name, &rounds.body.ty);
        let body = match name {
            "count" | "argmin" | "argmax" => self.concrete(rounds.body.clone())?,
            "mean" if rounds.body.ty.is_abstract() => self.coerce(rounds.body.clone(), &Ty::F32)?,
            _ => rounds.body.clone(),
        };
        let mut rounds = Rounds { body, ..rounds };
        if let Over::World { .. } = rounds.over {
            let shared = self.fold_is_shared(&rounds);
            rounds.over = Over::World { shared };
        }
        Ok(typed(ty, Node::FoldRounds(name.into(), Box::new(rounds))))
    }

    fn fold_array(&mut self, name: &str, array: Typed) -> Outcome<Typed> {
        let Ty::Array(element, length) = array.ty.clone() else {
            return Err(format!("`{name}` of {:?}", array.ty));
        };
        let ty = self.fold_ty(name, &element);
        let array = match name {
            "count" | "argmin" | "argmax" => self.concrete(array)?,
            "mean" if element.is_abstract() => {
                self.coerce(array, &Ty::Array(Box::new(Ty::F32), length))?
            }
            _ => array,
        };
        Ok(typed(ty, Node::FoldArray(name.into(), Box::new(array))))
    }

    fn builtin(&mut self, name: &str, arguments: &[Expr]) -> Outcome<Typed> {
        let node = |ty, list| Ok(typed(ty, Node::Builtin(name.to_owned(), list)));
        let own = match name {
            "ldexp" => Some((vec![Ty::F32, Ty::I32], Ty::F32)),
            "normal_from" => Some((vec![Ty::U32; 2], Ty::F32)),
            "unit" => Some((vec![Ty::U32], Ty::F32)),
            "mul_high" => Some((vec![Ty::U32; 2], Ty::U32)),
            "extractBits" => Some((vec![Ty::U32; 3], Ty::U32)),
            "insertBits" => Some((vec![Ty::U32; 4], Ty::U32)),
            "cross" => Some((vec![Ty::Vector(3); 2], Ty::Vector(3))),
            _ => None,
        };
        if let Some((types, result)) = own {
            let list = self.arguments(arguments, &types)?;
            return node(result, list);
        }
        let mut list = arguments
            .iter()
            .map(|x| self.expr(x))
            .collect::<Outcome<Vec<_>>>()?;
        // The last argument of these has a type of its own.
        let last = match name {
            "mix" | "refract" => list.pop().map(|x| self.coerce(x, &Ty::F32)).transpose()?,
            "select" => list.pop(),
            _ => None,
        };
        let vector = list
            .iter()
            .find(|x| matches!(x.ty, Ty::Vector(_)))
            .map(|x| x.ty.clone());
        let mut list = match vector {
            // A literal beside a vector is no vector: the types are written out.
            Some(ty) => list
                .into_iter()
                .map(|x| self.coerce(x, &ty))
                .collect::<Outcome<_>>()?,
            None => self.alike(list)?,
        };
        let mut ty = list
            .first()
            .ok_or(format!("no arguments of `{name}`"))?
            .ty
            .clone();
        let fits_integers =
            OF_INTEGERS.contains(&name) || OF_BITS.contains(&name) || name == "select";
        if ty.is_abstract() && !fits_integers {
            list = list
                .into_iter()
                .map(|x| self.coerce(x, &Ty::F32))
                .collect::<Outcome<_>>()?;
            ty = Ty::F32;
        }
        let result = match name {
            "distance" | "dot" | "length" => Ty::F32,
            _ => ty,
        };
        list.extend(last);
        node(result, list)
    }
}
