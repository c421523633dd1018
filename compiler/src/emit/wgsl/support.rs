//! The functions after `main` that the text turned out to call.

use super::{Writer, literal, spill::element_word};
use crate::{
    builtin::precise,
    ir::{Type, VarId, VarKind},
};

/// Declares [`Support`], a row per function: its name and its text.
macro_rules! supports {
    ($(#[doc = $line:literal] $function:ident: $name:expr, $text:expr;)+) => {
        /// Functions that give operators and conversions the IR's meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Support {
            $(#[doc = $line] $function,)+
        }

        impl Support {
            /// The function's name.
            pub(super) fn name(self) -> &'static str {
                match self { $(Support::$function => $name,)+ }
            }

            fn text(self) -> &'static str {
                match self { $(Support::$function => $text,)+ }
            }
        }
    };
}

supports! {
    /// Integer division.
    DivI32: "div_i32", "\
// a / b, where a / 0 is a and the least number / -1 is itself.
fn div_i32(a: i32, b: i32) -> i32 {
    return a / select(b, 1, b == 0 || (a == -2147483648 && b == -1));
}
";
    /// Integer division.
    DivU32: "div_u32", "\
// a / b, where a / 0 is a.
fn div_u32(a: u32, b: u32) -> u32 {
    return a / select(b, 1u, b == 0u);
}
";
    /// Integer remainder.
    RemI32: "rem_i32", "\
// a % b with the sign of a, where a % 0 is 0.
fn rem_i32(a: i32, b: i32) -> i32 {
    let divisor = select(b, 1, b == 0 || (a == -2147483648 && b == -1));
    return a - a / divisor * divisor;
}
";
    /// Integer remainder.
    RemU32: "rem_u32", "\
// a % b, where a % 0 is 0.
fn rem_u32(a: u32, b: u32) -> u32 {
    return a % select(b, 1u, b == 0u);
}
";
    /// Saturating conversion.
    I32FromF32: "i32_from_f32", "\
// Truncates; clamps to the integers that f32 can hold; NaN gives 0.
fn i32_from_f32(x: f32) -> i32 {
    let number = select(x, 0.0, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
    return i32(clamp(number, -2147483648.0, 2147483520.0));
}
";
    /// Saturating conversion.
    U32FromF32: "u32_from_f32", "\
// Truncates; clamps to the integers that f32 can hold; NaN gives 0.
fn u32_from_f32(x: f32) -> u32 {
    let number = select(x, 0.0, (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u);
    return u32(clamp(number, 0.0, 4294967040.0));
}
";
    /// Division of floats to the last place, for precise mathematics.
    // Its text stands with the other precise functions.
    Quotient: precise::QUOTIENT, "";
    /// The same, component by component.
    QuotientVec2: "precise_quotient_vec2", "\
fn precise_quotient_vec2(a: vec2f, b: vec2f) -> vec2f {
    return vec2f(precise_quotient(a.x, b.x), precise_quotient(a.y, b.y));
}
";
    /// The same, component by component.
    QuotientVec3: "precise_quotient_vec3", "\
fn precise_quotient_vec3(a: vec3f, b: vec3f) -> vec3f {
    return vec3f(precise_quotient_vec2(a.xy, b.xy), precise_quotient(a.z, b.z));
}
";
    /// The same, component by component.
    QuotientVec4: "precise_quotient_vec4", "\
fn precise_quotient_vec4(a: vec4f, b: vec4f) -> vec4f {
    return vec4f(precise_quotient_vec2(a.xy, b.xy), precise_quotient_vec2(a.zw, b.zw));
}
";
    /// Identity that a driver cannot see through.
    // An addition, and no exclusive or as where lanes hide values: with that, a driver gave the operands of
    // multiply-adds to one bank of registers (MountainCar in docs/performance.md).
    Kept: "kept", "\
// x, in a way that keeps drivers from computing it again in every step: they do not know that \
`run.guard` is 2.
fn kept(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) + (run.guard >> 20u));
}
";
    /// Arithmetic fence.
    Fence: "fence", "\
// x, of which drivers do not know what it is the sum or product of: they do not know that `run.guard` is 2.
fn fence(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ (run.guard - 2u));
}
";
    /// The same, of all components.
    FenceVec2: "fence_vec2", "\
fn fence_vec2(x: vec2f) -> vec2f {
    return bitcast<vec2f>(bitcast<vec2u>(x) ^ vec2u(run.guard - 2u));
}
";
    /// The same, of all components.
    FenceVec3: "fence_vec3", "\
fn fence_vec3(x: vec3f) -> vec3f {
    return bitcast<vec3f>(bitcast<vec3u>(x) ^ vec3u(run.guard - 2u));
}
";
    /// The same, of all components.
    FenceVec4: "fence_vec4", "\
fn fence_vec4(x: vec4f) -> vec4f {
    return bitcast<vec4f>(bitcast<vec4u>(x) ^ vec4u(run.guard - 2u));
}
";
    /// Identity that hides a constant.
    RuntimeF32: "runtime_f32", "\
// x, but computed when the kernel runs.
fn runtime_f32(x: f32) -> f32 {
    return x;
}
";
    /// Identity that hides a constant.
    RuntimeI32: "runtime_i32", "\
// x, but computed when the kernel runs.
fn runtime_i32(x: i32) -> i32 {
    return x;
}
";
    /// Identity that hides a constant.
    RuntimeU32: "runtime_u32", "\
// x, but computed when the kernel runs.
fn runtime_u32(x: u32) -> u32 {
    return x;
}
";
    /// Identity that hides a constant.
    RuntimeBool: "runtime_bool", "\
// x, but computed when the kernel runs.
fn runtime_bool(x: bool) -> bool {
    return x;
}
";
}

