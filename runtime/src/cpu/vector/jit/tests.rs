//! Every operation against its meaning in plain Rust, in bodies with more values than the processor has
//! registers, at every width that it has; and what the code consists of, also at those that it has not.

use super::{
    Constant, Function,
    body::{Body, Loop, Node, One, Three, Two, Value},
    constants::Constants,
    emit::emit,
    encode::STRIDE,
    memory::Executable,
    rare::Rare,
};
use crate::cpu::vector::{
    isa::Isa,
    kernel::{GROUP, LANES, Lanes},
    program::{AgentArray, Register},
};
use iced_x86::{Code, Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
use sim_compiler::builtin::math::{self, primary};

const ONES: [One; 13] = [
    One::Sqrt,
    One::Round,
    One::Floor,
    One::Ceil,
    One::Trunc,
    One::FloatOfI,
    One::Truncate,
    One::AbsI,
    One::ShiftLeft(23),
    One::ShiftRight(9),
    One::ShiftRightSigned(23),
    One::LowToHigh,
    One::HighToLow,
];

const TWOS: [Two; 28] = [
    Two::AddF,
    Two::SubF,
    Two::MulF,
    Two::DivF,
    Two::LesserF,
    Two::GreaterF,
    Two::And,
    Two::NotAnd,
    Two::Or,
    Two::Xor,
    Two::AddI,
    Two::SubI,
    Two::MulI,
    Two::MinI,
    Two::MaxI,
    Two::MinU,
    Two::MaxU,
    Two::WideProduct,
    Two::ShiftLeft,
    Two::ShiftRight,
    Two::ShiftRightSigned,
    Two::EqI,
    Two::GtI,
    Two::EqF,
    Two::NeF,
    Two::LtF,
    Two::LeF,
    Two::Unordered,
];

/// Numbers at the edges of what operations do.
const SPECIAL: [u32; 20] = [
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0x4020_0000,
    0xc020_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x0000_0001,
    0x0080_0000,
    0x7f7f_ffff,
    0x4f00_0000,
    0xcf00_0000,
    0x4eff_ffff,
    0x7fff_ffff,
    0xffff_ffff,
    31,
    0x4b80_0001,
];

/// Words that look random, the same for every call.
struct Words(u32);

impl Words {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = (self.0 >> ((self.0 >> 28) + 4) ^ self.0).wrapping_mul(277_803_737);
        word >> 22 ^ word
    }

    fn below(&mut self, count: usize) -> usize {
        self.next() as usize % count
    }

    fn value(&mut self) -> u32 {
        match self.next() % 3 {
            0 => SPECIAL[self.below(SPECIAL.len())],
            1 => ((self.next() >> 8) as f32 / 8_388_608.0 - 1.0).to_bits(),
            _ => self.next(),
        }
    }
}

fn mask(is_true: bool) -> u32 {
    if is_true { u32::MAX } else { 0 }
}

/// What an operation makes of a word; those of 64 bits have the other half beside it.
fn one(one: One, [a, other]: [u32; 2], is_high: bool) -> u32 {
    let x = f32::from_bits(a);
    match one {
        One::Sqrt => x.sqrt().to_bits(),
        One::Round => x.round_ties_even().to_bits(),
        One::Floor => x.floor().to_bits(),
        One::Ceil => x.ceil().to_bits(),
        One::Trunc => x.trunc().to_bits(),
        One::FloatOfI => (a as i32 as f32).to_bits(),
        One::Truncate => match (-2_147_483_648.0..2_147_483_648.0).contains(&x) {
            true => x as i32 as u32,
            false => 1 << 31,
        },
        One::AbsI => (a as i32).wrapping_abs() as u32,
        One::ShiftLeft(by) => a << by,
        One::ShiftRight(by) => a >> by,
        One::ShiftRightSigned(by) => ((a as i32) >> by) as u32,
        One::LowToHigh if is_high => other,
        One::HighToLow if !is_high => other,
        One::LowToHigh | One::HighToLow => 0,
    }
}

