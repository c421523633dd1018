//! Range analysis: removes clamps and comparisons of integers whose outcome the ranges of their operands
//! decide, so an index that is always in range needs no guard. A range bounds a value whatever the launch;
//! where arithmetic might wrap it is the whole type.

use crate::{
    builtin::BuiltinId,
    ir::{BinaryOp, Block, Expr, ExprId, Launch, Program, Stmt, Type, Value, VarMap},
};

/// Decides what ranges can decide.
pub(super) fn run(program: &mut Program) {
    let mut ranges = Ranges {
        of_var: VarMap::filled(None, program.vars.len()),
    };
    if program
        .exprs
        .iter()
        .any(|expr| ranges.decides(program, expr))
    {
        program.each_section(|program, _, block| ranges.block(program, block));
    }
}

/// The integers from `low` to `high`, wide enough for every `i32` and `u32`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    low: i64,
    high: i64,
}

impl Range {
    fn of_type(ty: Type) -> Option<Range> {
        match ty {
            Type::I32 => Some(Range {
                low: i64::from(i32::MIN),
                high: i64::from(i32::MAX),
            }),
            Type::U32 => Some(Range {
                low: 0,
                high: i64::from(u32::MAX),
            }),
            Type::F32 | Type::Bool | Type::Vec2 | Type::Vec3 | Type::Vec4 => None,
        }
    }

    fn only(value: i64) -> Range {
        Range {
            low: value,
            high: value,
        }
    }

    /// The range of a monotonic operation, from its results at the corners.
    fn corners(self, other: Range, f: impl Fn(i64, i64) -> Option<i64>) -> Option<Range> {
        let corners = [
            f(self.low, other.low)?,
            f(self.low, other.high)?,
            f(self.high, other.low)?,
            f(self.high, other.high)?,
        ];
        Some(Range {
            low: *corners.iter().min()?,
            high: *corners.iter().max()?,
        })
    }

    fn within(self, ty: Type) -> Option<Range> {
        let whole = Range::of_type(ty)?;
        (whole.low <= self.low && self.high <= whole.high).then_some(self)
    }

    fn least(self, other: Range) -> Range {
        Range {
            low: self.low.min(other.low),
            high: self.high.min(other.high),
        }
    }

    fn most(self, other: Range) -> Range {
        Range {
            low: self.low.max(other.low),
            high: self.high.max(other.high),
        }
    }

    fn join(self, other: Range) -> Range {
        Range {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }
}

struct Ranges {
    /// Of names and indices.
    of_var: VarMap<Option<Range>>,
}

impl Ranges {
    fn block(&mut self, program: &mut Program, block: &mut Block) {
        for stmt in block {
            let mut found = [None; 2];
            for (slot, &root) in found.iter_mut().zip(stmt.roots().iter()) {
                *slot = self.expr(program, root);
            }
            if let Stmt::Let { var, .. } = stmt {
                self.of_var[*var] = found[0];
            } else if let Stmt::For { index, .. } = stmt {
                let bounds = found[0].zip(found[1]);
                self.of_var[*index] = bounds.map(|(start, end)| Range {
                    low: start.low,
                    high: (end.high - 1).max(start.low),
                });
            }
            for inner in stmt.blocks_mut() {
                self.block(program, inner);
            }
        }
    }

    /// Is this a node that ranges may decide?
    fn decides(&self, program: &Program, expr: &Expr) -> bool {
        let is_integer = |id: ExprId| matches!(program.type_of(id), Type::I32 | Type::U32);
        if let Expr::Builtin(builtin, args) = expr {
            BuiltinId::BOUNDS.contains(builtin) && is_integer(args[0])
        } else {
            matches!(expr, Expr::Binary(op, a, _) if op.compares() && is_integer(*a))
        }
    }

    /// Decides what can be decided in a tree of integers; returns its range.
    fn expr(&mut self, program: &mut Program, id: ExprId) -> Option<Range> {
        let operands = program[id].operands();
        let mut ranges = [None; 3];
        for (at, &operand) in operands.iter().enumerate() {
            let range = self.expr(program, operand);
            if let Some(slot) = ranges.get_mut(at) {
                *slot = range;
            }
        }
        let [a, b, c] = ranges;
        let known = match &program[id] {
            Expr::Literal(Value::I32(value)) => Some(Range::only(i64::from(*value))),
            Expr::Literal(Value::U32(value)) => Some(Range::only(i64::from(*value))),
            Expr::Launch(which) => Some(of_launch(*which)),
            Expr::Rows(_) => Some(Range {
                low: 1,
                high: i64::from(i32::MAX),
            }),
            Expr::Read(var) => self.of_var[var],
            Expr::Binary(op, _, _) => {
                let (op, ty) = (*op, program.type_of(operands[0]));
                if let (Some(a), Some(b)) = (a, b) {
                    if let Some(outcome) = compare(op, a, b) {
                        program[id] = Expr::Literal(Value::Bool(outcome));
                        return None;
                    }
                    arithmetic(op, a, b).and_then(|range| range.within(ty))
                } else {
                    None
                }
            }
            Expr::Select { .. } => b.zip(c).map(|(b, c)| b.join(c)),
            Expr::Convert { to, value } => match program.type_of(*value) {
                Type::Bool => Some(Range { low: 0, high: 1 }).and_then(|range| range.within(*to)),
                Type::I32 | Type::U32 => a.and_then(|a| a.within(*to)),
                Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => None,
            },
            Expr::Bitcast { to, .. } => a.and_then(|a| a.within(*to)),
            Expr::Builtin(builtin, _) => {
                let builtin = *builtin;
                self.bound(program, id, builtin, &operands, ranges)
            }
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Element { .. }
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Unary(_, _)
            | Expr::Call(_, _)
            | Expr::RandomWord { .. }
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. }
            | Expr::AcrossWorld { .. }
            | Expr::Other { .. } => None,
        };
        known.or_else(|| Range::of_type(program.type_of(id)))
    }

