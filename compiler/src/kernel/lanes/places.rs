//! Where the elements of split arrays are: expressions of a lane's program.

use crate::{
    builtin::BuiltinId,
    ir::{BinaryOp, Block, Expr, ExprId, Launch, Program, Stmt, Value, VarId},
    kernel::lanes::accesses::{Atom, Edge, Form, Linear},
    passes::{inline_lets::crosses_lanes, names::extract, rewrite::Cloner},
    span::Span,
};

/// The place of an element in the part of the lane whose own iteration it belongs to; of a loop, `(index,
/// iteration)` are the indices of all iterations and of the lane's.
pub(super) fn own(
    program: &mut Program,
    sum: &Linear,
    (index, iteration): (VarId, VarId),
    form: Form,
    lanes: u32,
) -> ExprId {
    let (period, lanes) = (i64::from(form.period()), i64::from(lanes));
    let scaled = |factor: i64| match factor % period {
        0 => factor / lanes,
        _ => factor,
    };
    let low = sum.offset.rem_euclid(period);
    let offset = scaled(sum.offset - low) + low;
    let mut place = None;
    for term in &sum.terms {
        let (value, factor) = match term.atom {
            Atom::Var(var) if var == index => (read(program, iteration), term.factor),
            Atom::Var(var) => (read(program, var), scaled(term.factor)),
            Atom::Node(id) => (id, scaled(term.factor)),
        };
        let term = with(program, BinaryOp::Multiply, value, factor, 1);
        place = Some(match place {
            Some(before) => binary(program, BinaryOp::Add, before, term),
            None => term,
        });
    }
    let place = place.unwrap_or_else(|| int(program, 0));
    with(program, BinaryOp::Add, place, offset, 0)
}

/// An element of whichever lane has it.
pub(super) fn shuffled(
    program: &mut Program,
    array: VarId,
    index: ExprId,
    form: Form,
    lanes: u32,
) -> Expr {
    let (period, run) = (i64::from(form.period()), i64::from(form.run(lanes)));
    let has_rows = form.period() < form.elements;
    let again = |program: &mut Program| Cloner::default().expr(program, index);
    let [divide, remain] = [BinaryOp::Divide, BinaryOp::Remainder];
    // The place in its period says the lane.
    let mut of_lane = again(program);
    if has_rows {
        of_lane = with(program, remain, of_lane, period, 1);
    }
    let lane = with(program, divide, of_lane, run, 1);
    let mut place = match run {
        1 => int(program, 0),
        _ => {
            let index = again(program);
            with(program, remain, index, run, 1)
        }
    };
    if has_rows {
        let index = again(program);
        let periods = with(program, divide, index, period, 1);
        let before = with(program, BinaryOp::Multiply, periods, run, 1);
        place = binary(program, BinaryOp::Add, before, place);
    }
    let index = place;
    let value = node(program, Expr::Element { array, index });
    Expr::Shuffle { lanes, value, lane }
}

/// Names what a condition or a bound has of other lanes before its statement, where lanes may part.
pub(super) fn shuffle_before(program: &mut Program, stmt: &Stmt, names: &mut Block) {
    if let Stmt::If { .. } | Stmt::For { .. } = stmt {
        for &root in stmt.roots().iter() {
            if crosses_lanes(program, root) {
                names.push(extract(program, root).1);
            }
        }
    }
}

/// An element some places from that of a lane's iteration: its own, or one of a neighbour's.
pub(super) struct Neighbour {
    pub(super) array: VarId,
    /// The index of the lane's iterations.
    pub(super) iteration: VarId,
    /// How many places behind it; negative before it. At most [`Neighbour::each`].
    pub(super) by: i64,
    /// Elements of a lane.
    pub(super) each: i64,
    pub(super) lanes: u32,
}

