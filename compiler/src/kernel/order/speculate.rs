//! Where each step waits for its own values, and nobody else has anything to compute meanwhile, what follows from a choice
//! is computed for each of its outcomes before the choice is known.
//!
//! An agent's action is one of a few numbers, and known late: `push = if left { -1.0 } else { 1.0 }`, where `left` comes
//! from a network. What follows from it and decides what the next step begins with, `v += 0.1 * push`, `x += v`, is
//! computed for `-1` and for `1` while the network is; then `v` and `x` are chosen.
//!
//! Law: every value is what it was, to the bit: the same operations, on the outcomes that might have been, too. They
//! are few, and nothing else that an agent does.
//!
//! No pass of the pipeline, as it adds operations: a kernel's schedule asks for it.

use crate::{
    builtin::BuiltinId,
    ir::{BinaryOp, Block, Expr, ExprId, Len, Program, Stmt, Type, Value, VarId, VarKind},
    kernel::analysis::readiness::Times,
    passes::{
        fold::fold,
        names,
        rewrite::{Cloner, assigned, blocks, nodes_of, operands, reads, roots},
    },
};
use std::collections::{BTreeSet, HashMap};

/// Most outcomes of a choice.
const OUTCOMES: usize = 4;
/// Most operations that are computed in vain.
const VAIN: usize = 32;
/// Operations that must follow from a choice: for fewer, choosing last takes as long as it saves.
const FOLLOW: usize = 4;
/// By how many additions all else must be known earlier.
const EARLIER: i32 = 8;
/// Choices that are tried.
const TRIED: usize = 4;
/// Functions that take an instruction or two.
const CHEAP: [BuiltinId; 4] = [
    BuiltinId::MIN,
    BuiltinId::MAX,
    BuiltinId::CLAMP,
    BuiltinId::ABS,
];

/// Changes the first choice of the step that is worth it; returns how many it changed.
pub(crate) fn run(program: &mut Program) -> u32 {
    let mut times = Times::new(program);
    let mut tried = 0;
    for at in 0..program.step.len() {
        times.statement(program, &program.step[at]);
        let Stmt::Let { var, value } = program.step[at] else {
            continue;
        };
        if times.of(program, value) < EARLIER {
            continue;
        }
        let Some(outcomes) = Outcomes::of(program, var, value) else {
            continue;
        };
        if let Some(changed) = outcomes.follow(at, times.clone()) {
            *program = changed;
            return 1;
        }
        tried += 1;
        if tried == TRIED {
            break;
        }
    }
    0
}

/// A choice among numbers.
#[derive(Clone, Debug)]
enum Tree {
    /// By their number.
    Outcome(usize),
    Choice(ExprId, Box<Tree>, Box<Tree>),
}

impl Tree {
    /// None if this chooses among anything else. Adds to `numbers` what is new.
    fn of(program: &Program, value: ExprId, numbers: &mut Vec<Value>) -> Option<Tree> {
        match program[value] {
            Expr::Literal(number) => {
                let at = numbers.iter().position(|known| *known == number);
                Some(Tree::Outcome(at.unwrap_or_else(|| {
                    numbers.push(number);
                    numbers.len() - 1
                })))
            }
            Expr::Select {
                condition,
                accept,
                reject,
            } => {
                let [accept, reject] =
                    [accept, reject].map(|id| Tree::of(program, id, numbers).map(Box::new));
                Some(Tree::Choice(condition, accept?, reject?))
            }
            _ => None,
        }
    }

    /// Names its conditions.
    fn name(&self, program: &mut Program, new: &mut Block) {
        if let Tree::Choice(condition, accept, reject) = self {
            accept.name(program, new);
            reject.name(program, new);
            // A variable may change before it is asked again.
            let is_name = match program[*condition] {
                Expr::Read(var) => program[var].kind == VarKind::Let,
                _ => false,
            };
            if !is_name {
                new.push(names::extract(program, *condition).1);
            }
        }
    }

