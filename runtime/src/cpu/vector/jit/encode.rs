//! Instructions of the processor for each operation, in the two encodings: VEX with 256 bits, EVEX with 512.

mod frame;

pub use frame::SlowPath;

use super::body::{One, Two};
use crate::cpu::vector::{isa::Isa, kernel::LANES, program::Register as Lane};
use iced_x86::{Code, Encoder, IcedError, Instruction, MemoryOperand, Register};

/// Bytes of a register of the machine, with what keeps registers from the same sets of the cache.
pub const STRIDE: usize = size_of::<crate::cpu::vector::kernel::Lanes<u32>>();

/// A register of the processor.
pub type Vector = u8;

/// A mask register of the processor.
pub type Mask = u8;

/// Where a value that is in no register of the processor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a register of the machine: the vector of that number of those of an iteration.
    Lanes(Lane, u32),
    /// In a register of the machine whose address is on the stack.
    Element {
        /// Where the address is, in bytes.
        address: u32,
        /// The vector, as above.
        copy: u32,
    },
    /// On the stack: in the slot of that number.
    Stack(u32),
    /// Among the constants.
    Constant(u32),
}

/// An operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// A register of the processor.
    Vector(Vector),
    /// Memory.
    Memory(Place),
}

/// Two instructions by their names: of 256 and of 512 bits.
macro_rules! both {
    ($vex:ident, $evex:ident) => {
        [Code::$vex, Code::$evex]
    };
}

/// Writes the code of one function.
pub struct Assembler {
    isa: Isa,
    encoder: Encoder,
    /// The number of bytes so far.
    at: u64,
}

/// What the functions take, and where they keep it: the machine's registers, its scalars, the bytes of the
/// lanes to run; the byte of the first lane of an iteration; the constants.
const LANES_AT: Register = Register::RDI;
const SCALARS: Register = Register::RSI;
const BYTES: Register = Register::RDX;
const OFFSET: Register = Register::RAX;
const CONSTANTS: Register = Register::RCX;
/// The address of the register of the machine that the next instruction reads.
const ELEMENT_AT: Register = Register::R9;

/// Bytes of an address.
pub const ADDRESS: u32 = 8;

/// Loads a vector, or copies it.
const LOAD: [Code; 2] = [
    Code::VEX_Vmovaps_ymm_ymmm256,
    Code::EVEX_Vmovaps_zmm_k1z_zmmm512,
];
/// Stores a vector.
const STORE: [Code; 2] = [
    Code::VEX_Vmovaps_ymmm256_ymm,
    Code::EVEX_Vmovaps_zmmm512_k1z_zmm,
];

/// Bytes of a constant, which is in all lanes of the widest vectors.
pub const CONSTANT: usize = 64;

impl Assembler {
    /// For a processor that has AVX2, or AVX-512 as [`Isa`] says.
    pub fn new(isa: Isa) -> Assembler {
        Assembler {
            isa,
            encoder: Encoder::new(64),
            at: 0,
        }
    }

    /// Bytes of a vector.
    pub fn width(&self) -> u32 {
        width(self.isa)
    }

    fn is_512(&self) -> bool {
        self.isa == Isa::Avx512
    }

    fn pick(&self, [vex, evex]: [Code; 2]) -> Code {
        if self.is_512() { evex } else { vex }
    }

    fn register(&self, vector: Vector) -> Register {
        let first = match self.is_512() {
            true => Register::ZMM0,
            false => Register::YMM0,
        };
        first + u32::from(vector)
    }

    /// A place as an operand of the next instruction.
    fn memory(&mut self, place: Place) -> MemoryOperand {
        let (base, index, displacement) = match place {
            Place::Element { address, copy } => {
                let from = on_stack(address.into());
                self.put(Instruction::with2(Code::Mov_r64_rm64, ELEMENT_AT, from));
                (ELEMENT_AT, OFFSET, i64::from(copy * self.width()))
            }
            Place::Lanes(register, copy) => {
                let bytes = register as i64 * STRIDE as i64 + i64::from(copy * self.width());
                (LANES_AT, OFFSET, bytes)
            }
            Place::Stack(slot) => {
                let bytes = i64::from(slot) * i64::from(self.width());
                (Register::RSP, Register::None, bytes)
            }
            Place::Constant(number) => {
                let bytes = i64::from(number) * CONSTANT as i64;
                (CONSTANTS, Register::None, bytes)
            }
        };
        MemoryOperand::new(base, index, 1, displacement, 1, false, Register::None)
    }

