//! Statements.

use super::{
    Lowerer,
    inline::{Sequence, may_return},
    place::Place,
};
use crate::{
    hir::{self, Arm, BinaryOp, Constant, Domain, ExprKind, LocalKind, StmtKind, Type},
    ir::{self, Expr, ExprId, Len, Stmt, Value, VarKind},
    span::Span,
};

impl Lowerer<'_> {
    /// Statements in order. Inside an inlined function, what follows a statement that may have returned
    /// runs only if it has not.
    pub(super) fn stmts(&mut self, stmts: &[hir::Stmt]) {
        self.sequence(Sequence::of(stmts));
    }

    pub(super) fn sequence(&mut self, mut sequence: Sequence<'_>) {
        while let Some((stmt, rest)) = sequence.split_first() {
            sequence = rest;
            let early =
                stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.returns_early(stmt, &rest));
            if early || self.is_full() {
                return;
            }
            self.stmt(stmt);
            let frame = self.frame.as_ref();
            let Some(returned) = frame.and_then(|frame| frame.returned) else {
                continue;
            };
            let in_loop = frame.is_some_and(|frame| frame.loops > 0);
            if in_loop || rest.is_empty() || !may_return(stmt) {
                continue;
            }
            let condition = self.read(returned);
            let condition = self.not(condition);
            let accept = self.conditionally(|lowerer| {
                stacker::maybe_grow(64 * 1024, 1024 * 1024, || lowerer.sequence(rest))
            });
            return self.emit(Stmt::If {
                condition,
                accept,
                reject: Vec::new(),
            });
        }
    }

    fn stmt(&mut self, stmt: &hir::Stmt) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
            self.span = stmt.span;
            self.stmt_inner(&stmt.kind);
        });
    }

    fn stmt_inner(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Declare { local, value } => self.declare(*local, *value),
            StmtKind::Assign { place, op, value } => self.assign_place(*place, *op, *value),
            StmtKind::If {
                branches,
                otherwise,
            } => self.if_stmt(branches, otherwise.as_deref()),
            StmtKind::For {
                index,
                domain: Domain::World,
                body,
            } => {
                self.renormalise_before(body);
                self.each_agent(*index, |lowerer, member| {
                    lowerer.renormalise_in_loop(member, body);
                    lowerer.loop_body(body);
                });
                self.leave_outer_loop(body);
            }
            StmtKind::For {
                index,
                domain: Domain::Range(start, end),
                body,
            } => {
                let (start, end) = (self.scalar(*start), self.scalar(*end));
                let name = self.model[*index].name.clone();
                self.renormalise_before(body);
                self.each(&name, start, end, |lowerer, var| {
                    lowerer.bind_index(*index, var);
                    lowerer.renormalise_in_loop(var, body);
                    lowerer.loop_body(body);
                });
                self.leave_outer_loop(body);
            }
            StmtKind::While {
                condition,
                limit,
                body,
            } => self.while_loop(*condition, *limit, body),
            StmtKind::Match { value, arms } => self.match_stmt(*value, arms),
            StmtKind::Return(value) => self.return_stmt(*value),
            StmtKind::Break => self.emit(Stmt::Break),
            StmtKind::Continue => self.emit(Stmt::Continue),
            StmtKind::Stop => {
                // The following statements are reached only by agents that continue.
                self.conditional = true;
                self.emit(Stmt::Stop);
            }
            StmtKind::Integrate { method, dt, body } => self.integrate(*method, *dt, body),
            StmtKind::Equation { .. } => unreachable!("`integrate` lowers its equations itself"),
            StmtKind::Assert { condition, message } => self.assertion(*condition, message),
            StmtKind::Block(body) => self.stmts(body),
        }
    }

    fn while_loop(&mut self, condition: hir::ExprId, limit: hir::ExprId, body: &[hir::Stmt]) {
        let span = self.span;
        let (start, end) = (self.int(0), self.scalar(limit));
        let checked = self.checks().then(|| self.bound_of_checked(end));
        let end = checked.map_or(end, |bound| self.end_of_checked(bound));
        self.renormalise_before(body);
        self.each("round", start, end, |lowerer, round| {
            if let Some(bound) = checked {
                lowerer.check_limit(span, [condition, limit], bound, round);
            }
            lowerer.renormalise_in_loop(round, body);
            let condition = lowerer.scalar(condition);
            let condition = lowerer.not(condition);
            lowerer.emit(Stmt::If {
                condition,
                accept: vec![Stmt::Break],
                reject: Vec::new(),
            });
            lowerer.loop_body(body);
        });
        self.leave_outer_loop(body);
    }

    fn loop_body(&mut self, body: &[hir::Stmt]) {
        if let Some(frame) = &mut self.frame {
            frame.loops += 1;
        }
        self.stmts(body);
        if let Some(frame) = &mut self.frame {
            frame.loops -= 1;
        }
    }

    /// After a loop in which an inlined function may have returned: leaves the loop around it, too.
    fn leave_outer_loop(&mut self, body: &[hir::Stmt]) {
        let Some(frame) = &self.frame else { return };
        if let (Some(returned), true) = (frame.returned, frame.loops > 0)
            && body.iter().any(may_return)
        {
            let condition = self.read(returned);
            self.emit(Stmt::If {
                condition,
                accept: vec![Stmt::Break],
                reject: Vec::new(),
            });
        }
    }

    pub(super) fn declare(&mut self, local: hir::LocalId, value: hir::ExprId) {
        let model = self.model;
        let item = &model[local];
        if item.ty == Type::Agent {
            return self.declare_agent(local, value);
        }
        let scalar = item.ty.value();
        if let Some(ty) = scalar {
            let value = self.scalar(value);
            let kind = if item.kind == LocalKind::Let {
                VarKind::Let
            } else {
                VarKind::Local
            };
            let var = self.variable(&item.name, ty, Len::One, kind);
            self.program[var].span = item.span;
            if kind == VarKind::Let {
                if let Some(range) = self.range(value) {
                    self.ranges.insert(var, range);
                }
                self.emit(Stmt::Let { var, value });
            } else {
                self.emit(Stmt::Var {
                    var,
                    value: Some(value),
                });
            }
            let place = self.single(var, &item.ty);
            self.locals.insert(local, place);
            return;
        }
        if item.kind == LocalKind::Let && self.keeps_its_value(value) {
            let place = self.place(value);
            self.locals.insert(local, place);
            return;
        }
        let place = self.temporary(&item.name, &item.ty);
        self.store_into(&place, value);
        self.locals.insert(local, place);
    }

    /// Is this part of something that is never assigned, so that a `let` of it needs no copy?
    pub(super) fn keeps_its_value(&self, id: hir::ExprId) -> bool {
        match &self.model[id].kind {
            ExprKind::Param(_)
            | ExprKind::Data(_)
            | ExprKind::Input(_)
            | ExprKind::Constant(Constant::Many(_)) => true,
            ExprKind::Local(local) => {
                matches!(self.model[*local].kind, LocalKind::Let | LocalKind::Param)
            }
            ExprKind::Index(base, _) | ExprKind::Field(base, _) => self.keeps_its_value(*base),
            _ => false,
        }
    }

    fn assign_place(&mut self, target: hir::ExprId, op: Option<BinaryOp>, value: hir::ExprId) {
        let model = self.model;
        if let ExprKind::Swizzle(base, components) = &model[target].kind {
            let (mut base, mut components) = (*base, components.clone());
            while let ExprKind::Swizzle(inner, outer) = &model[base].kind {
                components.iter_mut().for_each(|k| *k = outer[*k as usize]);
                base = *inner;
            }
            return self.assign_components(base, &components, op, value);
        }
        let place = self.place(target);
        if self.ty(target).value().is_none() {
            return self.assign_whole(&place, value);
        }
        let value = match op {
            None => self.scalar(value),
            Some(op) => {
                let before = self.load(&place);
                self.update(op, before, value, model[target].span)
            }
        };
        self.store(&place, value);
    }

    /// `before op value`
    fn update(&mut self, op: BinaryOp, before: ExprId, value: hir::ExprId, span: Span) -> ExprId {
        if op == BinaryOp::Power {
            return self.power(before, value, span);
        }
        let spans = [span, self.model[value].span];
        let value = self.scalar(value);
        self.operation(op, [before, value], spans)
    }

    /// Arrays and structs: through a temporary, since the value may read what is being assigned.
    fn assign_whole(&mut self, place: &Place, value: hir::ExprId) {
        let independent = matches!(
            self.model[value].kind,
            ExprKind::Constant(_)
                | ExprKind::Local(_)
                | ExprKind::Param(_)
                | ExprKind::Data(_)
                | ExprKind::Input(_)
                | ExprKind::State(_)
        );
        if independent {
            return self.store_into(place, value);
        }
        let new = self.temporary("value", &place.ty);
        self.store_into(&new, value);
        self.copy(place, &new);
    }

    /// `pos.xy = e`
    fn assign_components(
        &mut self,
        base: hir::ExprId,
        components: &[u8],
        op: Option<BinaryOp>,
        value: hir::ExprId,
    ) {
        let place = self.place(base);
        let new = match op {
            None => self.scalar(value),
            Some(op) => {
                let vector = self.load(&place);
                let before = self.add(Expr::Swizzle {
                    vector,
                    components: components.to_vec(),
                });
                self.update(op, before, value, self.model[base].span)
            }
        };
        let new = self.bind("part", new);
        let size = self.ty(base).value().map_or(1, ir::Type::components);
        let parts = (0..size as u8)
            .map(
                |k| match components.iter().position(|&component| component == k) {
                    Some(at) => {
                        let part = self.read(new);
                        if components.len() == 1 {
                            part
                        } else {
                            self.add(Expr::Swizzle {
                                vector: part,
                                components: vec![at as u8],
                            })
                        }
                    }
                    None => {
                        let vector = self.load(&place);
                        self.add(Expr::Swizzle {
                            vector,
                            components: vec![k],
                        })
                    }
                },
            )
            .collect();
        let vector = self.add(Expr::Compose(parts));
        self.store(&place, vector);
    }

    fn if_stmt(&mut self, branches: &[(hir::ExprId, hir::Block)], otherwise: Option<&[hir::Stmt]>) {
        let Some(((condition, body), rest)) = branches.split_first() else {
            return self.stmts(otherwise.unwrap_or_default());
        };
        let condition = self.scalar(*condition);
        let accept = self.branch(|lowerer| lowerer.stmts(body));
        let reject = self.branch(|lowerer| lowerer.if_stmt(rest, otherwise));
        self.emit(Stmt::If {
            condition,
            accept,
            reject,
        });
    }

    /// A branch; one that stops makes all following statements conditional.
    fn branch(&mut self, run: impl FnOnce(&mut Self)) -> ir::Block {
        let before = self.conditional;
        let block = self.conditionally(run);
        self.conditional = before || stops(&block);
        block
    }

    fn match_stmt(&mut self, value: hir::ExprId, arms: &[Arm]) {
        let value = self.scalar(value);
        let value = self.bind("matched", value);
        self.match_arms(value, arms);
    }

    fn match_arms(&mut self, value: ir::VarId, arms: &[Arm]) {
        let Some((arm, rest)) = arms.split_first() else {
            return;
        };
        // The checker ensures that the last arm takes what is left.
        if arm.patterns.is_empty() || rest.is_empty() {
            return self.stmts(&arm.body);
        }
        let condition = self.pattern(value, &arm.patterns);
        let accept = self.branch(|lowerer| lowerer.stmts(&arm.body));
        let reject = self.branch(|lowerer| lowerer.match_arms(value, rest));
        self.emit(Stmt::If {
            condition,
            accept,
            reject,
        });
    }

    fn pattern(&mut self, value: ir::VarId, patterns: &[Constant]) -> ExprId {
        let mut condition: Option<ExprId> = None;
        for pattern in patterns {
            let read = self.read(value);
            let test = match pattern {
                Constant::Value(Value::Bool(true)) => read,
                Constant::Value(Value::Bool(false)) => self.not(read),
                other => {
                    let constant = self.constant(other);
                    self.binary(ir::BinaryOp::Equal, read, constant)
                }
            };
            condition = Some(match condition {
                Some(condition) => self.binary(ir::BinaryOp::Or, condition, test),
                None => test,
            });
        }
        condition.expect("an arm without patterns takes everything")
    }

    /// The type of a local without enum or struct in it, for tests of kinds.
    pub(super) fn is_value(&self, ty: &Type) -> bool {
        ty.value().is_some()
    }
}

/// Does a block contain `stop`, at any depth?
pub(super) fn stops(block: &ir::Block) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Stop => true,
        Stmt::If { accept, reject, .. } => stops(accept) || stops(reject),
        Stmt::For { body, .. } => stops(body),
        Stmt::Let { .. }
        | Stmt::Var { .. }
        | Stmt::Assign { .. }
        | Stmt::AssignElement { .. }
        | Stmt::Break
        | Stmt::Continue
        | Stmt::Return(_) => false,
    })
}
