//! What is sampled as the model runs: `record`, `observe`, `world observe`.

use super::body::{named, owner};
use crate::{
    builtin::{
        BuiltinId, Fold,
        sampled::{FOLDS_OF_AGENTS, FoldOfAgents},
    },
    check::{Checked, Checker, Global, Place, ty::value_type},
    diagnostic::{Reported, catalog},
    hir::{Constant, ExprId, ExprKind, Series, Type},
    ir::{self, Owner},
    manifest::{MOST_STEPS, Number, SeriesFold, SeriesOf},
    span::Span,
    syntax::ast,
    value::Shown,
};
use std::{collections::HashMap, rc::Rc};

/// Most bins of a histogram.
const MOST_BINS: i64 = 1 << 16;

/// How the agents' values are combined: by a fold of the language, or by one that only samples have.
enum Combined {
    Fold(Fold, SeriesFold),
    Moment(SeriesFold),
    Quantiles,
    Histogram,
}

impl Combined {
    fn of(name: &str) -> Option<Combined> {
        let fold = |fold: SeriesFold| Some(Combined::Fold(fold.of_kernel()?, fold));
        match name {
            "mean" => fold(SeriesFold::Mean),
            "sum" => fold(SeriesFold::Sum),
            "min" => fold(SeriesFold::Min),
            "max" => fold(SeriesFold::Max),
            "count" => fold(SeriesFold::Count),
            "any" => fold(SeriesFold::Any),
            "all" => fold(SeriesFold::All),
            "var" => Some(Combined::Moment(SeriesFold::Var)),
            "sd" => Some(Combined::Moment(SeriesFold::Sd)),
            "quantiles" => Some(Combined::Quantiles),
            "histogram" => Some(Combined::Histogram),
            _ => None,
        }
    }
}

/// What a series has, besides its name.
struct Sampled {
    ty: Type,
    of: SeriesOf,
    value: ExprId,
    fold: Option<SeriesFold>,
}