    fn put(&mut self, instruction: Result<Instruction, IcedError>) {
        let instruction = instruction.expect("internal error: operands that an instruction has");
        let encoded = self.encoder.encode(&instruction, self.at);
        self.at += encoded.expect("internal error: an instruction that can be encoded") as u64;
    }

    /// `to = a op b`
    fn three(&mut self, code: Code, to: Register, a: Register, b: Operand) {
        let made = match b {
            Operand::Vector(b) => Instruction::with3(code, to, a, self.register(b)),
            Operand::Memory(place) => Instruction::with3(code, to, a, self.memory(place)),
        };
        self.put(made);
    }

    /// `to = op a`
    fn two(&mut self, code: Code, to: Register, a: Operand) {
        let made = match a {
            Operand::Vector(a) => Instruction::with2(code, to, self.register(a)),
            Operand::Memory(place) => Instruction::with2(code, to, self.memory(place)),
        };
        self.put(made);
    }

    fn with_number(&mut self, code: Code, to: Register, a: Operand, number: u32) {
        let made = match a {
            Operand::Vector(a) => Instruction::with3(code, to, self.register(a), number),
            Operand::Memory(place) => Instruction::with3(code, to, self.memory(place), number),
        };
        self.put(made);
    }

    fn three_with_number(
        &mut self,
        code: Code,
        to: Register,
        a: Register,
        b: Operand,
        number: u32,
    ) {
        let made = match b {
            Operand::Vector(b) => Instruction::with4(code, to, a, self.register(b), number),
            Operand::Memory(place) => Instruction::with4(code, to, a, self.memory(place), number),
        };
        self.put(made);
    }

    /// Loads or copies.
    pub fn load(&mut self, to: Vector, from: Operand) {
        let code = self.pick(LOAD);
        self.two(code, self.register(to), from);
    }

    /// Stores.
    pub fn store(&mut self, to: Place, from: Vector) {
        let code = self.pick(STORE);
        let made = Instruction::with2(code, self.memory(to), self.register(from));
        self.put(made);
    }

    /// `to = one(a)`; where the operation takes no memory, `a` is a register.
    pub fn one(&mut self, one: One, to: Vector, a: Operand) {
        let to = self.register(to);
        let (codes, number) = code_of_one(one);
        let code = self.pick(codes);
        match number {
            Some(number) => self.with_number(code, to, a, number),
            None => self.two(code, to, a),
        }
    }

    /// Whether the operation takes its operand from memory.
    pub fn one_takes_memory(&self, one: One) -> bool {
        match one {
            One::Sqrt
            | One::Round
            | One::Floor
            | One::Ceil
            | One::Trunc
            | One::FloatOfI
            | One::Truncate
            | One::AbsI => true,
            One::ShiftLeft(_)
            | One::ShiftRight(_)
            | One::ShiftRightSigned(_)
            | One::LowToHigh
            | One::HighToLow => self.is_512(),
        }
    }

    /// `to = a op b`
    pub fn operation(&mut self, two: Two, to: Vector, a: Vector, b: Operand) {
        let (to, a) = (self.register(to), self.register(a));
        if !two.compares() {
            return self.three(self.pick(codes(two)), to, a, b);
        }
        if !self.is_512() {
            return self.compare_into(two, to, a, b);
        }
        self.compare_into(two, Register::K1, a, b);
        let code = Code::EVEX_Vpmovm2d_zmm_kr;
        self.put(Instruction::with2(code, to, Register::K1));
    }

    /// `to = a op b` for a comparison, with a mask register.
    pub fn compare(&mut self, two: Two, to: Mask, a: Vector, b: Operand) {
        let a = self.register(a);
        self.compare_into(two, mask(to), a, b);
    }

    /// The result of a comparison is in a mask register with EVEX, in a vector with VEX.
    fn compare_into(&mut self, two: Two, to: Register, a: Register, b: Operand) {
        match predicate(two) {
            Some(predicate) => {
                let code = self.pick(both!(
                    VEX_Vcmpps_ymm_ymm_ymmm256_imm8,
                    EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae
                ));
                self.three_with_number(code, to, a, b, predicate);
            }
            None => self.three(self.pick(codes(two)), to, a, b),
        }
    }

    /// `to = mask ? a : b`
    pub fn blend(&mut self, to: Vector, by: Mask, a: Operand, b: Vector) {
        let [to, b] = [to, b].map(|vector| self.register(vector));
        let code = Code::EVEX_Vblendmps_zmm_k1z_zmm_zmmm512b32;
        let made = match a {
            Operand::Vector(a) => Instruction::with3(code, to, b, self.register(a)),
            Operand::Memory(place) => Instruction::with3(code, to, b, self.memory(place)),
        };
        self.put(made.map(|mut instruction| {
            instruction.set_op_mask(mask(by));
            instruction
        }));
    }

