//! Random programs that can be split over lanes: loops over the elements of arrays, with what they
//! accumulate, and steps that do nothing but accumulate.
//!
//! Floats are summed and multiplied up exactly, in any order, but for the state `loose`, which nothing reads:
//! it sums floats of any kind, `mass` their sizes, and `terms` counts them.

use super::{Random, TYPES};
use crate::ir::{
    BinaryOp, Block, Expr, ExprId, LaneOp, Len, Phase, Program, Stmt, Type, Value, VarId, VarKind,
};

/// What programs accumulate.
const SUMS: [(Type, LaneOp); 10] = [
    (Type::F32, LaneOp::Sum),
    (Type::Vec2, LaneOp::Sum),
    (Type::I32, LaneOp::Sum),
    (Type::F32, LaneOp::Product),
    (Type::U32, LaneOp::Product),
    (Type::F32, LaneOp::Least),
    (Type::I32, LaneOp::Least),
    (Type::F32, LaneOp::Most),
    (Type::Bool, LaneOp::Any),
    (Type::Bool, LaneOp::All),
];

/// A variable that is accumulated.
#[derive(Clone, Copy)]
struct Sum {
    var: VarId,
    op: LaneOp,
}

/// `loose`, `mass` and `terms`.
type Loose = [VarId; 3];

/// A program with loops that can be split over lanes.
pub(crate) fn loops(seed: u64) -> Program {
    let mut random = Random::new(seed);
    random.exact = true;
    random.program_of_loops();
    random.build.program
}

/// A program whose steps can be split over lanes.
pub(crate) fn steps(seed: u64) -> Program {
    let mut random = Random::new(seed);
    random.exact = true;
    random.program_of_steps();
    random.build.program
}

impl Random {
    fn program_of_loops(&mut self) {
        self.function();
        let rows = [8, 16, 32, 64, 128, 128, 256][self.below(7)];
        let (scalar, array) = (Len::One, Len::Fixed(rows));
        let globals = [
            ("param", Type::F32, scalar, VarKind::Param),
            ("limit", Type::I32, scalar, VarKind::Param),
            ("start", Type::F32, scalar, VarKind::Input),
            ("weights", Type::F32, array, VarKind::Input),
            ("counts", Type::I32, array, VarKind::Input),
        ];
        let globals = globals.map(|(name, ty, len, kind)| self.build.var(name, ty, len, kind));
        let arrays = [
            ("held", Type::F32, VarKind::State),
            ("tally", Type::I32, VarKind::State),
            ("hidden", Type::F32, VarKind::Local),
        ];
        let arrays = arrays.map(|(name, ty, kind)| self.build.var(name, ty, array, kind));
        let (sums, loose) = (self.sums(), self.loose());
        self.scope = globals[..3].to_vec();
        let mut init = self.births(&sums, &loose);
        let states = self.states();
        init.extend(self.init(&states));
        // Only loops over elements name these, at their index: otherwise they cannot be split.
        let elements = [&globals[3..], &arrays[..2]].concat();
        self.scope.extend(&globals[3..]);
        init.extend(self.init(&arrays[..2]));
        self.scope.truncate(3);
        self.scope.extend(sums.iter().map(|sum| sum.var));
        self.fixed = self.scope.len();
        self.scope.extend(&states);
        self.build.program.init = init;
        self.in_step = true;
        let mut step = vec![Stmt::Var {
            var: arrays[2],
            value: None,
        }];
        let elements = [&elements[..], &arrays[2..]].concat();
        let mark = self.scope.len();
        for _ in 0..2 + self.below(3) {
            match self.below(3) {
                0 => self.statement(&mut step),
                _ => self.loops_in(&mut step, rows, &elements, &arrays, &sums, loose),
            }
        }
        self.build.program.phases = vec![Phase::from(step)];
        self.in_step = false;
        self.scope.truncate(mark);
        let mut finish = self.block(2);
        if self.below(2) == 0 {
            self.loops_in(
                &mut finish,
                rows,
                &elements[..4],
                &arrays[..2],
                &sums,
                loose,
            );
        }
        self.outputs(finish);
    }