impl Checker<'_> {
    pub(in crate::check) fn check_series(&mut self) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for item in self.items() {
            let (ast::ItemKind::Record {
                name,
                ty,
                value,
                every,
            }
            | ast::ItemKind::Observe {
                name,
                ty,
                value,
                every,
            }) = &item.kind
            else {
                continue;
            };
            if let Some(first) = seen.insert(&name.text, name.span) {
                self.report(catalog::names::duplicate_declaration(
                    &name.text, name.span, first,
                ));
            }
            let sampled = match item.kind {
                ast::ItemKind::Record { .. } => self.recorded(name, ty.as_ref(), value.as_ref()),
                _ => self.observed(owner(item), name, ty.as_ref(), value.as_ref()),
            };
            let every = every.as_ref().map_or(Ok(1), |every| self.every(every));
            let (Ok(sampled), Ok(every)) = (sampled, every) else {
                continue;
            };
            self.note_type(name.span, &sampled.ty);
            self.model.series.push(Series {
                name: name.text.clone(),
                doc: item.doc.clone(),
                ty: sampled.ty,
                of: sampled.of,
                every,
                value: sampled.value,
                fold: sampled.fold,
                span: name.span,
            });
        }
    }

    /// The steps between two samples.
    fn every(&mut self, every: &ast::Expr) -> Checked<u32> {
        let count = self.scoped(|checker| checker.constant_int(every, "`every`"))?;
        match u32::try_from(count) {
            Ok(count @ 1..=MOST_STEPS) => Ok(count),
            Ok(_) | Err(_) => {
                let count = count.to_string();
                let report = catalog::model::bad_count("every", &count, 1..=MOST_STEPS, every.span);
                Err(self.report(report))
            }
        }
    }

    fn recorded(
        &mut self,
        name: &ast::Name,
        ty: Option<&ast::Type>,
        value: Option<&ast::Expr>,
    ) -> Checked<Sampled> {
        if value.is_none() {
            self.state_of_output(Owner::Agent, "record", name)?;
        }
        self.kept(Owner::Agent, SeriesOf::Agents, name, ty, value)
    }

    /// A value that is kept as it is.
    fn kept(
        &mut self,
        owner: Owner,
        of: SeriesOf,
        name: &ast::Name,
        ty: Option<&ast::Type>,
        value: Option<&ast::Expr>,
    ) -> Checked<Sampled> {
        let own = named(name);
        let value = self.at_place_of(owner, Place::Sample, |checker| {
            checker.typed_value(name, ty, value.unwrap_or(&own))
        });
        let value = self.sound(value)?;
        Ok(Sampled {
            ty: self.ty(value).clone(),
            of,
            value,
            fold: None,
        })
    }

    fn observed(
        &mut self,
        owner: Owner,
        name: &ast::Name,
        ty: Option<&ast::Type>,
        value: Option<&ast::Expr>,
    ) -> Checked<Sampled> {
        let of = match owner {
            Owner::Agent => SeriesOf::Population,
            Owner::World => SeriesOf::Worlds,
        };
        let Some(written) = value else {
            return match owner {
                Owner::Agent => Err(self.without_fold(name, &named(name))),
                Owner::World => {
                    self.state_of_output(owner, "world observe", name)?;
                    self.kept(owner, of, name, ty, None)
                }
            };
        };
        if let ast::ExprKind::Call { callee, args } = &written.kind
            && let Some(combined) = Combined::of(&callee.text)
            && (owner == Owner::Agent || self.is_of_each(&combined, args))
        {
            return self.combined(of, combined, callee, args, ty, written.span);
        }
        if let ast::ExprKind::Call { callee, .. } | ast::ExprKind::Fold { callee, .. } =
            &written.kind
            && !self.is_function(callee)
        {
            return Err(self.unknown_fold(callee));
        }
        match (owner, &written.kind) {
            (Owner::World, _) => self.kept(owner, of, name, ty, value),
            (Owner::Agent, ast::ExprKind::Fold { callee, .. }) => {
                let report = catalog::world::observe_of_comprehension(&callee.text, written.span);
                Err(self.report(report))
            }
            (Owner::Agent, _) => Err(self.without_fold(name, written)),
        }
    }

    /// `observe x = x`, `observe x = 2.0 * mean(x)`
    fn without_fold(&mut self, name: &ast::Name, written: &ast::Expr) -> Reported {
        let value = match &written.kind {
            ast::ExprKind::Name(text) if self.globals.contains_key(text.as_str()) => text,
            _ => "…",
        };
        let inner = inner_fold(written);
        let report = catalog::world::observe_without_fold(&name.text, value, inner, written.span);
        self.report(report)
    }

    /// Does a call of this name mean something outside `observe`? A fold of agents does not.
    fn is_function(&self, callee: &ast::Name) -> bool {
        let name = callee.text.as_str();
        BuiltinId::find(name).is_some()
            || self.globals.contains_key(name)
            || value_type(name).is_some()
            || name == "world"
    }

    fn unknown_fold(&mut self, callee: &ast::Name) -> Reported {
        let name = callee.text.as_str();
        // What others call them.
        let foreign = [
            ("average", "mean"),
            ("avg", "mean"),
            ("total", "sum"),
            ("minimum", "min"),
            ("maximum", "max"),
            ("variance", "var"),
            ("std", "sd"),
            ("stdev", "sd"),
            ("stddev", "sd"),
            ("quantile", "quantiles"),
            ("percentile", "quantiles"),
            ("percentiles", "quantiles"),
            ("hist", "histogram"),
        ];
        let known = foreign.iter().find(|(word, _)| *word == name);
        let words = FOLDS_OF_AGENTS.iter().map(|fold| fold.name);
        let words = words.chain(foreign.iter().map(|(word, _)| *word));
        let near = match known {
            Some((word, _)) => Some(*word),
            None => self.suggestions.nearest(name, words),
        };
        let meant = near.map(|near| {
            let of = foreign.iter().find(|(word, _)| *word == near);
            of.map_or(near, |(_, fold)| *fold)
        });
        self.report(catalog::world::unknown_fold(name, meant, callee.span))
    }

    /// In `world observe`: is it a fold of what each agent has, and no fold of an array of the world, nor the
    /// lesser of two values?
    fn is_of_each(&mut self, combined: &Combined, args: &[ast::Expr]) -> bool {
        match (combined, args) {
            (Combined::Fold(..), [only]) => match &only.kind {
                ast::ExprKind::Array(_)
                | ast::ExprKind::Repeat(..)
                | ast::ExprKind::Comprehension(_) => false,
                ast::ExprKind::Name(name) => !self.names_an_array(name, only.span),
                _ => true,
            },
            (Combined::Fold(..), _) => false,
            (Combined::Moment(_) | Combined::Quantiles | Combined::Histogram, _) => true,
        }
    }

    /// Is this the name of a value of the model that is an array?
    fn names_an_array(&mut self, name: &str, span: Span) -> bool {
        let Some((global, _)) = self.globals.get(name).copied() else {
            return false;
        };
        let ty = match global {
            Global::Const(index) => match self.const_value(index, span) {
                Ok((_, ty)) => ty,
                Err(_) => return false,
            },
            Global::Param(id) => self.model[id].ty.clone(),
            Global::Data(id) => self.model[id].ty.clone(),
            Global::Input(id) => self.model[id].ty.clone(),
            Global::State(id) => self.model[id].ty.clone(),
            Global::Function(_) | Global::Struct(_) | Global::Enum(_) | Global::Broken(_) => {
                return false;
            }
        };
        matches!(ty, Type::Array(..))
    }

    /// A fold of what each agent has.
    fn combined(
        &mut self,
        of: SeriesOf,
        combined: Combined,
        callee: &ast::Name,
        args: &[ast::Expr],
        ty: Option<&ast::Type>,
        span: Span,
    ) -> Checked<Sampled> {
        let (needed, fits) = match combined {
            Combined::Fold(..) | Combined::Moment(_) => {
                ("one value of each agent", args.len() == 1)
            }
            Combined::Quantiles => (
                "a value of each agent and one or more fractions",
                args.len() >= 2,
            ),
            Combined::Histogram => (
                "a value of each agent, two ends and a number of bins",
                args.len() == 4,
            ),
        };
        self.count(&callee.text, needed, fits, args.len(), span)?;
        let written = ty.map(|ty| {
            let resolved = self.scoped(|checker| checker.resolve_type(ty, false));
            (ty.span, resolved)
        });
        if let Some(reported) = written.as_ref().and_then(|(_, ty)| ty.error()) {
            return Err(reported);
        }
        let want = match &combined {
            Combined::Fold(Fold::Sum | Fold::Min | Fold::Max, _) => {
                written.as_ref().map(|(_, ty)| ty.clone())
            }
            Combined::Fold(Fold::Count, _) => None,
            Combined::Fold(Fold::Any | Fold::All, _) => Some(Type::BOOL),
            Combined::Fold(..)
            | Combined::Moment(_)
            | Combined::Quantiles
            | Combined::Histogram => Some(Type::F32),
        };
        let value = self.at_place(Place::Sample, |checker| {
            let value = checker.expr(&args[0], want.as_ref());
            let value = match &want {
                Some(want) => checker.adapt_or_keep(value, want)?,
                None => value,
            };
            let value = checker.concrete(value);
            checker.sound(value)
        })?;
        let (result, fold) = self.combination(combined, callee, args, value)?;
        self.agrees(callee, written, &result)?;
        Ok(Sampled {
            ty: result,
            of,
            value,
            fold: Some(fold),
        })
    }

    /// The type of a fold of agents, and the fold with its constants.
    fn combination(
        &mut self,
        combined: Combined,
        callee: &ast::Name,
        args: &[ast::Expr],
        value: ExprId,
    ) -> Checked<(Type, SeriesFold)> {
        let element = self.ty(value).clone();
        Ok(match combined {
            Combined::Fold(fold, series) => {
                (self.fold_type(fold, &element, &callee.text, value)?, series)
            }
            Combined::Moment(series) => {
                self.number(&callee.text, value)?;
                (Type::F32, series)
            }
            Combined::Quantiles => {
                self.number(&callee.text, value)?;
                let fractions = self.fractions(&args[1..])?;
                let count = fractions.len() as u32;
                let ty = Type::Array(Rc::new(Type::F32), count);
                (ty, SeriesFold::Quantiles(fractions))
            }
            Combined::Histogram => {
                self.number(&callee.text, value)?;
                let [low, high] = self.ends_of_bins(&args[1], &args[2])?;
                let bins = self.bins(&args[3])?;
                let ty = Type::Array(Rc::new(Type::Value(ir::Type::I32)), bins);
                (ty, SeriesFold::Histogram { low, high, bins })
            }
        })
    }

    /// Is the written type what the fold gives?
    fn agrees(
        &mut self,
        callee: &ast::Name,
        written: Option<(Span, Type)>,
        result: &Type,
    ) -> Checked<()> {
        match written {
            Some((place, want)) if want != *result => {
                let (want, found) = (self.show(&want), self.show(result));
                let report = catalog::world::type_of_fold(&callee.text, &found, &want, place);
                Err(self.report(report))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// A scalar that counts as an `f32`.
    fn number(&mut self, callee: &str, value: ExprId) -> Checked<()> {
        if matches!(self.ty(value), Type::Value(ty) if !ty.is_vector()) {
            return Ok(());
        }
        let (found, span) = (self.show(self.ty(value)), self.expr_span(value));
        let needed = "numbers or `bool`s";
        Err(self.report(catalog::types::bad_argument(
            callee, "values", needed, &found, span,
        )))
    }

    fn fractions(&mut self, args: &[ast::Expr]) -> Checked<Vec<Number>> {
        let mut fractions = Vec::new();
        for arg in args {
            let fraction = self.constant_float(arg, "a fraction of `quantiles`")?;
            if !(0.0..=1.0).contains(&fraction) {
                let report = catalog::world::bad_quantile(fraction as f32, arg.span);
                return Err(self.report(report));
            }
            fractions.push(Number(fraction));
        }
        Ok(fractions)
    }

    /// Both ends of a histogram.
    fn ends_of_bins(&mut self, low: &ast::Expr, high: &ast::Expr) -> Checked<[Number; 2]> {
        let span = low.span.to(high.span);
        let low = self.constant_float(low, "the low end")?;
        let high = self.constant_float(high, "the high end")?;
        if low.is_finite() && high.is_finite() && low < high {
            return Ok([Number(low), Number(high)]);
        }
        let what = format!("bins from {} to {}", Shown(low), Shown(high));
        let must = "the high end must be above the low one";
        Err(self.report(catalog::world::bad_bins(&what, must, span)))
    }

    /// The number of bins of a histogram.
    fn bins(&mut self, count: &ast::Expr) -> Checked<u32> {
        let bins = self.scoped(|checker| checker.constant_int(count, "the number of bins"))?;
        if (1..=MOST_BINS).contains(&bins) {
            return Ok(bins as u32);
        }
        let what = format!("{bins} bins");
        let must = "must be 1 to 65,536";
        Err(self.report(catalog::world::bad_bins(&what, must, count.span)))
    }

    fn constant_float(&mut self, value: &ast::Expr, what: &str) -> Checked<f64> {
        let id = self.at_place(Place::Constant, |checker| {
            checker.expr_of(value, &Type::F32, what)
        });
        let id = self.sound(id)?;
        let known = match &self.model[id].kind {
            ExprKind::Constant(constant) => Constant::as_number(constant),
            _ => None,
        };
        known.ok_or_else(|| self.not_constant(value.span))
    }
}

/// The fold of agents that an expression is made of: `mean`, in `2.0 * mean(x)`.
fn inner_fold(expr: &ast::Expr) -> Option<&'static str> {
    match &expr.kind {
        ast::ExprKind::Paren(inner) | ast::ExprKind::Unary(_, inner) => inner_fold(inner),
        ast::ExprKind::Binary(_, left, right) => inner_fold(left).or_else(|| inner_fold(right)),
        ast::ExprKind::Call { callee, args } => match (FoldOfAgents::of(&callee.text), &args[..]) {
            (Some(fold), [_]) => Some(fold.name),
            _ => args.iter().find_map(inner_fold),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fold_of_agents_has_its_row() {
        for fold in FOLDS_OF_AGENTS {
            assert!(Combined::of(fold.name).is_some(), "{}", fold.name);
        }
    }
}
