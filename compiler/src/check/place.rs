//! Assignments: what may stand on the left of `=`.

use super::{Checked, Checker, Global, Place};
use crate::{
    builtin::BuiltinId,
    diagnostic::{Reported, catalog},
    hir::{AgentField, BinaryOp, ExprId, ExprKind, LocalKind, StateId, StmtKind, Type},
    ir::{Launch, Owner},
    span::Span,
    syntax::ast,
};

const OF_OTHERS: &str = "an agent changes its own states only; let it read what it needs of others";

impl Checker<'_> {
    pub(super) fn assign(
        &mut self,
        place: &ast::Expr,
        op: Option<BinaryOp>,
        value: &ast::Expr,
    ) -> Checked<StmtKind> {
        self.of_this_code(place)?;
        if let Some(reported) = self.undeclared(place, op, value) {
            return Err(reported);
        }
        let target = self.expr_or_agent(place, None);
        if let Err(reported) = self.sound(target) {
            self.expr(value, None);
            return Err(reported);
        }
        let legal = self.assignable(target, place);
        let want = self.ty(target).clone();
        if want == Type::Agent {
            legal?;
        }
        let what = format!("the new value of `{}`", root_name(place));
        let Some(op) = op else {
            let id = self.expr(value, Some(&want));
            let found = self.ty(id).clone();
            if let Some(reported) = self.whole_target(target, &found, value.span) {
                return Err(reported);
            }
            let cause = Some((place.span, "because of this".into()));
            let value = self.coerce(id, &want, &what, cause);
            legal?;
            return Ok(StmtKind::Assign {
                place: target,
                op: None,
                value,
            });
        };
        self.target = Some(place.span);
        let joined = self.binary(op, place, value, Some(&want), place.span.to(value.span));
        self.target = None;
        let joined = joined?;
        let joined = self.coerce(joined, &want, &what, None);
        legal?;
        let joined = self.sound(joined)?;
        // `place op value` was only built for its types: lowering evaluates the place once.
        match &self.model[joined].kind {
            ExprKind::Binary(op, _, right) => Ok(StmtKind::Assign {
                place: target,
                op: Some(*op),
                value: *right,
            }),
            _ => Ok(StmtKind::Assign {
                place: target,
                op: None,
                value: joined,
            }),
        }
    }

    /// Complains of `x = e` where nothing is called so, or nearly so, and declares it: what follows means it.
    fn undeclared(
        &mut self,
        place: &ast::Expr,
        op: Option<BinaryOp>,
        value: &ast::Expr,
    ) -> Option<Reported> {
        let ast::ExprKind::Name(name) = &place.kind else {
            return None;
        };
        let later = self
            .later
            .iter()
            .any(|later| later.contains_key(name.as_str()));
        let known = self.scopes.iter().any(|scope| scope.contains_key(name))
            || self.globals.contains_key(name.as_str())
            || self.variants.contains_key(name.as_str())
            || self.outputs.contains(name.as_str())
            || super::ty::is_built_in(name)
            || BuiltinId::find(name).is_some()
            || matches!(name.as_str(), "world" | "self" | "this");
        if op.is_some() || later || known || self.near(name).is_some() {
            return None;
        }
        self.expr(value, None);
        let report = catalog::names::undeclared_variable(name, place.span);
        let reported = self.report(report);
        let name = ast::Name {
            text: name.clone(),
            span: place.span,
        };
        self.declare(&name, Type::Error(reported), LocalKind::Var);
        Some(reported)
    }

    /// World code names a state of agents as its place: none of its expressions can.
    fn of_this_code(&mut self, place: &ast::Expr) -> Checked<()> {
        let name = root_name(place);
        let local = self.scopes.iter().any(|scope| scope.contains_key(name));
        let Some((Global::State(id), declared)) = self.globals.get(name).copied() else {
            return Ok(());
        };
        let owner = self
            .model
            .states
            .get(id.0 as usize)
            .map(|state| state.owner);
        if !self.of_world || local || owner != Some(Owner::Agent) {
            return Ok(());
        }
        let (what, help) = (
            "a state of the agents, which are many",
            "agents change their states themselves, in `init`, `step` and `finish`",
        );
        let (span, declared) = (place.span, Some(declared));
        Err(self.report(catalog::control::cannot_assign(
            name,
            what,
            span,
            declared,
            Some(help),
        )))
    }

    /// The name of an agent's field, and where it is declared.
    fn of_agent(&self, field: AgentField) -> (&str, Option<Span>) {
        match field {
            AgentField::State(id) => (&self.model[id].name, Some(self.model[id].span)),
            AgentField::Input(id) => (&self.model[id].name, Some(self.model[id].span)),
            AgentField::Member => ("member", None),
            AgentField::Agent => ("agent", None),
        }
    }

    /// The variable that an index, a field or a swizzle belongs to in the end.
    fn root_of(&self, target: ExprId) -> ExprId {
        let mut root = target;
        loop {
            root = match &self.model[root].kind {
                ExprKind::Index(base, _)
                | ExprKind::Field(base, _)
                | ExprKind::Swizzle(base, _) => *base,
                _ => return root,
            };
        }
    }

    /// Why a state cannot be assigned here, if it cannot.
    fn fixed_state(&mut self, id: StateId, written: Span) -> Checked<Option<&'static str>> {
        if self.in_integrate {
            let what = "an assignment to a state";
            return Err(self.report(catalog::control::not_in_integrate(what, written)));
        }
        let world = self.model[id].owner == Owner::World;
        let changes = matches!(self.place, Place::Init | Place::Step | Place::Finish);
        Ok(match world {
            _ if self.of_world == world && changes => None,
            true => Some("a state of the world, which changes only in `world step`"),
            false => Some("a state, and states change only in `init`, `step` and `finish`"),
        })
    }

    /// May this expression be assigned? Complains if not.
    fn assignable(&mut self, target: ExprId, written: &ast::Expr) -> Checked<()> {
        if let ExprKind::Swizzle(_, components) = &self.model[target].kind
            && repeats(components)
        {
            return Err(self.report(catalog::types::bad_swizzle_target(written.span)));
        }
        let root = self.root_of(target);
        let mut name = root_name(written);
        let (what, declared, help): (&str, Option<Span>, Option<&str>) =
            match &self.model[root].kind {
                ExprKind::Local(id) => {
                    let local = &self.model[*id];
                    let Some((what, help)) = fixed_local(local.kind) else {
                        return Ok(());
                    };
                    (what, Some(local.span), help)
                }
                ExprKind::State(id) => {
                    let (id, declared) = (*id, self.model[*id].span);
                    match self.fixed_state(id, written.span)? {
                        Some(what) => (what, Some(declared), None),
                        None => return Ok(()),
                    }
                }
                ExprKind::Param(id) => (
                    "a param",
                    Some(self.model[*id].span),
                    Some("declare a `state` for what changes in a run"),
                ),
                ExprKind::Input(id) => (
                    "an input",
                    Some(self.model[*id].span),
                    Some("declare a `state` that starts with it"),
                ),
                ExprKind::Data(id) => ("read-only data", Some(self.model[*id].span), None),
                ExprKind::Launch(launch) => {
                    if *launch == Launch::World {
                        name = "world.number";
                    }
                    ("set at launch", None, None)
                }
                ExprKind::WorldAt(_) => ("a collection of agents", None, Some(OF_OTHERS)),
                ExprKind::Of(_, field) => {
                    let (own, declared) = self.of_agent(*field);
                    name = own;
                    ("of another agent", declared, Some(OF_OTHERS))
                }
                ExprKind::Constant(_)
                    if matches!(
                        written.kind,
                        ast::ExprKind::Name(_) | ast::ExprKind::Index(..)
                    ) =>
                {
                    let declared = self.globals.get(name).map(|(_, span)| *span);
                    ("a constant", declared, Some("declare a `var` or a `state`"))
                }
                _ => {
                    return Err(self.report(catalog::control::not_a_place(written.span)));
                }
            };
        Err(self.report(catalog::control::cannot_assign(
            name,
            what,
            written.span,
            declared,
            help,
        )))
    }
}

/// Does a swizzle name a component twice?
fn repeats(components: &[u8]) -> bool {
    let mut seen = [false; 4];
    components
        .iter()
        .any(|&k| std::mem::replace(&mut seen[k as usize], true))
}

/// What a local is that cannot be assigned, and how to do without; none for a `var`.
fn fixed_local(kind: LocalKind) -> Option<(&'static str, Option<&'static str>)> {
    match kind {
        LocalKind::Var => None,
        LocalKind::Let => Some(("a `let`", Some("declare it with `var`"))),
        LocalKind::Index => Some(("the index of a loop", None)),
        LocalKind::Param => Some((
            "a parameter of a function",
            Some("copy it into a variable: `var x = …`"),
        )),
        LocalKind::Step => Some(("the index of the step", None)),
    }
}

/// The name at the root of a place, for messages.
fn root_name(expr: &ast::Expr) -> &str {
    let mut expr = expr;
    loop {
        expr = match &expr.kind {
            ast::ExprKind::Name(name) => return name,
            ast::ExprKind::Index(base, _)
            | ast::ExprKind::Field(base, _)
            | ast::ExprKind::Paren(base) => base,
            _ => return "this",
        };
    }
}