    /// A loop over elements, or without arrays with any number of iterations; perhaps in a loop or a branch,
    /// perhaps with a sum of its own.
    fn loops_in(
        &mut self,
        block: &mut Block,
        rows: u32,
        elements: &[VarId],
        written: &[VarId],
        sums: &[Sum],
        loose: Loose,
    ) {
        let mut inner = Block::new();
        let mut sums = sums.to_vec();
        let own = self.below(3) == 0;
        if own {
            let (ty, op) = SUMS[self.below(SUMS.len())];
            let var = self.build.one("own", ty, VarKind::Local);
            let value = Some(self.first(ty));
            inner.push(Stmt::Var { var, value });
            sums = vec![Sum { var, op }];
        }
        let loose = (self.below(2) == 0).then_some(loose);
        let stmt = match self.below(3) {
            0 => {
                let iterations = [8, 20, 100, 128, 130, 131, 257, 300][self.below(8)];
                self.sharable(iterations, &[], &[], &sums, loose)
            }
            _ => self.sharable(rows, elements, written, &sums, loose),
        };
        inner.push(stmt);
        if own && self.below(4) > 0 {
            // The sum is read: by a name, since the block may end here.
            let ty = self.build.program[sums[0].var].ty;
            let targets = self.scope.iter().skip(self.fixed).copied();
            let target = targets.into_iter().find(|&var| {
                self.build.program[var].kind == VarKind::State && self.build.program[var].ty == ty
            });
            if let Some(var) = target {
                let value = self.build.read(sums[0].var);
                inner.push(Stmt::Assign { var, value });
            }
        }
        match self.below(8) {
            0 => {
                let index = self.build.one("again", Type::I32, VarKind::Index);
                let outer = self.build.repeat(index, 2, inner);
                block.push(outer);
            }
            1 => {
                let condition = self.expr(Type::Bool, 2);
                block.push(Stmt::If {
                    condition,
                    accept: inner,
                    reject: Block::new(),
                });
            }
            _ => block.extend(inner),
        }
    }

    /// A loop of this many iterations that writes `written` at its index, and accumulates some of `sums`. Now
    /// and then something in it prevents splitting.
    fn sharable(
        &mut self,
        iterations: u32,
        elements: &[VarId],
        written: &[VarId],
        sums: &[Sum],
        loose: Option<Loose>,
    ) -> Stmt {
        let index = self.build.one("i", Type::I32, VarKind::Index);
        let (scope, fixed, loops) = (self.scope.clone(), self.fixed, self.loops);
        if self.below(16) > 0 {
            self.scope
                .retain(|var| sums.iter().all(|sum| sum.var != *var));
        }
        self.scope.extend(elements);
        self.scope.push(index);
        self.row = Some((index, iterations));
        self.fixed = self.scope.len();
        self.draws = self.below(16) == 0;
        (self.stops, self.loops) = (false, usize::from(self.below(16) == 0));
        let mut body = Block::new();
        self.depth += 2;
        for _ in 0..self.below(3) {
            self.statement(&mut body);
        }
        for &var in written {
            if self.below(2) == 0 || sums.is_empty() {
                let value = self.expr(self.build.program[var].ty, 3);
                let index = self.build.read(index);
                body.push(Stmt::AssignElement { var, index, value });
            }
        }
        if !sums.is_empty() {
            for _ in 0..1 + self.below(3) {
                let sum = sums[self.below(sums.len())];
                self.accumulate(sum, &mut body);
            }
        }
        if let Some(loose) = loose {
            self.accumulate_loosely(loose, &mut body);
        }
        self.depth -= 2;
        (self.scope, self.fixed, self.loops) = (scope, fixed, loops);
        (self.row, self.draws, self.stops) = (None, true, true);
        self.build.repeat(index, iterations as i32, body)
    }

