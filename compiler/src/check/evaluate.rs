//! Functions of the model in constants: their statements are executed while they are checked, with variables
//! that are constants. All work counts as that of constant comprehensions does, so that it is bounded.

use super::{Binding, Checked, Checker, Place, expr::components};
use crate::{
    diagnostic::{Diagnostic, Label, Reported, catalog},
    hir::{Constant, ExprId, FunctionId, Type},
    ir::Value,
    span::Span,
    syntax::ast,
};
use std::collections::HashMap;

/// The calls that are being evaluated.
#[derive(Default)]
pub(super) struct Evaluation {
    /// Each with the place of the call.
    calls: Vec<(FunctionId, Span)>,
    /// The complaints that were made: the check of the function itself makes some of them once more.
    made: HashMap<(&'static str, Span), Reported>,
}

/// How a statement ends.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Constant),
}

/// The number of an element or a field that is assigned.
type Step = usize;

impl Checker<'_> {
    /// Is the body of a function being evaluated?
    pub(super) fn evaluates(&self) -> bool {
        !self.evaluation.calls.is_empty()
    }

    /// Runs something that is no part of the function which is being evaluated: a constant that it names.
    pub(super) fn outside_evaluation<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let calls = std::mem::take(&mut self.evaluation.calls);
        let result = run(self);
        self.evaluation.calls = calls;
        result
    }

    /// A complaint about what is evaluated says which constant needs it; none if it has been made.
    pub(super) fn in_evaluation(
        &mut self,
        mut complaint: Diagnostic,
    ) -> Result<Diagnostic, Reported> {
        let key = (complaint.code, complaint.span());
        if let Some(reported) = self.evaluation.made.get(&key) {
            return Err(*reported);
        }
        if let Some((_, call)) = self.evaluation.calls.first() {
            complaint.labels.push(Label {
                span: *call,
                text: "computed for a constant here".to_owned(),
            });
        }
        Ok(complaint)
    }

    /// Remembers a complaint about what is evaluated.
    pub(super) fn evaluated(&mut self, code: &'static str, place: Span, reported: Reported) {
        if self.evaluates() {
            self.evaluation.made.insert((code, place), reported);
        }
    }

    /// A call whose value must be known now.
    pub(super) fn constant_call(
        &mut self,
        id: FunctionId,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Checked {
        let item = self.function_items[id.0 as usize];
        let ast::ItemKind::Fn(function) = &item.kind else {
            return Err(self.not_constant(span));
        };
        let Some(result) = &function.result else {
            return Err(self.not_constant(span));
        };
        if self.evaluation.calls.iter().any(|(open, _)| *open == id) {
            let path = format!("`{0}` → `{0}`", callee.text);
            return Err(self.report(catalog::control::recursion(
                &callee.text,
                &path,
                callee.span,
            )));
        }
        let nodes = self.model.exprs.len();
        let (types, result) = self.apart(|checker| {
            let params = function.params.iter();
            let types: Vec<Type> = params
                .map(|param| checker.resolve_type(&param.ty, false))
                .collect();
            (types, checker.resolve_type(result, false))
        });
        let values = self.known_arguments(function, &types, args, span)?;
        if let Some(reported) = result.error() {
            return Err(reported);
        }
        self.evaluation.calls.push((id, span));
        self.constant_work.rounds += 1;
        let flow = self.apart(|checker| {
            for ((param, ty), value) in function.params.iter().zip(types).zip(values) {
                checker.rebind(&param.name, Binding::Constant(value, ty));
            }
            checker.execute(&function.body, &result)
        });
        self.constant_work.rounds -= 1;
        self.evaluation.calls.pop();
        self.model.exprs.truncate(nodes);
        match flow? {
            Flow::Return(value) => Ok(self.constant_node(value, result, span)),
            // The check of the function says so, too.
            Flow::Next | Flow::Break | Flow::Continue => Err(self.not_constant(span)),
        }
    }

    fn known_arguments(
        &mut self,
        function: &ast::Function,
        types: &[Type],
        args: &[ast::Expr],
        span: Span,
    ) -> Checked<Vec<Constant>> {
        if args.len() != function.params.len() {
            let needed = super::call::plural(function.params.len());
            return Err(self.report(catalog::types::wrong_argument_count(
                &function.name.text,
                &needed,
                args.len(),
                span,
                Some(function.name.span),
                None,
            )));
        }
        let mut values = Vec::new();
        for ((arg, param), ty) in args.iter().zip(&function.params).zip(types) {
            let id = self.expr(arg, Some(ty));
            let cause = Some((param.name.span, "declared here".to_owned()));
            let place = format!("the argument `{}`", param.name.text);
            let id = self.coerce(id, ty, &place, cause);
            values.push(self.known(id, arg.span)?);
        }
        Ok(values)
    }

    /// Runs something that sees no names of the current block.
    fn apart<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let scopes = std::mem::take(&mut self.scopes);
        let later = std::mem::take(&mut self.later);
        let result = self.at_place(Place::Constant, run);
        (self.scopes, self.later) = (scopes, later);
        result
    }

    fn known(&mut self, id: ExprId, span: Span) -> Checked<Constant> {
        let id = self.sound(id)?;
        match self.constant(id).cloned() {
            Some(constant) => Ok(constant),
            None => Err(self.not_constant(span)),
        }
    }

    fn known_int(&mut self, expr: &ast::Expr, place: &str) -> Checked<i64> {
        let id = self.expr_of(expr, &Type::I32, place);
        let value = self.known(id, expr.span)?;
        value.as_int().ok_or_else(|| self.not_constant(expr.span))
    }

    fn known_truth(&mut self, expr: &ast::Expr, place: &str) -> Checked<bool> {
        let id = self.expr_of(expr, &Type::BOOL, place);
        match self.known(id, expr.span)? {
            Constant::Value(Value::Bool(truth)) => Ok(truth),
            _ => Err(self.not_constant(expr.span)),
        }
    }

    fn execute(&mut self, block: &ast::Block, result: &Type) -> Checked<Flow> {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            self.scoped(|checker| {
                for stmt in &block.stmts {
                    checker.count_evaluation();
                    checker.afford_round(stmt.span)?;
                    let nodes = checker.model.exprs.len();
                    let flow = checker.execute_one(stmt, result);
                    checker.model.exprs.truncate(nodes);
                    match flow? {
                        Flow::Next => {}
                        ends @ (Flow::Break | Flow::Continue | Flow::Return(_)) => return Ok(ends),
                    }
                }
                Ok(Flow::Next)
            })
        })
    }

    fn execute_one(&mut self, stmt: &ast::Stmt, result: &Type) -> Checked<Flow> {
        match &stmt.kind {
            ast::StmtKind::Let { name, ty, value } | ast::StmtKind::Var { name, ty, value } => {
                let id = self.typed_value(name, ty.as_ref(), value);
                let ty = self.ty(id).clone();
                let constant = self.known(id, value.span)?;
                self.bind(name, Binding::Constant(constant, ty));
                Ok(Flow::Next)
            }
            ast::StmtKind::Assign { place, op, value } => {
                self.execute_assignment(place, *op, value)?;
                Ok(Flow::Next)
            }
            ast::StmtKind::If {
                branches,
                otherwise,
            } => {
                for (condition, body) in branches {
                    if self.known_truth(condition, "the condition of `if`")? {
                        return self.execute(body, result);
                    }
                }
                match otherwise {
                    Some(body) => self.execute(body, result),
                    None => Ok(Flow::Next),
                }
            }
            ast::StmtKind::For {
                index,
                domain: ast::Domain::Range(range),
                body,
            } => self.execute_for(index, range, body, result),
            ast::StmtKind::While {
                condition,
                limit: Some(limit),
                body,
            } => self.execute_while(condition, limit, body, result),
            ast::StmtKind::Match { value, arms } => {
                self.execute_match(value, arms, stmt.span, result)
            }
            ast::StmtKind::Return(Some(value)) => {
                let id = self.expr(value, Some(result));
                let id = self.coerce(id, result, "the returned value", None);
                Ok(Flow::Return(self.known(id, value.span)?))
            }
            ast::StmtKind::Break => Ok(Flow::Break),
            ast::StmtKind::Continue => Ok(Flow::Continue),
            ast::StmtKind::Block(body) => self.execute(body, result),
            // Only runs with `--check` evaluate one.
            ast::StmtKind::Assert { .. } => Ok(Flow::Next),
            // None of these stands in a function; its check says why.
            ast::StmtKind::For { .. }
            | ast::StmtKind::While { .. }
            | ast::StmtKind::Return(None)
            | ast::StmtKind::Stop
            | ast::StmtKind::Integrate { .. }
            | ast::StmtKind::Equation { .. }
            | ast::StmtKind::Expr(_)
            | ast::StmtKind::Error => Err(self.not_constant(stmt.span)),
        }
    }

    fn execute_assignment(
        &mut self,
        place: &ast::Expr,
        op: Option<ast::BinaryOp>,
        value: &ast::Expr,
    ) -> Checked<()> {
        let target = self.expr(place, None);
        let target = self.sound(target)?;
        let want = self.ty(target).clone();
        let id = match op {
            Some(op) => {
                let span = place.span.to(value.span);
                self.binary(op, place, value, Some(&want), span)?
            }
            None => self.expr(value, Some(&want)),
        };
        let id = self.coerce(id, &want, "the new value", None);
        let new = self.known(id, value.span)?;
        self.store(place, new)
    }

    fn execute_for(
        &mut self,
        index: &ast::Name,
        range: &ast::Range,
        body: &ast::Block,
        result: &Type,
    ) -> Checked<Flow> {
        let start = self.known_int(&range.start, "the start of a range")?;
        let end = self.known_int(&range.end, "the end of a range")?;
        for round in start..end {
            let round = Constant::Value(Value::I32(round as i32));
            let flow = self.scoped(|checker| {
                checker.bind(index, Binding::Constant(round, Type::I32));
                checker.round(body, result)
            });
            match flow? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                ends @ Flow::Return(_) => return Ok(ends),
            }
        }
        Ok(Flow::Next)
    }

    fn execute_while(
        &mut self,
        condition: &ast::Expr,
        limit: &ast::Expr,
        body: &ast::Block,
        result: &Type,
    ) -> Checked<Flow> {
        let limit = self.known_int(limit, "the limit of `while`")?;
        for _ in 0..limit {
            if !self.known_truth(condition, "the condition of `while`")? {
                break;
            }
            match self.round(body, result)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                ends @ Flow::Return(_) => return Ok(ends),
            }
        }
        Ok(Flow::Next)
    }

    /// An iteration of a loop, however short its body is.
    fn round(&mut self, body: &ast::Block, result: &Type) -> Checked<Flow> {
        self.count_evaluation();
        self.afford_round(body.span)?;
        self.execute(body, result)
    }

    fn execute_match(
        &mut self,
        value: &ast::Expr,
        arms: &[ast::Arm],
        span: Span,
        result: &Type,
    ) -> Checked<Flow> {
        let id = self.expr(value, None);
        let id = self.concrete(id);
        let ty = self.ty(id).clone();
        let value = self.known(id, value.span)?;
        for arm in arms {
            for pattern in &arm.patterns {
                let meant = match &pattern.kind {
                    ast::PatternKind::Value(expr) => {
                        let id = self.pattern_value(expr, &ty)?;
                        let id = self.coerce(id, &ty, "a pattern of this `match`", None);
                        self.known(id, expr.span)? == value
                    }
                    _ => true,
                };
                if meant {
                    return self.execute(&arm.body, result);
                }
            }
        }
        Err(self.not_constant(span))
    }

    /// Gives the variable of a place a value, or a part of it.
    fn store(&mut self, place: &ast::Expr, new: Constant) -> Checked<()> {
        let mut steps: Vec<Vec<Step>> = Vec::new();
        let mut root = place;
        loop {
            root = match &root.kind {
                ast::ExprKind::Paren(inner) => inner,
                ast::ExprKind::Index(base, index) => {
                    let id = self.expr(index, Some(&Type::I32));
                    let index = self.known(id, index.span)?.as_int().unwrap_or_default();
                    let array = self.expr(base, None);
                    let last = match self.ty(array) {
                        Type::Array(_, length) => i64::from(*length) - 1,
                        _ => return Err(self.not_constant(base.span)),
                    };
                    steps.push(vec![index.clamp(0, last) as usize]);
                    base
                }
                ast::ExprKind::Field(base, field) => {
                    let id = self.expr(base, None);
                    let places = match self.ty(id) {
                        Type::Struct(id) => {
                            let fields = &self.model[*id].fields;
                            let place = fields.iter().position(|(name, _)| *name == field.text);
                            place.into_iter().collect()
                        }
                        _ => components(&field.text),
                    };
                    steps.push(places);
                    base
                }
                ast::ExprKind::Name(name) => {
                    return self.store_in(name, &steps, new, place.span);
                }
                _ => return Err(self.not_constant(place.span)),
            };
        }
    }

    fn store_in(
        &mut self,
        name: &str,
        steps: &[Vec<Step>],
        new: Constant,
        span: Span,
    ) -> Checked<()> {
        let mut scopes = self.scopes.iter_mut().rev();
        let Some((Binding::Constant(old, _), _)) = scopes.find_map(|scope| scope.get_mut(name))
        else {
            return Err(self.not_constant(span));
        };
        let mut copied = 0;
        let stored = with_part(old, steps, new, &mut copied);
        self.constant_work.copy(copied);
        match stored {
            Some(()) => Ok(()),
            None => Err(self.not_constant(span)),
        }
    }
}

/// Replaces the part of a value that the steps lead to, the last step first; counts what is copied.
fn with_part(
    old: &mut Constant,
    steps: &[Vec<Step>],
    new: Constant,
    copied: &mut u64,
) -> Option<()> {
    let Some((places, inner)) = steps.split_last() else {
        *old = new;
        return Some(());
    };
    match old {
        Constant::Many(values) => {
            let mut changed = values.to_vec();
            *copied += changed.len() as u64;
            with_part(changed.get_mut(*places.first()?)?, inner, new, copied)?;
            *values = changed.into();
        }
        Constant::Value(vector) if vector.ty().is_float() => {
            let mut floats = vector.floats().to_vec();
            let Constant::Value(new) = new else {
                return None;
            };
            let mut places = places.clone();
            // A swizzle of a swizzle.
            for step in inner.iter().rev() {
                let chosen = step.iter().map(|k| places.get(*k).copied());
                places = chosen.collect::<Option<_>>()?;
            }
            for (place, float) in places.iter().zip(new.floats()) {
                *floats.get_mut(*place)? = *float;
            }
            *vector = Value::from_floats(&floats);
        }
        Constant::Int(_) | Constant::Float(_) | Constant::Value(_) => return None,
    }
    Some(())
}
