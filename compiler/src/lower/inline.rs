//! Calls. A function of scalars and vectors that neither draws nor reads inputs becomes a function of the IR;
//! any other is inlined where it is called, its `return`s expressed by control flow.

use super::{Frame, Lowerer, place::Place};
use crate::{
    hir::{self, Stmt, StmtKind},
    ir::{self, Expr, ExprId, Len, Value, VarKind},
};

impl Lowerer<'_> {
    /// A call whose result is one scalar or vector.
    pub(super) fn call_value(&mut self, id: hir::FunctionId, args: &[hir::ExprId]) -> ExprId {
        if !self.is_inlined(id) {
            let args: Vec<ExprId> = args.iter().map(|&arg| self.scalar(arg)).collect();
            let function = self.function(id);
            return self.add(Expr::Call(function, args));
        }
        if let Some(draw) = self.model.prelude_draw(id) {
            return self.prelude_draw(draw, id, args);
        }
        let model = self.model;
        let function = &model[id];
        if let Some(value) = only_value(&function.body) {
            return self.with_arguments(id, args, |lowerer| lowerer.scalar(value));
        }
        let place = self.temporary(&function.name, &function.result);
        self.call_into(&place, id, args);
        self.load(&place)
    }

    /// A call whose result goes to a place that it does not read.
    pub(super) fn call_into(&mut self, result: &Place, id: hir::FunctionId, args: &[hir::ExprId]) {
        if !self.is_inlined(id) || self.model.prelude_draw(id).is_some() {
            let value = self.call_value(id, args);
            return self.store(result, value);
        }
        let model = self.model;
        let body = &model[id].body;
        self.with_arguments(id, args, |lowerer| lowerer.body_into(result, body));
    }

    /// The body of a function that is being inlined.
    fn body_into(&mut self, result: &Place, body: &[Stmt]) {
        let returned = (!is_structured(body)).then(|| {
            let no = self.literal(Value::Bool(false));
            self.local("returned", no)
        });
        self.frame = Some(Frame {
            result: result.clone(),
            returned,
            loops: 0,
        });
        self.stmts(body);
    }

    /// A call of a function that is inlined and takes scalars, with arguments that have been lowered.
    pub(super) fn call_with(&mut self, id: hir::FunctionId, args: &[ir::VarId]) -> ExprId {
        let model = self.model;
        let function = &model[id];
        let bound = (function.params.iter().zip(args))
            .map(|(&param, &var)| (param, self.single(var, &model[param].ty)))
            .collect();
        if let Some(value) = only_value(&function.body) {
            return self.in_scope(bound, |lowerer| lowerer.scalar(value));
        }
        let place = self.temporary(&function.name, &function.result);
        self.in_scope(bound, |lowerer| lowerer.body_into(&place, &function.body));
        self.load(&place)
    }

    fn is_inlined(&self, id: hir::FunctionId) -> bool {
        self.checks() || self.model[id].is_written_out(self.model)
    }

    /// Binds the parameters of a function that is being inlined and runs `run` in its scope.
    fn with_arguments<T>(
        &mut self,
        id: hir::FunctionId,
        args: &[hir::ExprId],
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let model = self.model;
        let mut bound = Vec::new();
        for (&param, &arg) in model[id].params.iter().zip(args) {
            let item = &model[param];
            let place = if self.is_value(&item.ty) {
                let value = self.scalar(arg);
                let var = self.bind(&item.name, value);
                self.single(var, &item.ty)
            } else if self.keeps_its_value(arg) || self.is_untouched(arg) {
                self.place(arg)
            } else {
                let place = self.temporary(&item.name, &item.ty);
                self.store_into(&place, arg);
                place
            };
            bound.push((param, place));
        }
        self.in_scope(bound, run)
    }

    /// Runs `run` where these places replace the parameters of a function.
    fn in_scope<T>(
        &mut self,
        bound: Vec<(hir::LocalId, Place)>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        // The body of one function may be inlined several times, but never within itself: its locals belong
        // to it alone, and stay bound until it is inlined again.
        let frame = self.frame.take();
        // Inlined or not, a function has its indices clamped.
        let conditional = std::mem::replace(&mut self.conditional, true);
        self.locals.extend(bound);
        let result = run(self);
        self.conditional = conditional;
        self.frame = frame;
        result
    }

    /// A variable or state cannot change while the function runs: functions assign only their own
    /// locals.
    fn is_untouched(&self, id: hir::ExprId) -> bool {
        use hir::ExprKind;
        match &self.model[id].kind {
            ExprKind::Local(_) | ExprKind::State(_) => true,
            ExprKind::Index(base, _) | ExprKind::Field(base, _) => self.is_untouched(*base),
            _ => false,
        }
    }

    /// The IR's function for one of the model's, lowered on its first call.
    fn function(&mut self, id: hir::FunctionId) -> ir::FunctionId {
        if let Some(&known) = self.functions.get(&id) {
            return known;
        }
        let model = self.model;
        let function = &model[id];
        let locals = std::mem::take(&mut self.locals);
        let frame = self.frame.take();
        let stage = std::mem::take(&mut self.stage);
        let (conditional, span) = (self.conditional, self.span);
        self.conditional = true;
        let mut params = Vec::new();
        for &param in &function.params {
            let item = &model[param];
            let ty = item
                .ty
                .value()
                .expect("only functions of scalars and vectors are not inlined");
            let var = self.variable(&item.name, ty, Len::One, VarKind::Argument);
            let place = self.single(var, &item.ty);
            self.locals.insert(param, place);
            params.push(var);
        }
        let body = self.nested(|lowerer| lowerer.stmts(&function.body));
        (self.locals, self.frame, self.stage) = (locals, frame, stage);
        (self.conditional, self.span) = (conditional, span);
        let result = function
            .result
            .value()
            .expect("only functions of scalars and vectors are not inlined");
        self.program.functions.push(ir::Function {
            name: function.name.clone(),
            doc: function.doc.clone(),
            params,
            result,
            body,
        });
        let known = ir::FunctionId(self.program.functions.len() as u32 - 1);
        self.functions.insert(id, known);
        known
    }

    pub(super) fn return_stmt(&mut self, value: hir::ExprId) {
        let Some(frame) = &self.frame else {
            let value = self.scalar(value);
            return self.emit(ir::Stmt::Return(value));
        };
        let (result, returned, loops) = (frame.result.clone(), frame.returned, frame.loops);
        self.store_into(&result, value);
        let Some(returned) = returned else { return };
        let yes = self.literal(Value::Bool(true));
        self.assign(returned, yes);
        if loops > 0 {
            self.emit(ir::Stmt::Break);
        }
    }

    /// Inside an inlined function without a flag: an `if` whose branches all return takes the following
    /// statements as its `else`. True if it did.
    pub(super) fn returns_early(&mut self, stmt: &Stmt, rest: &Sequence<'_>) -> bool {
        let inlined = self
            .frame
            .as_ref()
            .is_some_and(|frame| frame.returned.is_none());
        if !inlined || rest.is_empty() || !may_return(stmt) {
            return false;
        }
        match &stmt.kind {
            StmtKind::If {
                branches,
                otherwise,
            } => {
                let otherwise = otherwise.as_deref().unwrap_or_default();
                self.early_branches(branches, rest.after(otherwise));
            }
            StmtKind::Block(body) => self.sequence(rest.after(body)),
            other => unreachable!("{other:?} needs a flag to return early"),
        }
        true
    }

    fn early_branches(&mut self, branches: &[(hir::ExprId, hir::Block)], tail: Sequence<'_>) {
        let Some(((condition, body), more)) = branches.split_first() else {
            return self.sequence(tail);
        };
        let condition = self.scalar(*condition);
        let accept = self.conditionally(|lowerer| lowerer.stmts(body));
        let reject = self.conditionally(|lowerer| lowerer.early_branches(more, tail));
        self.emit(ir::Stmt::If {
            condition,
            accept,
            reject,
        });
    }
}

