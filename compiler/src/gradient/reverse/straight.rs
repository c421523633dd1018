//! Programs without jumps and calls, the form that is differentiated backwards.
//!
//! Functions with a float result, and those that ask for the step, are written out where they are called.
//! `break`, `continue`, `stop` and `return` become flags: what follows a statement that may jump is under a
//! condition, or in the other branch of the `if` that jumps. One `break` is left in a loop that may end
//! early: the last statement of its body.

use crate::gradient::rules::Copy;
use crate::{
    ir::{
        BinaryOp, Block, Expr, ExprId, FunctionId, Launch, Len, Program, Stmt, Type, UnaryOp,
        Value, Var, VarId, VarKind, any_statement,
    },
    span::Span,
};
use std::collections::{BTreeSet, HashMap};

/// A flag that says that the agent stopped, if it may.
pub(super) fn flag_of_stops(program: &mut Program, block: &[Stmt]) -> Option<VarId> {
    let stops = any_statement(block, &|stmt| matches!(stmt, Stmt::Stop));
    stops.then(|| local(program, "stopped", Type::Bool))
}

fn local(program: &mut Program, name: &str, ty: Type) -> VarId {
    program.add_var(Var {
        name: name.to_owned(),
        doc: String::new(),
        ty,
        len: Len::One,
        kind: VarKind::Local,
        word: 0,
        span: Span::default(),
    })
}

/// Writes a block of the program out, where `stop` sets the flag.
pub(super) fn straightened(
    source: &Program,
    into: &mut Program,
    block: &Block,
    stopped: Option<VarId>,
) -> Block {
    let mut straight = Straight {
        source,
        program: into,
        written: written(source),
    };
    let jumps = Jumps {
        stopped,
        ..Jumps::default()
    };
    let mut out = Vec::new();
    straight.block(block.clone(), jumps, &mut out);
    out
}

/// The flags that jumps set, as they are named at a place.
#[derive(Clone, Copy, Default)]
struct Jumps {
    broken: Option<VarId>,
    skipped: Option<VarId>,
    stopped: Option<VarId>,
    /// Of a function: its flag and its result.
    returned: Option<(VarId, VarId)>,
}

struct Straight<'a> {
    source: &'a Program,
    program: &'a mut Program,
    /// The functions that are written out.
    written: Vec<bool>,
}

/// By function: is it written out?
fn written(source: &Program) -> Vec<bool> {
    let mut asks: Vec<bool> = Vec::new();
    for function in &source.functions {
        let mut own = false;
        source.each_node_of(&function.body, &mut |id| {
            own |= source[id] == Expr::Launch(Launch::Step);
            if let Expr::Call(inner, _) = &source[id] {
                own |= asks[inner.0 as usize];
            }
        });
        asks.push(own);
    }
    let functions = asks.into_iter().zip(&source.functions);
    functions
        .map(|(asks, function)| asks || function.result.is_float())
        .collect()
}

/// Flags that a statement may set.
type Flags = BTreeSet<VarId>;

