//! Statements.

use super::super::tree::{Expr, Stmt};
use super::super::typed::{Node, Part, Place, Root, Step, Typed};
use super::super::value::Ty;
use super::expr::components;
use super::{Checker, Global, Outcome};

impl Checker<'_> {
    /// The statements of a block, in a scope of their own.
    pub(super) fn block(&mut self, block: &[Stmt]) -> Outcome<Vec<Step>> {
        self.scoped(|checker| block.iter().map(|stmt| checker.stmt(stmt)).collect())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Outcome<Step> {
        Ok(match stmt {
            Stmt::Let(name, ty, value) | Stmt::Var(name, ty, value) => {
                let value = match ty {
                    Some(ty) => {
                        let ty = self.ty(ty)?;
                        let value = self.expr(value)?;
                        self.declared_in(value, &ty)?
                    }
                    None => self.expr_concrete(value)?,
                };
                let shared = matches!(stmt, Stmt::Let(..)) && self.is_shared(&value);
                let slot = self.declare(name.clone(), value.ty.clone());
                if shared {
                    self.shared.insert(slot);
                }
                Step::Let(slot, value)
            }
            Stmt::Assign(place, operator, value) => self.assign(place, *operator, value)?,
            Stmt::Equation(name, value) => {
                let Some(Global::State(k, ty)) = self.globals.get(name).cloned() else {
                    return Err(format!("`{name}` is no state"));
                };
                Step::Equation(k, self.expr_as(value, &ty)?)
            }
            Stmt::If(condition, yes, no) => {
                let condition = self.expr(condition)?;
                Step::If(condition, self.block(yes)?, self.block(no)?)
            }
            Stmt::For(name, over, body) => {
                let (over, ty) = self.over(over)?;
                self.scoped(|checker| {
                    let slot = checker.declare(name.clone(), ty);
                    Ok(Step::For(slot, over, checker.block(body)?))
                })?
            }
            Stmt::While(condition, limit, body) => {
                let limit = self.expr_as(limit, &Ty::I32)?;
                let condition = self.expr(condition)?;
                Step::While(condition, limit, self.block(body)?)
            }
            Stmt::Match(value, arms) => self.choose(value, arms)?,
            Stmt::Integrate(method, step, body) => {
                let step = self.expr_as(step, &Ty::F32)?;
                Step::Integrate(method.clone(), step, self.block(body)?)
            }
            Stmt::Return(value) => {
                let ty = self.result.clone().ok_or("`return` outside a function")?;
                Step::Return(self.expr_as(value, &ty)?)
            }
            Stmt::Break => Step::Break,
            Stmt::Continue => Step::Continue,
            Stmt::Stop => Step::Stop,
            Stmt::Assert(condition, message) => {
                Step::Assert(self.expr(condition)?, message.clone())
            }
            Stmt::Block(body) => Step::Block(self.block(body)?),
        })
    }

    fn choose(&mut self, value: &Expr, arms: &[(Vec<Expr>, Vec<Stmt>)]) -> Outcome<Step> {
        let value = self.expr_concrete(value)?;
        let mut typed = Vec::new();
        for (patterns, body) in arms {
            let mut values = Vec::new();
            for pattern in patterns {
                // As a pattern, the type of the value says which enum a variant is of.
                let variant = match (&value.ty, pattern) {
                    (Ty::Enum(number), Expr::Name(name)) => self.variant(*number, name),
                    _ => None,
                };
                let known = match variant {
                    Some(known) => known,
                    None => {
                        let known = self.constant(pattern)?;
                        self.coerce(known, &value.ty)?
                    }
                };
                let Node::Known(known) = known.node else {
                    return Err("a pattern that is not known".into());
                };
                values.push(known);
            }
            typed.push((values, self.block(body)?));
        }
        Ok(Step::Match(value, typed))
    }

    fn assign(
        &mut self,
        place: &Expr,
        operator: Option<&'static str>,
        value: &Expr,
    ) -> Outcome<Step> {
        let place = self.place(place)?;
        let value = self.expr(value)?;
        let value = match (&place.ty, operator) {
            (Ty::Vector(_), Some(_)) if !matches!(value.ty, Ty::Vector(_)) => {
                self.coerce(value, &Ty::F32)?
            }
            // The amount of a shift has a type of its own.
            (_, Some("<<" | ">>")) => self.concrete(value)?,
            (ty, _) => self.coerce(value, ty)?,
        };
        Ok(Step::Assign(place, operator, value))
    }

    fn place(&mut self, expr: &Expr) -> Outcome<Place> {
        match expr {
            Expr::Name(name) => {
                for scope in self.scopes.iter().rev() {
                    if let Some(local) = scope.get(name) {
                        return Ok(root(Root::Local(local.slot), local.ty.clone()));
                    }
                }
                match self.globals.get(name).cloned() {
                    Some(Global::State(k, ty)) => Ok(root(Root::State(k), ty)),
                    Some(Global::WorldState(k, ty)) if self.in_world => {
                        Ok(root(Root::WorldState(k), ty))
                    }
                    _ => Err(format!("`{name}` cannot be assigned")),
                }
            }
            Expr::Index(base, index) => {
                let mut place = self.place(base)?;
                let index: Typed = self.expr_concrete(index)?;
                let Ty::Array(element, _) = place.ty else {
                    return Err("an index of no array".into());
                };
                place.ty = *element;
                place.path.push(Part::Element(index));
                Ok(place)
            }
            Expr::Field(base, name) => {
                let mut place = self.place(base)?;
                let (part, ty) = match &place.ty {
                    Ty::Struct(number) => {
                        let (k, ty) = self.struct_field(*number, name)?;
                        (Part::Field(k), ty)
                    }
                    _ => {
                        let places = components(name)?;
                        let ty = match places.len() {
                            1 => Ty::F32,
                            count => Ty::Vector(count),
                        };
                        (Part::Components(places), ty)
                    }
                };
                place.path.push(part);
                place.ty = ty;
                Ok(place)
            }
            _ => Err("no place".into()),
        }
    }
}

fn root(root: Root, ty: Ty) -> Place {
    Place {
        root,
        path: Vec::new(),
        ty,
    }
}
