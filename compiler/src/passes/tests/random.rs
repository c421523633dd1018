//! Random programs: well typed, bounded, and full of what passes look for; in `split` those that lanes can
//! split.

// A test of texts includes this file, from a folder of its own.
#[path = "random/split.rs"]
pub(crate) mod split;

use super::build::Builder;
use crate::{
    builtin::BuiltinId,
    ir::{
        BinaryOp, Block, Expr, ExprId, Function, FunctionId, Launch, Len, Owner, Stmt, Type,
        UnaryOp, Value, VarId, VarKind,
    },
};

pub(crate) struct Random {
    pub(crate) build: Builder,
    state: u64,
    /// Variables in scope.
    scope: Vec<VarId>,
    /// How many of them, from the first, are not assigned.
    fixed: usize,
    /// The index of a loop over the elements of arrays of this length: such arrays are read at it.
    row: Option<(VarId, u32)>,
    depth: usize,
    in_step: bool,
    /// May steps stop the agent?
    stops: bool,
    /// May anything be drawn?
    draws: bool,
    /// Are floats never summed or multiplied up by chance?
    exact: bool,
    loops: usize,
    functions: usize,
    /// Expressions to repeat.
    past: Vec<(Type, ExprId)>,
}

/// The program of a seed.
pub(crate) fn program(seed: u64) -> crate::ir::Program {
    let mut random = Random::new(seed);
    random.whole();
    random.build.program
}

const TYPES: [Type; 5] = [Type::F32, Type::I32, Type::U32, Type::Bool, Type::Vec2];

impl Random {
    fn new(seed: u64) -> Random {
        Random {
            build: Builder::default(),
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            scope: Vec::new(),
            fixed: 0,
            row: None,
            depth: 0,
            in_step: false,
            stops: true,
            draws: true,
            exact: false,
            loops: 0,
            functions: 0,
            past: Vec::new(),
        }
    }

    fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 33) as usize % n
    }

    fn whole(&mut self) {
        self.function();
        let mut globals = Vec::new();
        for (at, ty) in [Type::F32, Type::I32, Type::F32].into_iter().enumerate() {
            globals.push(self.build.one(&format!("param{at}"), ty, VarKind::Param));
        }
        globals.push(
            self.build
                .var("weights", Type::F32, Len::Fixed(6), VarKind::Input),
        );
        globals.push(self.build.one("start", Type::F32, VarKind::Input));
        let mut states = Vec::new();
        for (at, ty) in TYPES.into_iter().enumerate() {
            states.push(self.build.one(&format!("state{at}"), ty, VarKind::State));
        }
        states.push(
            self.build
                .var("held", Type::F32, Len::Fixed(4), VarKind::State),
        );
        self.scope = globals;
        let mut init = self.init(&states);
        self.scope.extend(&states);
        init.extend(self.block(2));
        self.build.program.init = init;
        self.in_step = true;
        let phases = 1 + self.below(2);
        self.build.program.phases = (0..phases).map(|_| self.block(7).into()).collect();
        self.in_step = false;
        let mut finish = self.block(3);
        for (at, ty) in TYPES.into_iter().enumerate() {
            let var = self.build.one(&format!("out{at}"), ty, VarKind::Output);
            let value = self.expr(ty, 3);
            finish.push(Stmt::Assign { var, value });
        }
        self.build.program.finish = finish;
    }

    fn init(&mut self, states: &[VarId]) -> Block {
        let mut init = Vec::new();
        for &var in states {
            let ty = self.build.program[var].ty;
            let Len::Fixed(count) = self.build.program[var].len else {
                let value = self.expr(ty, 2);
                init.push(Stmt::Assign { var, value });
                continue;
            };
            let i = self.build.one("i", Type::I32, VarKind::Index);
            self.scope.push(i);
            self.row = Some((i, count));
            let value = self.expr(ty, 2);
            self.row = None;
            self.scope.pop();
            let index = self.build.read(i);
            let body = vec![Stmt::AssignElement { var, index, value }];
            init.push(self.build.repeat(i, count as i32, body));
        }
        init
    }

    fn function(&mut self) {
        let params = vec![
            self.build.one("x", Type::F32, VarKind::Argument),
            self.build.one("n", Type::I32, VarKind::Argument),
        ];
        self.scope = params.clone();
        let mut body = self.block(3);
        let condition = self.expr(Type::Bool, 2);
        let early = self.expr(Type::F32, 2);
        body.push(Stmt::If {
            condition,
            accept: vec![Stmt::Return(early)],
            reject: Vec::new(),
        });
        let result = self.expr(Type::F32, 3);
        body.push(Stmt::Return(result));
        self.build.program.functions.push(Function {
            name: "helper".to_owned(),
            doc: String::new(),
            params,
            result: Type::F32,
            body,
        });
        self.functions = 1;
    }

    fn block(&mut self, length: usize) -> Block {
        let mark = self.scope.len();
        self.depth += 1;
        let mut block = Vec::new();
        let count = 1 + self.below(length);
        for _ in 0..count {
            self.statement(&mut block);
        }
        self.depth -= 1;
        self.scope.truncate(mark);
        block
    }

    fn mutable(&mut self) -> Option<VarId> {
        let vars: Vec<VarId> = self
            .scope
            .iter()
            .skip(self.fixed)
            .copied()
            .filter(|&var| {
                matches!(
                    self.build.program[var].kind,
                    VarKind::Local | VarKind::State
                )
            })
            .collect();
        (!vars.is_empty()).then(|| vars[self.below(vars.len())])
    }

    /// Mostly floats, so that expressions meet.
    fn some_type(&mut self) -> Type {
        TYPES[[0, 0, 0, 0, 0, 1, 2, 3, 4][self.below(9)]]
    }

    /// A copy of an earlier expression of this type whose variables are in scope.
    fn again(&mut self, ty: Type) -> Option<ExprId> {
        let past: Vec<ExprId> = self
            .past
            .iter()
            .rev()
            .take(30)
            .filter(|(t, _)| *t == ty)
            .map(|(_, id)| *id)
            .collect();
        if past.is_empty() {
            return None;
        }
        let id = past[self.below(past.len())];
        self.in_scope(id).then(|| self.copy(id))
    }

    fn in_scope(&self, id: ExprId) -> bool {
        let program = &self.build.program;
        let known = match &program[id] {
            Expr::Read(var) | Expr::Element { array: var, .. } => self.scope.contains(var),
            Expr::Launch(Launch::Step) => self.in_step,
            Expr::RandomWord { .. } => self.draws,
            _ => true,
        };
        known && program[id].operands().iter().all(|&id| self.in_scope(id))
    }

    fn copy(&mut self, id: ExprId) -> ExprId {
        let mut expr = self.build.program[id].clone();
        expr.map_operands(|id| self.copy(id));
        self.build.add(expr)
    }

    fn statement(&mut self, block: &mut Block) {
        let ty = self.some_type();
        match self.below(if self.depth < 4 { 12 } else { 7 }) {
            0 | 1 => {
                let value = self.expr(ty, 3);
                let var = self.build.one("name", ty, VarKind::Let);
                if self.below(2) == 0 {
                    self.build.program[var].span = Default::default();
                }
                block.push(Stmt::Let { var, value });
                self.scope.push(var);
            }
            2 => {
                let value = (self.below(4) > 0).then(|| self.expr(ty, 2));
                let var = self.build.one("local", ty, VarKind::Local);
                block.push(Stmt::Var { var, value });
                self.scope.push(var);
            }
            3 if self.below(2) == 0 => {
                let var = self.build.var("list", ty, Len::Fixed(3), VarKind::Local);
                block.push(Stmt::Var { var, value: None });
                self.scope.push(var);
            }
            3..=6 => self.assign(block),
            7 | 8 => {
                let condition = self.expr(Type::Bool, 2);
                let accept = self.arm();
                let reject = if self.below(2) == 0 {
                    self.arm()
                } else {
                    Vec::new()
                };
                block.push(Stmt::If {
                    condition,
                    accept,
                    reject,
                });
            }
            _ => {
                let index = self.build.one("k", Type::I32, VarKind::Index);
                let start = self.build.i(0);
                let end = match self.below(4) {
                    0 => {
                        let (most, some) = (self.build.i(3), self.expr(Type::I32, 1));
                        self.build.op(BinaryOp::BitAnd, some, most)
                    }
                    _ => {
                        let count = self.below(6) as i32;
                        self.build.i(count)
                    }
                };
                self.scope.push(index);
                self.loops += 1;
                let body = self.block(3);
                self.loops -= 1;
                self.scope.pop();
                block.push(Stmt::For {
                    index,
                    start,
                    end,
                    body,
                });
            }
        }
    }

    fn arm(&mut self) -> Block {
        let mut arm = self.block(2);
        match self.below(8) {
            0 if self.loops > 0 => arm.push(Stmt::Break),
            1 if self.loops > 0 => arm.push(Stmt::Continue),
            2 if self.in_step && self.stops => arm.push(Stmt::Stop),
            _ => {}
        }
        arm
    }

    fn assign(&mut self, block: &mut Block) {
        let Some(var) = self.mutable() else { return };
        let ty = self.build.program[var].ty;
        match self.build.program[var].len {
            Len::Fixed(count) => {
                let index = self.index(count);
                let value = self.expr(ty, 3);
                block.push(Stmt::AssignElement { var, index, value });
            }
            _ => {
                let mut value = self.expr(ty, 3);
                if self.exact && ty.is_float() {
                    value = self.build.unary(UnaryOp::Negate, value);
                }
                block.push(Stmt::Assign { var, value });
            }
        }
    }

    /// An index in range: a literal, or something clamped by a remainder of naturals.
    fn index(&mut self, count: u32) -> ExprId {
        if self.below(3) > 0 {
            let index = self.below(count as usize) as i32;
            return self.build.i(index);
        }
        let some = self.expr(Type::I32, 2);
        if let Some(clamp) = BuiltinId::find("clamp") {
            let (low, high) = (self.build.i(0), self.build.i(count as i32 - 1));
            return self.build.add(Expr::Builtin(clamp, vec![some, low, high]));
        }
        let some = self.build.add(Expr::Bitcast {
            to: Type::U32,
            value: some,
        });
        let count = self.build.u(count);
        let rest = self.build.op(BinaryOp::Remainder, some, count);
        self.build.add(Expr::Bitcast {
            to: Type::I32,
            value: rest,
        })
    }

    fn leaf(&mut self, ty: Type) -> ExprId {
        let vars: Vec<VarId> = self
            .scope
            .iter()
            .copied()
            .filter(|&var| self.build.program[var].ty == ty)
            .collect();
        if !vars.is_empty() && self.below(4) > 0 {
            let var = vars[self.below(vars.len())];
            return match self.build.program[var].len {
                Len::Fixed(count) => {
                    let index = match self.below(3) {
                        _ if self.row.is_some_and(|(_, rows)| rows == count) => {
                            let row = self.row.map(|(index, _)| self.build.read(index));
                            row.expect("a loop over rows")
                        }
                        0 if self.depth < 3 => self.index(count),
                        _ => {
                            let index = self.below(count as usize) as i32;
                            self.build.i(index)
                        }
                    };
                    self.build.at(var, index)
                }
                _ => self.build.read(var),
            };
        }
        let floats = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            2.0,
            0.5,
            3.7,
            f32::INFINITY,
            1e-40,
            1e30,
        ];
        let integers = [0, 1, 2, 3, 7, -1, 31, 32, i32::MIN, i32::MAX];
        let float = floats[self.below(floats.len())];
        let integer = integers[self.below(integers.len())];
        let value = match ty {
            Type::F32 => Value::F32(float),
            Type::I32 if self.below(4) == 0 => {
                let which = [Launch::Agent, Launch::Agents, Launch::Steps];
                let which = which[self.below(3)];
                let step = self.in_step && self.below(2) == 0;
                let launch = if step { Launch::Step } else { which };
                return self.build.add(Expr::Launch(launch));
            }
            Type::I32 => Value::I32(integer),
            Type::U32 => Value::U32(integer as u32),
            Type::Bool => Value::Bool(integer > 2),
            Type::Vec2 => Value::Vec2([float, float]),
            Type::Vec3 | Type::Vec4 => Value::zero(ty),
        };
        self.build.add(Expr::Literal(value))
    }

    fn expr(&mut self, ty: Type, depth: usize) -> ExprId {
        if depth == 0 || self.below(5) == 0 {
            return self.leaf(ty);
        }
        if self.below(3) == 0
            && let Some(id) = self.again(ty)
        {
            return id;
        }
        let id = self.operation(ty, depth - 1);
        if self.size(id) <= 10 {
            self.past.push((ty, id));
        }
        id
    }

    fn size(&self, id: ExprId) -> usize {
        let operands = self.build.program[id].operands();
        1 + operands.iter().map(|&id| self.size(id)).sum::<usize>()
    }

    fn operation(&mut self, ty: Type, depth: usize) -> ExprId {
        match self.below(8) {
            0 => {
                let condition = self.expr(Type::Bool, depth);
                let (accept, reject) = (self.expr(ty, depth), self.expr(ty, depth));
                self.build.add(Expr::Select {
                    condition,
                    accept,
                    reject,
                })
            }
            1 => self.other(ty, depth),
            2 => match ty {
                Type::Bool => {
                    let a = self.expr(ty, depth);
                    self.build.unary(UnaryOp::Not, a)
                }
                Type::U32 => {
                    let a = self.expr(ty, depth);
                    self.build.unary(UnaryOp::Complement, a)
                }
                _ => {
                    let a = self.expr(ty, depth);
                    self.build.unary(UnaryOp::Negate, a)
                }
            },
            _ => self.binary(ty, depth),
        }
    }

    fn binary(&mut self, ty: Type, depth: usize) -> ExprId {
        use BinaryOp::*;
        let arithmetic = [Add, Subtract, Multiply, Divide, Remainder];
        let bits = [
            BitAnd, BitOr, BitXor, Add, Subtract, Multiply, Divide, Remainder,
        ];
        let comparisons = [Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual];
        match ty {
            Type::Bool if self.below(2) == 0 => {
                let op = [And, Or, Equal, NotEqual][self.below(4)];
                let (a, b) = (self.expr(ty, depth), self.expr(ty, depth));
                self.build.op(op, a, b)
            }
            Type::Bool => {
                let side = [Type::F32, Type::I32, Type::U32][self.below(3)];
                let op = comparisons[self.below(6)];
                let (a, b) = (self.expr(side, depth), self.expr(side, depth));
                self.build.op(op, a, b)
            }
            Type::I32 | Type::U32 => {
                let a = self.expr(ty, depth);
                if self.below(6) == 0 {
                    let op = [ShiftLeft, ShiftRight][self.below(2)];
                    let b = self.expr(Type::U32, depth);
                    return self.build.op(op, a, b);
                }
                let op = bits[self.below(8)];
                let b = self.expr(ty, depth);
                self.build.op(op, a, b)
            }
            Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => {
                let op = arithmetic[self.below(5)];
                let scalar = ty != Type::F32 && self.below(3) == 0;
                let left = self.expr(if scalar { Type::F32 } else { ty }, depth);
                let right = self.expr(ty, depth);
                self.build.op(op, left, right)
            }
        }
    }

    /// Conversions, components, words, calls.
    fn other(&mut self, ty: Type, depth: usize) -> ExprId {
        match ty {
            Type::F32 => match self.below(4) {
                0 => {
                    let vector = self.expr(Type::Vec2, depth);
                    let components = vec![self.below(2) as u8];
                    self.build.add(Expr::Swizzle { vector, components })
                }
                1 if self.functions > 0 => {
                    let args = vec![self.expr(Type::F32, depth), self.expr(Type::I32, depth)];
                    self.build.add(Expr::Call(FunctionId(0), args))
                }
                2 if BuiltinId::find("exp").is_some() => {
                    let arg = self.expr(Type::F32, depth);
                    let name = ["exp", "sin", "sqrt", "abs"][self.below(4)];
                    self.build.call(name, vec![arg])
                }
                _ => {
                    let value = self.expr(Type::I32, depth);
                    self.build.add(Expr::Convert { to: ty, value })
                }
            },
            Type::U32 if self.functions > 0 && self.draws => {
                let number = self.expr(Type::U32, depth);
                self.build.add(Expr::RandomWord {
                    owner: Owner::Agent,
                    number,
                    step: None,
                })
            }
            Type::I32 | Type::U32 | Type::Bool => {
                let value = self.expr(Type::F32, depth);
                self.build.add(Expr::Convert { to: ty, value })
            }
            Type::Vec2 | Type::Vec3 | Type::Vec4 => match self.below(3) {
                0 => {
                    let parts = vec![self.expr(Type::F32, depth), self.expr(Type::F32, depth)];
                    self.build.add(Expr::Compose(parts))
                }
                1 => {
                    let value = self.expr(Type::F32, depth);
                    self.build.add(Expr::Splat { ty, value })
                }
                _ => {
                    let vector = self.expr(ty, depth);
                    let components = vec![1, self.below(2) as u8];
                    self.build.add(Expr::Swizzle { vector, components })
                }
            },
        }
    }
}
