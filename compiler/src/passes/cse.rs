//! Common subexpression elimination: a value that is computed twice gets a name where it is computed first,
//! which the second place reads.
//!
//! By value numbering: two expressions have the same number if they are the same operation on operands of the
//! same numbers, and an assignment gives its variable the number of the value. After an `if` and around a
//! loop, whatever may have been assigned there gets a new number. The name goes right before the statement
//! that computes the value first, where all that it reads has the same values. It is in scope of the second
//! place because tables end with their block. `a + b` and `b + a` are the same to the bit.

use super::{
    names,
    rewrite::{assigned, leaves},
    shape::{Shape, is_trivial, shape},
};
use crate::ir::{
    BinaryOp, Block, Expr, ExprId, ExprMap, Launch, Len, Program, Section, Stmt, Value, VarId,
    VarKind, VarMap,
};
use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hash, Hasher},
};

/// Names every value that is computed twice.
pub(super) fn run(program: &mut Program) {
    let vars = program.vars.len() as u32;
    let mut numbering = Numbering {
        numbers: HashMap::with_capacity_and_hasher(program.exprs.len(), Default::default()),
        of_var: (0..vars).collect(),
        next: vars,
        log: Vec::new(),
        nodes: ExprMap::filled(Node::default(), program.exprs.len()),
        firsts: Vec::new(),
        taken: Vec::new(),
        frames: Vec::new(),
    };
    for place in program.sections() {
        // The tables of the prologue reach into the phases.
        if place == Section::Prologue {
            continue;
        }
        let mut prologue = Block::new();
        let mut block = std::mem::take(program.section_mut(place));
        if place.is_phase() {
            prologue = std::mem::take(&mut program.prologue);
            let mut states = program.states.clone();
            states.extend(&program.world_states);
            numbering.open();
            numbering.statements(program, &mut prologue);
            for state in states {
                numbering.renew(state);
            }
        }
        numbering.block(program, &mut block);
        if place.is_phase() {
            numbering.close(&mut prologue);
            program.prologue = prologue;
        }
        *program.section_mut(place) = block;
        numbering.rewind(0);
    }
}

/// The key of a value.
#[derive(PartialEq, Eq)]
struct Key {
    shape: Shape,
    operands: [u32; 5],
}

impl Key {
    fn leaf(expr: &Expr) -> Key {
        Key {
            shape: shape(expr),
            operands: [0; 5],
        }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Enough of a shape: those that differ elsewhere usually differ in their operands.
        let detail = match self.shape {
            Shape::Literal(_, [x, y, _, _]) => x ^ y.rotate_left(16),
            Shape::Double(bits) => bits as u32 ^ (bits >> 32) as u32,
            Shape::Launch(which) => match which {
                Launch::Agent => 0,
                Launch::Agents => 1,
                Launch::Steps => 2,
                Launch::Step => 3,
                Launch::Lane { .. } => 4,
                Launch::Member => 5,
                Launch::Members => 6,
                Launch::World => 7,
            },
            Shape::Rows(var) | Shape::Read(var) | Shape::Element(var) | Shape::Other(var) => var.0,
            Shape::Swizzle(count, which) => u32::from_le_bytes(which) ^ u32::from(count),
            Shape::Unary(op) => op as u32,
            Shape::Binary(op) => op as u32,
            Shape::AcrossLanes(op) | Shape::AcrossWorld(op) => op as u32,
            Shape::RandomWord(owner, _) => owner as u32,
            Shape::Splat(ty) | Shape::Convert(ty) | Shape::Bitcast(ty) => ty as u32,
            Shape::Call(function) => function.0,
            Shape::Builtin(_) | Shape::Compose | Shape::Select | Shape::Shuffle => 0,
        };
        let [a, b, c, d, e] = self.operands.map(u64::from);
        std::mem::discriminant(&self.shape).hash(state);
        state.write_u64(u64::from(detail) << 32 | a);
        state.write_u64(b << 32 | c);
        state.write_u64(d << 32 | e);
    }
}