    /// The choice among other values, by outcome.
    fn choose(
        &self,
        program: &mut Program,
        values: &mut impl FnMut(&mut Program, usize) -> ExprId,
    ) -> ExprId {
        match self {
            Tree::Outcome(number) => values(program, *number),
            Tree::Choice(condition, accept, reject) => {
                let [accept, reject] = [accept, reject].map(|part| part.choose(program, values));
                let span = program.span(*condition);
                let condition = program.add(program[*condition].clone(), span);
                let choice = Expr::Select {
                    condition,
                    accept,
                    reject,
                };
                program.add(choice, span)
            }
        }
    }
}

/// What follows from a choice.
struct Outcomes {
    program: Program,
    /// The name of the choice, its value and what it chooses among.
    choice: VarId,
    value: ExprId,
    tree: Tree,
    /// By outcome: what stands for a variable that follows from the choice.
    copies: Vec<Cloner>,
    /// The variables that follow from it.
    follows: HashMap<VarId, Waits>,
    /// What the choice itself depends on, in this step or by way of the next.
    wanted: BTreeSet<VarId>,
    follow: usize,
    vain: usize,
}

/// Has a variable its value, or only those of the outcomes?
#[derive(Clone, Copy)]
enum Waits {
    Yes {
        /// Else it is a name that nobody has needed yet.
        assigned: bool,
    },
    No,
}

impl Outcomes {
    /// None if `value` is no choice among a few numbers.
    fn of(program: &Program, choice: VarId, value: ExprId) -> Option<Outcomes> {
        let mut numbers = Vec::new();
        Tree::of(program, value, &mut numbers)?;
        if !(2..=OUTCOMES).contains(&numbers.len()) {
            return None;
        }
        let mut program = program.clone();
        // Conditions get names where they are, and others may read the same nodes.
        let value = Cloner::default().expr(&mut program, value);
        let tree = Tree::of(&program, value, &mut numbers)?;
        let copies = numbers.into_iter().map(|number| {
            let mut copy = Cloner::default();
            copy.fix(choice, number);
            copy
        });
        Some(Outcomes {
            choice,
            value,
            tree,
            copies: copies.collect(),
            follows: HashMap::from([(choice, Waits::No)]),
            wanted: dependences(&program, choice),
            follow: 0,
            vain: 0,
            program,
        })
    }

    /// The program in which what follows from the choice, which the step's statement number `at` names, is computed by
    /// outcomes; none if that is not worth it. `times` are those after that statement.
    fn follow(mut self, at: usize, mut times: Times) -> Option<Program> {
        let (step, tree) = (std::mem::take(&mut self.program.step), self.tree.clone());
        let known = times.of(&self.program, self.value);
        let mut new: Block = step[..at].to_vec();
        tree.name(&mut self.program, &mut new);
        let (var, value) = (self.choice, self.value);
        new.push(Stmt::Let { var, value });
        for stmt in &step[at + 1..] {
            if !self.statement(stmt, (known, &mut times), &mut new) {
                self.settle(stmt, &mut new);
                new.push(stmt.clone());
            }
            times.statement(&self.program, stmt);
            if self.vain > VAIN {
                return None;
            }
        }
        self.choose(|_, assigned| assigned, &mut new);
        self.program.step = new;
        if self.follow < FOLLOW {
            return None;
        }
        if reads(&self.program)[var.0 as usize] == 0 {
            let names_it =
                |stmt: &Stmt| matches!(stmt, Stmt::Let { var, .. } if *var == self.choice);
            self.program.step.retain(|stmt| !names_it(stmt));
        }
        Some(self.program)
    }

