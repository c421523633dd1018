//! What stands around the values of a segment: the beginning of its function, its loops, and what jumps out
//! of them lead to.

use super::{
    ADDRESS, Assembler, BYTES, CONSTANTS, LANES_AT, LOAD, Mask, OFFSET, Operand, Place, SCALARS,
    STORE, STRIDE, Vector, mask, on_stack, vectors,
};
use crate::cpu::vector::{
    jit::rare::Rare,
    program::{AgentArray, Slot},
};
use iced_x86::{Code, Instruction, MemoryOperand, Register};

/// A slow path: where a jump out of a loop leads. It calls a function of rare arguments, and jumps back.
#[derive(Clone, Copy, Debug)]
pub struct SlowPath {
    /// Where the jump ends.
    pub jump: u64,
    /// The function.
    pub rare: Rare,
    /// The register with the usual values, some of which are replaced.
    pub to: Vector,
    /// The register with the arguments.
    pub from: Vector,
}

impl SlowPath {
    /// The same in code that begins elsewhere.
    pub fn moved(self, by: u64) -> SlowPath {
        SlowPath {
            jump: self.jump + by,
            ..self
        }
    }
}

impl Assembler {
    /// The beginning of a function: with so many slots on the stack, the first of which are the scalars in
    /// all lanes, and the addresses of elements.
    pub fn begin(&mut self, scalars: &[u32], elements: &[(AgentArray, Slot)], slots: u32) {
        use Register::{RBP, RSP};
        let bytes = i64::from(slots * self.width()).max(64);
        self.put(Instruction::with1(Code::Push_r64, RBP));
        self.put(Instruction::with2(Code::Mov_r64_rm64, RBP, RSP));
        self.put(Instruction::with2(Code::Sub_rm64_imm32, RSP, bytes as i32));
        self.put(Instruction::with2(Code::And_rm64_imm8, RSP, -64));
        let spread = self.pick([
            Code::VEX_Vbroadcastss_ymm_m32,
            Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
        ]);
        for (slot, &scalar) in scalars.iter().enumerate() {
            let bytes = i64::from(scalar) * 4;
            let none = Register::None;
            let from = MemoryOperand::new(SCALARS, none, 1, bytes, 1, false, none);
            self.put(Instruction::with2(spread, self.register(0), from));
            self.store(Place::Stack(slot as u32), 0);
        }
        let first = scalars.len() as u32 * self.width();
        for (number, &(array, index)) in elements.iter().enumerate() {
            self.address_of(array, index, first + number as u32 * ADDRESS);
        }
        self.put(Instruction::with2(
            Code::Xor_r32_rm32,
            Register::EAX,
            Register::EAX,
        ));
    }

    /// Puts the address of an element on the stack, at that byte. An index out of bounds is clamped, as that
    /// of a lane that is not active can be.
    fn address_of(&mut self, array: AgentArray, index: Slot, at: u32) {
        use Register::{EAX, R8D, RAX};
        let none = Register::None;
        let last = array.length as i32 - 1;
        let (element, first) = (array.stride as usize * STRIDE, array.first + array.part);
        let first = first as i64 * STRIDE as i64;
        let scalar = MemoryOperand::new(SCALARS, none, 1, i64::from(index) * 4, 1, false, none);
        let all = MemoryOperand::new(LANES_AT, RAX, 1, first, 1, false, none);
        let instructions = [
            Instruction::with2(Code::Mov_r32_rm32, EAX, scalar),
            Instruction::with2(Code::Xor_r32_rm32, R8D, R8D),
            Instruction::with2(Code::Test_rm32_r32, EAX, EAX),
            Instruction::with2(Code::Cmovs_r32_rm32, EAX, R8D),
            Instruction::with2(Code::Mov_r32_imm32, R8D, last),
            Instruction::with2(Code::Cmp_r32_rm32, EAX, R8D),
            Instruction::with2(Code::Cmovg_r32_rm32, EAX, R8D),
            Instruction::with3(Code::Imul_r64_rm64_imm32, RAX, RAX, element as i32),
            Instruction::with2(Code::Lea_r64_m, RAX, all),
            Instruction::with2(Code::Mov_rm64_r64, on_stack(at.into()), RAX),
        ];
        for instruction in instructions {
            self.put(instruction);
        }
    }

    /// A loop over as many iterations of so many vectors as there are left; where its body begins.
    pub fn repeat(&mut self, body: &[u8], copies: u32) -> u64 {
        let bytes = (self.width() * copies) as i32;
        let end = |assembler: &mut Assembler| {
            assembler.put(Instruction::with2(Code::Add_rm64_imm32, OFFSET, bytes));
            assembler.compare_end(bytes);
        };
        // The jump back, behind the body, has as many bytes as that over the loop.
        let mut measured = Assembler::new(self.isa);
        end(&mut measured);
        self.compare_end(bytes);
        let jump = 6;
        let start = self.at + jump;
        let after = start + body.len() as u64 + measured.at + jump;
        self.put(Instruction::with_branch(Code::Ja_rel32_64, after));
        self.append(body);
        end(self);
        self.put(Instruction::with_branch(Code::Jbe_rel32_64, start));
        assert_eq!(self.at, after, "internal error: a jump beside its target");
        start
    }

