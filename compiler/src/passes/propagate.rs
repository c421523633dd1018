//! Forward propagation of constants and copies, with folding, algebra and pruning on the way.
//!
//! A read becomes the literal or the other variable whose value it has on every path to it. A known condition
//! selects its arm, and a loop without iterations is removed. The facts about a variable that a loop assigns
//! are forgotten before its body and after it; where the arms of an `if` meet, the constants stay on which
//! both agree. So every expression keeps its value.

use super::{
    algebra::simplify,
    rewrite::{assigned, is_generated, leaves, literal, literal_i32},
};
use crate::ir::{Block, Expr, ExprId, Launch, Len, Program, Stmt, Value, VarId, VarKind, VarMap};

/// Substitutes what is known and simplifies every expression.
pub(crate) fn run(program: &mut Program) {
    let vars = program.vars.len();
    let mut facts = Facts {
        known: VarMap::filled(Fact::Nothing, vars),
        version: VarMap::filled(0, vars),
        clock: 0,
        log: Vec::new(),
    };
    program.each_section(|program, place, block| {
        // Steps before this one changed the states.
        if place.is_phase() {
            for &state in program.states.iter().chain(&program.world_states) {
                facts.set(state, Fact::Nothing);
            }
        }
        let mut walk = Walk {
            program,
            facts: &mut facts,
        };
        let old = std::mem::take(block);
        walk.block(old, block);
        // What is known of the prologue's names stays, as `step` reads them.
        facts.rewind(0);
    });
}

/// What is known about the value of a variable at this point.
#[derive(Clone, Copy, PartialEq)]
enum Fact {
    Nothing,
    Constant(Value),
    Launch(Launch),
    /// The value that another variable had at this version.
    Copy(VarId, u32),
}

struct Facts {
    known: VarMap<Fact>,
    /// Grows with each assignment.
    version: VarMap<u32>,
    clock: u32,
    /// The entries that `set` overwrote.
    log: Vec<(VarId, Fact, u32)>,
}

impl Facts {
    fn set(&mut self, var: VarId, fact: Fact) {
        self.log.push((var, self.known[var], self.version[var]));
        self.clock += 1;
        self.known[var] = fact;
        self.version[var] = self.clock;
    }

    /// Rolls back to an earlier length of the log; returns what the variables set since were, each once.
    fn rewind(&mut self, mark: usize) -> Vec<(VarId, Fact)> {
        let mut ends = Vec::new();
        while self.log.len() > mark {
            let (var, fact, version) = self.log.pop().expect("the log is longer than the mark");
            ends.push((var, self.known[var]));
            self.known[var] = fact;
            self.version[var] = version;
        }
        // The log ran backwards, so that the first entry of a variable holds its last fact.
        ends.reverse();
        ends.sort_by_key(|(var, _)| *var);
        ends.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                earlier.1 = later.1;
            }
            same
        });
        ends
    }
}

struct Walk<'a> {
    program: &'a mut Program,
    facts: &'a mut Facts,
}