    /// `to = a * to + c`
    pub fn fma_213(&mut self, to: Vector, a: Vector, c: Operand) {
        let code = self.pick([
            Code::VEX_Vfmadd213ps_ymm_ymm_ymmm256,
            Code::EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er,
        ]);
        self.three(code, self.register(to), self.register(a), c);
    }

    /// `to = a * b + to`
    pub fn fma_231(&mut self, to: Vector, a: Vector, b: Operand) {
        let code = self.pick([
            Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256,
            Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er,
        ]);
        self.three(code, self.register(to), self.register(a), b);
    }

    /// Whether a selection overwrites its mask.
    pub fn selects_into_mask(&self) -> bool {
        self.is_512()
    }

    /// `to = mask ? a : b`; `to` is the mask where [`Assembler::selects_into_mask`].
    pub fn select(&mut self, to: Vector, mask: Vector, a: Operand, b: Operand) {
        let [to, mask] = [to, mask].map(|vector| self.register(vector));
        if self.is_512() {
            assert_eq!(
                to, mask,
                "internal error: a selection from a mask elsewhere"
            );
            let Operand::Vector(a) = a else {
                unreachable!("memory is the last operand");
            };
            let code = Code::EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8;
            self.three_with_number(code, to, self.register(a), b, 0xca);
            return;
        }
        let Operand::Vector(b) = b else {
            unreachable!("memory is the second operand");
        };
        let code = Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm;
        let b = self.register(b);
        let made = match a {
            Operand::Vector(a) => Instruction::with4(code, to, b, self.register(a), mask),
            Operand::Memory(place) => Instruction::with4(code, to, b, self.memory(place), mask),
        };
        self.put(made);
    }

    /// Adds code that does not depend on where it is.
    fn append(&mut self, code: &[u8]) {
        let mut all = self.encoder.take_buffer();
        all.extend_from_slice(code);
        self.encoder.set_buffer(all);
        self.at += code.len() as u64;
    }

    /// The code.
    pub fn finish(mut self) -> Vec<u8> {
        self.encoder.take_buffer()
    }
}

/// So many bytes from the end of the stack.
fn on_stack(bytes: i64) -> MemoryOperand {
    let none = Register::None;
    MemoryOperand::new(Register::RSP, none, 1, bytes, 1, false, none)
}

/// Bytes of a vector.
pub fn width(isa: Isa) -> u32 {
    if isa == Isa::Avx512 { 64 } else { 32 }
}

/// Vectors that the processor has.
pub fn vectors(isa: Isa) -> usize {
    if isa == Isa::Avx512 { 32 } else { 16 }
}

/// Mask registers for values. K1 is for masks that the next instruction uses, K0 means none.
pub fn masks(isa: Isa) -> std::ops::Range<Mask> {
    if isa == Isa::Avx512 { 2..8 } else { 0..0 }
}

fn mask(number: Mask) -> Register {
    Register::K0 + u32::from(number)
}

/// The predicate of a comparison of floats: those that a NaN does not fulfil, except for `!=`.
fn predicate(two: Two) -> Option<u32> {
    match two {
        Two::EqF => Some(0x00),
        Two::NeF => Some(0x04),
        Two::LtF => Some(0x11),
        Two::LeF => Some(0x12),
        Two::Unordered => Some(0x03),
        _ => None,
    }
}

/// The instructions of an operation on one value, and their number if they take one.
fn code_of_one(one: One) -> ([Code; 2], Option<u32>) {
    let round = both!(
        VEX_Vroundps_ymm_ymmm256_imm8,
        EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae
    );
    // Without exceptions for inexact results.
    let mode = |mode: u32| (round, Some(mode | 8));
    match one {
        One::Sqrt => (
            both!(VEX_Vsqrtps_ymm_ymmm256, EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er),
            None,
        ),
        One::Round => mode(0),
        One::Floor => mode(1),
        One::Ceil => mode(2),
        One::Trunc => mode(3),
        One::FloatOfI => (
            both!(
                VEX_Vcvtdq2ps_ymm_ymmm256,
                EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er
            ),
            None,
        ),
        One::Truncate => (
            both!(
                VEX_Vcvttps2dq_ymm_ymmm256,
                EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae
            ),
            None,
        ),
        One::AbsI => (
            both!(VEX_Vpabsd_ymm_ymmm256, EVEX_Vpabsd_zmm_k1z_zmmm512b32),
            None,
        ),
        One::ShiftLeft(by) => (
            both!(VEX_Vpslld_ymm_ymm_imm8, EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8),
            Some(by.into()),
        ),
        One::ShiftRight(by) => (
            both!(VEX_Vpsrld_ymm_ymm_imm8, EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8),
            Some(by.into()),
        ),
        One::ShiftRightSigned(by) => (
            both!(VEX_Vpsrad_ymm_ymm_imm8, EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8),
            Some(by.into()),
        ),
        One::LowToHigh => (
            both!(VEX_Vpsllq_ymm_ymm_imm8, EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8),
            Some(32),
        ),
        One::HighToLow => (
            both!(VEX_Vpsrlq_ymm_ymm_imm8, EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8),
            Some(32),
        ),
    }
}