/// What an operation makes of two words; each with the other half of its 64 bits.
fn two(two: Two, [a, other_a]: [u32; 2], [b, other_b]: [u32; 2], is_high: bool) -> u32 {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    match two {
        Two::AddF => (x + y).to_bits(),
        Two::SubF => (x - y).to_bits(),
        Two::MulF => (x * y).to_bits(),
        Two::DivF => (x / y).to_bits(),
        Two::LesserF => {
            if x < y {
                a
            } else {
                b
            }
        }
        Two::GreaterF => {
            if x > y {
                a
            } else {
                b
            }
        }
        Two::And => a & b,
        Two::NotAnd => !a & b,
        Two::Or => a | b,
        Two::Xor => a ^ b,
        Two::AddI => a.wrapping_add(b),
        Two::SubI => a.wrapping_sub(b),
        Two::MulI => a.wrapping_mul(b),
        Two::MinI => (a as i32).min(b as i32) as u32,
        Two::MaxI => (a as i32).max(b as i32) as u32,
        Two::MinU => a.min(b),
        Two::MaxU => a.max(b),
        Two::WideProduct => match is_high {
            false => a.wrapping_mul(b),
            true => ((u64::from(other_a) * u64::from(other_b)) >> 32) as u32,
        },
        Two::ShiftLeft => a.checked_shl(b).unwrap_or(0),
        Two::ShiftRight => a.checked_shr(b).unwrap_or(0),
        Two::ShiftRightSigned => ((a as i32) >> b.min(31)) as u32,
        Two::EqI => mask(a == b),
        Two::GtI => mask(a as i32 > b as i32),
        Two::EqF => mask(x == y),
        Two::NeF => mask(x != y),
        Two::LtF => mask(x < y),
        Two::LeF => mask(x <= y),
        Two::Unordered => mask(x.is_nan() || y.is_nan()),
    }
}

/// The register of an element.
fn element(body: &Body, number: u32, scalars: &[u32]) -> Register {
    let (array, index) = body.elements[number as usize];
    let index = (scalars[index as usize] as i32).clamp(0, array.length as i32 - 1);
    array.first + index as u32 * array.stride + array.part
}

/// The values of a body in two neighbouring lanes, which are the halves of 64 bits.
fn evaluate(body: &Body, registers: &[Lanes<u32>], scalars: &[u32], lane: usize) -> Vec<[u32; 2]> {
    let mut values: Vec<[u32; 2]> = Vec::new();
    for node in &body.nodes {
        let of = |value: &Value| values[*value as usize];
        let swapped = |[low, high]: [u32; 2], is_high: bool| match is_high {
            false => [low, high],
            true => [high, low],
        };
        let each = [false, true];
        values.push(match node {
            Node::Register(register, _) => {
                let lanes = registers[*register as usize].all();
                [lanes[lane], lanes[lane + 1]]
            }
            Node::Element(number, _) => {
                let lanes = registers[element(body, *number, scalars) as usize].all();
                [lanes[lane], lanes[lane + 1]]
            }
            Node::Scalar(slot) => [scalars[*slot as usize]; 2],
            Node::Constant(bits) => [*bits; 2],
            Node::One(op, a) => each.map(|high| one(*op, swapped(of(a), high), high)),
            Node::Two(op, a, b) => {
                each.map(|high| two(*op, swapped(of(a), high), swapped(of(b), high), high))
            }
            Node::Three(op, [a, b, c]) => [0, 1].map(|k| {
                let [a, b, c] = [of(a)[k], of(b)[k], of(c)[k]];
                match op {
                    Three::Fma => {
                        let [a, b, c] = [a, b, c].map(f32::from_bits);
                        a.mul_add(b, c).to_bits()
                    }
                    Three::Select if a == u32::MAX => b,
                    Three::Select => c,
                    Three::Rare(_) if a == 0 => b,
                    Three::Rare(Rare::Sin) => math::sin(f32::from_bits(c)).to_bits(),
                    Three::Rare(Rare::Cos) => math::cos(f32::from_bits(c)).to_bits(),
                }
            }),
        });
    }
    values
}

