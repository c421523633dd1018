//! Calls, which are inlined, and the keys of random draws.

use super::{
    Compiler, Operand, Parts, Place,
    stmt::{Frame, Kind},
};
use crate::cpu::vector::{
    kernel::Lane,
    op::{Code, Plain},
    program::{Known, Register},
};
use sim_compiler::{
    ir::{Block, Expr, ExprId, FunctionId, Owner, Program, Stmt, VarId, any_statement},
    random::Generator,
};
use std::collections::HashSet;

impl<L: Lane> Compiler<'_, L> {
    /// Inlines a call.
    pub(super) fn call(&mut self, id: FunctionId, args: &[ExprId]) -> Parts {
        let function = &self.program[id];
        for (&param, &arg) in function.params.iter().zip(args) {
            let parts = self.value(arg);
            let parts = self.name(parts);
            self.bound.push((param, parts));
        }
        // After the arguments, since they may call the same function.
        for _ in args {
            if let Some((param, parts)) = self.bound.pop() {
                self.places[param.0 as usize] = Place::Value(parts);
            }
        }
        if let Some((Stmt::Return(value), lets)) = function.body.split_last()
            && lets.iter().all(|stmt| matches!(stmt, Stmt::Let { .. }))
        {
            lets.iter().for_each(|stmt| self.statement(stmt, &[]));
            return self.value(*value);
        }
        let count = function.result.components();
        let first = self.temporary();
        for _ in 1..count {
            self.temporary();
        }
        let zero = self.constant(L::ZERO);
        for k in 0..count as Register {
            self.mutable[(first + k) as usize] = true;
            self.spread(first + k, zero);
        }
        let end = self.label();
        let mask = returns_early(&function.body).then(|| self.own_mask());
        self.frames.push(Frame {
            kind: Kind::Function,
            mask,
            end,
            result: Some((first, count)),
        });
        self.nested(&function.body);
        self.pop_frames(1);
        self.place_label(end);
        let parts = Parts::from_registers(first, count);
        self.name(parts)
    }

    /// Writes the result of an inlined function.
    pub(super) fn give_back(&mut self, value: ExprId) {
        let parts = self.value(value);
        let target = (self.frames.iter())
            .rposition(|frame| frame.kind == Kind::Function)
            .expect("a return within a function");
        let Some((first, _)) = self.frames[target].result else {
            return;
        };
        let mask = self.mask_since(target);
        for (k, &word) in parts.as_slice().iter().enumerate() {
            self.write_register(first + k as Register, word, mask);
        }
        self.leave(Kind::Function);
    }

    /// The key of the step of agents or of worlds, if a block draws from their stream.
    pub(super) fn draw_key(&mut self, owner: Owner, block: &Block) -> Option<[Register; 2]> {
        let program = self.program;
        let (mut draws, mut draws_now) = (false, false);
        program.each_node_of(block, &mut |node| {
            if let Expr::RandomWord {
                owner: of, step, ..
            } = &program[node]
                && *of == owner
            {
                draws = true;
                draws_now |= step.is_none();
            }
        });
        if !draws {
            return None;
        }
        let stream = self.stream_of(owner);
        stream.draws = true;
        let keys = stream.keys;
        if !draws_now || self.generator != Generator::KeyedHash {
            return Some(keys);
        }
        let step = Operand::Scalar(self.known(Known::RandomStep));
        Some(self.key_of(owner, step))
    }

    /// The key of a step, for the default generator.
    pub(super) fn key_of(&mut self, owner: Owner, step: Operand) -> [Register; 2] {
        let [a, b] = self.stream_of(owner).keys.map(Operand::Lanes);
        [Plain::StepKey0, Plain::StepKey1].map(|plain| {
            let register = self.lanes(Code::Plain(plain), &[a, b, step]);
            self.named[register as usize] = true;
            register
        })
    }

    /// Computes the keys of a step that has this name, if it is drawn from: once for all draws.
    pub(super) fn keys_of_name(&mut self, var: VarId) {
        if self.generator != Generator::KeyedHash {
            return;
        }
        for owner in [Owner::Agent, Owner::World] {
            if !self.drawn_steps.contains(&(owner, var)) {
                continue;
            }
            if let Place::Value(parts) = self.places[var.0 as usize] {
                let keys = self.key_of(owner, parts.words[0]);
                self.keys_of_names.insert((owner, var), keys);
            }
        }
    }
}

/// Whether a function may return before its last statement.
fn returns_early(body: &Block) -> bool {
    let early = if let [before @ .., Stmt::Return(_)] = &body[..] {
        before
    } else {
        body
    };
    any_statement(early, &|stmt| matches!(stmt, Stmt::Return(_)))
}

/// The names of steps that draws name.
pub(super) fn drawn_steps(program: &Program) -> HashSet<(Owner, VarId)> {
    let mut found = HashSet::new();
    for expr in &program.exprs {
        if let Expr::RandomWord { owner, step, .. } = expr
            && let Some(step) = step
            && let Expr::Read(var) = program[*step]
        {
            found.insert((*owner, var));
        }
    }
    found
}