impl Walk<'_> {
    fn expr(&mut self, id: ExprId) {
        if let Expr::Read(var) = self.program[id] {
            if let Some(better) = self.value_of(var) {
                self.program[id] = better;
            }
            return;
        }
        let operands = self.program[id].operands();
        if operands.is_empty() {
            return;
        }
        for &operand in operands.iter() {
            self.expr(operand);
        }
        if let Some(literal) = self.constant_element(id) {
            self.program[id] = literal;
            return;
        }
        simplify(self.program, id);
    }

    fn constant_element(&self, id: ExprId) -> Option<Expr> {
        let Expr::Element { array, index } = self.program[id] else {
            return None;
        };
        if self.program[array].kind != VarKind::Constant {
            return None;
        }
        let index = usize::try_from(literal_i32(self.program, index)?).ok()?;
        let constants = &self.program.constants;
        let (_, elements) = constants.iter().find(|(var, _)| *var == array)?;
        self.program.literal(*elements.get(index)?)
    }

    fn value_of(&self, var: VarId) -> Option<Expr> {
        match self.facts.known[var] {
            Fact::Nothing => None,
            Fact::Constant(value) => Some(Expr::Literal(value)),
            Fact::Launch(which) => Some(Expr::Launch(which)),
            Fact::Copy(other, version) => {
                (self.facts.version[other] == version).then_some(Expr::Read(other))
            }
        }
    }

    /// The fact about a variable that is assigned this expression.
    fn fact(&self, var: VarId, value: ExprId) -> Fact {
        if let Expr::Literal(value) = self.program[value] {
            Fact::Constant(value)
        } else if let Expr::Launch(which) = self.program[value] {
            Fact::Launch(which)
        } else if let Expr::Read(other) = self.program[value]
            && self.is_copy(var, other)
        {
            Fact::Copy(other, self.facts.version[other])
        } else {
            Fact::Nothing
        }
    }

    /// May `other` replace `var`? The model's names are preferred to the compiler's, and a state's value is
    /// best read from the state.
    fn is_copy(&self, var: VarId, other: VarId) -> bool {
        let (var, other) = (&self.program[var], &self.program[other]);
        let renames = is_generated(other)
            && !is_generated(var)
            && matches!(other.kind, VarKind::Let | VarKind::Local);
        matches!(var.kind, VarKind::Let | VarKind::Local) && !renames
    }

    fn block(&mut self, old: Block, new: &mut Block) {
        for stmt in old {
            for &root in stmt.roots().iter() {
                self.expr(root);
            }
            match stmt {
                Stmt::Let { var, value } => {
                    self.facts.known[var] = self.fact(var, value);
                    new.push(stmt);
                }
                Stmt::Var { var, value } => {
                    let fact = match value {
                        Some(value) => self.fact(var, value),
                        None if self.program[var].len == Len::One => {
                            Fact::Constant(Value::zero(self.program[var].ty))
                        }
                        None => Fact::Nothing,
                    };
                    self.facts.set(var, fact);
                    new.push(stmt);
                }
                Stmt::Assign { var, value } => {
                    let fact = self.fact(var, value);
                    self.facts.set(var, fact);
                    new.push(stmt);
                }
                Stmt::AssignElement { .. } => new.push(stmt),
                Stmt::If {
                    condition,
                    accept,
                    reject,
                } => match literal(self.program, condition) {
                    Some(Value::Bool(true)) => self.block(accept, new),
                    Some(Value::Bool(false)) => self.block(reject, new),
                    _ => new.push(self.branch(condition, accept, reject)),
                },
                Stmt::For {
                    index,
                    start,
                    end,
                    body,
                } => new.extend(self.repeat(index, start, end, body)),
                Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_) => new.push(stmt),
            }
            if leaves(new) {
                return;
            }
        }
    }

    fn branch(&mut self, condition: ExprId, accept: Block, reject: Block) -> Stmt {
        let mark = self.facts.log.len();
        let mut arms = [Vec::new(), Vec::new()];
        let mut ends = [Vec::new(), Vec::new()];
        for (k, old) in [accept, reject].into_iter().enumerate() {
            self.block(old, &mut arms[k]);
            ends[k] = self.facts.rewind(mark);
        }
        let gone = [leaves(&arms[0]), leaves(&arms[1])];
        self.join(ends, gone);
        let [accept, reject] = arms;
        Stmt::If {
            condition,
            accept,
            reject,
        }
    }

    /// The facts after an `if`: those on which the arms that reach its end agree. Copies may be of
    /// variables whose scope has ended, so they go.
    fn join(&mut self, ends: [Vec<(VarId, Fact)>; 2], gone: [bool; 2]) {
        let before = |facts: &Facts, var: VarId| facts.known[var];
        let lookup = |end: &[(VarId, Fact)], var: VarId| {
            let at = end.binary_search_by_key(&var, |(var, _)| *var).ok()?;
            Some(end[at].1)
        };
        let mut joint = Vec::new();
        for (k, end) in ends.iter().enumerate() {
            let (other, other_gone) = (&ends[1 - k], gone[1 - k]);
            if gone[k] {
                continue;
            }
            for &(var, fact) in end {
                let there = lookup(other, var);
                if k == 1 && there.is_some() && !other_gone {
                    continue;
                }
                let there = there.unwrap_or_else(|| before(self.facts, var));
                let agreed = match fact {
                    Fact::Constant(_) | Fact::Launch(_) if other_gone || there == fact => fact,
                    Fact::Constant(_) | Fact::Launch(_) | Fact::Copy(..) | Fact::Nothing => {
                        Fact::Nothing
                    }
                };
                joint.push((var, agreed));
            }
        }
        for (var, fact) in joint {
            self.facts.set(var, fact);
        }
    }

    fn repeat(&mut self, index: VarId, start: ExprId, end: ExprId, old: Block) -> Option<Stmt> {
        if let (Some(start), Some(end)) = (
            literal_i32(self.program, start),
            literal_i32(self.program, end),
        ) && start >= end
        {
            return None;
        }
        let mut changed = Vec::new();
        assigned(&old, &mut changed);
        changed.sort_unstable();
        changed.dedup();
        for &var in &changed {
            self.facts.set(var, Fact::Nothing);
        }
        let mut body = Vec::with_capacity(old.len());
        self.block(old, &mut body);
        for &var in &changed {
            self.facts.set(var, Fact::Nothing);
        }
        Some(Stmt::For {
            index,
            start,
            end,
            body,
        })
    }
}
