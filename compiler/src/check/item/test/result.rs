//! What an `expect` looks at: outputs and series, elements and fields of them, one agent's, one sample's.

use super::{
    expect::{Sort, unwrapped},
    fold::FOLDS,
};
use crate::{
    check::{Checker, Global},
    diagnostic::catalog::{self, test as say},
    hir::Type,
    ir::Owner,
    manifest::SeriesOf,
    span::Span,
    syntax::ast,
    testing::{Of, Test},
};

/// Results of a run.
pub(super) struct Result {
    /// Whose.
    pub(super) of: Of,
    /// The field of the manifest.
    pub(super) name: String,
    /// Which scalar of the field.
    pub(super) element: u32,
    /// The type of each.
    pub(super) ty: Type,
    /// What that is.
    pub(super) sort: Sort,
    /// How many there are.
    pub(super) rows: Rows,
}

/// How many values a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    /// All of a population, of all worlds, or of all samples.
    Many,
    /// One, by its number.
    One(u32),
}

/// What stands behind a name.
enum Suffix<'t> {
    Index(&'t ast::Expr),
    Field(&'t ast::Name),
}

/// A name, and what stands behind it.
fn path(expr: &ast::Expr) -> (&ast::Expr, Vec<Suffix<'_>>) {
    let mut suffixes = Vec::new();
    let mut base = unwrapped(expr);
    loop {
        match &base.kind {
            ast::ExprKind::Index(inner, index) => {
                suffixes.push(Suffix::Index(index));
                base = unwrapped(inner);
            }
            ast::ExprKind::Field(inner, name) => {
                suffixes.push(Suffix::Field(name));
                base = unwrapped(inner);
            }
            _ => break,
        }
    }
    suffixes.reverse();
    (base, suffixes)
}

impl Checker<'_> {
    /// Does an expression look at results?
    pub(super) fn reads_run(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ast::ExprKind::Int(_)
            | ast::ExprKind::Uint(_)
            | ast::ExprKind::Float(_)
            | ast::ExprKind::Bool(_)
            | ast::ExprKind::Error => false,
            ast::ExprKind::Name(name) => self.is_result(name) && !self.is_constant(name),
            ast::ExprKind::Paren(inner) | ast::ExprKind::Unary(_, inner) => self.reads_run(inner),
            ast::ExprKind::Binary(_, left, right) | ast::ExprKind::Repeat(left, right) => {
                self.reads_run(left) || self.reads_run(right)
            }
            ast::ExprKind::Field(..) | ast::ExprKind::Index(..) => {
                let (base, suffixes) = path(expr);
                let selects = matches!(&base.kind, ast::ExprKind::Name(name)
                    if name == "agents" || name == "worlds" && !self.is_constant(name));
                let indices = suffixes.iter().any(|suffix| match suffix {
                    Suffix::Index(index) => self.reads_run(index),
                    Suffix::Field(_) => false,
                });
                selects || self.reads_run(base) || indices
            }
            ast::ExprKind::Call { callee, args } => {
                self.is_fold_of_run(callee, args) || args.iter().any(|arg| self.reads_run(arg))
            }
            ast::ExprKind::Bitcast { value, .. } => self.reads_run(value),
            ast::ExprKind::Array(values) => values.iter().any(|value| self.reads_run(value)),
            ast::ExprKind::If {
                branches,
                otherwise,
            } => {
                let mut all = branches.iter().flat_map(|(c, value)| [c, value]);
                all.any(|expr| self.reads_run(expr)) || self.reads_run(otherwise)
            }
            ast::ExprKind::Comprehension(over) | ast::ExprKind::Fold { over, .. } => {
                self.reads_run(&over.value)
            }
        }
    }

    /// A call that only a test has, or one of a fold whose value is no constant: then it is about results.
    fn is_fold_of_run(&self, callee: &ast::Name, args: &[ast::Expr]) -> bool {
        let name = callee.text.as_str();
        let own = self.globals.contains_key(name);
        if matches!(name, "at" | "quantile" | "sd" | "var") {
            return !own;
        }
        let [only] = args else {
            return false;
        };
        let target = match &unwrapped(only).kind {
            ast::ExprKind::Binary(_, left, _) => left,
            _ => only,
        };
        let (base, _) = path(target);
        match &base.kind {
            ast::ExprKind::Name(name) => {
                FOLDS.contains(&callee.text.as_str())
                    && (self.is_result(name) || !self.is_constant(name))
            }
            ast::ExprKind::Call { callee, args } => self.is_fold_of_run(callee, args),
            _ => false,
        }
    }

    /// The name of an output or a series?
    fn is_result(&self, name: &str) -> bool {
        let model = &self.model;
        model.outputs.iter().any(|output| output.name == name)
            || model.series.iter().any(|series| series.name == name)
    }

    /// The name of what a test knows without a run?
    fn is_constant(&self, name: &str) -> bool {
        let bound = self.scopes.iter().any(|scope| scope.contains_key(name));
        let constant = matches!(self.globals.get(name), Some((Global::Const(_), _)));
        bound || constant || self.variants.contains_key(name)
    }

    /// The results that an expression names; none after a mistake. If an output and a series have the name,
    /// those of the output.
    pub(super) fn result(&mut self, test: &Test, expr: &ast::Expr) -> Option<Result> {
        self.result_of(test, expr, false)
    }

    fn result_of(&mut self, test: &Test, expr: &ast::Expr, sampled: bool) -> Option<Result> {
        let (base, suffixes) = path(expr);
        match &base.kind {
            ast::ExprKind::Call { callee, args } if callee.text == "at" => {
                let [series, step] = args.as_slice() else {
                    let help = "write `at(infected, 10)`: a series, and a number of steps";
                    let message = "`at` takes a series and a step";
                    self.report(say::not_an_expectation(message, "here", help, base.span));
                    return None;
                };
                if let Some(Suffix::Index(_) | Suffix::Field(_)) = suffixes.first() {
                    let help = "pick the element inside: `at(ages[1], 10)`";
                    let message = "`at` gives one value of each row";
                    self.report(say::not_an_expectation(message, "here", help, expr.span));
                    return None;
                }
                let found = self.result_of(test, series, true)?;
                self.sampled(test, found, series, step)
            }
            ast::ExprKind::Name(word) if word == "agents" || word == "worlds" => {
                self.selected(test, word, &suffixes, expr.span)
            }
            ast::ExprKind::Name(name) => {
                let name = (name.as_str(), base.span);
                self.named(name, &suffixes, expr.span, sampled)
            }
            _ => {
                self.report(say::not_an_expectation(
                    "this is no result of a run",
                    "neither an output nor a series",
                    "name an output or a series; what else is of interest, the model can output",
                    expr.span,
                ));
                None
            }
        }
    }

    /// `agents[0].payoff`, `worlds[0].peak`
    fn selected(
        &mut self,
        test: &Test,
        word: &str,
        suffixes: &[Suffix<'_>],
        span: Span,
    ) -> Option<Result> {
        let [Suffix::Index(number), Suffix::Field(name), rest @ ..] = suffixes else {
            let what = word.trim_end_matches('s');
            let message = format!("`{word}` needs a number and an output here");
            let help = format!("write `{word}[0].x` for the output `x` of the first {what}");
            self.report(say::not_an_expectation(&message, "here", &help, span));
            return None;
        };
        let found = self.named((&name.text, name.span), rest, span, false);
        let count = self
            .constant_int(number, "the number of an agent or a world")
            .ok();
        let (mut found, count) = (found?, count?);
        let owner = if word == "agents" {
            Owner::Agent
        } else {
            Owner::World
        };
        if found.of != Of::Output(owner) {
            let message = format!("`{}` is no output of {word}", name.text);
            let help = match found.of {
                Of::Output(Owner::World) => format!("write `worlds[0].{}`", name.text),
                Of::Output(Owner::Agent) => format!("write `agents[0].{}`", name.text),
                Of::Series(..) => {
                    format!("a series is asked for by its step: `at({}, 10)`", name.text)
                }
            };
            self.report(say::not_an_expectation(
                &message,
                "of others",
                &help,
                name.span,
            ));
            return None;
        }
        let most = test
            .agents
            .or(self.model.agents)
            .filter(|_| owner == Owner::Agent);
        let number_of = u32::try_from(count).ok();
        let within = number_of.filter(|number| most.is_none_or(|most| *number < most));
        let Some(within) = within else {
            let message = format!("there is no {} {count}", word.trim_end_matches('s'));
            let help = match most {
                Some(most) => format!("numbers go from 0 to {}", most - 1),
                None => "numbers begin with 0".to_owned(),
            };
            self.report(say::bad_number_in_test(
                &message,
                "here",
                &help,
                number.span,
            ));
            return None;
        };
        found.rows = Rows::One(within);
        Some(found)
    }

    /// `at(series, step)`
    fn sampled(
        &mut self,
        test: &Test,
        mut found: Result,
        series: &ast::Expr,
        step: &ast::Expr,
    ) -> Option<Result> {
        let Of::Series(of, None) = found.of else {
            let message = format!("`{}` is not sampled over time", found.name);
            let help = format!(
                "an output is evaluated after the last step; `observe` and `record` sample, as in \
                 `record {} every 10`",
                found.name
            );
            self.report(say::not_an_expectation(
                &message,
                "no series",
                &help,
                series.span,
            ));
            return None;
        };
        let at = self.constant_int(step, "a step").ok()?;
        let every = self.every_of(&found.name);
        let last = test.steps.or(self.model.steps);
        let fits = u32::try_from(at)
            .ok()
            .filter(|at| at.is_multiple_of(every) && last.is_none_or(|last| *at <= last));
        let Some(at_step) = fits else {
            let message = format!("`{}` has no sample after {at} steps", found.name);
            let mut help = match every {
                1 => "there is one before the first step, at 0, and one after each".to_owned(),
                every => format!("there is one after each {every} steps, the first at 0"),
            };
            if let Some(last) = last {
                help += &format!("; the last is at {}", last / every * every);
            }
            self.report(say::bad_number_in_test(&message, "here", &help, step.span));
            return None;
        };
        found.of = Of::Series(of, Some(at_step));
        if of == SeriesOf::Population {
            found.rows = Rows::One(0);
        }
        Some(found)
    }

    fn every_of(&self, field: &str) -> u32 {
        let name = field.split('.').next().unwrap_or(field);
        let series = self.model.series.iter().find(|series| series.name == name);
        series.map_or(1, |series| series.every)
    }

    /// An output or a series by its name, and an element or a field of it.
    fn named(
        &mut self,
        (name, span): (&str, Span),
        suffixes: &[Suffix<'_>],
        whole: Span,
        sampled: bool,
    ) -> Option<Result> {
        let model = &self.model;
        let output = model.outputs.iter().find(|output| output.name == name);
        let output =
            output.map(|output| (Of::Output(output.owner), output.ty.clone(), output.span));
        let series = model.series.iter().find(|series| series.name == name);
        let series = series.map(|it| (Of::Series(it.of, None), it.ty.clone(), it.span));
        let found = match sampled {
            true => series.or(output),
            false => output.or(series),
        };
        let Some((of, ty, declared)) = found else {
            self.unknown_result(name, span);
            return None;
        };
        self.note(span, declared);
        if ty.has_error() {
            return None;
        }
        self.picked(of, name, ty, suffixes, whole)
    }

    /// Follows a path to one scalar.
    fn picked(
        &mut self,
        of: Of,
        name: &str,
        mut ty: Type,
        suffixes: &[Suffix<'_>],
        whole: Span,
    ) -> Option<Result> {
        let mut field = name.to_owned();
        let mut element = 0u32;
        for suffix in suffixes {
            match (suffix, &ty) {
                (Suffix::Index(index), Type::Array(inner, length)) => {
                    let (inner, length) = (Type::clone(inner), *length);
                    let at = self.constant_int(index, "an index").ok()?;
                    let Some(at) = u32::try_from(at).ok().filter(|at| *at < length) else {
                        let report =
                            catalog::constants::index_out_of_range(at, length, index.span, whole);
                        self.report(report);
                        return None;
                    };
                    element = element * length + at;
                    ty = inner;
                }
                (Suffix::Field(part), Type::Struct(id)) => {
                    let fields = self.model[*id].fields.iter();
                    let found = fields.clone().position(|(name, _)| *name == part.text);
                    let Some(position) = found else {
                        let names = fields.map(|(name, _)| name.as_str());
                        let near = self.suggestions.nearest(&part.text, names);
                        let wanted = format!("field in `{}` called", self.model[*id].name);
                        let report = say::unknown_in_test(
                            &wanted, &part.text, "unknown", None, part.span, near,
                        );
                        self.report(report);
                        return None;
                    };
                    let id = *id;
                    field += &format!(".{}", part.text);
                    ty = self.model[id].fields[position].1.clone();
                    self.note_field(part.span, id, position);
                }
                (Suffix::Field(part), Type::Value(vector)) if vector.is_vector() => {
                    let count = vector.components();
                    let component = |set: &str| set[..count].find(part.text.as_str());
                    let at = (part.text.len() == 1)
                        .then(|| component("xyzw").or_else(|| component("rgba")))
                        .flatten();
                    let Some(at) = at else {
                        return self.unfit(&field, &ty, part.span);
                    };
                    element = element * count as u32 + at as u32;
                    ty = Type::F32;
                }
                (Suffix::Index(index), _) => return self.unfit(&field, &ty, index.span),
                (Suffix::Field(part), _) => return self.unfit(&field, &ty, part.span),
            }
        }
        let Some(sort) = Sort::of(&ty) else {
            return self.unfit(&field, &ty, whole);
        };
        Some(Result {
            of,
            name: field,
            element,
            ty,
            sort,
            rows: Rows::Many,
        })
    }

    fn unfit<T>(&mut self, field: &str, ty: &Type, span: Span) -> Option<T> {
        let shown = self.show(ty);
        let help = match ty {
            Type::Array(..) => format!("pick an element: `{field}[0]`"),
            Type::Struct(id) => match self.model[*id].fields.first() {
                Some((first, _)) => format!("pick a field: `{field}.{first}`"),
                None => "pick a field".to_owned(),
            },
            Type::Value(value) if value.is_vector() => format!("pick a component: `{field}.x`"),
            _ => "it has no parts: leave out what stands behind it".to_owned(),
        };
        let message = format!("`{field}` is of type `{shown}` here");
        self.report(say::not_an_expectation(
            &message,
            "not one value",
            &help,
            span,
        ));
        None
    }

    fn unknown_result(&mut self, name: &str, span: Span) {
        // An output that could not be checked is not there.
        let broken = self.outputs.contains(name) && !self.complaints.is_empty();
        if broken {
            return;
        }
        let (what, help) = match self.globals.get(name) {
            Some((Global::State(_), declared)) => {
                let declared = *declared;
                self.note(span, declared);
                ("a state", Some(format!("add `output {name}` to the model")))
            }
            Some((Global::Input(_), _)) => (
                "an input",
                Some(format!("add `output {name} = {name}` to the model")),
            ),
            Some((Global::Param(_) | Global::Const(_), _)) => ("known without a run", None),
            Some(_) => ("something else", None),
            None => ("unknown", None),
        };
        let outputs = self.model.outputs.iter().map(|output| output.name.as_str());
        let series = self.model.series.iter().map(|series| series.name.as_str());
        let near = self.suggestions.nearest(name, outputs.chain(series));
        let wanted = "output or series";
        let report = say::unknown_in_test(wanted, name, what, help.as_deref(), span, near);
        self.report(report);
    }
}