    /// `min`, `max` and `clamp`, which is `min(max(x, low), high)`: removes those that have no effect.
    fn bound(
        &self,
        program: &mut Program,
        id: ExprId,
        builtin: BuiltinId,
        args: &[ExprId],
        [a, b, c]: [Option<Range>; 3],
    ) -> Option<Range> {
        let (a, b) = (a?, b?);
        if builtin == BuiltinId::MIN {
            if a.high <= b.low {
                become_operand(program, id, args[0]);
            } else if b.high <= a.low {
                become_operand(program, id, args[1]);
            }
            Some(a.least(b))
        } else if builtin == BuiltinId::MAX {
            if a.low >= b.high {
                become_operand(program, id, args[0]);
            } else if b.low >= a.high {
                become_operand(program, id, args[1]);
            }
            Some(a.most(b))
        } else if builtin == BuiltinId::CLAMP {
            let c = c?;
            let (above, below) = (a.low >= b.high, a.high <= c.low);
            if above && below {
                become_operand(program, id, args[0]);
            } else if above {
                program[id] = Expr::Builtin(BuiltinId::MIN, vec![args[0], args[2]]);
            } else if below && b.high <= c.low {
                program[id] = Expr::Builtin(BuiltinId::MAX, vec![args[0], args[1]]);
            }
            Some(a.most(b).least(c))
        } else {
            None
        }
    }
}

fn become_operand(program: &mut Program, id: ExprId, operand: ExprId) {
    let nothing = Expr::Literal(Value::Bool(false));
    let node = std::mem::replace(&mut program[operand], nothing);
    program[id] = node;
}

fn of_launch(which: Launch) -> Range {
    let (low, high) = match which {
        Launch::Agent | Launch::Step | Launch::Member | Launch::World => (0, i32::MAX - 1),
        Launch::Members => (1, i32::MAX),
        Launch::Lane { lanes } => (0, lanes as i32 - 1),
        Launch::Agents | Launch::Steps => (0, i32::MAX),
    };
    Range {
        low,
        high: i64::from(high),
    }
}

fn compare(op: BinaryOp, a: Range, b: Range) -> Option<bool> {
    let less = |a: Range, b: Range| (a.high < b.low || a.low >= b.high).then_some(a.high < b.low);
    let apart = a.high < b.low || b.high < a.low;
    match op {
        BinaryOp::Less => less(a, b),
        BinaryOp::GreaterEqual => less(a, b).map(|less| !less),
        BinaryOp::Greater => less(b, a),
        BinaryOp::LessEqual => less(b, a).map(|less| !less),
        BinaryOp::Equal => apart.then_some(false),
        BinaryOp::NotEqual => apart.then_some(true),
        BinaryOp::Add
        | BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Remainder
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => None,
    }
}

/// The exact range of the mathematical result; the caller checks whether it fits the type.
fn arithmetic(op: BinaryOp, a: Range, b: Range) -> Option<Range> {
    let natural = a.low >= 0;
    match op {
        BinaryOp::Add => a.corners(b, |a, b| a.checked_add(b)),
        BinaryOp::Subtract => a.corners(b, |a, b| a.checked_sub(b)),
        BinaryOp::Multiply => a.corners(b, |a, b| a.checked_mul(b)),
        BinaryOp::Divide if b.low > 0 => a.corners(b, |a, b| Some(a / b)),
        // Zero and beyond: `x / 0` is `x`.
        BinaryOp::Divide if natural && b.low == 0 => Some(Range {
            low: 0,
            high: a.high,
        }),
        BinaryOp::Remainder if b.low >= 0 => {
            let most = (b.high - 1).max(0);
            Some(Range {
                low: if natural { 0 } else { a.low.max(-most) },
                high: a.high.max(0).min(most),
            })
        }
        BinaryOp::BitAnd if b.low >= 0 => Some(Range {
            low: 0,
            high: if natural { a.high.min(b.high) } else { b.high },
        }),
        BinaryOp::BitAnd if natural => Some(Range {
            low: 0,
            high: a.high,
        }),
        BinaryOp::ShiftRight if natural => Some(Range {
            low: 0,
            high: if b.low == b.high {
                a.high >> (b.low & 31)
            } else {
                a.high
            },
        }),
        BinaryOp::Divide
        | BinaryOp::Remainder
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight
        | BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::And
        | BinaryOp::Or => None,
    }
}
