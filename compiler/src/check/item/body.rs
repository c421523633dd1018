//! What runs: states, functions, blocks and outputs.

use crate::{
    check::{Binding, Checked, Checker, Global, Place, flow},
    diagnostic::catalog,
    hir::{self, Function, FunctionId, LocalKind, Output, State, StepBlock, Type},
    ir::Owner,
    span::Span,
    syntax::ast,
};
use std::collections::HashMap;

impl Checker<'_> {
    pub(in crate::check) fn check_states(&mut self) {
        for item in self.items() {
            let ast::ItemKind::State { name, ty, value } = &item.kind else {
                continue;
            };
            let owner = owner(item);
            let init = self.at_place_of(owner, Place::StateInit, |checker| {
                checker.typed_value(name, ty.as_ref(), value)
            });
            let ty = self.ty(init).clone();
            self.model.states.push(State {
                name: name.text.clone(),
                doc: item.doc.clone(),
                ty,
                owner,
                init,
                integrated: false,
                span: name.span,
            });
        }
    }

    /// The types of all functions, before any body.
    pub(in crate::check) fn check_signatures(&mut self) {
        for item in self.function_items.clone() {
            let ast::ItemKind::Fn(function) = &item.kind else {
                continue;
            };
            let id = FunctionId(self.model.functions.len() as u32);
            let (params, result) = self.at_place(Place::Function(id), |checker| {
                let params = function
                    .params
                    .iter()
                    .map(|param| {
                        let ty = checker.resolve_type(&param.ty, false);
                        checker.declare(&param.name, ty, LocalKind::Param)
                    })
                    .collect();
                let result = match &function.result {
                    Some(ty) => checker.resolve_type(ty, false),
                    None => {
                        let (name, span) = (&function.name.text, function.name.span);
                        let report = catalog::control::function_without_result(name, span);
                        Type::Error(checker.report(report))
                    }
                };
                (params, result)
            });
            self.model.functions.push(Function {
                name: function.name.text.clone(),
                doc: item.doc.clone(),
                params,
                result,
                body: Vec::new(),
                is_expression: self.is_of_prelude(item.span)
                    && matches!(&function.body.stmts[..], [only] if is_return(only)),
                draws: false,
                reads_inputs: false,
                reads_agent: false,
                reads_data: false,
                asserts: false,
                span: function.name.span,
            });
        }
    }

    pub(in crate::check) fn check_functions(&mut self) {
        for (index, item) in self.function_items.clone().into_iter().enumerate() {
            let ast::ItemKind::Fn(function) = &item.kind else {
                continue;
            };
            let id = FunctionId(index as u32);
            let Some(params) = self
                .model
                .functions
                .get(index)
                .map(|function| function.params.clone())
            else {
                continue;
            };
            let body = self.at_place(Place::Function(id), |checker| {
                for (param, local) in function.params.iter().zip(params) {
                    let scope = checker
                        .scopes
                        .last_mut()
                        .expect("`at_place` has opened a scope");
                    scope.insert(
                        param.name.text.clone(),
                        (Binding::Local(local), param.name.span),
                    );
                }
                checker.block(&function.body)
            });
            if !flow::returns(&body) && function.result.is_some() && !ends_in_error(&function.body)
            {
                let end = function.body.span.end as usize;
                let span = Span::new(end.saturating_sub(1), end);
                self.report(catalog::control::missing_return(&function.name.text, span));
            }
            self.model.functions[index].body = body;
        }
    }

    pub(in crate::check) fn check_blocks(&mut self) {
        for item in self.items() {
            match &item.kind {
                ast::ItemKind::Init(body) => {
                    let body = self.at_place(Place::Init, |checker| checker.block(body));
                    self.model.init.push(body);
                }
                ast::ItemKind::Step { index, body } => {
                    let owner = owner(item);
                    let block = self.at_place_of(owner, Place::Step, |checker| {
                        let index = index
                            .as_ref()
                            .map(|name| checker.declare(name, Type::I32, LocalKind::Step));
                        StepBlock {
                            owner,
                            index,
                            body: checker.block(body),
                        }
                    });
                    self.model.step.push(block);
                }
                ast::ItemKind::Finish(body) => {
                    let body = self.at_place(Place::Finish, |checker| checker.block(body));
                    self.model.finish.push(body);
                }
                _ => {}
            }
        }
    }

    /// `output x` and `world output x` are short for a state of that name; so are `record x` and `world
    /// observe x`. `word` is what stands before the name.
    pub(super) fn state_of_output(
        &mut self,
        owner: Owner,
        word: &str,
        name: &ast::Name,
    ) -> Checked<()> {
        let text = name.text.as_str();
        let state = match self.globals.get(text) {
            Some((Global::Broken(reported), _)) => return Err(*reported),
            Some((Global::State(id), _)) => self.model.states.get(id.0 as usize),
            _ => None,
        };
        // Of agents, an observation takes the value as it is.
        let fold = match word {
            "world observe" => format!("mean({text})"),
            _ => format!("mean(for other in world: other.{text})"),
        };
        let value = self.own_value(owner, text).unwrap_or("…");
        let (what, value) = match (owner, state.map(|state| state.owner)) {
            (Owner::World, Some(Owner::Agent)) => {
                ("a state of the agents, not of the world", &*fold)
            }
            (_, Some(_)) => return Ok(()),
            (Owner::World, None) => ("no state of the world has this name", value),
            (Owner::Agent, None) => ("no state has this name", value),
        };
        let local = self.local_of_block(text);
        Err(self.report(catalog::model::output_without_state(
            word, text, what, value, name.span, local,
        )))
    }

    /// Where a variable of a block is declared that has this name.
    fn local_of_block(&mut self, name: &str) -> Option<Span> {
        let locals = &self.model.locals;
        let by_name = self.locals_of_blocks.get_or_insert_with(|| {
            let variable =
                |local: &&hir::Local| matches!(local.kind, LocalKind::Let | LocalKind::Var);
            let variables = locals.iter().filter(variable);
            variables
                .map(|local| (local.name.clone(), local.span))
                .collect()
        });
        by_name.get(name).copied()
    }

    /// The name itself, if it means a value of that owner that is no state.
    fn own_value<'n>(&self, owner: Owner, name: &'n str) -> Option<&'n str> {
        let (global, _) = self.globals.get(name)?;
        let readable = match global {
            Global::Const(_) | Global::Param(_) => true,
            Global::Input(id) => {
                let input = self.model.inputs.get(id.0 as usize)?;
                owner == Owner::Agent || input.owner == Owner::World
            }
            Global::Data(_)
            | Global::State(_)
            | Global::Function(_)
            | Global::Struct(_)
            | Global::Enum(_)
            | Global::Broken(_) => false,
        };
        readable.then_some(name)
    }

    pub(in crate::check) fn check_outputs(&mut self) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for item in self.items() {
            let ast::ItemKind::Output { name, ty, value } = &item.kind else {
                continue;
            };
            if let Some(first) = seen.insert(&name.text, name.span) {
                self.report(catalog::names::duplicate_declaration(
                    &name.text, name.span, first,
                ));
            }
            let own;
            let value = match value {
                Some(value) => value,
                None => {
                    let word = match owner(item) {
                        Owner::World => "world output",
                        Owner::Agent => "output",
                    };
                    if self.state_of_output(owner(item), word, name).is_err() {
                        continue;
                    }
                    own = named(name);
                    &own
                }
            };
            let owner = owner(item);
            let value = self.at_place_of(owner, Place::Output, |checker| {
                checker.typed_value(name, ty.as_ref(), value)
            });
            let ty = self.ty(value).clone();
            self.model.outputs.push(Output {
                name: name.text.clone(),
                doc: item.doc.clone(),
                ty,
                owner,
                value,
                span: name.span,
            });
        }
    }
}

/// A name as an expression.
pub(super) fn named(name: &ast::Name) -> ast::Expr {
    ast::Expr {
        kind: ast::ExprKind::Name(name.text.clone()),
        span: name.span,
        depth: 1,
    }
}

/// What `world` before a declaration or block says.
pub(super) fn owner(item: &ast::Item) -> Owner {
    if item.of_world {
        Owner::World
    } else {
        Owner::Agent
    }
}

fn is_return(stmt: &ast::Stmt) -> bool {
    matches!(stmt.kind, ast::StmtKind::Return(_))
}

fn ends_in_error(block: &ast::Block) -> bool {
    block
        .stmts
        .iter()
        .any(|stmt| matches!(stmt.kind, ast::StmtKind::Error | ast::StmtKind::Return(_)))
        && block.stmts.last().is_some_and(|stmt| {
            matches!(stmt.kind, ast::StmtKind::Error | ast::StmtKind::Return(_))
        })
}