    /// A jump out of the loop if a lane of the mask is all ones; where it ends. Its target is set by
    /// [`Assembler::slow_paths`].
    pub fn jump_if_any_lane(&mut self, lanes: Vector) -> u64 {
        let lanes = self.register(lanes);
        if self.is_512() {
            let code = Code::EVEX_Vptestmd_kr_k1_zmm_zmmm512b32;
            self.put(Instruction::with3(code, Register::K1, lanes, lanes));
            return self.jump_if_any_of(Register::K1);
        }
        let code = Code::VEX_Vptest_ymm_ymmm256;
        self.put(Instruction::with2(code, lanes, lanes));
        self.jump_if_not_zero()
    }

    /// The same for a mask register.
    pub fn jump_if_any(&mut self, by: Mask) -> u64 {
        self.jump_if_any_of(mask(by))
    }

    fn jump_if_any_of(&mut self, mask: Register) -> u64 {
        self.put(Instruction::with2(Code::VEX_Kortestw_kr_kr, mask, mask));
        self.jump_if_not_zero()
    }

    fn jump_if_not_zero(&mut self) -> u64 {
        self.put(Instruction::with_branch(Code::Jne_rel32_64, self.at));
        self.at
    }

    /// How much of the stack slow paths need: their values, their arguments, and all registers.
    pub fn slots_of_slow_paths(&self) -> u32 {
        2 + vectors(self.isa) as u32
    }

    /// The code of slow paths, with the first of its slots on the stack.
    pub fn slow_paths(&mut self, all: &[SlowPath], first: u32) {
        let [values, arguments] = [first, first + 1].map(Place::Stack);
        let call = self.at;
        self.call_with_registers_saved(first);
        let mut targets = Vec::new();
        for path in all {
            targets.push((path.jump as usize, self.at));
            self.store(values, path.to);
            self.store(arguments, path.from);
            let address = path.rare.replace() as usize as u64;
            self.put(Instruction::with2(
                Code::Mov_r64_imm64,
                Register::R8,
                address,
            ));
            self.put(Instruction::with_branch(Code::Call_rel32_64, call));
            self.load(path.to, Operand::Memory(values));
            self.put(Instruction::with_branch(Code::Jmp_rel32_64, path.jump));
        }
        let mut code = self.encoder.take_buffer();
        for (jump, target) in targets {
            let distance = (target as usize - jump) as i32;
            code[jump - 4..jump].copy_from_slice(&distance.to_le_bytes());
        }
        self.encoder.set_buffer(code);
    }

    /// A function within the function, which calls the one in R8 with the first two of these slots and keeps
    /// all registers.
    fn call_with_registers_saved(&mut self, first: u32) {
        use Register::{RDI, RSI, RSP};
        const KEPT: [Register; 5] = [OFFSET, LANES_AT, SCALARS, BYTES, CONSTANTS];
        let width = i64::from(self.width());
        // The address to return to is on the stack.
        let slot = |number: u32, pushed: i64| {
            let bytes = i64::from(number) * width + 8 * (1 + pushed);
            MemoryOperand::new(RSP, Register::None, 1, bytes, 1, false, Register::None)
        };
        let count = vectors(self.isa) as u32;
        for vector in 0..count {
            let to = slot(first + 2 + vector, 0);
            let code = self.pick(STORE);
            self.put(Instruction::with2(code, to, self.register(0) + vector));
        }
        for register in KEPT {
            self.put(Instruction::with1(Code::Push_r64, register));
        }
        let pushed = KEPT.len() as i64;
        for (register, number) in [(RDI, first), (RSI, first + 1)] {
            let at = slot(number, pushed);
            self.put(Instruction::with2(Code::Lea_r64_m, register, at));
        }
        let lanes = width as i32 / 4;
        self.put(Instruction::with2(
            Code::Mov_r32_imm32,
            Register::EDX,
            lanes,
        ));
        self.put(Ok(Instruction::with(Code::VEX_Vzeroupper)));
        self.put(Instruction::with1(Code::Call_rm64, Register::R8));
        for register in KEPT.into_iter().rev() {
            self.put(Instruction::with1(Code::Pop_r64, register));
        }
        for vector in 0..count {
            let from = slot(first + 2 + vector, 0);
            let code = self.pick(LOAD);
            self.put(Instruction::with2(code, self.register(0) + vector, from));
        }
        self.put(Ok(Instruction::with(Code::Retnq)));
    }

    /// Compares where an iteration of so many bytes would end with where the lanes do.
    fn compare_end(&mut self, bytes: i32) {
        let none = Register::None;
        let end = MemoryOperand::new(OFFSET, none, 1, bytes.into(), 1, false, none);
        self.put(Instruction::with2(Code::Lea_r64_m, Register::R8, end));
        self.put(Instruction::with2(Code::Cmp_r64_rm64, Register::R8, BYTES));
    }

    /// The end of a function.
    pub fn end(&mut self) {
        use Register::{RBP, RSP};
        self.put(Ok(Instruction::with(Code::VEX_Vzeroupper)));
        self.put(Instruction::with2(Code::Mov_r64_rm64, RSP, RBP));
        self.put(Instruction::with1(Code::Pop_r64, RBP));
        self.put(Ok(Instruction::with(Code::Retnq)));
    }
}