impl Straight<'_> {
    fn add(&mut self, expr: Expr) -> ExprId {
        self.program.add(expr, Span::default())
    }

    fn local(&mut self, name: &str, ty: Type) -> VarId {
        local(self.program, name, ty)
    }

    /// Declares a variable with zeros.
    fn declare(&mut self, var: VarId, out: &mut Block) {
        let zero = Value::zero(self.program[var].ty);
        let value = Some(self.add(Expr::Literal(zero)));
        out.push(Stmt::Var { var, value });
    }

    fn set(&mut self, flag: VarId, out: &mut Block) {
        let value = self.add(Expr::Literal(Value::Bool(true)));
        out.push(Stmt::Assign { var: flag, value });
    }

    /// Is any of the flags set?
    fn any(&mut self, flags: &Flags) -> ExprId {
        let mut all = flags.iter().map(|flag| Expr::Read(*flag));
        let first = all.next().expect("a flag");
        let mut any = self.add(first);
        for flag in all {
            let flag = self.add(flag);
            any = self.add(Expr::Binary(BinaryOp::Or, any, flag));
        }
        any
    }

    /// Writes statements out; the flags that they may set.
    fn block(&mut self, stmts: Vec<Stmt>, jumps: Jumps, out: &mut Block) -> Flags {
        stacker::maybe_grow(64 << 10, 1 << 20, || self.stmts(stmts, jumps, out))
    }

    fn stmts(&mut self, stmts: Vec<Stmt>, jumps: Jumps, out: &mut Block) -> Flags {
        let mut rest = stmts.into_iter();
        while let Some(mut stmt) = rest.next() {
            stmt.map_roots(|root| self.without_calls(root, out));
            let flags = match stmt {
                Stmt::Break => self.jump(jumps.broken, out),
                Stmt::Continue => self.jump(jumps.skipped, out),
                Stmt::Stop => self.jump(jumps.stopped, out),
                Stmt::Return(value) => {
                    let (flag, var) = jumps.returned.expect("only functions return");
                    out.push(Stmt::Assign { var, value });
                    self.jump(Some(flag), out)
                }
                Stmt::If {
                    condition,
                    mut accept,
                    mut reject,
                } => {
                    match (always_jumps(&accept), always_jumps(&reject)) {
                        (true, false) => reject.extend(rest.by_ref()),
                        (false, true) => accept.extend(rest.by_ref()),
                        (true, true) => rest.by_ref().for_each(drop),
                        (false, false) => {}
                    }
                    self.branch(condition, accept, reject, jumps, out)
                }
                Stmt::For {
                    index,
                    start,
                    end,
                    body,
                } => self.repeat((index, start, end), body, jumps, out),
                Stmt::Let { .. }
                | Stmt::Var { .. }
                | Stmt::Assign { .. }
                | Stmt::AssignElement { .. } => {
                    out.push(stmt);
                    continue;
                }
            };
            if flags.is_empty() {
                continue;
            }
            let after: Vec<Stmt> = rest.collect();
            // A jump itself has nothing behind it; a statement that may jump has.
            if after.is_empty() || matches!(out.last(), Some(Stmt::Assign { .. })) {
                return flags;
            }
            let left = self.any(&flags);
            let condition = self.add(Expr::Unary(UnaryOp::Not, left));
            let mut accept = Vec::new();
            let more = self.block(after, jumps, &mut accept);
            out.push(Stmt::If {
                condition,
                accept,
                reject: Vec::new(),
            });
            return &flags | &more;
        }
        Flags::new()
    }

    fn branch(
        &mut self,
        condition: ExprId,
        accept: Block,
        reject: Block,
        jumps: Jumps,
        out: &mut Block,
    ) -> Flags {
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        let mut flags = self.block(accept, jumps, &mut yes);
        flags.extend(self.block(reject, jumps, &mut no));
        out.push(Stmt::If {
            condition,
            accept: yes,
            reject: no,
        });
        flags
    }

    fn jump(&mut self, flag: Option<VarId>, out: &mut Block) -> Flags {
        let flag = flag.expect("a jump has where to go");
        self.set(flag, out);
        Flags::from([flag])
    }

    fn repeat(
        &mut self,
        (index, start, end): (VarId, ExprId, ExprId),
        body: Block,
        jumps: Jumps,
        out: &mut Block,
    ) -> Flags {
        let (broken, skipped) = (
            self.local("broken", Type::Bool),
            self.local("skipped", Type::Bool),
        );
        let inner = Jumps {
            broken: Some(broken),
            skipped: Some(skipped),
            ..jumps
        };
        let mut straight = Vec::new();
        let mut flags = self.block(body, inner, &mut straight);
        if flags.remove(&skipped) {
            let mut first = Vec::new();
            self.declare(skipped, &mut first);
            straight.splice(0..0, first);
        }
        if !flags.is_empty() {
            let condition = self.any(&flags);
            straight.push(Stmt::If {
                condition,
                accept: vec![Stmt::Break],
                reject: Vec::new(),
            });
        }
        if flags.remove(&broken) {
            self.declare(broken, out);
        }
        out.push(Stmt::For {
            index,
            start,
            end,
            body: straight,
        });
        flags
    }

    /// An expression in which no function that is written out is called.
    fn without_calls(&mut self, id: ExprId, out: &mut Block) -> ExprId {
        let calls = |id: ExprId| match &self.program[id] {
            Expr::Call(function, _) => self.written[function.0 as usize],
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Read(_)
            | Expr::Element { .. }
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Select { .. }
            | Expr::Convert { .. }
            | Expr::Bitcast { .. }
            | Expr::Builtin(..)
            | Expr::RandomWord { .. }
            | Expr::Other { .. }
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. }
            | Expr::AcrossWorld { .. } => false,
        };
        if !self.program.nodes(id).any(calls) {
            return id;
        }
        let mut expr = self.program[id].clone();
        expr.map_operands(|operand| {
            stacker::maybe_grow(64 << 10, 1 << 20, || self.without_calls(operand, out))
        });
        if let Expr::Call(function, args) = &expr
            && self.written[function.0 as usize]
        {
            let result = self.written_out(*function, args, out);
            expr = Expr::Read(result);
        }
        let span = self.program.span(id);
        self.program.add(expr, span)
    }

    /// The body of a function at the place of its call; the variable that has its result.
    fn written_out(&mut self, id: FunctionId, args: &[ExprId], out: &mut Block) -> VarId {
        let mut copy = Copy {
            from: self.source,
            into: self.program,
            vars: HashMap::new(),
        };
        let function = copy.function(id);
        for (&var, &value) in function.params.iter().zip(args) {
            self.program[var].kind = VarKind::Let;
            out.push(Stmt::Let { var, value });
        }
        let result = self.local(&function.name, function.result);
        let returned = self.local("returned", Type::Bool);
        self.declare(result, out);
        self.declare(returned, out);
        let jumps = Jumps {
            returned: Some((returned, result)),
            ..Jumps::default()
        };
        self.block(function.body, jumps, out);
        result
    }
}

/// Does every path through the block end in a jump?
fn always_jumps(block: &Block) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_) => true,
        Stmt::If { accept, reject, .. } => stacker::maybe_grow(32 << 10, 1 << 20, || {
            always_jumps(accept) && always_jumps(reject)
        }),
        Stmt::Let { .. }
        | Stmt::Var { .. }
        | Stmt::Assign { .. }
        | Stmt::AssignElement { .. }
        | Stmt::For { .. } => false,
    })
}