/// A body of random operations on the registers 1 to 8, which are also written, in any order.
fn random_body(words: &mut Words, operations: usize) -> Body {
    let mut body = Body::default();
    let mut values: Vec<Value> = (1..=8).map(|register| body.read(register)).collect();
    values.extend((0..4).map(|slot| body.value(Node::Scalar(slot))));
    let array = AgentArray {
        first: 16,
        length: 5,
        stride: 2,
        part: 1,
    };
    values.extend((3..6).map(|index| body.element(array, index)));
    for _ in 0..6 {
        let bits = words.value();
        values.push(body.bits(bits));
    }
    // Masks, for selections.
    let mut masks = vec![body.bits(0), body.bits(u32::MAX)];
    for _ in 0..operations {
        // Some old values, so that many are alive.
        let any = |words: &mut Words| match words.next() % 4 {
            0 => values[words.below(values.len())],
            _ => values[values.len() - 1 - words.below(values.len().min(24))],
        };
        let [a, b, c] = [any(words), any(words), any(words)];
        let value = match words.next() % 9 {
            8 => {
                let (bound, rest) = (body.float(primary::LARGE), body.bits(!(1 << 31)));
                let size = body.two(Two::And, a, rest);
                let mask = body.two(Two::LtF, bound, size);
                let rare = [Rare::Sin, Rare::Cos][words.below(2)];
                body.rare(rare, mask, b, a)
            }
            0 | 1 => body.one(ONES[words.below(ONES.len())], a),
            2 => body.fma(a, b, c),
            3 => {
                let mask = masks[words.below(masks.len())];
                body.select(mask, a, b)
            }
            _ => {
                let op = TWOS[words.below(TWOS.len())];
                let value = body.two(op, a, b);
                let is_mask = matches!(
                    op,
                    Two::EqI
                        | Two::GtI
                        | Two::EqF
                        | Two::NeF
                        | Two::LtF
                        | Two::LeF
                        | Two::Unordered
                );
                if is_mask {
                    masks.push(value);
                }
                value
            }
        };
        values.push(value);
    }
    set_registers(&mut body, words, &values);
    body
}

/// Sets registers and an element to some values.
fn set_registers(body: &mut Body, words: &mut Words, values: &[Value]) {
    for register in 1..=12 {
        let value = values[values.len() - 1 - words.below(values.len().min(40))];
        body.write(register, value);
    }
    // One of the array from which elements were read, or of another.
    let array = AgentArray {
        first: [16, 26][words.below(2)],
        length: 4,
        stride: 1,
        part: 0,
    };
    let value = values[words.below(values.len())];
    body.put(array, words.below(6) as u32, value);
    // Registers that exchange what they have.
    let (a, b) = (body.read(13), body.read(14));
    body.write(13, b);
    body.write(14, a);
}

/// The same number, or both are NaN: processors differ about the bits of those.
fn is_same(a: u32, b: u32) -> bool {
    a == b || (f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan())
}

/// Whether a value's bits depend on those of a NaN: an operation on integers of one that floats made.
fn depends_on_nans(body: &Body, values: &[[u32; 2]]) -> Vec<bool> {
    let mut tainted = vec![false; values.len()];
    for value in 0..values.len() {
        let (operands, count) = body.nodes[value].operands();
        let makes_nan = values[value]
            .iter()
            .any(|&bits| f32::from_bits(bits).is_nan());
        let computes = match body.nodes[value] {
            Node::One(op, _) => matches!(
                op,
                One::Sqrt | One::Round | One::Floor | One::Ceil | One::Trunc
            ),
            Node::Two(op, ..) => matches!(op, Two::AddF | Two::SubF | Two::MulF | Two::DivF),
            Node::Three(op, _) => op != Three::Select,
            Node::Register(..) | Node::Element(..) | Node::Scalar(_) | Node::Constant(_) => false,
        };
        tainted[value] = (computes && makes_nan)
            || operands[..count]
                .iter()
                .any(|&operand| tainted[operand as usize]);
    }
    tainted
}

