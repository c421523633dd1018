//! Finds the runs of instructions that become one function each: in one basic block, with nothing between
//! them but operations on scalars, which are moved before them.

use super::body::{Body, Node, Value};
use crate::cpu::vector::program::{Instruction, Known, Program, Register, Slot, Target};
use rustc_hash::FxHashSet;

/// The fewest instructions that are worth a function: few gain less than its call costs.
const FEWEST: usize = 4;
/// The most instructions of a function: its code stays within the processor's first cache.
const MOST: usize = 1000;
/// The most bits of the sets of live registers; programs with more run as they are.
const MOST_BITS: usize = 1 << 28;

/// A run of instructions.
#[derive(Debug)]
pub struct Segment {
    /// The first instruction.
    pub start: usize,
    /// The instruction after the last one.
    pub end: usize,
    /// What they compute.
    pub body: Body,
    /// The registers that are read later, and their values.
    pub stores: Vec<(Register, Value)>,
}

/// A basic block.
#[derive(Clone, Copy)]
struct Block {
    start: usize,
    end: usize,
    /// The blocks that follow it.
    next: [Option<usize>; 2],
}

/// A set of registers that do not live across steps.
#[derive(Clone)]
struct Set {
    words: Vec<u64>,
    first: Register,
}

impl Set {
    fn new(program: &Program) -> Set {
        let registers = program.registers - program.staying;
        Set {
            words: vec![0; (registers as usize).div_ceil(64)],
            first: program.staying,
        }
    }

    fn place(&self, register: Register) -> Option<(usize, u64)> {
        let bit = register.checked_sub(self.first)?;
        Some((bit as usize / 64, 1 << (bit % 64)))
    }

    fn insert(&mut self, register: Register) {
        if let Some((word, bit)) = self.place(register) {
            self.words[word] |= bit;
        }
    }

    fn remove(&mut self, register: Register) {
        if let Some((word, bit)) = self.place(register) {
            self.words[word] &= !bit;
        }
    }

    /// Registers that live across steps count as read.
    fn has(&self, register: Register) -> bool {
        (self.place(register)).is_none_or(|(word, bit)| self.words[word] & bit != 0)
    }

    fn add(&mut self, other: &Set) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word |= other;
        }
    }

    /// What is live before a block, given what is live after it; whether this is more than before.
    fn pass_block(&mut self, after: &Set, read: &Set, written: &Set) -> bool {
        let mut changed = false;
        for (k, word) in self.words.iter_mut().enumerate() {
            let live = read.words[k] | (after.words[k] & !written.words[k]);
            changed |= live != *word;
            *word = live;
        }
        changed
    }

    /// What is live before an instruction, given what is live after it.
    fn pass(&mut self, instruction: &Instruction<u32>) {
        let (read, written) = instruction.uses();
        written
            .into_iter()
            .for_each(|register| self.remove(register));
        read.into_iter().for_each(|register| self.insert(register));
    }
}

/// The segments of a program. Within them, operations on scalars are moved to the front.
pub fn find(program: &mut Program) -> Vec<Segment> {
    let blocks = blocks(&program.code);
    let registers = (program.registers - program.staying) as usize;
    if blocks.len().saturating_mul(registers) > MOST_BITS {
        return Vec::new();
    }
    let constants = Constants::new(program);
    let live = live(program, &blocks);
    let mut found = Vec::new();
    for (block, mut live) in blocks.iter().zip(live) {
        let mut segments = of_block(program, block, &constants);
        let mut after = block.end;
        for segment in segments.iter_mut().rev() {
            for instruction in program.code[segment.end..after].iter().rev() {
                live.pass(instruction);
            }
            let writes = segment.body.writes();
            segment.stores = writes.filter(|&(register, _)| live.has(register)).collect();
            after = segment.end;
        }
        found.append(&mut segments);
    }
    found
}

/// The scalars that nothing writes.
struct Constants {
    first: Slot,
    written: FxHashSet<Slot>,
    scalars: Vec<u32>,
}

impl Constants {
    fn new(program: &Program) -> Constants {
        let of_code = program
            .code
            .iter()
            .filter_map(|instruction| match instruction {
                Instruction::Scalar { to, .. }
                | Instruction::LoadScalar { to, .. }
                | Instruction::First { to, .. } => Some(*to),
                _ => None,
            });
        Constants {
            first: program.uniform_words + Known::COUNT,
            written: of_code
                .chain(program.rows.iter().map(|rows| rows.slot))
                .collect(),
            scalars: program.scalars.clone(),
        }
    }

    fn node(&self, slot: Slot) -> Node {
        if slot >= self.first && !self.written.contains(&slot) {
            return Node::Constant(self.scalars[slot as usize]);
        }
        Node::Scalar(slot)
    }
}

fn blocks(code: &[Instruction<u32>]) -> Vec<Block> {
    let mut leads = vec![false; code.len() + 1];
    leads[0] = true;
    for (k, instruction) in code.iter().enumerate() {
        let (to, _) = follows(instruction);
        if let Some(to) = to {
            leads[to as usize] = true;
        }
        if to.is_some() || matches!(instruction, Instruction::End) {
            leads[k + 1] = true;
        }
    }
    leads[code.len()] = true;
    let starts: Vec<usize> = (0..=code.len()).filter(|&k| leads[k]).collect();
    let number = |at: usize| starts.binary_search(&at).ok();
    (starts.windows(2))
        .map(|pair| {
            let (start, end) = (pair[0], pair[1]);
            let (to, falls) = follows(&code[end - 1]);
            Block {
                start,
                end,
                next: [
                    to.and_then(|to| number(to as usize)),
                    falls.then(|| number(end)).flatten(),
                ],
            }
        })
        .collect()
}