    /// Computes a statement for each outcome, if it follows from the choice and is wanted, and all else that it reads
    /// is known before.
    fn statement(
        &mut self,
        stmt: &Stmt,
        (known, times): (i32, &mut Times),
        new: &mut Block,
    ) -> bool {
        let (var, value, assigned) = match *stmt {
            Stmt::Let { var, value } => (var, value, false),
            Stmt::Assign { var, value } => (var, value, true),
            _ => return false,
        };
        let is_number = matches!(
            self.program[var].ty,
            Type::F32 | Type::I32 | Type::U32 | Type::Bool
        ) && self.program[var].len == Len::One;
        let mut price = 0;
        if !is_number
            || !self.wanted.contains(&var)
            || !self.depends(value)
            || !self.is_cheap(value, (known, times), &mut price)
        {
            return false;
        }
        // It is changed where it is, and others may read the same nodes.
        let value = Cloner::default().expr(&mut self.program, value);
        self.share(value, new);
        let mut computed = 0;
        for at in 0..self.copies.len() {
            let copy = self.copies[at].expr(&mut self.program, value);
            self.fold(copy);
            if let Expr::Literal(number) = self.program[copy] {
                self.copies[at].fix(var, number);
                continue;
            }
            computed += 1;
            let name = self.program[var].name.clone();
            let ty = self.program[var].ty;
            let outcome = names::fresh(&mut self.program, name, ty, VarKind::Let);
            new.push(Stmt::Let {
                var: outcome,
                value: copy,
            });
            self.copies[at].rename(var, outcome);
        }
        if computed > 0 {
            self.follow += price;
            self.vain += price * (computed - 1);
        }
        self.follows.insert(var, Waits::Yes { assigned });
        true
    }

    /// Does it follow from the choice?
    fn depends(&self, id: ExprId) -> bool {
        match &self.program[id] {
            Expr::Read(var) => self.follows.contains_key(var),
            node => (operands(node).iter()).any(|&operand| self.depends(operand)),
        }
    }

    /// Is it made of a few operations, the rest known before the choice? Counts those that follow from it.
    fn is_cheap(&self, id: ExprId, (known, times): (i32, &mut Times), price: &mut usize) -> bool {
        if !self.depends(id) {
            return times.of(&self.program, id) + EARLIER <= known && !self.talks(id);
        }
        let node = &self.program[id];
        *price += match node {
            Expr::Read(_) => 0,
            // The reciprocal of what is known before is taken once.
            Expr::Binary(BinaryOp::Divide, _, divisor) if !self.depends(*divisor) => 1,
            Expr::Binary(BinaryOp::Divide | BinaryOp::Remainder, ..) => return false,
            Expr::Unary(..) | Expr::Binary(..) | Expr::Select { .. } | Expr::Convert { .. } => 1,
            Expr::Builtin(which, _) if CHEAP.contains(which) => 1,
            _ => return false,
        };
        (operands(node).iter()).all(|&operand| self.is_cheap(operand, (known, times), price))
    }

    /// Do lanes talk there? They have to come by together.
    fn talks(&self, id: ExprId) -> bool {
        let node = &self.program[id];
        matches!(node, Expr::AcrossLanes(..))
            || (operands(node).iter()).any(|&operand| self.talks(operand))
    }

    /// Names what does not follow from the choice, so that it is computed once.
    fn share(&mut self, id: ExprId, new: &mut Block) {
        for &operand in operands(&self.program[id]).iter() {
            if self.depends(operand) {
                self.share(operand, new);
            } else if !matches!(
                self.program[operand],
                Expr::Read(_) | Expr::Literal(_) | Expr::Launch(_)
            ) {
                let stmt = names::extract(&mut self.program, operand).1;
                insert(&self.program, stmt, new);
            }
        }
    }

    /// Makes literals of what is known.
    fn fold(&mut self, id: ExprId) {
        for &operand in operands(&self.program[id]).iter() {
            self.fold(operand);
        }
        if let Some(value) = fold(&self.program, &self.program[id]) {
            self.program.exprs[id.0 as usize] = Expr::Literal(value);
        }
    }

