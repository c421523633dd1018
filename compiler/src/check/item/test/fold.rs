//! Calls in `expect`: folds of results, and what is sampled at a step.

use super::{
    expect::{Side, Sort, comparison, number, unwrapped},
    result::{Result as RunResult, Rows},
};
use crate::{
    check::Checker,
    diagnostic::catalog::test as say,
    manifest::SeriesOf,
    span::Span,
    syntax::ast,
    testing::{Comparison, Fold, Measure, Of, Term, Test},
};

/// The names of folds in a test.
pub(super) const FOLDS: [&str; 10] = [
    "mean", "sum", "min", "max", "var", "sd", "count", "any", "all", "quantile",
];

impl Checker<'_> {
    /// `mean(payoff)`, `quantile(payoff, 0.9)`, `at(infected, 10)`
    pub(super) fn call_of_run(
        &mut self,
        test: &Test,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Side> {
        let name = callee.text.as_str();
        if name == "at" {
            let whole = ast::Expr {
                kind: ast::ExprKind::Call {
                    callee: callee.clone(),
                    args: args.to_vec(),
                },
                span,
                depth: 0,
            };
            let found = self.result(test, &whole)?;
            return self.alone(found, &whole);
        }
        if !FOLDS.contains(&name) {
            let near = match name {
                "average" | "avg" => Some("mean"),
                "std" | "stdev" | "stddev" => Some("sd"),
                "variance" => Some("var"),
                "quantiles" | "percentile" | "median" => Some("quantile"),
                name => self.suggestions.nearest(name, FOLDS),
            };
            let help = match near {
                Some("quantile") => "write `quantile(x, p)` with a fraction `p`".to_owned(),
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "the folds of a test are {}",
                    FOLDS.map(|name| format!("`{name}`")).join(", ")
                ),
            };
            let message = format!("`{name}` does not combine values of a run");
            self.report(say::not_an_expectation(
                &message,
                "no fold of a test",
                &help,
                callee.span,
            ));
            return None;
        }
        let wanted = if name == "quantile" { 2 } else { 1 };
        if args.len() != wanted {
            let message = format!(
                "`{name}` takes {wanted} value{}",
                if wanted > 1 { "s" } else { "" }
            );
            let help = match wanted {
                2 => "write `quantile(payoff, 0.9)`".to_owned(),
                _ => format!("write `{name}(x)`, with the name of an output or a series"),
            };
            let label = format!("here are {}", args.len());
            self.report(say::not_an_expectation(&message, &label, &help, span));
            return None;
        }
        self.fold_value(test, callee, args, span)
    }

    fn fold_value(
        &mut self,
        test: &Test,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Option<Side> {
        let name = callee.text.as_str();
        let (target, compared) = match &unwrapped(&args[0]).kind {
            ast::ExprKind::Binary(op, left, right) if comparison(*op).is_some() => {
                (&**left, comparison(*op).zip(Some(&**right)))
            }
            _ => (&args[0], None),
        };
        let found = self.result(test, target)?;
        let mut sort = found.sort;
        let mut compares = None;
        if let Some((op, right)) = compared {
            compares = Some((op, self.compared_with(&found, op, right)?));
            sort = Sort::Bool;
        }
        if let Rows::One(_) = found.rows {
            let message = format!("`{name}` combines several values, and this is one");
            let help = "compare it as it is";
            self.report(say::not_an_expectation(
                &message,
                "one value",
                help,
                target.span,
            ));
            return None;
        }
        if let (Of::Series(SeriesOf::Agents | SeriesOf::Worlds, None), text) =
            (found.of, &found.name)
        {
            let message =
                format!("`{text}` has values of each sample, of several agents or worlds");
            let help = format!("name the step: `{name}(at({text}, 10))`");
            self.report(say::not_an_expectation(
                &message,
                "which sample?",
                &help,
                target.span,
            ));
            return None;
        }
        let (fold, sort) = self.fold_of(test, callee, sort, args)?;
        Some(Side {
            sort,
            span,
            term: Term::Measure(Measure {
                span,
                of: found.of,
                name: found.name,
                element: found.element,
                test: compares,
                fold,
            }),
        })
    }

    /// The constant that each value is compared with: `Infected` in `mean(health == Infected)`.
    fn compared_with(
        &mut self,
        found: &RunResult,
        op: Comparison,
        right: &ast::Expr,
    ) -> Option<f64> {
        let id = self.expr(right, Some(&found.ty));
        let id = self.coerce(id, &found.ty, "what the values are compared with", None);
        let constant = self.known_in_test(id, "what the values are compared with")?;
        let ordered = !matches!(op, Comparison::Equal | Comparison::NotEqual);
        if ordered && !found.sort.is_number() {
            let message = format!(
                "`{}` needs numbers, not {}",
                op.text(),
                self.sort_name(found.sort)
            );
            return self.no_expectation(&message, right.span);
        }
        number(&constant)
    }

    /// The fold, and what it gives.
    fn fold_of(
        &mut self,
        test: &Test,
        callee: &ast::Name,
        sort: Sort,
        args: &[ast::Expr],
    ) -> Option<(Fold, Sort)> {
        let name = callee.text.as_str();
        let truth = sort == Sort::Bool;
        let found = match name {
            "any" if truth => (Fold::Any, Sort::Bool),
            "all" if truth => (Fold::All, Sort::Bool),
            "count" if truth || sort.is_number() => (Fold::Count, Sort::Int),
            "sum" if truth => (Fold::Sum, Sort::Int),
            "sum" if sort.is_number() => (Fold::Sum, sort),
            "mean" if truth || sort.is_number() => (Fold::Mean, Sort::Float),
            "var" if truth || sort.is_number() => (Fold::Var, Sort::Float),
            "sd" if truth || sort.is_number() => (Fold::Sd, Sort::Float),
            "min" if sort.is_number() => (Fold::Min, sort),
            "max" if sort.is_number() => (Fold::Max, sort),
            "quantile" if sort.is_number() => {
                let Term::Number(fraction) = self.side(test, &args[1])?.term else {
                    return self.no_expectation("a fraction is a constant", args[1].span);
                };
                if !(0.0..=1.0).contains(&fraction) {
                    let message = format!("no value is at the fraction {fraction}");
                    let help = "write a number from 0 to 1: 0.5 is the median";
                    self.report(say::bad_number_in_test(
                        &message,
                        "here",
                        help,
                        args[1].span,
                    ));
                    return None;
                }
                (Fold::Quantile(fraction), Sort::Float)
            }
            _ => {
                let values = match sort {
                    Sort::Int => "integers".to_owned(),
                    Sort::Float => "floats".to_owned(),
                    Sort::Bool => "`bool`s".to_owned(),
                    Sort::Enum(id) => {
                        format!("variants of `{}`", self.model.enums[id.0 as usize].name)
                    }
                };
                let message = format!("`{name}` does not fold {values}");
                let help = match (name, sort) {
                    ("any" | "all", _) => format!("compare: `{name}(x > 0.0)`"),
                    (_, Sort::Enum(id)) => {
                        let variants = &self.model.enums[id.0 as usize].variants;
                        let variant = variants.first().map_or("A", String::as_str);
                        format!("compare with a variant: `{name}(x == {variant})`")
                    }
                    _ => "use `mean`, `count`, `any` or `all`".to_owned(),
                };
                self.report(say::not_an_expectation(
                    &message,
                    "of another type",
                    &help,
                    args[0].span,
                ));
                return None;
            }
        };
        Some(found)
    }
}