/// Where an instruction jumps, and whether the next one may follow.
fn follows(instruction: &Instruction<u32>) -> (Option<Target>, bool) {
    match instruction {
        Instruction::Jump(to) => (Some(*to), false),
        Instruction::JumpIfZero { to, .. } | Instruction::JumpIfNone { to, .. } => {
            (Some(*to), true)
        }
        Instruction::End => (None, false),
        _ => (None, true),
    }
}

/// By block: the registers that are live at its end.
fn live(program: &Program, blocks: &[Block]) -> Vec<Set> {
    let none = Set::new(program);
    // By block: what is read before it is written there, and what is written.
    let effects: Vec<[Set; 2]> = (blocks.iter())
        .map(|block| {
            let (mut read, mut written) = (none.clone(), none.clone());
            for instruction in program.code[block.start..block.end].iter().rev() {
                read.pass(instruction);
                let (_, destinations) = instruction.uses();
                destinations
                    .into_iter()
                    .for_each(|register| written.insert(register));
            }
            [read, written]
        })
        .collect();
    // By block: what is live where it begins, and where it ends.
    let mut begins = vec![none.clone(); blocks.len()];
    let mut ends = vec![none; blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (number, block) in blocks.iter().enumerate().rev() {
            for next in block.next.into_iter().flatten() {
                ends[number].add(&begins[next]);
            }
            let [read, written] = &effects[number];
            changed |= begins[number].pass_block(&ends[number], read, written);
        }
    }
    ends
}

fn of_block(program: &mut Program, block: &Block, constants: &Constants) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut start = block.start;
    while start < block.end {
        let (segment, moved) = from(&program.code[start..block.end], constants);
        let Some((body, length, first)) = segment else {
            start += moved.max(1);
            continue;
        };
        let end = start + length;
        let all = &mut program.code[start..end];
        all.sort_by_key(|instruction| !is_scalar(instruction));
        segments.push(Segment {
            start: start + first,
            end,
            body,
            stores: Vec::new(),
        });
        start = end;
    }
    segments
}

fn is_scalar(instruction: &Instruction<u32>) -> bool {
    matches!(
        instruction,
        Instruction::Scalar { .. } | Instruction::LoadScalar { .. }
    )
}

/// The operands of an instruction: so many registers, or scalars.
fn operands(
    body: &mut Body,
    arity: usize,
    (registers, slots): (&[Register; 5], &[Slot; 4]),
    constants: &Constants,
    read: &mut FxHashSet<Slot>,
) -> [Value; 4] {
    let mut operands = [0; 4];
    for operand in 0..arity {
        operands[operand] = match registers[operand + 1] {
            0 => {
                read.insert(slots[operand]);
                body.value(constants.node(slots[operand]))
            }
            register => body.read(register),
        };
    }
    operands
}

/// The segment at the front of instructions: its values, its instructions with those on scalars, and how many
/// these are. If there is none, how many instructions are no part of any.
fn from(code: &[Instruction<u32>], constants: &Constants) -> (Option<(Body, usize, usize)>, usize) {
    let mut body = Body::default();
    let mut read = FxHashSet::default();
    let (mut taken, mut scalars, mut length, mut before) = (0, 0, 0, 0);
    for (k, instruction) in code.iter().enumerate() {
        match *instruction {
            Instruction::Lanes {
                code,
                registers,
                slots,
                ..
            } if !body.may_read(registers[0]) => {
                let (arity, from) = (code.arity(), (&registers, &slots));
                let operands = operands(&mut body, arity, from, constants, &mut read);
                if !body.operate(code, registers[0], operands) {
                    break;
                }
            }
            Instruction::SineAndCosine {
                sine, cosine, from, ..
            } if !body.may_read(sine) && !body.may_read(cosine) => {
                let angle = body.read(from);
                let [sin, cos] = [body.sin(angle), body.cos(angle)];
                body.write(sine, sin);
                body.write(cosine, cos);
            }
            // What an element was when the segment began.
            Instruction::Pick { to, array, index } if !body.sets(array) && !body.may_read(to) => {
                read.insert(index);
                let value = body.element(array, index);
                body.write(to, value);
            }
            Instruction::Put {
                array,
                index,
                from,
                mask: 0,
            } => {
                let value = body.read(from);
                body.put(array, index, value);
                (taken, scalars, length) = (taken + 1, before, k + 1);
                break;
            }
            Instruction::Copy { to, from } if taken > 0 && !body.may_read(to) => {
                let value = body.read(from);
                body.write(to, value);
            }
            Instruction::Scalar { to, .. } | Instruction::LoadScalar { to, .. }
                if taken > 0 && !read.contains(&to) =>
            {
                before += 1;
                continue;
            }
            _ => break,
        }
        taken += 1;
        scalars = before;
        length = k + 1;
        if taken == MOST {
            break;
        }
    }
    // What is set in an array need not be stored before.
    let fewest = if body.put.is_some() { 2 } else { FEWEST };
    match taken >= fewest {
        true => (Some((body, length, scalars)), 0),
        false => (None, length),
    }
}