    /// Chooses what a statement needs that is not computed by outcomes.
    fn settle(&mut self, stmt: &Stmt, new: &mut Block) {
        let mut read = BTreeSet::new();
        let own = std::slice::from_ref(stmt);
        nodes_of(&self.program, own, &mut Vec::new(), &mut |node| {
            if let Expr::Read(var) = node {
                read.insert(*var);
            }
        });
        let mut changed = Vec::new();
        assigned(own, &mut changed);
        // An agent may stop here or inside, with the states that it has.
        let leaves =
            matches!(stmt, Stmt::Stop) || blocks(stmt).into_iter().flatten().next().is_some();
        let needs = |var: VarId, assigned: bool| {
            read.contains(&var) || changed.contains(&var) || (leaves && assigned)
        };
        self.choose(needs, new);
        for var in changed {
            self.follows.remove(&var);
            for copy in &mut self.copies {
                copy.rename(var, var);
            }
        }
    }

    /// Chooses the variables that wait for it and are `needed`.
    fn choose(&mut self, needed: impl Fn(VarId, bool) -> bool, new: &mut Block) {
        let mut waiting: Vec<(VarId, bool)> = (self.follows.iter())
            .filter_map(|(&var, &waits)| match waits {
                Waits::Yes { assigned } if needed(var, assigned) => Some((var, assigned)),
                Waits::Yes { .. } | Waits::No => None,
            })
            .collect();
        waiting.sort_unstable();
        for (var, assigned) in waiting {
            let span = self.program[var].span;
            let read = self.program.add(Expr::Read(var), span);
            let copies = &self.copies;
            let mut values =
                |program: &mut Program, outcome: usize| copies[outcome].expr(program, read);
            let value = self.tree.choose(&mut self.program, &mut values);
            new.push(match assigned {
                true => Stmt::Assign { var, value },
                false => Stmt::Let { var, value },
            });
            self.follows.insert(var, Waits::No);
        }
    }
}

/// Puts a name into a block as soon as all that it reads is there.
fn insert(program: &Program, stmt: Stmt, block: &mut Block) {
    let mut reads = Vec::new();
    read(program, &stmt, &mut reads);
    let gives = |before: &Stmt| {
        let mut given = Vec::new();
        sets(before, &mut given);
        given.iter().any(|var| reads.contains(var))
    };
    let at = block.iter().rposition(gives).map_or(0, |at| at + 1);
    block.insert(at, stmt);
}

/// What a statement gives a value, itself or inside.
fn sets(stmt: &Stmt, set: &mut Vec<VarId>) {
    assigned(std::slice::from_ref(stmt), set);
    if let Stmt::Let { var, .. } = stmt {
        set.push(*var);
    }
}

/// What a statement itself reads.
fn read(program: &Program, stmt: &Stmt, read: &mut Vec<VarId>) {
    let mut pending = roots(stmt).to_vec();
    while let Some(id) = pending.pop() {
        if let Expr::Read(var) | Expr::Element { array: var, .. } = program[id] {
            read.push(var);
        }
        pending.extend_from_slice(&operands(&program[id]));
    }
}

/// All that a name depends on, by way of any number of steps.
fn dependences(program: &Program, name: VarId) -> BTreeSet<VarId> {
    let mut statements = Vec::new();
    list(program, &program.step, &mut statements);
    let mut setters: HashMap<VarId, Vec<usize>> = HashMap::new();
    for (at, (set, _)) in statements.iter().enumerate() {
        for &var in set {
            setters.entry(var).or_default().push(at);
        }
    }
    let mut found = BTreeSet::from([name]);
    let mut pending = vec![name];
    while let Some(var) = pending.pop() {
        for at in setters.remove(&var).unwrap_or_default() {
            let new = statements[at].1.iter().filter(|read| found.insert(**read));
            pending.extend(new);
        }
    }
    found
}

/// What each statement of a block sets, itself or inside, and what it reads itself.
fn list(program: &Program, block: &[Stmt], statements: &mut Vec<(Vec<VarId>, Vec<VarId>)>) {
    for stmt in block {
        let (mut set, mut reads) = (Vec::new(), Vec::new());
        sets(stmt, &mut set);
        read(program, stmt, &mut reads);
        statements.push((set, reads));
        for inner in blocks(stmt).into_iter().flatten() {
            list(program, inner, statements);
        }
    }
}
