//! Expressions but for calls.

use super::super::machine;
use super::super::tree::{Comprehension, Expr, Over};
use super::super::typed::{Node, Rounds, Typed};
use super::super::value::{Ty, Value};
use super::coerce::join;
use super::{Checker, Global, Outcome};

/// An expression.
pub(super) fn typed(ty: Ty, node: Node) -> Typed {
    Typed { ty, node }
}

impl Checker<'_> {
    /// An expression in a type.
    pub(super) fn expr_as(&mut self, expr: &Expr, ty: &Ty) -> Outcome<Typed> {
        let found = self.expr(expr)?;
        self.coerce(found, ty)
    }

    /// An expression where nothing asks for a type.
    pub(super) fn expr_concrete(&mut self, expr: &Expr) -> Outcome<Typed> {
        let found = self.expr(expr)?;
        self.concrete(found)
    }

    pub(super) fn expr(&mut self, expr: &Expr) -> Outcome<Typed> {
        let known = |ty, value| Ok(typed(ty, Node::Known(value)));
        match expr {
            Expr::Whole(x) => known(Ty::Whole, Value::Whole(*x)),
            Expr::Unsigned(x) => known(Ty::U32, Value::U(*x)),
            Expr::Real(x) => known(Ty::Real, Value::Real(*x)),
            Expr::Truth(x) => known(Ty::Bool, Value::B(*x)),
            Expr::Name(name) => self.name(name),
            Expr::World => Err("`world` is no value".into()),
            Expr::Unary(operator, x) => {
                let x = self.expr(x)?;
                let ty = x.ty.clone();
                self.folded(typed(ty, Node::Unary(operator, Box::new(x))))
            }
            Expr::Binary(operator, left, right) => {
                let left = self.expr(left)?;
                let right = self.expr(right)?;
                self.binary(operator, left, right)
            }
            Expr::Index(base, index) => self.index(base, index),
            Expr::Field(base, name) => self.field(base, name),
            Expr::Call(name, arguments) => self.call(name, arguments),
            Expr::Fold(name, comprehension) => {
                let rounds = self.rounds(comprehension)?;
                self.fold(name, rounds)
            }
            Expr::Bitcast(ty, x) => {
                let ty = self.ty(ty)?;
                let x = self.expr_concrete(x)?;
                Ok(typed(ty, Node::Bitcast(Box::new(x))))
            }
            Expr::List(elements) => {
                let list = elements
                    .iter()
                    .map(|x| self.expr(x))
                    .collect::<Outcome<_>>()?;
                let list = self.alike(list)?;
                let ty = Ty::Array(Box::new(list[0].ty.clone()), list.len());
                self.folded(typed(ty, Node::List(list)))
            }
            Expr::Repeat(value, length) => {
                let value = self.expr(value)?;
                let length = self.length(length)?;
                let ty = Ty::Array(Box::new(value.ty.clone()), length);
                self.folded(typed(ty, Node::Repeat(Box::new(value), length)))
            }
            Expr::Comprehension(comprehension) => {
                let rounds = self.rounds(comprehension)?;
                let count = self.rounds_count(comprehension)?;
                let ty = Ty::Array(Box::new(rounds.body.ty.clone()), count);
                Ok(typed(ty, Node::Rounds(Box::new(rounds))))
            }
            Expr::If(branches) => {
                let condition = self.expr(&branches[0])?;
                let values = vec![self.expr(&branches[1])?, self.expr(&branches[2])?];
                let mut values = self.alike(values)?;
                let (Some(no), Some(yes)) = (values.pop(), values.pop()) else {
                    return Err("an `if` without branches".into());
                };
                let ty = yes.ty.clone();
                self.folded(typed(ty, Node::If(Box::new([condition, yes, no]))))
            }
        }
    }

    /// Abstract expressions of known values are evaluated at once; they are exact.
    pub(super) fn folded(&self, whole: Typed) -> Outcome<Typed> {
        let is_known = |x: &Typed| matches!(x.node, Node::Known(_));
        let all = match &whole.node {
            Node::Unary(_, x) | Node::Power(x, _) | Node::Repeat(x, _) => is_known(x),
            Node::Binary(_, sides) | Node::Index(sides) => sides.iter().all(is_known),
            Node::If(branches) => branches.iter().all(is_known),
            Node::List(list) => list.iter().all(is_known),
            _ => false,
        };
        if !all || !whole.ty.is_abstract() && !matches!(whole.ty, Ty::Bool) {
            return Ok(whole);
        }
        let value = machine::constant(&whole, 0, &self.structs, &[])?;
        // `2 ** -1` is no integer.
        let ty = match (&whole.ty, &value) {
            (Ty::Whole, Value::Real(_)) => Ty::Real,
            (ty, _) => ty.clone(),
        };
        Ok(typed(ty, Node::Known(value)))
    }

    fn name(&mut self, name: &str) -> Outcome<Typed> {
        for scope in self.scopes.iter().rev() {
            if let Some(local) = scope.get(name) {
                return Ok(typed(local.ty.clone(), Node::Local(local.slot)));
            }
        }
        match name {
            "agents" => return Ok(typed(Ty::I32, Node::Agents)),
            "steps" => return Ok(typed(Ty::I32, Node::Steps)),
            _ => {}
        }
        if let Some(number) = self.own_number(name)? {
            return Ok(number);
        }
        if let Some(known) = self.known(name)? {
            return Ok(known);
        }
        if let Some(global) = self.globals.get(name) {
            return Ok(match global.clone() {
                Global::Param(k, ty) => typed(ty, Node::Param(k)),
                Global::Data(k, ty) => typed(ty, Node::Data(k)),
                Global::Input(k, ty) => typed(ty, Node::Input(k)),
                Global::State(k, ty) => typed(ty, Node::State(k)),
                Global::WorldInput(k, ty) => typed(ty, Node::WorldInput(k)),
                Global::WorldState(k, ty) => typed(ty, Node::WorldState(k)),
            });
        }
        for k in 0..self.tree.enums.len() {
            if let Some(variant) = self.variant(k, name) {
                return Ok(variant);
            }
        }
        let (ty, value) = match name {
            "PI" => (Ty::Real, Value::Real(std::f64::consts::PI)),
            "TAU" => (Ty::Real, Value::Real(std::f64::consts::TAU)),
            "E" => (Ty::Real, Value::Real(std::f64::consts::E)),
            "EPSILON" => (Ty::Real, Value::Real(f64::powi(2.0, -23))),
            "INFINITY" => (Ty::F32, Value::F(f32::INFINITY)),
            "NAN" => (Ty::F32, Value::F(f32::NAN)),
            _ => return Err(format!("no `{name}`")),
        };
        Ok(typed(ty, Node::Known(value)))
    }

    /// A variant of an enum.
    pub(super) fn variant(&self, number: usize, name: &str) -> Option<Typed> {
        let variants = &self.tree.enums[number].1;
        let k = variants.iter().position(|variant| variant == name)?;
        Some(typed(Ty::Enum(number), Node::Known(Value::E(k as u32))))
    }

    pub(super) fn binary(
        &mut self,
        operator: &'static str,
        left: Typed,
        right: Typed,
    ) -> Outcome<Typed> {
        match operator {
            "&&" | "||" => {
                return self.folded(typed(
                    Ty::Bool,
                    Node::Binary(operator, Box::new([left, right])),
                ));
            }
            "<<" | ">>" => {
                let right = if left.ty.is_abstract() && right.ty.is_abstract() {
                    right
                } else {
                    self.concrete(right)?
                };
                let ty = left.ty.clone();
                return self.folded(typed(ty, Node::Binary(operator, Box::new([left, right]))));
            }
            "**" => return self.power(left, right),
            _ => {}
        }
        let (left, right) = match (&left.ty, &right.ty) {
            (Ty::Vector(_), Ty::Vector(_)) => (left, right),
            (Ty::Vector(_), _) => (left, self.coerce(right, &Ty::F32)?),
            (_, Ty::Vector(_)) => (self.coerce(left, &Ty::F32)?, right),
            _ => {
                let ty = join(&left.ty, &right.ty)?;
                (self.coerce(left, &ty)?, self.coerce(right, &ty)?)
            }
        };
        let ty = match operator {
            "==" | "!=" | "<" | "<=" | ">" | ">=" => Ty::Bool,
            _ if matches!(right.ty, Ty::Vector(_)) => right.ty.clone(),
            _ => left.ty.clone(),
        };
        if ty == Ty::Bool {
            let sides = Box::new([left, right]);
            let exact = self.folded(typed(Ty::Bool, Node::Binary(operator, sides.clone())))?;
            if let Node::Known(_) = exact.node {
                return Ok(exact);
            }
            let [left, right] = *sides;
            let sides = [self.concrete(left)?, self.concrete(right)?];
            return Ok(typed(ty, Node::Binary(operator, Box::new(sides))));
        }
        self.folded(typed(ty, Node::Binary(operator, Box::new([left, right]))))
    }

    fn power(&mut self, base: Typed, exponent: Typed) -> Outcome<Typed> {
        if base.ty.is_abstract() && exponent.ty.is_abstract() {
            let ty = join(&base.ty, &exponent.ty)?;
            return self.folded(typed(ty, Node::Binary("**", Box::new([base, exponent]))));
        }
        let whole = match &exponent.node {
            Node::Known(Value::Whole(n)) => u32::try_from(*n).ok(),
            Node::Known(Value::I(n)) if base.ty.is_whole() => u32::try_from(*n).ok(),
            Node::Known(Value::U(n)) if base.ty.is_whole() => Some(*n),
            _ => None,
        };
        let ty = base.ty.clone();
        if let Some(n) = whole
            && (base.ty.is_whole() || (1..=4).contains(&n))
        {
            return Ok(typed(ty, Node::Power(Box::new(base), n)));
        }
        let (base, exponent) = match (&base.ty, &exponent.ty) {
            (Ty::Vector(_), Ty::Vector(_)) => (base, exponent),
            (Ty::Vector(_), _) => (base, self.coerce(exponent, &Ty::F32)?),
            (_, Ty::Vector(_)) => (self.coerce(base, &Ty::F32)?, exponent),
            _ => (
                self.coerce(base, &Ty::F32)?,
                self.coerce(exponent, &Ty::F32)?,
            ),
        };
        let ty = match &exponent.ty {
            Ty::Vector(_) => exponent.ty.clone(),
            _ => base.ty.clone(),
        };
        Ok(typed(ty, Node::Builtin("pow".into(), vec![base, exponent])))
    }

    fn index(&mut self, base: &Expr, index: &Expr) -> Outcome<Typed> {
        if let Expr::World = base {
            return self.at(index);
        }
        let base = self.expr(base)?;
        let index = self.expr_concrete(index)?;
        let ty = match &base.ty {
            Ty::Array(element, _) | Ty::Open(element) => (**element).clone(),
            other => return Err(format!("an index of {other:?}")),
        };
        self.folded(typed(ty, Node::Index(Box::new([base, index]))))
    }

    fn field(&mut self, base: &Expr, name: &str) -> Outcome<Typed> {
        if let Expr::Name(qualifier) = base
            && !self
                .scopes
                .iter()
                .any(|scope| scope.contains_key(qualifier))
            && let Some(k) = self
                .tree
                .enums
                .iter()
                .position(|(other, _)| other == qualifier)
        {
            return self.variant(k, name).ok_or(format!("no variant `{name}`"));
        }
        if let Expr::World = base {
            return self.of_world(name);
        }
        let base = self.expr(base)?;
        match &base.ty {
            Ty::Agent => self.of_agent(base, name),
            Ty::Struct(number) => {
                let (k, ty) = self.struct_field(*number, name)?;
                Ok(typed(ty, Node::Field(Box::new(base), k)))
            }
            Ty::Vector(_) => {
                let places = components(name)?;
                let ty = match places.len() {
                    1 => Ty::F32,
                    count => Ty::Vector(count),
                };
                Ok(typed(ty, Node::Swizzle(Box::new(base), places)))
            }
            other => Err(format!("a field of {other:?}")),
        }
    }

    /// A field's number and type.
    pub(super) fn struct_field(&self, number: usize, name: &str) -> Outcome<(usize, Ty)> {
        let fields = &self.structs[number].1;
        let k = fields.iter().position(|(other, _)| other == name);
        let k = k.ok_or(format!("no field `{name}`"))?;
        // Fields of structs that were declared below were not known when the table was begun.
        Ok((k, fields[k].1.clone()))
    }

    fn rounds(&mut self, comprehension: &Comprehension) -> Outcome<Rounds> {
        let (over, ty) = self.over(&comprehension.over)?;
        let inside = usize::from(ty == Ty::Agent);
        self.scoped(|checker| {
            checker.folds += inside;
            let slot = checker.declare(comprehension.name.clone(), ty);
            let filter = comprehension.filter.as_ref();
            let rounds = Rounds {
                slot,
                over,
                filter: filter.map(|filter| checker.expr(filter)).transpose()?,
                body: checker.expr(&comprehension.body)?,
            };
            checker.folds -= inside;
            Ok(rounds)
        })
    }

    fn rounds_count(&mut self, comprehension: &Comprehension) -> Outcome<usize> {
        let Over::Range(from, to) = &comprehension.over else {
            return Err("an array of the agents of the world".into());
        };
        let mut end = |expr: &Expr| -> Outcome<i64> {
            match self.constant(expr)?.node {
                Node::Known(Value::Whole(x)) => Ok(x),
                Node::Known(Value::I(x)) => Ok(i64::from(x)),
                other => Err(format!("{other:?} ends no range")),
            }
        };
        let count = -end(from)? + end(to)?;
        usize::try_from(count).map_err(|_| "an empty range".into())
    }
}

/// The numbers of components.
pub(super) fn components(name: &str) -> Outcome<Vec<usize>> {
    let place = |c: char| "xyzw".find(c).or("rgba".find(c));
    let places: Option<Vec<usize>> = name.chars().map(place).collect();
    places.ok_or(format!("`{name}` names no components"))
}