/// Where a value was computed first.
#[derive(Clone, Copy)]
enum First {
    /// It has a name.
    Name(VarId),
    /// In this node, by statement `stmt` of the block of `frame`.
    Node {
        id: ExprId,
        frame: u32,
        stmt: u32,
        height: u32,
    },
}

#[derive(Clone, Copy, Default)]
struct Node {
    number: u32,
    height: u32,
}

/// A block that is being processed.
struct Frame {
    stmt: u32,
    /// Names to insert: before which statement, the height of the value's tree, and the name.
    names: Vec<(u32, u32, Stmt)>,
    /// How long `taken` was when the block began.
    taken: usize,
}

struct Numbering {
    numbers: HashMap<Key, u32, BuildHasherDefault<Mixer>>,
    of_var: VarMap<u32>,
    next: u32,
    /// Variables that got a new number, and their old one.
    log: Vec<(VarId, u32)>,
    nodes: ExprMap<Node>,
    /// Per number: where it is available.
    firsts: Vec<Option<First>>,
    /// The numbers that have become available, which are forgotten at the end of their block.
    taken: Vec<u32>,
    frames: Vec<Frame>,
}

impl Numbering {
    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn set(&mut self, var: VarId, number: u32) {
        // A name that this pass made is not read before.
        let before = self.of_var.grow(var, number);
        self.log.push((var, std::mem::replace(before, number)));
    }

    fn renew(&mut self, var: VarId) {
        let number = self.fresh();
        self.set(var, number);
    }

    /// Rolls back to an earlier length of the log; returns the variables that were set since.
    fn rewind(&mut self, mark: usize) -> Vec<VarId> {
        let mut vars = Vec::new();
        while self.log.len() > mark {
            let (var, number) = self.log.pop().expect("the log is longer than the mark");
            self.of_var[var] = number;
            vars.push(var);
        }
        vars
    }

    fn open(&mut self) {
        self.frames.push(Frame {
            stmt: 0,
            names: Vec::new(),
            taken: self.taken.len(),
        });
    }

    fn close(&mut self, block: &mut Block) {
        let mut frame = self.frames.pop().expect("every frame is closed once");
        for number in self.taken.drain(frame.taken..) {
            self.firsts[number as usize] = None;
        }
        if frame.names.is_empty() {
            return;
        }
        // A subtree is lower than the tree: its name comes first.
        frame
            .names
            .sort_by_key(|(stmt, height, _)| (*stmt, *height));
        let mut names = frame.names.into_iter().peekable();
        let mut new = Vec::with_capacity(block.len() + names.len());
        for (at, stmt) in std::mem::take(block).into_iter().enumerate() {
            while let Some((_, _, name)) = names.next_if(|(before, _, _)| *before as usize == at) {
                new.push(name);
            }
            new.push(stmt);
        }
        *block = new;
    }

    fn block(&mut self, program: &mut Program, block: &mut Block) {
        self.open();
        self.statements(program, block);
        self.close(block);
    }

    fn statements(&mut self, program: &mut Program, block: &mut Block) {
        for (at, stmt) in block.iter_mut().enumerate() {
            self.frames.last_mut().expect("a block is open").stmt = at as u32;
            let mut number = None;
            for &root in stmt.roots().iter() {
                let node = self.number(program, root);
                self.share(program, root);
                number = Some((root, node));
            }
            self.effect(program, stmt, number);
        }
    }