#[test]
fn functions_compute_what_the_operations_mean() {
    let sets: Vec<(Isa, &[u32])> = (Isa::available().into_iter())
        .filter(|&isa| isa != Isa::Portable)
        .flat_map(|isa| {
            // The last one divides a group of lanes.
            let four: &[u32] = if isa == Isa::Avx2 { &[4] } else { &[4, 2] };
            [(isa, &[1][..]), (isa, &[2]), (isa, four)]
        })
        .collect();
    let mut words = Words(1);
    let mut compared = 0_u64;
    for round in 0..400 {
        let body = random_body(&mut words, 10 + round);
        let stores: Vec<(Register, Value)> = body.writes().collect();
        let (number, put) = body.put.expect("an element");
        let before: Vec<Lanes<u32>> = (0..30)
            .map(|_| {
                let mut lanes = Lanes::ZERO;
                lanes.all_mut().fill_with(|| words.value());
                lanes
            })
            .collect();
        let mut scalars: Vec<u32> = (0..4).map(|_| words.value()).collect();
        scalars.extend([words.below(5) as u32, words.below(8) as u32]);
        let count = GROUP * (1 + words.below(LANES / GROUP));
        let expected: Vec<_> = (0..count)
            .step_by(2)
            .map(|lane| evaluate(&body, &before, &scalars, lane))
            .collect();
        for &(isa, copies) in &sets {
            let after = run(
                &body,
                &stores,
                (isa, copies),
                before.clone(),
                &scalars,
                count,
            );
            let all = stores.iter().copied();
            let all: Vec<(Register, Value)> = all
                .chain([(element(&body, number, &scalars), put)])
                .collect();
            for (pair, values) in expected.iter().enumerate() {
                let tainted = depends_on_nans(&body, values);
                for &(register, value) in all.iter().filter(|it| !tainted[it.1 as usize]) {
                    for (half, wanted) in values[value as usize].into_iter().enumerate() {
                        let got = after[register as usize].all()[2 * pair + half];
                        compared += 1;
                        assert!(
                            is_same(got, wanted),
                            "round {round}, {isa}, {copies:?} copies, {register}: {got:#x}, not {wanted:#x}"
                        );
                    }
                }
            }
            // Lanes that are not run keep what they had.
            for (after, before) in after.iter().zip(&before) {
                assert_eq!(after.all()[count..], before.all()[count..]);
            }
        }
    }
    assert!(sets.is_empty() || compared > 100_000);
}

fn run(
    body: &Body,
    stores: &[(Register, Value)],
    (isa, copies): (Isa, &[u32]),
    mut registers: Vec<Lanes<u32>>,
    scalars: &[u32],
    count: usize,
) -> Vec<Lanes<u32>> {
    let mut constants = Constants::default();
    let loops: Vec<Loop> = (copies.iter())
        .map(|&copies| Loop::with_copies(body, stores, copies))
        .collect();
    let code = emit(&loops, isa, &mut constants).expect("a small stack");
    let constants: Vec<Constant> = constants
        .bits
        .iter()
        .map(|&it| Constant([it; 16]))
        .collect();
    let memory = Executable::new(&code).expect("executable memory");
    // SAFETY: it is a function for these registers, scalars and constants, and the processor has its
    // instructions.
    unsafe {
        let function = std::mem::transmute::<*const u8, Function>(memory.at(0));
        function(
            registers.as_mut_ptr(),
            scalars.as_ptr(),
            count * size_of::<u32>(),
            constants.as_ptr(),
        );
    }
    registers
}

/// Code for both widths, whatever this processor has: each instruction is one that exists, memory is reached
/// through the function's four arguments and its stack alone, the only jumps are those of its loops and of
/// its slow paths, and what it calls is known.
#[test]
fn code_is_what_it_should_be() {
    let mut words = Words(2);
    let mut slow_paths = 0;
    for round in 0..100 {
        let body = random_body(&mut words, 5 + 4 * round as usize);
        let stores: Vec<(Register, Value)> = body.writes().collect();
        for isa in [Isa::Avx2, Isa::Avx512] {
            let mut constants = Constants::default();
            let loops = [1 + round % 2, 1].map(|it| Loop::with_copies(&body, &stores, it));
            let code = emit(&loops, isa, &mut constants).expect("a small stack");
            let all: Vec<Instruction> = Decoder::with_ip(64, &code, 0, DecoderOptions::NONE)
                .iter()
                .collect();
            let length: usize = all.iter().map(Instruction::len).sum();
            assert_eq!(length, code.len());
            assert!(all.iter().all(|it| !it.is_invalid()));
            let end = 1 + position(&all, Mnemonic::Ret);
            let (function, rest) = all.split_at(end);
            let jumps: Vec<&Instruction> = (function.iter())
                .filter(|it| it.op_kinds().any(|kind| kind == OpKind::NearBranch64))
                .filter(|it| it.mnemonic() != Mnemonic::Jne)
                .collect();
            let [over, back, over_rest, back_rest] = jumps[..] else {
                panic!("{} jumps", jumps.len());
            };
            for (over, back) in [(over, back), (over_rest, back_rest)] {
                assert_eq!(
                    [over.mnemonic(), back.mnemonic()],
                    [Mnemonic::Ja, Mnemonic::Jbe]
                );
                assert_eq!(over.near_branch64(), back.next_ip());
                assert_eq!(back.near_branch64(), over.next_ip());
            }
            for instruction in function {
                check_memory(instruction, constants.bits.len(), isa, 0);
            }
            slow_paths += check_slow_paths(function, rest, isa);
        }
    }
    assert!(slow_paths > 1000, "{slow_paths}");
}

