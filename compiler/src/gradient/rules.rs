//! The derivatives of builtins, from their rows of the table, as functions of a program.

use crate::{
    Options,
    builtin::{BuiltinId, Meaning},
    ir::{Block, Expr, ExprId, Function, FunctionId, Program, RealType, Stmt, Type, VarId},
};
use std::collections::HashMap;

/// The name of the function in the model that [`function`] compiles.
const NAME: &str = "derivative";

/// The text of a builtin's derivative by one of its parameters; none if its row has none.
pub(super) fn text(id: BuiltinId, param: usize) -> Option<&'static str> {
    match id.row().meaning {
        Meaning::Pure(pure) => pure.derivative.get(param).copied(),
        _ => None,
    }
}

/// The functions of derivatives that a program has: by builtin, parameter and types.
#[derive(Default)]
pub(super) struct Rules {
    known: HashMap<(BuiltinId, usize, Vec<Type>), FunctionId>,
}

impl Rules {
    /// The function of a program that computes a derivative, for arguments of these types.
    pub(super) fn function(
        &mut self,
        program: &mut Program,
        id: BuiltinId,
        param: usize,
        types: Vec<Type>,
        result: Type,
    ) -> FunctionId {
        if let Some(known) = self.known.get(&(id, param, types.clone())) {
            return *known;
        }
        let from = function(id, param, &types, result, program.real);
        let rule = import(&from, program);
        program[rule].name = format!("{}_by_{}", id.row().name, id.row().params[param]);
        self.known.insert((id, param, types), rule);
        rule
    }
}

/// A program with the function that computes a derivative, for arguments of these types.
fn function(id: BuiltinId, param: usize, types: &[Type], result: Type, real: RealType) -> Program {
    let text = text(id, param).expect("the row has this derivative");
    let params: Vec<String> = (id.row().params.iter().zip(types))
        .map(|(name, ty)| format!("{name}: {}", ty.name()))
        .collect();
    let inputs: String = (types.iter().enumerate())
        .map(|(k, ty)| format!("input in{k}: {}\n", ty.name()))
        .collect();
    let args: Vec<String> = (0..types.len()).map(|k| format!("in{k}")).collect();
    let source = format!(
        "fn {NAME}({}) -> {} {{ return {text} }}\n{inputs}output value = {NAME}({})\n",
        params.join(", "),
        result.name(),
        args.join(", "),
    );
    let options = Options {
        real,
        ..Options::default()
    };
    let artifact = crate::compile_with(&source, options);
    let artifact = artifact.expect("derivatives of the table compile");
    artifact.lowered
}

/// Copies the function of a program that [`function`] made into another one.
fn import(from: &Program, into: &mut Program) -> FunctionId {
    let found = from.function_ids().find(|id| from[*id].name == NAME);
    let id = found.expect("the function stays a function");
    copy_function(from, into, id)
}

/// Copies a function into another program, which may be a later form of the same one.
pub(super) fn copy_function(from: &Program, into: &mut Program, id: FunctionId) -> FunctionId {
    let mut copy = Copy {
        from,
        into,
        vars: HashMap::new(),
    };
    let function = copy.function(id);
    into.functions.push(function);
    FunctionId(into.functions.len() as u32 - 1)
}

/// Copies statements; variables that they declare become new ones, others stay.
pub(super) struct Copy<'a> {
    pub(super) from: &'a Program,
    pub(super) into: &'a mut Program,
    pub(super) vars: HashMap<VarId, VarId>,
}

impl Copy<'_> {
    /// A function with variables of its own; it calls what the original calls.
    pub(super) fn function(&mut self, id: FunctionId) -> Function {
        let function = &self.from[id];
        let params = function.params.iter().map(|var| self.var(*var)).collect();
        Function {
            name: function.name.clone(),
            doc: function.doc.clone(),
            params,
            result: function.result,
            body: self.block(&function.body),
        }
    }

    fn var(&mut self, var: VarId) -> VarId {
        let copy = self.into.add_var(self.from[var].clone());
        self.vars.insert(var, copy);
        copy
    }

    /// A block with variables of its own.
    pub(super) fn block(&mut self, block: &[Stmt]) -> Block {
        block.iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        let mut copy = stmt.clone();
        copy.map_roots(|root| self.expr(root));
        if let Some(target) = copy.target_mut() {
            let declares = matches!(stmt, Stmt::Let { .. } | Stmt::Var { .. } | Stmt::For { .. });
            *target = match declares {
                true => self.var(*target),
                false => self.vars.get(target).copied().unwrap_or(*target),
            };
        }
        for inner in copy.blocks_mut() {
            *inner = self.block(&inner.clone());
        }
        copy
    }

    fn expr(&mut self, id: ExprId) -> ExprId {
        let mut expr: Expr = self.from[id].clone();
        stacker::maybe_grow(32 << 10, 1 << 20, || {
            expr.map_operands(|operand| self.expr(operand));
        });
        if let Some(var) = expr.variable_mut() {
            *var = self.vars.get(var).copied().unwrap_or(*var);
        }
        self.into.add(expr, self.from.span(id))
    }
}
