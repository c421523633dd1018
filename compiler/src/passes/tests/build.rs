//! Builds programs by hand.

use crate::{
    builtin::BuiltinId,
    ir::{
        BinaryOp, Expr, ExprId, Len, Phase, Program, Stmt, Type, UnaryOp, Value, Var, VarId,
        VarKind,
    },
    span::Span,
};

/// The span of what a model declares itself.
pub(crate) fn own() -> Span {
    Span::new(1, 2)
}

/// A program under construction.
#[derive(Default)]
pub(crate) struct Builder {
    pub(crate) program: Program,
}

impl Builder {
    /// The first phase of a step.
    #[allow(
        dead_code,
        reason = "each test binary includes this file and uses a part of it"
    )]
    pub(crate) fn step(&mut self) -> &mut Vec<Stmt> {
        if self.program.phases.is_empty() {
            self.program.phases.push(Phase::default());
        }
        &mut self.program.phases[0]
    }

    pub(crate) fn var(&mut self, name: &str, ty: Type, len: Len, kind: VarKind) -> VarId {
        let words = |list: &[VarId], program: &Program| {
            list.iter()
                .map(|&var| match program[var].len {
                    Len::One => program[var].ty.components() as u32,
                    Len::Fixed(count) => count * program[var].ty.components() as u32,
                    Len::Open { .. } => 0,
                })
                .sum()
        };
        let program = &self.program;
        let word = match kind {
            VarKind::Input => words(&program.inputs, program),
            VarKind::State => words(&program.states, program),
            VarKind::Output => words(&program.outputs, program),
            VarKind::Param => words(&program.params, program),
            _ => 0,
        };
        let var = self.program.add_var(Var {
            name: name.to_owned(),
            doc: String::new(),
            ty,
            len,
            kind,
            word,
            span: own(),
        });
        match kind {
            VarKind::Input => self.program.inputs.push(var),
            VarKind::State => self.program.states.push(var),
            VarKind::Output => self.program.outputs.push(var),
            VarKind::Param => self.program.params.push(var),
            _ => {}
        }
        var
    }

    pub(crate) fn one(&mut self, name: &str, ty: Type, kind: VarKind) -> VarId {
        self.var(name, ty, Len::One, kind)
    }

    pub(crate) fn add(&mut self, expr: Expr) -> ExprId {
        self.program.add(expr, own())
    }

    pub(crate) fn i(&mut self, x: i32) -> ExprId {
        self.add(Expr::Literal(Value::I32(x)))
    }

    pub(crate) fn u(&mut self, x: u32) -> ExprId {
        self.add(Expr::Literal(Value::U32(x)))
    }

    pub(crate) fn read(&mut self, var: VarId) -> ExprId {
        self.add(Expr::Read(var))
    }

    pub(crate) fn at(&mut self, array: VarId, index: ExprId) -> ExprId {
        self.add(Expr::Element { array, index })
    }

    pub(crate) fn op(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        self.add(Expr::Binary(op, a, b))
    }

    pub(crate) fn unary(&mut self, op: UnaryOp, a: ExprId) -> ExprId {
        self.add(Expr::Unary(op, a))
    }

    pub(crate) fn call(&mut self, name: &str, args: Vec<ExprId>) -> ExprId {
        let builtin = BuiltinId::find(name).expect("a builtin");
        self.add(Expr::Builtin(builtin, args))
    }

    pub(crate) fn repeat(&mut self, index: VarId, count: i32, body: Vec<Stmt>) -> Stmt {
        let (start, end) = (self.i(0), self.i(count));
        Stmt::For {
            index,
            start,
            end,
            body,
        }
    }
    pub(crate) fn f(&mut self, x: f32) -> ExprId {
        self.add(Expr::Literal(Value::F32(x)))
    }
}
