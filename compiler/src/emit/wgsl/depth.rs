//! Cutting of deep expressions: shader compilers refuse those nested beyond a hundred or so.

use super::{Writer, operator::Level};
use crate::ir::{Expr, ExprId};

/// Nesting depth of brackets, at most. tint gives up at 128 levels, counts a sign and its brackets twice, and
/// counts the enclosing blocks.
const BRACKETS: u32 = 24;

/// Nesting depth of operators, at most; tint gives up at 512.
const HEIGHT: u32 = 160;

/// How deep an expression is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Depth {
    brackets: u32,
    height: u32,
}

impl Writer<'_> {
    /// Writes `let`s for the subtrees of an expression that would nest too deep in the next statement.
    pub(super) fn cut(&mut self, root: ExprId) {
        self.hoisted.clear();
        self.cut_operands(root);
    }

    /// The same for an expression of a statement whose other expressions have been cut already.
    pub(super) fn cut_also(&mut self, root: ExprId) {
        self.cut_operands(root);
    }

    /// Would [`Writer::cut`] write anything?
    pub(super) fn is_deep(&self, root: ExprId) -> bool {
        let program = self.program;
        let mut pending = vec![(root, Depth::default())];
        while let Some((id, above)) = pending.pop() {
            if above.brackets > BRACKETS || above.height > HEIGHT {
                return true;
            }
            for &operand in program[id].operands().iter() {
                pending.push((operand, below(above, self.edge(id, operand))));
            }
        }
        false
    }

    fn cut_operands(&mut self, id: ExprId) -> Depth {
        let program = self.program;
        let mut depth = Depth::default();
        for &operand in program[id].operands().iter() {
            // Expressions of an unoptimised program can be hundreds of levels deep.
            let own = stacker::maybe_grow(64 << 10, 1 << 20, || self.cut_operands(operand));
            let edge = self.edge(id, operand);
            let mut reached = below(own, edge);
            // Where operands are skipped, as those of `&&`, not all invocations would come to its barriers.
            let waits = matches!(program[operand], Expr::AcrossWorld { .. });
            if reached.brackets > BRACKETS || reached.height > HEIGHT || waits {
                self.hoist(operand);
                reached = Depth::default();
            }
            depth.brackets = depth.brackets.max(reached.brackets);
            depth.height = depth.height.max(reached.height);
        }
        depth
    }

    fn hoist(&mut self, id: ExprId) {
        let name = self.names.declare("part");
        self.begin();
        self.push("let ");
        self.push(&name);
        self.push(" = ");
        self.expr(id, Level::Lowest);
        self.end(";");
        self.hoisted.insert(id, name);
    }

    /// Whether an operand stands in parentheses of its own.
    fn edge(&self, id: ExprId, operand: ExprId) -> u32 {
        if let Expr::Binary(op, a, b) = self.program[id]
            && a == operand
            && self.division(op, a, b).is_none()
        {
            return u32::from(self.level(operand) < self.left_level(op, a));
        }
        1
    }
}

fn below(depth: Depth, edge: u32) -> Depth {
    Depth {
        brackets: depth.brackets + edge,
        height: depth.height + 1,
    }
}