    fn effect(&mut self, program: &mut Program, stmt: &mut Stmt, value: Option<(ExprId, Node)>) {
        match (stmt, value) {
            (Stmt::Let { var, .. }, Some((root, node))) => {
                self.set(*var, node.number);
                if is_candidate(program, root) {
                    self.firsts[node.number as usize] = Some(First::Name(*var));
                }
            }
            (Stmt::Var { var, .. } | Stmt::Assign { var, .. }, Some((_, node))) => {
                self.set(*var, node.number);
            }
            (Stmt::Var { var, .. }, None) if program[*var].len == Len::One => {
                let zero = Expr::Literal(Value::zero(program[*var].ty));
                let number = self.lookup(Key::leaf(&zero));
                self.set(*var, number);
            }
            (Stmt::Var { var, .. } | Stmt::AssignElement { var, .. }, _) => self.renew(*var),
            (Stmt::If { accept, reject, .. }, _) => {
                let mark = self.log.len();
                let mut changed = Vec::new();
                for arm in [accept, reject] {
                    self.block(program, arm);
                    let set = self.rewind(mark);
                    if !leaves(arm) {
                        changed.extend(set);
                    }
                }
                self.renew_all(changed);
            }
            (Stmt::For { body, .. }, _) => {
                let mut changed = Vec::new();
                assigned(body, &mut changed);
                self.renew_all(changed.clone());
                self.block(program, body);
                self.renew_all(changed);
            }
            (Stmt::Let { .. } | Stmt::Assign { .. }, None)
            | (Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_), _) => {}
        }
    }

    fn renew_all(&mut self, mut vars: Vec<VarId>) {
        vars.sort_unstable();
        vars.dedup();
        for var in vars {
            self.renew(var);
        }
    }

    fn lookup(&mut self, key: Key) -> u32 {
        let next = self.next;
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.next += 1;
        }
        if self.firsts.len() < self.next as usize {
            self.firsts.resize(self.next as usize, None);
        }
        number
    }

    /// Numbers a tree.
    fn number(&mut self, program: &Program, id: ExprId) -> Node {
        let expr = &program[id];
        let node = if let Expr::Read(var) = expr {
            Node {
                number: self.of_var[var],
                height: 1,
            }
        } else {
            let mut key = Key::leaf(expr);
            let mut height = 0;
            let list = expr.operands();
            for (at, &operand) in list.iter().enumerate() {
                let node = self.number(program, operand);
                height = height.max(node.height);
                if let Some(slot) = key.operands.get_mut(at) {
                    *slot = node.number;
                }
            }
            if let Expr::Element { array, .. } = expr {
                key.operands[4] = self.of_var[array];
            } else if matches!(expr, Expr::Binary(op, _, _) if commutes(*op)) {
                key.operands[..2].sort_unstable();
            } else if list.len() > 4 {
                key.operands = [u32::MAX, id.0, 0, 0, 0];
            }
            Node {
                number: self.lookup(key),
                height: height + 1,
            }
        };
        self.nodes.reach(program.exprs.len(), Node::default());
        self.nodes[id] = node;
        node
    }

    /// Replaces parts of a numbered tree by what has been computed, and records what it computes itself.
    fn share(&mut self, program: &mut Program, id: ExprId) {
        let Node { number, height } = self.nodes[id];
        if is_candidate(program, id) {
            match self.firsts[number as usize] {
                Some(First::Name(var)) => {
                    program[id] = Expr::Read(var);
                    return;
                }
                Some(First::Node {
                    id: first,
                    frame,
                    stmt,
                    height,
                }) => {
                    let (var, name) = names::extract(program, first);
                    self.set(var, number);
                    let names = &mut self.frames[frame as usize].names;
                    names.push((stmt, height, name));
                    self.firsts[number as usize] = Some(First::Name(var));
                    program[id] = Expr::Read(var);
                    return;
                }
                None => {
                    let frame = self.frames.len() as u32 - 1;
                    self.firsts[number as usize] = Some(First::Node {
                        id,
                        frame,
                        stmt: self.frames[frame as usize].stmt,
                        height,
                    });
                    self.taken.push(number);
                }
            }
        }
        for &operand in program[id].operands().iter() {
            self.share(program, operand);
        }
    }
}

/// Is computing this twice more expensive than a name?
fn is_candidate(program: &Program, id: ExprId) -> bool {
    if let Expr::Element { array, index } = program[id] {
        let is_loaded = matches!(program[array].kind, VarKind::Data | VarKind::Input);
        return is_loaded || !is_trivial(program, index);
    }
    !is_trivial(program, id)
}

fn commutes(op: BinaryOp) -> bool {
    match op {
        BinaryOp::Add
        | BinaryOp::Multiply
        | BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor => true,
        BinaryOp::Subtract
        | BinaryOp::Divide
        | BinaryOp::Remainder
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => false,
    }
}

/// A hash for keys that no adversary chooses: multiply and rotate.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
}