/// The instructions of an operation whose result is a vector in both encodings.
fn codes(two: Two) -> [Code; 2] {
    match two {
        Two::AddF => both!(
            VEX_Vaddps_ymm_ymm_ymmm256,
            EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er
        ),
        Two::SubF => both!(
            VEX_Vsubps_ymm_ymm_ymmm256,
            EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er
        ),
        Two::MulF => both!(
            VEX_Vmulps_ymm_ymm_ymmm256,
            EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er
        ),
        Two::DivF => both!(
            VEX_Vdivps_ymm_ymm_ymmm256,
            EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er
        ),
        Two::LesserF => both!(
            VEX_Vminps_ymm_ymm_ymmm256,
            EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae
        ),
        Two::GreaterF => both!(
            VEX_Vmaxps_ymm_ymm_ymmm256,
            EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae
        ),
        Two::EqF | Two::NeF | Two::LtF | Two::LeF | Two::Unordered => {
            unreachable!("internal error: a comparison has a predicate")
        }
        _ => codes_of_bits(two),
    }
}

fn codes_of_bits(two: Two) -> [Code; 2] {
    match two {
        Two::And => both!(
            VEX_Vpand_ymm_ymm_ymmm256,
            EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32
        ),
        Two::NotAnd => both!(
            VEX_Vpandn_ymm_ymm_ymmm256,
            EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32
        ),
        Two::Or => both!(VEX_Vpor_ymm_ymm_ymmm256, EVEX_Vpord_zmm_k1z_zmm_zmmm512b32),
        Two::Xor => both!(
            VEX_Vpxor_ymm_ymm_ymmm256,
            EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32
        ),
        Two::ShiftLeft => both!(
            VEX_Vpsllvd_ymm_ymm_ymmm256,
            EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32
        ),
        Two::ShiftRight => both!(
            VEX_Vpsrlvd_ymm_ymm_ymmm256,
            EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32
        ),
        Two::ShiftRightSigned => both!(
            VEX_Vpsravd_ymm_ymm_ymmm256,
            EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32
        ),
        _ => codes_of_integers(two),
    }
}

fn codes_of_integers(two: Two) -> [Code; 2] {
    match two {
        Two::AddI => both!(
            VEX_Vpaddd_ymm_ymm_ymmm256,
            EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32
        ),
        Two::SubI => both!(
            VEX_Vpsubd_ymm_ymm_ymmm256,
            EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32
        ),
        Two::MulI => both!(
            VEX_Vpmulld_ymm_ymm_ymmm256,
            EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32
        ),
        Two::MinI => both!(
            VEX_Vpminsd_ymm_ymm_ymmm256,
            EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32
        ),
        Two::MaxI => both!(
            VEX_Vpmaxsd_ymm_ymm_ymmm256,
            EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32
        ),
        Two::MinU => both!(
            VEX_Vpminud_ymm_ymm_ymmm256,
            EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32
        ),
        Two::MaxU => both!(
            VEX_Vpmaxud_ymm_ymm_ymmm256,
            EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32
        ),
        Two::WideProduct => both!(
            VEX_Vpmuludq_ymm_ymm_ymmm256,
            EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64
        ),
        Two::EqI => both!(
            VEX_Vpcmpeqd_ymm_ymm_ymmm256,
            EVEX_Vpcmpeqd_kr_k1_zmm_zmmm512b32
        ),
        Two::GtI => both!(
            VEX_Vpcmpgtd_ymm_ymm_ymmm256,
            EVEX_Vpcmpgtd_kr_k1_zmm_zmmm512b32
        ),
        _ => unreachable!("internal error: no operation on integers"),
    }
}

const _: () = assert!(STRIDE.is_multiple_of(64) && STRIDE > LANES * 4);
