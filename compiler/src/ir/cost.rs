//! The cost model: what each node of a program costs, added up over statements by one fold.
//!
//! An [`Amount`] says what is counted, and how two branches or the iterations of a loop combine:
//! [`operations`] to compare a measured time with a device's peak rates, [`instructions`] for heuristics,
//! [`iterations`] for limits of drivers.

pub mod instructions;
pub mod iterations;
pub mod operations;

use super::{BinaryOp, Block, Expr, ExprId, FunctionMap, Program, Stmt, Value};

/// What is counted.
pub trait Amount: Copy + Default {
    /// The context of a count beside the program.
    type Setting;

    /// The cost of a node without its operands and without the function that it calls.
    fn node(setting: &Self::Setting, program: &Program, id: ExprId) -> Self;

    /// The sum of both.
    fn and(self, other: Self) -> Self;

    /// The cost of two branches, of which one runs.
    fn either(self, other: Self) -> Self {
        self.and(other)
    }

    /// The cost of a loop whose body costs this; `iterations` if its bounds are literals. None if it is
    /// unknown then.
    fn repeated(self, iterations: Option<u64>) -> Option<Self>;
}

/// The costs of a program's functions, from which those of all else follow.
pub struct Costs<A: Amount> {
    setting: A::Setting,
    functions: FunctionMap<Option<A>>,
}

impl<A: Amount> Costs<A> {
    /// Counts the functions, which call only those before them.
    pub fn new(program: &Program, setting: A::Setting) -> Costs<A> {
        let mut costs = Costs {
            setting,
            functions: FunctionMap::default(),
        };
        for function in &program.functions {
            let cost = costs.block(program, &function.body);
            costs.functions.push(cost);
        }
        costs
    }

    /// The cost of a block; none if the bounds of a loop depend on the run and that matters.
    pub fn block(&self, program: &Program, block: &[Stmt]) -> Option<A> {
        block.iter().try_fold(A::default(), |sum, stmt| {
            Some(sum.and(self.statement(program, stmt)?))
        })
    }

    fn statement(&self, program: &Program, stmt: &Stmt) -> Option<A> {
        let inner =
            |block: &Block| stacker::maybe_grow(32 << 10, 1 << 20, || self.block(program, block));
        let mut cost = A::default();
        for &root in stmt.roots().iter() {
            cost = cost.and(self.tree(program, root)?);
        }
        if let Stmt::If { accept, reject, .. } = stmt {
            cost = cost.and(inner(accept)?.either(inner(reject)?));
        } else if let Stmt::For { body, .. } = stmt {
            cost = cost.and(inner(body)?.repeated(iterations(program, stmt))?);
        }
        Some(cost)
    }

    /// The cost of an expression.
    pub fn tree(&self, program: &Program, root: ExprId) -> Option<A> {
        let mut nodes = program.nodes(root);
        nodes.try_fold(A::default(), |sum, id| {
            Some(sum.and(self.node(program, id)?))
        })
    }

    /// The cost of a node without its operands, with the function that it calls.
    pub fn node(&self, program: &Program, id: ExprId) -> Option<A> {
        let own = A::node(&self.setting, program, id);
        let Expr::Call(function, _) = program[id] else {
            return Some(own);
        };
        Some(own.and(self.functions[function]?))
    }
}

/// The iterations of a loop with literal bounds.
pub(crate) fn iterations(program: &Program, stmt: &Stmt) -> Option<u64> {
    let Stmt::For { start, end, .. } = stmt else {
        return None;
    };
    let (Expr::Literal(Value::I32(start)), Expr::Literal(Value::I32(end))) =
        (&program[*start], &program[*end])
    else {
        return None;
    };
    Some(u64::try_from(i64::from(*end) - i64::from(*start)).unwrap_or(0))
}

/// The latency of a value after its operands, in additions.
pub(crate) fn latency(expr: &Expr) -> i32 {
    if let Expr::AcrossLanes { lanes, .. } = expr {
        6 * lanes.trailing_zeros() as i32
    } else if let Expr::Call(..) = expr {
        12
    } else {
        let is_slow = matches!(expr, Expr::Binary(BinaryOp::Divide, ..) | Expr::Builtin(..));
        if is_slow { 6 } else { 1 }
    }
}

/// The cost of evaluating a node speculatively, where a branch may not need it, in simple instructions; none
/// if that must not be.
pub(crate) fn speculation(expr: &Expr) -> Option<usize> {
    match expr {
        Expr::Call(..)
        | Expr::RandomWord { .. }
        | Expr::AcrossLanes { .. }
        | Expr::Shuffle { .. }
        | Expr::AcrossWorld { .. } => None,
        // Storage, `exp` and the like.
        Expr::Element { .. } | Expr::Other { .. } | Expr::Builtin(..) => Some(4),
        Expr::Literal(_)
        | Expr::Double(_)
        | Expr::Launch(_)
        | Expr::Rows(_)
        | Expr::Read(_)
        | Expr::Swizzle { .. }
        | Expr::Compose(_)
        | Expr::Splat { .. }
        | Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::Select { .. }
        | Expr::Convert { .. }
        | Expr::Bitcast { .. } => Some(1),
    }
}
