//! `integrate`: equations for states, evaluated at the stages of a method.

use super::{Checked, Checker, Global, Place};
use crate::{
    diagnostic::catalog,
    hir::{Method, StateId, Stmt, StmtKind, Type},
    ir::Owner,
    span::Span,
    syntax::ast,
};
use std::collections::HashMap;

impl<'a> Checker<'a> {
    pub(super) fn integrate(
        &mut self,
        method: &ast::Name,
        dt: &ast::Expr,
        body: &'a ast::Block,
        span: Span,
    ) -> Checked<StmtKind> {
        if self.in_integrate {
            return Err(self.report(catalog::control::not_in_integrate("`integrate`", span)));
        }
        if !matches!(self.place, Place::Init | Place::Step | Place::Finish) {
            return Err(self.report(catalog::control::integrate_in_function(span)));
        }
        if self.of_world {
            let help = "integrate a state of the agents, or write its steps out";
            let report = catalog::world::not_for_worlds("`integrate`", help, span);
            return Err(self.report(report));
        }
        let known = Method::ALL
            .iter()
            .find(|(name, _)| *name == method.text)
            .map(|(_, method)| *method);
        let known = known.ok_or_else(|| {
            let names = Method::ALL.iter().map(|(name, _)| *name);
            let near = self.suggestions.nearest(&method.text, names);
            let report = catalog::types::unknown_method(&method.text, method.span, near);
            self.report(report)
        });
        let dt = self.expr_of(dt, &Type::F32, "the step of `integrate`");
        let loops = std::mem::take(&mut self.loops);
        self.in_integrate = true;
        let stmts = self.scoped(|checker| checker.equations(body));
        self.in_integrate = false;
        self.loops = loops;
        Ok(StmtKind::Integrate {
            method: known?,
            dt,
            body: stmts,
        })
    }

    fn equations(&mut self, body: &'a ast::Block) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        let mut seen: HashMap<StateId, Span> = HashMap::new();
        let mut written = false;
        let before = self.complaints.count();
        // Statements between equations are checked one by one, so that their names stay in scope.
        for stmt in &body.stmts {
            match &stmt.kind {
                ast::StmtKind::Equation { state, value } => {
                    written = true;
                    stmts.extend(self.equation(state, value, stmt.span, &mut seen));
                }
                ast::StmtKind::Error => {
                    written = true;
                    self.hole(stmt.span);
                }
                _ => {
                    let later = self.later.last().cloned();
                    stmts.extend(self.stmts(std::slice::from_ref(stmt)));
                    if let (Some(slot), Some(later)) = (self.later.last_mut(), later) {
                        *slot = later;
                    }
                }
            }
        }
        // An equation in a nested block was complained of.
        if !written && self.complaints.count() == before {
            self.report(catalog::control::nothing_to_integrate(body.span));
        }
        stmts
    }

    fn equation(
        &mut self,
        state: &ast::Name,
        value: &ast::Expr,
        span: Span,
        seen: &mut HashMap<StateId, Span>,
    ) -> Checked<Stmt> {
        let id = match self.integrated_state(state) {
            Ok(id) => id,
            Err(reported) => {
                self.expr(value, None);
                return Err(reported);
            }
        };
        if let Some(first) = seen.insert(id, state.span) {
            self.report(catalog::control::duplicate_equation(
                &state.text,
                state.span,
                first,
            ));
        }
        let want = self.model[id].ty.clone();
        let declared = self.model[id].span;
        let value = self.expr(value, Some(&want));
        let value = self.coerce(
            value,
            &want,
            &format!("`{}'`", state.text),
            Some((declared, "the state".into())),
        );
        Ok(Stmt {
            kind: StmtKind::Equation { state: id, value },
            span,
        })
    }

    fn integrated_state(&mut self, name: &ast::Name) -> Checked<StateId> {
        let text = name.text.as_str();
        let local = self
            .scopes
            .iter()
            .rev()
            .find_map(|scope| scope.get(text).map(|(_, span)| *span));
        if let Some(declared) = local {
            self.note(name.span, declared);
            return Err(self.report(catalog::control::equation_for(
                text,
                "a local variable",
                name.span,
                Some(declared),
                None,
            )));
        }
        let Some((global, declared)) = self.globals.get(text).copied() else {
            let states = self.model.states.iter().map(|state| state.name.as_str());
            let near = self.suggestions.nearest(text, states);
            let report = catalog::names::unknown_name(text, name.span, near);
            return Err(self.report(report));
        };
        self.note(name.span, declared);
        let mut help = None;
        let what = match global {
            Global::State(id) => {
                let ty = self.model[id].ty.clone();
                match &ty {
                    _ if self.model[id].owner == Owner::World => "a state of the world".to_string(),
                    Type::Value(value) if value.is_float() => {
                        self.model.states[id.0 as usize].integrated = true;
                        return Ok(id);
                    }
                    Type::Error(reported) => return Err(*reported),
                    other => {
                        help = match other {
                            Type::Array(..) => Some(
                                "advance its elements in loops outside of `integrate`; two to four numbers \
                                 can be a vector",
                            ),
                            Type::Value(crate::value::Type::I32 | crate::value::Type::U32) => {
                                Some("declare it as an `f32`, as in `state x = 0.0`")
                            }
                            _ => None,
                        };
                        format!("a state of type `{}`", self.show(other))
                    }
                }
            }
            Global::Broken(reported) => return Err(reported),
            Global::Const(_) => "a constant".to_string(),
            Global::Param(_) => "a param".to_string(),
            Global::Data(_) => "a data table".to_string(),
            Global::Input(_) => "an input".to_string(),
            Global::Function(_) => "a function".to_string(),
            Global::Struct(_) => "a struct".to_string(),
            Global::Enum(_) => "an enum".to_string(),
        };
        Err(self.report(catalog::control::equation_for(
            text,
            &what,
            name.span,
            Some(declared),
            help,
        )))
    }
}
