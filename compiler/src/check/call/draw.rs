//! Draws: where one may be made, and what it takes and gives.

use crate::{
    builtin::{BuiltinId, Draw},
    check::{CallSite, Checker, Place},
    diagnostic::catalog,
    hir::{ExprId, ExprKind, Type},
    span::Span,
    syntax::ast,
};

impl Checker<'_> {
    /// Why no draw may be made here.
    pub(in crate::check) fn no_draws(&self) -> Option<&'static str> {
        if self.in_integrate {
            return Some("the body of `integrate`");
        }
        match self.place {
            Place::Constant | Place::InputDefault | Place::Output => Some(self.place.describe()),
            Place::InputDraw
            | Place::StateInit
            | Place::Init
            | Place::Step
            | Place::Finish
            | Place::Function(_) => None,
        }
    }

    pub(super) fn draw(
        &mut self,
        draw: Draw,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> ExprId {
        let (needed, ok, result) = signature(draw, args.len());
        if let Some(place) = self.no_draws() {
            self.report(catalog::control::draw_not_allowed(
                &callee.text,
                place,
                callee.span,
            ));
            return self.error(span);
        }
        if let Place::Function(function) = self.place {
            self.model.functions[function.0 as usize].draws = true;
        }
        if !self.count(&callee.text, needed, ok, args.len(), span) {
            return self.error(span);
        }
        if draw == Draw::Categorical {
            return self.categorical(callee, &args[0], span);
        }
        let want = if draw == Draw::RandInt {
            Type::I32
        } else {
            Type::F32
        };
        let names = BuiltinId::named(&callee.text).row().params;
        let ids = args
            .iter()
            .enumerate()
            .map(|(k, arg)| {
                let id = self.expr(arg, Some(&want));
                self.argument(
                    id,
                    &want,
                    &callee.text,
                    names.get(k).copied().unwrap_or("it"),
                )
            })
            .collect();
        if draw == Draw::Poisson
            && let Some(id) = self.poisson()
        {
            self.calls.push(CallSite {
                caller: match self.place {
                    Place::Function(caller) => Some(caller),
                    _ => None,
                },
                callee: id,
                span,
                forbids_draw: None,
                before_launch: false,
            });
            return self.node(ExprKind::Call(id, ids), result, span);
        }
        self.node(ExprKind::Draw(draw, ids), result, span)
    }

    fn categorical(&mut self, callee: &ast::Name, weights: &ast::Expr, span: Span) -> ExprId {
        let id = self.expr(weights, None);
        let id = match self.ty(id).clone() {
            Type::Array(element, length) if element.is_abstract() => {
                let want = Type::Array(std::rc::Rc::new(Type::F32), length);
                self.adapt(id, &want).unwrap_or(id)
            }
            _ => id,
        };
        match self.ty(id) {
            Type::Array(element, _) if **element == Type::F32 => {
                self.node(ExprKind::Draw(Draw::Categorical, vec![id]), Type::I32, span)
            }
            Type::Error => self.error(span),
            other => {
                let found = self.show(other);
                let place = self.expr_span(id);
                self.report(catalog::types::bad_argument(
                    &callee.text,
                    "weights",
                    "an array of `f32`",
                    &found,
                    place,
                ));
                self.error(span)
            }
        }
    }
}

/// How many arguments a draw takes in words, whether so many will do, and the type of what it gives.
fn signature(draw: Draw, count: usize) -> (&'static str, bool, Type) {
    match draw {
        Draw::Random => ("no arguments", count == 0, Type::F32),
        Draw::Uniform => ("two arguments", count == 2, Type::F32),
        Draw::Normal => ("no or two arguments", count == 0 || count == 2, Type::F32),
        Draw::Exponential => ("one argument", count == 1, Type::F32),
        Draw::Bernoulli => ("one argument", count == 1, Type::BOOL),
        Draw::RandInt => ("two arguments", count == 2, Type::I32),
        Draw::Poisson => ("one argument", count == 1, Type::I32),
        Draw::Categorical => ("one argument", count == 1, Type::I32),
    }
}