/// The returned expression of a body that does nothing else.
fn only_value(body: &[Stmt]) -> Option<hir::ExprId> {
    match body {
        [
            Stmt {
                kind: StmtKind::Return(value),
                ..
            },
        ] => Some(*value),
        _ => None,
    }
}

/// Is there a `return` in it?
pub(super) fn may_return(stmt: &Stmt) -> bool {
    let any = |block: &hir::Block| block.iter().any(may_return);
    match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::If {
            branches,
            otherwise,
        } => branches.iter().any(|(_, body)| any(body)) || otherwise.as_ref().is_some_and(any),
        StmtKind::For { body, .. } | StmtKind::While { body, .. } | StmtKind::Block(body) => {
            any(body)
        }
        StmtKind::Match { arms, .. } => arms.iter().any(|arm| any(&arm.body)),
        StmtKind::Declare { .. }
        | StmtKind::Assign { .. }
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Stop
        | StmtKind::Integrate { .. }
        | StmtKind::Equation { .. }
        | StmtKind::Assert { .. } => false,
    }
}

/// Statements that run one after the other, though they are in several blocks.
#[derive(Clone, Copy)]
pub(super) struct Sequence<'s> {
    stmts: &'s [Stmt],
    then: Option<&'s Sequence<'s>>,
}

