//! Register allocation. Pinned registers get one location each; the others share locations if their live
//! ranges do not overlap. The location that was freed last is reused first, since it is most likely to be in
//! the first-level cache.

use super::Span;
use crate::cpu::vector::{
    kernel::Lane,
    program::{Instruction, Register},
};
use std::ops::Range;

/// The result of register allocation.
pub(super) struct Places {
    /// By virtual register: its location.
    pub(super) of: Vec<Register>,
    /// The number of locations.
    pub(super) count: u32,
    /// The number of leading locations of pinned registers.
    pub(super) staying: u32,
}

/// No location yet.
const NOWHERE: Register = Register::MAX;

/// Allocates locations and rewrites the code.
///
/// `parts` has the first instruction of each part of the code. A register that is not pinned is used in one
/// part only. Its live range is from its first to its last mention, or to the end of a loop that mentions it
/// and before which it is written.
pub(super) fn allocate<L: Lane>(
    code: &mut [Instruction<L>],
    parts: &[usize],
    loops: &[Span],
    pinned: &[bool],
    hot: Range<usize>,
) -> Places {
    let mut places = place_pinned(code, pinned, hot);
    let lives = lives(code, loops, pinned.len());
    // By instruction: the registers whose live ranges end there.
    let mut ends = vec![Vec::new(); code.len()];
    for (register, life) in lives.iter().enumerate() {
        if !pinned[register] && life.start <= life.end {
            ends[life.end.min(code.len() - 1)].push(register);
        }
    }
    let first_free = places.count;
    let mut next_part = parts.iter().peekable();
    let mut free: Vec<Register> = Vec::new();
    let mut used = first_free;
    for (k, instruction) in code.iter_mut().enumerate() {
        if next_part.next_if(|&&start| start == k).is_some() {
            free.clear();
            used = first_free;
        }
        instruction.each_register(|register| {
            let place = &mut places.of[*register as usize];
            if *place == NOWHERE {
                *place = free.pop().unwrap_or_else(|| {
                    used += 1;
                    used - 1
                });
            }
            *register = *place;
        });
        if let Some(first) = instruction.array() {
            *first = places.of[*first as usize];
        }
        places.count = places.count.max(used);
        // Sources are freed after the destination is allocated, so they never share a location.
        free.extend(ends[k].iter().map(|&register| places.of[register]));
    }
    places
}

/// Allocates pinned registers in the order in which the hot part of the code mentions them, for the
/// processor's prefetcher. Arrays that are indexed at run time stay contiguous.
fn place_pinned<L: Lane>(
    code: &mut [Instruction<L>],
    pinned: &[bool],
    hot: Range<usize>,
) -> Places {
    let mut places = Places {
        of: vec![NOWHERE; pinned.len()],
        count: 0,
        staying: 0,
    };
    let mut whole = vec![0; pinned.len()];
    for instruction in code.iter_mut() {
        let words = instruction.array_words();
        if let Some(first) = instruction.array() {
            let place = &mut whole[*first as usize];
            *place = words.max(*place);
        }
    }
    let mut place = |first: usize, count: usize| {
        for of in &mut places.of[first..first + count] {
            *of = places.count;
            places.count += 1;
        }
    };
    // Register 0 is the first one; arrays follow.
    place(0, 1);
    let mut placed = vec![false; pinned.len()];
    placed[0] = true;
    for (first, &words) in whole.iter().enumerate() {
        if words > 0 && !placed[first] {
            place(first, words as usize);
            placed[first..first + words as usize].fill(true);
        }
    }
    let mut one = |register: usize| {
        if pinned[register] && !placed[register] {
            placed[register] = true;
            place(register, 1);
        }
    };
    for instruction in &mut code[hot] {
        instruction.each_register(|register| one(*register as usize));
    }
    (0..pinned.len()).for_each(one);
    places.staying = places.count;
    places
}

/// Live ranges by register.
fn lives<L: Lane>(code: &mut [Instruction<L>], loops: &[Span], registers: usize) -> Vec<Span> {
    let nothing = Span {
        start: usize::MAX,
        end: 0,
    };
    let mut lives = vec![nothing; registers];
    for (k, instruction) in code.iter_mut().enumerate() {
        instruction.each_register(|register| {
            let life = &mut lives[*register as usize];
            life.start = life.start.min(k);
            life.end = k;
        });
    }
    if loops.is_empty() {
        return lives;
    }
    // Inner loops precede the loops around them.
    for span in loops {
        for instruction in &mut code[span.start..span.end] {
            instruction.each_register(|register| {
                let life = &mut lives[*register as usize];
                if life.start < span.start {
                    life.end = life.end.max(span.end - 1);
                }
            });
        }
    }
    lives
}
