//! Warnings: what a model says that compiles, but can hardly mean. One file a question, one row of [`LINTS`]
//! each; `allow` takes out what comments in the model silence.
//!
//! They are computed on the checked model and on the names of its text, only where somebody asks
//! (`crate::warnings`): compiling a model does not pay for them. A warning is given where a reader would
//! agree; where intent cannot be told there is none.

mod allow;
mod comment;
mod condition;
mod division;
mod idle_loop;
mod interval;
mod time;
mod unused;

use crate::{
    diagnostic::{Diagnostic, MOST_COMPLAINTS},
    hir::{ExprId, ExprKind, InputSource, Model, Stmt, StmtKind},
    names::{self, Names, Notes},
    span::Span,
    syntax::ast,
};

/// Each adds what it warns of.
const LINTS: [fn(&Facts<'_>, &mut Vec<Diagnostic>); 6] = [
    unused::lint,
    condition::lint,
    division::lint,
    idle_loop::lint,
    time::lint,
    comment::lint,
];

/// What is known of a model without mistakes.
struct Facts<'a> {
    source: &'a str,
    tree: &'a ast::Model,
    model: &'a Model,
    names: Names,
    /// The places where each declaration of `names` is used, in order.
    uses: Vec<Vec<Span>>,
    /// As in [`Notes`].
    divisions: Vec<(Span, i64)>,
    floats: Vec<Span>,
    /// Every statement, in no particular order.
    statements: Vec<&'a Stmt>,
}

/// The warnings about a model without mistakes that no comment silences; of very many the first.
pub(crate) fn lint(
    source: &str,
    tree: &ast::Model,
    model: &Model,
    mut notes: Notes,
) -> Vec<Diagnostic> {
    let divisions = std::mem::take(&mut notes.divisions);
    let floats = std::mem::take(&mut notes.floats);
    let names = names::collect(tree, notes, source.len());
    let mut uses: Vec<Vec<Span>> = vec![Vec::new(); names.declarations.len()];
    for (place, declared) in &names.uses {
        uses[*declared].push(*place);
    }
    uses.iter_mut().for_each(|places| places.sort());
    let facts = Facts {
        source,
        tree,
        model,
        divisions,
        floats,
        names,
        uses,
        statements: statements(model),
    };
    let mut found = Vec::new();
    for lint in LINTS {
        lint(&facts, &mut found);
    }
    allow::silence(&facts, &mut found);
    found.sort_by_key(Diagnostic::span);
    found.dedup();
    found.truncate(MOST_COMPLAINTS);
    found
}

impl Facts<'_> {
    fn text(&self, span: Span) -> &str {
        self.source.get(span.range()).unwrap_or_default()
    }

    /// The expressions that are evaluated as a whole, but for those of assertions.
    fn roots(&self) -> Vec<ExprId> {
        let model = self.model;
        let inputs = model.inputs.iter().filter_map(|input| match input.source {
            InputSource::Required => None,
            InputSource::Default(value) | InputSource::Drawn(value) => Some(value),
        });
        let states = model.states.iter().map(|state| state.init);
        let outputs = model.outputs.iter().map(|output| output.value);
        let series = model.series.iter().map(|series| series.value);
        let checks = |stmt: &&&Stmt| !matches!(stmt.kind, StmtKind::Assert { .. });
        let statements = self.statements.iter().filter(checks);
        let of_statements = statements.flat_map(|stmt| stmt.roots());
        inputs
            .chain(states)
            .chain(outputs)
            .chain(series)
            .chain(of_statements)
            .collect()
    }

    /// Every expression within some, these included.
    fn within(&self, roots: Vec<ExprId>) -> Vec<ExprId> {
        let (mut open, mut found) = (roots, Vec::new());
        while let Some(id) = open.pop() {
            found.push(id);
            open.extend(self.model.operands(id));
        }
        found
    }

    /// Does evaluating it draw?
    fn draws(&self, id: ExprId) -> bool {
        let within = self.within(vec![id]);
        within.into_iter().any(|id| match &self.model[id].kind {
            ExprKind::Draw(..) | ExprKind::RandomWord(_) | ExprKind::TakeWords(_) => true,
            ExprKind::Call(function, _) => self.model[*function].draws,
            _ => false,
        })
    }

    /// Is it written without a name, so that nothing but the text itself decides its value?
    fn is_literal(&self, span: Span) -> bool {
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = self.text(span).split(|c: char| !letters(c));
        let mut names =
            words.filter(|word| word.starts_with(|c: char| c == '_' || c.is_alphabetic()));
        names.all(|word| matches!(word, "true" | "false"))
    }

    /// The variable at the bottom of a place that is assigned.
    fn root_of(&self, place: ExprId) -> ExprId {
        let mut root = place;
        loop {
            root = match &self.model[root].kind {
                ExprKind::Index(base, _)
                | ExprKind::Field(base, _)
                | ExprKind::Swizzle(base, _) => *base,
                _ => return root,
            };
        }
    }
}

fn statements(model: &Model) -> Vec<&Stmt> {
    let functions = model.functions.iter().map(|function| &function.body);
    let steps = model.step.iter().map(|block| &block.body);
    let bodies = functions
        .chain(&model.init)
        .chain(steps)
        .chain(&model.finish);
    let mut open: Vec<&Stmt> = bodies.flatten().collect();
    let mut found = Vec::new();
    while let Some(stmt) = open.pop() {
        found.push(stmt);
        open.extend(stmt.blocks().into_iter().flatten());
    }
    found
}