impl<'s> Sequence<'s> {
    pub(super) fn of(stmts: &'s [Stmt]) -> Self {
        Sequence { stmts, then: None }
    }

    /// The first statement and those after it.
    pub(super) fn split_first(self) -> Option<(&'s Stmt, Sequence<'s>)> {
        let mut sequence = self;
        loop {
            if let Some((first, stmts)) = sequence.stmts.split_first() {
                let then = sequence.then;
                return Some((first, Sequence { stmts, then }));
            }
            sequence = *sequence.then?;
        }
    }

    pub(super) fn is_empty(self) -> bool {
        self.split_first().is_none()
    }

    /// These statements, then those of the sequence.
    fn after<'t>(&'t self, stmts: &'t [Stmt]) -> Sequence<'t> {
        Sequence {
            stmts,
            then: Some(self),
        }
    }
}

/// Can every `return` of a body be expressed by nesting alone? The statements after an `if` that returns
/// become its `else`; loops that return, and a `match` that returns half-way, need a flag.
fn is_structured(body: &[Stmt]) -> bool {
    is_structured_sequence(Sequence::of(body))
}

fn is_structured_sequence(mut sequence: Sequence<'_>) -> bool {
    let (stmt, rest) = loop {
        match sequence.split_first() {
            None => return true,
            Some((stmt, rest)) if may_return(stmt) => break (stmt, rest),
            Some((_, rest)) => sequence = rest,
        }
    };
    let inner =
        |sequence| stacker::maybe_grow(64 << 10, 1 << 20, || is_structured_sequence(sequence));
    match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::If {
            branches,
            otherwise,
        } => {
            let last = rest.is_empty();
            let otherwise = otherwise.as_deref().unwrap_or_default();
            let returning = |body: &hir::Block| last || crate::check::returns(body);
            branches
                .iter()
                .all(|(_, body)| returning(body) && is_structured(body))
                && inner(rest.after(otherwise))
        }
        StmtKind::Match { arms, .. } => {
            rest.is_empty() && arms.iter().all(|arm| is_structured(&arm.body))
        }
        StmtKind::Block(body) => inner(rest.after(body)),
        StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::Declare { .. }
        | StmtKind::Assign { .. }
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Stop
        | StmtKind::Integrate { .. }
        | StmtKind::Equation { .. }
        | StmtKind::Assert { .. } => false,
    }
}