impl Neighbour {
    /// The element.
    pub(super) fn element(&self, program: &mut Program, edge: Edge) -> ExprId {
        let other = self.of_other(program, edge);
        let accept = match edge {
            Edge::Wrapped => other,
            Edge::Clamped => self.or_end(program, other),
        };
        let reject = self.own(program);
        let (place, zero) = (self.ahead(program, self.by), int(program, 0));
        let condition = if self.by < 0 {
            binary(program, BinaryOp::Less, place, zero)
        } else {
            let each = literal(program, self.each);
            binary(program, BinaryOp::GreaterEqual, place, each)
        };
        let select = Expr::Select {
            condition,
            accept,
            reject,
        };
        node(program, select)
    }

    /// The iteration's number plus this.
    fn ahead(&self, program: &mut Program, by: i64) -> ExprId {
        let own = read(program, self.iteration);
        with(program, BinaryOp::Add, own, by, 0)
    }

    /// What the lane itself has at the place, counted around its part.
    fn own(&self, program: &mut Program) -> ExprId {
        let place = self.ahead(program, self.by + self.each);
        let each = literal(program, self.each);
        let index = binary(program, BinaryOp::Remainder, place, each);
        let array = self.array;
        node(program, Expr::Element { array, index })
    }

    /// What the lane has to which the place belongs. All lanes ask at the same iteration, so for the same
    /// place of a part.
    fn of_other(&self, program: &mut Program, edge: Edge) -> ExprId {
        let (lanes, last) = (i64::from(self.lanes), i64::from(self.lanes) - 1);
        // 0, 1 or 2: the lane before, this one, or the one behind.
        let place = self.ahead(program, self.by + self.each);
        let which = with(program, BinaryOp::Divide, place, self.each, 1);
        let lane = self.lane(program);
        let lane = binary(program, BinaryOp::Add, lane, which);
        let lane = match edge {
            Edge::Wrapped => {
                let lane = with(program, BinaryOp::Add, lane, last, 0);
                with(program, BinaryOp::Remainder, lane, lanes, 0)
            }
            Edge::Clamped => {
                let lane = with(program, BinaryOp::Subtract, lane, 1, 0);
                let bounds = [int(program, 0), literal(program, last)];
                let clamp = vec![lane, bounds[0], bounds[1]];
                node(program, Expr::Builtin(BuiltinId::CLAMP, clamp))
            }
        };
        let value = self.own(program);
        let lanes = self.lanes;
        node(program, Expr::Shuffle { lanes, value, lane })
    }

    /// In the lane at the end of the array, the element there.
    fn or_end(&self, program: &mut Program, other: ExprId) -> ExprId {
        let (end, place) = match self.by < 0 {
            true => (0, 0),
            false => (i64::from(self.lanes) - 1, self.each - 1),
        };
        let (lane, end) = (self.lane(program), literal(program, end));
        let condition = binary(program, BinaryOp::Equal, lane, end);
        let (array, index) = (self.array, literal(program, place));
        let accept = node(program, Expr::Element { array, index });
        let select = Expr::Select {
            condition,
            accept,
            reject: other,
        };
        node(program, select)
    }

    fn lane(&self, program: &mut Program) -> ExprId {
        let lanes = self.lanes;
        node(program, Expr::Launch(Launch::Lane { lanes }))
    }
}

/// A node of the compiler's own.
pub(super) fn node(program: &mut Program, expr: Expr) -> ExprId {
    program.add(expr, Span::default())
}

pub(super) fn read(program: &mut Program, var: VarId) -> ExprId {
    node(program, Expr::Read(var))
}

pub(super) fn int(program: &mut Program, value: u32) -> ExprId {
    literal(program, value.into())
}

fn literal(program: &mut Program, value: i64) -> ExprId {
    node(program, Expr::Literal(Value::I32(value as i32)))
}

pub(super) fn binary(program: &mut Program, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
    node(program, Expr::Binary(op, a, b))
}

/// An operation with an integer, which changes nothing if it is `neutral`.
fn with(program: &mut Program, op: BinaryOp, a: ExprId, b: i64, neutral: i64) -> ExprId {
    if b == neutral {
        return a;
    }
    let b = literal(program, b);
    binary(program, op, a, b)
}