impl Support {
    /// The function that is [`crate::ir::UnaryOp::Fence`] of floats of this type.
    pub(super) fn fence(ty: Type) -> Support {
        match ty.components() {
            2 => Support::FenceVec2,
            3 => Support::FenceVec3,
            4 => Support::FenceVec4,
            _ => Support::Fence,
        }
    }
}

impl Writer<'_> {
    /// Writes all that the text so far calls: loads of elements, then builtins, random words, operators.
    pub(super) fn support(&mut self) {
        for k in 0..self.program.vars.len() {
            let var = VarId(k as u32);
            if let Some(name) = self.accessors.get(&var).cloned() {
                self.accessor(var, &name);
            }
            self.setter(var);
        }
        self.lane_functions();
        self.world_functions();
        self.builtin_helpers();
        self.precise_functions();
        if self.usage.draws.contains(&true) || self.usage.world_draws.contains(&true) {
            self.blank();
            let text = self.generator.wgsl();
            self.push(text.trim_end());
            self.push("\n");
        }
        for support in std::mem::take(&mut self.supports) {
            if !support.text().is_empty() {
                self.blank();
                self.push(support.text());
            }
        }
    }

    /// `fn weights_at(k: i32) -> f32`: an element of an array in a buffer whose units are not its own.
    fn accessor(&mut self, id: VarId, name: &str) {
        let program = self.program;
        let var = &program[id];
        let ty = literal::type_name(var.ty);
        let words = var.ty.words();
        let (params, first) = if var.kind == VarKind::Input {
            ("row: u32, k: i32", var.word)
        } else if var.kind == VarKind::WorldInput {
            ("world: u32, k: i32", var.word)
        } else {
            ("k: i32", self.spilled_word(id).unwrap_or(0))
        };
        self.blank();
        self.open(&format!("fn {name}({params}) -> {ty} {{"));
        self.line(&format!("let word = {};", element_word(first, words)));
        let scalars: Vec<_> = (0..words).map(|c| self.scalar_at(id, c)).collect();
        let joined = scalars.join(", ");
        let raw = self.is_raw(id);
        let value = match (var.ty, raw) {
            (Type::Bool, _) => format!("{joined} != 0u"),
            (Type::F32 | Type::I32, true) => format!("bitcast<{ty}>({joined})"),
            (Type::F32 | Type::I32 | Type::U32, _) => joined,
            (Type::Vec2 | Type::Vec3 | Type::Vec4, true) => {
                format!(
                    "bitcast<{ty}>({}({joined}))",
                    literal::unsigned(var.ty.components() as u32)
                )
            }
            (Type::Vec2 | Type::Vec3 | Type::Vec4, false) => format!("{ty}({joined})"),
        };
        self.line(&format!("return {value};"));
        self.close("}");
    }

    /// Does the buffer hold the variable as `u32`s of its bits?
    fn is_raw(&self, id: VarId) -> bool {
        let kind = self.program[id].kind;
        kind == VarKind::WorldInput
            || kind == VarKind::Input && !self.floats.inputs
            || self.is_spilled_raw(id)
    }

    /// The scalar `offset` words after `word`.
    fn scalar_at(&self, id: VarId, offset: u32) -> String {
        let word = match offset {
            0 => "word".to_owned(),
            _ => format!("word + {offset}u"),
        };
        let bracketed = match offset {
            0 => word.clone(),
            _ => format!("({word})"),
        };
        if let Some(scalar) = self.spilled_scalar(id, &word) {
            return scalar;
        }
        let name = &self.var_names[id];
        let kind = self.program[id].kind;
        let rows = if kind == VarKind::Param {
            format!("{}.{name}[{bracketed} >> 2u]", self.own.launch)
        } else if kind == VarKind::WorldInput {
            let members = self.world.map_or(1, |layout| layout.members);
            let worlds = &self.own.world.buffer;
            return format!("{worlds}[{bracketed} * (run.agents / {members}u) + world]");
        } else if kind == VarKind::Input {
            format!("inputs[row + ({bracketed} >> 2u)]")
        } else {
            return format!("{name}[{word}]");
        };
        format!("{rows}[{bracketed} & 3u]")
    }
}