    fn program_of_steps(&mut self) {
        self.function();
        let param = self.build.one("param", Type::F32, VarKind::Param);
        let start = self.build.one("start", Type::I32, VarKind::Input);
        let (sums, loose) = (self.sums(), self.loose());
        self.scope = vec![param, start];
        let mut init = self.births(&sums, &loose);
        let constant = self.states();
        let skipped = [Type::U32, Type::I32, Type::U32];
        let skipped = skipped.map(|ty| self.build.one("skipped", ty, VarKind::State));
        init.extend(self.init(&[&constant[..], &skipped].concat()));
        self.build.program.init = init;
        self.scope.extend(constant.iter().chain(&skipped));
        self.fixed = self.scope.len();
        (self.in_step, self.stops) = (true, false);
        let mut step = Block::new();
        let first = sums[self.below(sums.len())];
        self.accumulate(first, &mut step);
        for _ in 0..3 + self.below(5) {
            match self.below(5) {
                0 => {
                    let var = skipped[self.below(3)];
                    let value = self.affine(var);
                    step.push(Stmt::Assign { var, value });
                }
                1 => self.accumulate_loosely(loose, &mut step),
                2 => {
                    let sum = sums[self.below(sums.len())];
                    self.accumulate(sum, &mut step);
                }
                _ => self.statement(&mut step),
            }
        }
        self.build.program.phases = vec![Phase::from(step)];
        self.in_step = false;
        self.scope.truncate(self.fixed);
        self.scope.extend(sums.iter().map(|sum| sum.var));
        self.fixed = self.scope.len();
        let finish = self.block(2);
        self.outputs(finish);
    }

    /// An affine map of an integer.
    fn affine(&mut self, var: VarId) -> ExprId {
        let ty = self.build.program[var].ty;
        let mut word = || {
            let words = [0, 1, 3, 5, 747_796_405, u32::MAX, 0x8000_0000];
            let word = words[self.below(words.len())];
            self.build
                .add(Expr::Literal(Value::from_words(ty, &[word])))
        };
        let (factor, offset) = (word(), word());
        let read = self.build.read(var);
        match self.below(4) {
            0 => self.build.op(BinaryOp::Subtract, offset, read),
            1 => {
                let count = self.build.u(3);
                self.build.op(BinaryOp::ShiftLeft, read, count)
            }
            _ => {
                let product = self.build.op(BinaryOp::Multiply, read, factor);
                self.build.op(BinaryOp::Add, product, offset)
            }
        }
    }

    fn states(&mut self) -> Vec<VarId> {
        let states = TYPES.into_iter().enumerate();
        states
            .map(|(at, ty)| self.build.one(&format!("state{at}"), ty, VarKind::State))
            .collect()
    }

    /// The states that are accumulated.
    fn sums(&mut self) -> Vec<Sum> {
        let sum = |(ty, op): (Type, LaneOp)| Sum {
            var: self.build.one(op.name(), ty, VarKind::State),
            op,
        };
        SUMS.into_iter().map(sum).collect()
    }

    fn loose(&mut self) -> Loose {
        let names = [
            ("loose", Type::F32),
            ("mass", Type::F32),
            ("terms", Type::I32),
        ];
        names.map(|(name, ty)| self.build.one(name, ty, VarKind::State))
    }

    fn births(&mut self, sums: &[Sum], loose: &Loose) -> Block {
        let mut init = Block::new();
        for var in sums.iter().map(|sum| sum.var) {
            let value = self.first(self.build.program[var].ty);
            init.push(Stmt::Assign { var, value });
        }
        for &var in loose {
            let zero = Value::zero(self.build.program[var].ty);
            let value = self.build.add(Expr::Literal(zero));
            init.push(Stmt::Assign { var, value });
        }
        init
    }

    /// What a sum begins with.
    fn first(&mut self, ty: Type) -> ExprId {
        let value = match ty {
            Type::Bool => Value::Bool(self.below(2) == 0),
            Type::I32 | Type::U32 => Value::from_words(ty, &[self.below(5) as u32]),
            Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => {
                Value::from_floats(&vec![2.5; ty.components()])
            }
        };
        self.build.add(Expr::Literal(value))
    }

