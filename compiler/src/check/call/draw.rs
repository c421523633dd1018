//! Draws: where one may be made, its arguments and its type.

use crate::{
    builtin::{BuiltinId, Draw, domain},
    check::{CallSite, Checked, Checker, Place},
    diagnostic::{Diagnostic, catalog},
    hir::{Constant, ExprId, ExprKind, FunctionId, Type},
    span::Span,
    syntax::ast,
};

/// Where an assertion is made.
const ASSERTION: &str = "the condition of `assert`";

/// The complaint about a draw in a place that makes none.
pub(in crate::check) fn refused(name: &str, place: &str, span: Span) -> Diagnostic {
    match place {
        ASSERTION => catalog::control::draw_in_assert(name, span),
        _ => catalog::control::draw_not_allowed(name, place, span),
    }
}

impl Checker<'_> {
    /// Why no draw may be made here.
    pub(in crate::check) fn no_draws(&self) -> Option<&'static str> {
        if self.in_assert {
            return Some(ASSERTION);
        }
        if self.in_integrate {
            return Some("the body of `integrate`");
        }
        match self.place {
            Place::Constant | Place::InputDefault | Place::Output | Place::Sample => {
                Some(self.place_name())
            }
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
    ) -> Checked {
        let draw = match (draw, args.len()) {
            (Draw::Normal, 4) => Draw::NormalBetween,
            (draw, _) => draw,
        };
        let (needed, ok, result) = signature(draw, args.len());
        if let Some(place) = self.no_draws() {
            return Err(self.report(refused(&callee.text, place, callee.span)));
        }
        if self.in_elements {
            let report = catalog::world::draw_per_agent(&callee.text, callee.span);
            return Err(self.report(report));
        }
        if let Place::Function(function) = self.place {
            self.model.functions[function.0 as usize].draws = true;
        }
        self.count(&callee.text, needed, ok, args.len(), span)?;
        if draw == Draw::Categorical {
            return self.categorical(callee, &args[0], span);
        }
        let want = |k: usize| match (draw, k) {
            (Draw::RandInt, _) | (Draw::Binomial, 0) => Type::I32,
            _ => Type::F32,
        };
        let names =
            BuiltinId::called(&callee.text, args.len()).map_or(&[][..], |id| id.row().params);
        let checked: Vec<Checked> = args
            .iter()
            .enumerate()
            .map(|(k, arg)| {
                let want = want(k);
                let id = self.expr(arg, Some(&want));
                self.argument(
                    id,
                    &want,
                    &callee.text,
                    names.get(k).copied().unwrap_or("it"),
                )
            })
            .collect();
        let ids = checked.into_iter().collect::<Checked<Vec<ExprId>>>()?;
        let known = |id: &ExprId| self.constant(*id).and_then(Constant::as_number);
        let known: Vec<Option<f64>> = ids.iter().map(known).collect();
        self.distribution(draw, callee, &known, span)?;
        if let Some(id) = self.prelude_draw(draw) {
            self.calls.push(CallSite {
                caller: match self.place {
                    Place::Function(caller) => Some(caller),
                    _ => None,
                },
                callee: id,
                span,
                forbids_draw: None,
                before_launch: false,
                in_world: None,
                per_agent: false,
            });
            return Ok(self.node(ExprKind::Call(id, ids), result, span));
        }
        Ok(self.node(ExprKind::Draw(draw, ids), result, span))
    }

    /// The prelude's function behind a draw, if one is.
    fn prelude_draw(&mut self, draw: Draw) -> Option<FunctionId> {
        let name = match draw {
            Draw::Bernoulli => "__bernoulli",
            Draw::RandInt => "__randint",
            Draw::Poisson => "__poisson",
            Draw::NormalBetween => "__normal_between",
            Draw::LogNormal => "__lognormal",
            Draw::Gamma => "__gamma",
            Draw::Beta => "__beta",
            Draw::ChiSquared => "__chi_squared",
            Draw::StudentT => "__student_t",
            Draw::Cauchy => "__cauchy",
            Draw::Laplace => "__laplace",
            Draw::Binomial => "__binomial",
            Draw::Geometric => "__geometric",
            Draw::Random | Draw::Uniform | Draw::Normal | Draw::Exponential | Draw::Categorical => {
                return None;
            }
        };
        let id = self.prelude_functions.get(name).copied()?;
        if self.model.prelude_draw(id).is_none() {
            self.model.prelude_draws.push((id, draw));
        }
        Some(id)
    }

    /// Complains of constant arguments for which there is no distribution.
    fn distribution(
        &mut self,
        draw: Draw,
        callee: &ast::Name,
        args: &[Option<f64>],
        span: Span,
    ) -> Checked<()> {
        match domain::fault(draw, args) {
            Some(fault) => Err(self.report(catalog::control::no_distribution(
                &callee.text,
                fault.needs,
                &fault.found,
                span,
            ))),
            None => Ok(()),
        }
    }

    /// In the prelude: `__take(n)` takes `n` words and gives the number of the first, `__word(n)` is the word
    /// of a number.
    pub(super) fn words(
        &mut self,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<ExprId> {
        let kind = match callee.text.as_str() {
            "__take" => {
                let count = self.expr(args.first()?, None);
                ExprKind::TakeWords(self.constant(count)?.as_int()? as u32)
            }
            "__word" => ExprKind::RandomWord(self.expr(args.first()?, Some(&Type::U32))),
            _ => return None,
        };
        if let Place::Function(function) = self.place {
            self.model.functions[function.0 as usize].draws = true;
        }
        Some(self.node(kind, Type::U32, span))
    }

    fn categorical(&mut self, callee: &ast::Name, weights: &ast::Expr, span: Span) -> Checked {
        let id = self.expr(weights, None);
        let id = match self.ty(id).clone() {
            Type::Array(element, length) if element.is_abstract() => {
                let want = Type::Array(std::rc::Rc::new(Type::F32), length);
                self.adapt_or_keep(id, &want)?
            }
            _ => id,
        };
        match self.ty(id) {
            Type::Array(element, _) if **element == Type::F32 => {
                if let Some(Constant::Many(weights)) = self.constant(id) {
                    let known: Vec<Option<f64>> = weights.iter().map(Constant::as_number).collect();
                    self.distribution(Draw::Categorical, callee, &known, span)?;
                }
                let kind = ExprKind::Draw(Draw::Categorical, vec![id]);
                Ok(self.node(kind, Type::I32, span))
            }
            Type::Error(reported) => Err(*reported),
            other => {
                let found = self.show(other);
                let place = self.expr_span(id);
                Err(self.report(catalog::types::bad_argument(
                    &callee.text,
                    "weights",
                    "an array of `f32`",
                    &found,
                    place,
                )))
            }
        }
    }
}

/// How many arguments a draw takes in words, whether this many are right, and the type of its value.
fn signature(draw: Draw, count: usize) -> (&'static str, bool, Type) {
    match draw {
        Draw::Random => ("no arguments", count == 0, Type::F32),
        Draw::Uniform => ("two arguments", count == 2, Type::F32),
        Draw::Normal | Draw::NormalBetween => {
            let ok = matches!(count, 0 | 2 | 4);
            ("no, two or four arguments", ok, Type::F32)
        }
        Draw::LogNormal | Draw::Gamma | Draw::Beta | Draw::Cauchy | Draw::Laplace => {
            ("two arguments", count == 2, Type::F32)
        }
        Draw::Exponential | Draw::ChiSquared | Draw::StudentT => {
            ("one argument", count == 1, Type::F32)
        }
        Draw::Binomial => ("two arguments", count == 2, Type::I32),
        Draw::Geometric => ("one argument", count == 1, Type::I32),
        Draw::Bernoulli => ("one argument", count == 1, Type::BOOL),
        Draw::RandInt => ("two arguments", count == 2, Type::I32),
        Draw::Poisson => ("one argument", count == 1, Type::I32),
        Draw::Categorical => ("one argument", count == 1, Type::I32),
    }
}