fn position(all: &[Instruction], mnemonic: Mnemonic) -> usize {
    let found = all.iter().position(|it| it.mnemonic() == mnemonic);
    found.unwrap_or_else(|| panic!("no {mnemonic:?}"))
}

/// The number of slow paths of a function. Behind it are a function that keeps all registers, and calls of
/// it, one for each jump out of the loops.
fn check_slow_paths(function: &[Instruction], rest: &[Instruction], isa: Isa) -> usize {
    let jumps: Vec<&Instruction> = (function.iter())
        .filter(|it| it.mnemonic() == Mnemonic::Jne)
        .collect();
    if jumps.is_empty() {
        assert!(rest.is_empty());
        return 0;
    }
    let (save, paths) = rest.split_at(1 + position(rest, Mnemonic::Ret));
    assert_eq!(
        save.iter()
            .filter(|it| it.code() == Code::Call_rm64)
            .count(),
        1
    );
    for instruction in save {
        assert!(
            !instruction
                .op_kinds()
                .any(|kind| kind == OpKind::NearBranch64)
        );
        check_memory(instruction, 0, isa, 8);
    }
    let known = [Rare::Sin, Rare::Cos].map(|rare| rare.replace() as usize as u64);
    let paths: Vec<&[Instruction]> = paths.chunks(6).collect();
    assert_eq!(paths.len(), jumps.len());
    for (jump, path) in jumps.iter().zip(&paths) {
        let [first, argument, address, call, last, back] = path else {
            panic!("{path:?}");
        };
        assert_eq!(jump.near_branch64(), first.ip());
        assert!(known.contains(&address.immediate64()));
        assert_eq!(call.near_branch64(), save[0].ip());
        assert_eq!(back.near_branch64(), jump.next_ip());
        for instruction in [first, argument, last] {
            check_memory(instruction, 0, isa, 0);
        }
    }
    jumps.len()
}

/// `pushed` bytes are on the stack above the function's own.
fn check_memory(instruction: &Instruction, constants: usize, isa: Isa, pushed: usize) {
    use iced_x86::Register::{R9, RAX, RCX, RDI, RSI, RSP};
    let has_memory = instruction.op_kinds().any(|kind| kind == OpKind::Memory);
    if !has_memory || instruction.mnemonic() == Mnemonic::Lea {
        return;
    }
    let displacement = instruction.memory_displacement64() as usize;
    match instruction.memory_base() {
        RDI => {
            assert_eq!(instruction.memory_index(), RAX);
            assert!(displacement / STRIDE < 16 && displacement % STRIDE < 2 * 64);
        }
        R9 => {
            assert_eq!(instruction.memory_index(), RAX);
            assert!(displacement < 4 * 64);
        }
        RSI => assert!(displacement / 4 < 6),
        RCX => assert!(displacement / 64 < constants),
        RSP => {
            let width = if isa == Isa::Avx512 { 64 } else { 32 };
            let slot = displacement - pushed;
            let is_address = instruction.op_kinds().any(|kind| kind == OpKind::Register)
                && [instruction.op0_register(), instruction.op1_register()]
                    .iter()
                    .any(|register| register.is_gpr64());
            let unit = if is_address { 8 } else { width };
            assert!(slot.is_multiple_of(unit) && slot < 1 << 15);
        }
        other => panic!("memory at {other:?}: {instruction:?}"),
    }
    let writes = instruction.op0_kind() == OpKind::Memory;
    assert!(!writes || matches!(instruction.memory_base(), RDI | RSP | R9));
}