    /// Ends the program with outputs of each type.
    fn outputs(&mut self, mut finish: Block) {
        for (at, ty) in TYPES.into_iter().enumerate() {
            let var = self.build.one(&format!("out{at}"), ty, VarKind::Output);
            let value = self.expr(ty, 3);
            finish.push(Stmt::Assign { var, value });
        }
        self.build.program.finish = finish;
    }

    /// `sum = sum + term`, in one of the forms that it has.
    fn accumulate(&mut self, sum: Sum, block: &mut Block) {
        let Sum { var, op } = sum;
        let term = self.term(op, self.build.program[var].ty);
        let before = self.build.read(var);
        let (a, b) = match self.below(2) {
            0 => (before, term),
            _ => (term, before),
        };
        let mut value = match op {
            LaneOp::Sum => self.build.op(BinaryOp::Add, a, b),
            LaneOp::Product => self.build.op(BinaryOp::Multiply, a, b),
            LaneOp::Any => self.build.op(BinaryOp::Or, a, b),
            LaneOp::All => self.build.op(BinaryOp::And, a, b),
            LaneOp::Least => self.build.call("min", vec![a, b]),
            LaneOp::Most => self.build.call("max", vec![a, b]),
        };
        let form = self.below(6);
        if form < 2 {
            let condition = self.expr(Type::Bool, 2);
            let before = self.build.read(var);
            let (accept, reject) = match form {
                0 => (value, before),
                _ => (before, value),
            };
            value = self.build.add(Expr::Select {
                condition,
                accept,
                reject,
            });
        }
        let assign = Stmt::Assign { var, value };
        block.push(match form {
            2 => Stmt::If {
                condition: self.expr(Type::Bool, 2),
                accept: vec![assign],
                reject: Block::new(),
            },
            3 => {
                let index = self.build.one("inner", Type::I32, VarKind::Index);
                self.build.repeat(index, 2, vec![assign])
            }
            _ => assign,
        });
    }

    /// A term that gives the same bits in any order: of floats small multiples of a quarter, and as factors
    /// signs.
    fn term(&mut self, op: LaneOp, ty: Type) -> ExprId {
        if !ty.is_float() {
            return self.expr(ty, 3);
        }
        let term = match op {
            LaneOp::Product => {
                let condition = self.expr(Type::Bool, 2);
                let (accept, reject) = (self.build.f(1.0), self.build.f(-1.0));
                self.build.add(Expr::Select {
                    condition,
                    accept,
                    reject,
                })
            }
            _ => {
                let (some, most) = (self.expr(Type::I32, 3), self.build.i(255));
                let value = self.build.op(BinaryOp::BitAnd, some, most);
                let to = Type::F32;
                let whole = self.build.add(Expr::Convert { to, value });
                let quarter = self.build.f(0.25);
                self.build.op(BinaryOp::Multiply, whole, quarter)
            }
        };
        match ty {
            Type::F32 => term,
            _ => self.build.add(Expr::Splat { ty, value: term }),
        }
    }

    /// Sums a float of any kind.
    fn accumulate_loosely(&mut self, [loose, mass, terms]: Loose, block: &mut Block) {
        let term = self.build.one("term", Type::F32, VarKind::Let);
        let value = self.expr(Type::F32, 3);
        let (low, high) = (self.build.f(-100.0), self.build.f(100.0));
        let value = self.build.call("max", vec![value, low]);
        let value = self.build.call("min", vec![value, high]);
        block.push(Stmt::Let { var: term, value });
        let (float, size, one) = (
            self.build.read(term),
            self.build.read(term),
            self.build.i(1),
        );
        let size = self.build.call("abs", vec![size]);
        for (var, more) in [(loose, float), (mass, size), (terms, one)] {
            let before = self.build.read(var);
            let value = self.build.op(BinaryOp::Add, before, more);
            block.push(Stmt::Assign { var, value });
        }
    }
}
