//! Sums over a world, backwards.
//!
//! A sum in a phase of the world, `s = Σ_j f(x_j)`, has the adjoint `x̄_j += s̄ ∂f/∂x_j`, where `s̄` is the
//! sum of what each agent of the world adds to it. A phase of the world computes `s` and `s̄`, and keeps them
//! in states of the world; what agents make of them is in a phase of agents behind it.

use super::{nodes, record::Sweep};
use crate::{
    gradient::forward::Atom,
    ir::{Block, Expr, ExprId, LaneOp, Len, Stmt, VarId, VarKind},
};

/// Said of a fold over the world whose values and adjoints are more than one each.
pub(super) const IN_LOOP: &str =
    "reverse mode does not pass through a fold over the world within a loop";

/// Who computes what is combined over a world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Combined {
    /// A phase of the world, here.
    Here,
    /// It is in states of the world.
    #[default]
    Before,
}

impl Sweep<'_> {
    /// A sum over a world, and its way back.
    pub(super) fn across(&mut self, var: VarId, op: LaneOp, value: ExprId) -> Block {
        let is_active = self.active.contains(&var);
        let span = self.source.span(value);
        if is_active && op != LaneOp::Sum {
            let message = format!(
                "the derivative of a `{}` over a world is not supported: a sum or a mean is",
                op.name()
            );
            self.refuse(message, span);
        }
        if !self.others.around.is_empty() {
            self.refuse(IN_LOOP, span);
        }
        let (name, ty) = (self.source[var].name.clone(), self.source[var].ty);
        let (sum, adjoint) = match self.others.sums.get(&var) {
            Some(known) => *known,
            None => {
                let made = [name.clone(), format!("{name}_bar")].map(|name| {
                    let var = self.variable(&name, ty, Len::One, VarKind::WorldState);
                    self.others.world_states.push(var);
                    var
                });
                self.others.sums.insert(var, (made[0], made[1]));
                (made[0], made[1])
            }
        };
        let node = self.record(value);
        let here = self.others.combined == Combined::Here;
        let value = match here {
            true => {
                let value = self.write(node.atom());
                let value = self.add(Expr::AcrossWorld { op, value });
                let value = self.name(&name, value);
                let kept = self.add(Expr::Read(value));
                self.assign(sum, None, kept);
                value
            }
            false => {
                let value = self.add(Expr::Read(sum));
                self.name(&name, value)
            }
        };
        self.names.insert(var, value);
        let Some(bar) = self.bars.get(&var).copied().filter(|_| is_active) else {
            return Block::new();
        };
        let mut out = self.written(|sweep| {
            if here {
                let value = sweep.add(Expr::Read(bar));
                let op = LaneOp::Sum;
                let value = sweep.add(Expr::AcrossWorld { op, value });
                sweep.assign(adjoint, None, value);
            }
        });
        let total = self.variable("total", ty, Len::One, VarKind::Let);
        let value = self.add(Expr::Read(adjoint));
        out.push(Stmt::Let { var: total, value });
        out.extend(self.back(&node, Atom::Var(total), false));
        out
    }

    /// Refuses what would be combined over a world where each agent is on its own: only what is combined once
    /// in a phase of the world is kept for agents.
    pub(super) fn refuse_combined(&mut self, block: &Block) {
        let all = nodes(&self.program, block);
        let combines = |id: &&ExprId| matches!(self.program[**id], Expr::AcrossWorld { .. });
        if let Some(id) = all.iter().find(combines) {
            let span = self.program.span(*id);
            self.refuse(IN_LOOP, span);
        }
    }
}
