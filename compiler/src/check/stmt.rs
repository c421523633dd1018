//! Statements and blocks.

use super::{Checked, Checker, Place};
use crate::{
    diagnostic::catalog,
    hir::{Block, Constant, ExprId, LocalKind, Stmt, StmtKind, Type},
    ir::Value,
    span::Span,
    syntax::ast,
};
use std::collections::HashMap;

impl<'a> Checker<'a> {
    /// A block with a scope of its own.
    pub(super) fn block(&mut self, block: &'a ast::Block) -> Block {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            self.scoped(|checker| checker.stmts(&block.stmts))
        })
    }

    /// Statements in the current scope.
    pub(super) fn stmts(&mut self, stmts: &'a [ast::Stmt]) -> Block {
        if let Some(later) = self.later.last_mut() {
            *later = declared_names(stmts);
        }
        self.complain_of_unreachable(stmts);
        stmts.iter().flat_map(|stmt| self.stmt(stmt)).collect()
    }

    fn complain_of_unreachable(&mut self, stmts: &[ast::Stmt]) {
        for pair in stmts.windows(2) {
            let word = match pair[0].kind {
                ast::StmtKind::Return(_) => "return",
                ast::StmtKind::Break => "break",
                ast::StmtKind::Continue => "continue",
                ast::StmtKind::Stop => "stop",
                _ => continue,
            };
            let (unreachable, end) = (pair[1].span, pair[0].span);
            self.report(catalog::control::unreachable_code(word, unreachable, end));
            return;
        }
    }

    /// A statement, or the proof that a complaint says why there is none.
    fn stmt(&mut self, stmt: &'a ast::Stmt) -> Checked<Stmt> {
        let span = stmt.span;
        let kind = match &stmt.kind {
            ast::StmtKind::Let { name, ty, value } => {
                self.declaration(name, ty.as_ref(), value, LocalKind::Let)
            }
            ast::StmtKind::Var { name, ty, value } => {
                self.declaration(name, ty.as_ref(), value, LocalKind::Var)
            }
            ast::StmtKind::Assign { place, op, value } => self.assign(place, *op, value)?,
            ast::StmtKind::If {
                branches,
                otherwise,
            } => {
                self.complain_of_branches(branches.len(), span);
                let branches = branches
                    .iter()
                    .map(|(condition, body)| {
                        (
                            self.expr_of(condition, &Type::BOOL, "the condition of `if`"),
                            self.block(body),
                        )
                    })
                    .collect();
                StmtKind::If {
                    branches,
                    otherwise: otherwise.as_ref().map(|body| self.block(body)),
                }
            }
            ast::StmtKind::For {
                index,
                domain,
                body,
            } => self.for_loop(index, domain, body),
            ast::StmtKind::While {
                condition,
                limit,
                body,
            } => self.while_loop(condition, limit.as_ref(), body, span),
            ast::StmtKind::Match { value, arms } => self.match_stmt(value, arms, span)?,
            ast::StmtKind::Return(value) => self.return_stmt(value.as_ref(), span)?,
            ast::StmtKind::Break => self.leave("break", StmtKind::Break, span)?,
            ast::StmtKind::Continue => self.leave("continue", StmtKind::Continue, span)?,
            ast::StmtKind::Stop => self.stop(span)?,
            ast::StmtKind::Integrate { method, dt, body } => {
                self.integrate(method, dt, body, span)?
            }
            ast::StmtKind::Equation { state, value } => {
                self.expr(value, None);
                return Err(self.report(catalog::control::equation_outside_integrate(
                    &state.text,
                    state.span,
                )));
            }
            ast::StmtKind::Assert { condition, message } => self.assertion(condition, message),
            ast::StmtKind::Block(body) => StmtKind::Block(self.block(body)),
            ast::StmtKind::Expr(expr) => {
                let id = self.expr(expr, None);
                self.sound(id)?;
                return Err(self.report(catalog::control::useless_expression(
                    span,
                    matches!(self.place, Place::Function(_)),
                )));
            }
            ast::StmtKind::Error => return Err(self.hole(span)),
        };
        Ok(Stmt { kind, span })
    }

    fn declaration(
        &mut self,
        name: &ast::Name,
        ty: Option<&ast::Type>,
        value: &ast::Expr,
        kind: LocalKind,
    ) -> StmtKind {
        let value = match (kind, ty) {
            (LocalKind::Let, None) => {
                let id = self.expr_or_agent(value, None);
                self.note_whole_number(name, value, id);
                self.closed(id)
            }
            _ => self.typed_value(name, ty, value),
        };
        let local = self.declare(name, self.ty(value).clone(), kind);
        StmtKind::Declare { local, value }
    }

    /// The value of a declaration with or without a written type; concrete.
    pub(super) fn typed_value(
        &mut self,
        name: &ast::Name,
        ty: Option<&ast::Type>,
        value: &ast::Expr,
    ) -> ExprId {
        match ty {
            Some(ty) => {
                let want = self.resolve_type(ty, false);
                let cause = Some((ty.span, "because of this type".into()));
                self.value_of(value, &want, &format!("`{}`", name.text), cause)
            }
            None => {
                let id = self.expr(value, None);
                self.note_whole_number(name, value, id);
                self.closed(id)
            }
        }
    }

    /// A value of the type that its declaration writes: of an array also one value for all elements.
    pub(super) fn value_of(
        &mut self,
        value: &ast::Expr,
        want: &Type,
        place: &str,
        cause: Option<(Span, String)>,
    ) -> ExprId {
        let id = self.expr(value, Some(want));
        let element = want.innermost();
        let own = self.ty(id);
        let single = matches!(own, Type::AbstractInt | Type::AbstractFloat) || own == element;
        if !matches!(want, Type::Array(..)) || !single {
            return self.coerce(id, want, place, cause);
        }
        let one = self.coerce(id, element, place, cause);
        let filled = self.sound(one).and_then(|one| self.filled(one, want));
        filled.unwrap_or_else(|reported| self.error(value.span, reported))
    }

    /// The value in all places of an array, or of the arrays in it.
    fn filled(&mut self, one: ExprId, want: &Type) -> Checked {
        let Type::Array(element, length) = want else {
            return Ok(one);
        };
        let span = self.expr_span(one);
        let element = self.filled(one, element)?;
        self.repeated(element, *length, span)
    }

    /// A concrete value, of a length that is known.
    fn closed(&mut self, id: ExprId) -> ExprId {
        let id = self.concrete(id);
        if matches!(self.ty(id), Type::Open(_)) {
            let span = self.expr_span(id);
            let reported = self.report(catalog::types::open_array(span));
            return self.error(span, reported);
        }
        id
    }

    fn for_loop(
        &mut self,
        index: &ast::Name,
        domain: &ast::Domain,
        body: &'a ast::Block,
    ) -> StmtKind {
        let (domain, ty) = self.domain(domain);
        self.loops += 1;
        let (index, body) = self.scoped(|checker| {
            let index = checker.declare(index, ty, LocalKind::Index);
            (index, checker.block(body))
        });
        self.loops -= 1;
        StmtKind::For {
            index,
            domain,
            body,
        }
    }

    fn while_loop(
        &mut self,
        condition: &ast::Expr,
        limit: Option<&ast::Expr>,
        body: &'a ast::Block,
        span: Span,
    ) -> StmtKind {
        // Of `while true` and its like the limit is all that is missing.
        let endless = limit.is_none()
            && match &condition.kind {
                ast::ExprKind::Name(name) => matches!(name.as_str(), "True" | "TRUE"),
                ast::ExprKind::Paren(inner) => matches!(inner.kind, ast::ExprKind::Int(1)),
                kind => matches!(kind, ast::ExprKind::Int(1)),
            };
        let condition = match endless {
            true => self.constant_node(
                Constant::Value(Value::Bool(true)),
                Type::BOOL,
                condition.span,
            ),
            false => self.expr_of(condition, &Type::BOOL, "the condition of `while`"),
        };
        let limit = match limit {
            Some(limit) => self.expr_of(limit, &Type::I32, "the limit of `while`"),
            None => {
                let place = Span {
                    start: span.start,
                    end: body.span.start.max(span.start + 5),
                };
                let reported = self.report(catalog::control::missing_limit(place));
                self.error(span, reported)
            }
        };
        self.loops += 1;
        let body = self.block(body);
        self.loops -= 1;
        StmtKind::While {
            condition,
            limit,
            body,
        }
    }

    fn return_stmt(&mut self, value: Option<&ast::Expr>, span: Span) -> Checked<StmtKind> {
        let Place::Function(function) = self.place else {
            if let Some(value) = value {
                self.expr(value, None);
            }
            return Err(self.report(catalog::control::return_outside_function(span)));
        };
        let Some(value) = value else {
            return Err(self.report(catalog::control::return_without_value(span)));
        };
        let (want, declared) = {
            let function = &self.model[function];
            (function.result.clone(), function.span)
        };
        let id = self.expr(value, Some(&want));
        let id = self.coerce(
            id,
            &want,
            "the returned value",
            Some((declared, "because of this result type".into())),
        );
        Ok(StmtKind::Return(id))
    }

    fn leave(&mut self, word: &str, kind: StmtKind, span: Span) -> Checked<StmtKind> {
        if self.loops == 0 {
            return Err(self.report(catalog::control::outside_loop(word, span)));
        }
        Ok(kind)
    }

    /// An assertion computes nothing that others see, so it makes no draw, either.
    fn assertion(&mut self, condition: &ast::Expr, message: &str) -> StmtKind {
        self.in_assert = true;
        let condition = self.expr_of(condition, &Type::BOOL, "the condition of `assert`");
        self.in_assert = false;
        if let Place::Function(function) = self.place {
            self.model.functions[function.0 as usize].asserts = true;
        }
        StmtKind::Assert {
            condition,
            message: message.to_owned(),
        }
    }

    fn stop(&mut self, span: Span) -> Checked<StmtKind> {
        if self.in_integrate {
            return Err(self.report(catalog::control::not_in_integrate("`stop`", span)));
        }
        if self.place != Place::Step {
            return Err(self.report(catalog::control::stop_outside_step(span)));
        }
        if self.of_world {
            let help = "only agents stop; a world runs for all steps";
            return Err(self.report(catalog::world::not_for_worlds("`stop`", help, span)));
        }
        Ok(StmtKind::Stop)
    }
}

/// The names that these statements declare, for "used before its declaration".
fn declared_names(stmts: &[ast::Stmt]) -> HashMap<&str, Span> {
    stmts
        .iter()
        .filter_map(|stmt| match &stmt.kind {
            ast::StmtKind::Let { name, .. } | ast::StmtKind::Var { name, .. } => {
                Some((name.text.as_str(), name.span))
            }
            _ => None,
        })
        .collect()
}
