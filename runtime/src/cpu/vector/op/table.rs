//! The operations of the language: operators, conversions, builtins, random words and some of the machine's
//! own, each with its scalar function and its kernels.

use super::{Op, Scalar, Word, first, last_two, one, philox, right, seeds, third, three, two};
use crate::cpu::vector::{isa::Isa, kernel::Kernel};
use sim_compiler::{
    builtin::{
        BuiltinId,
        math::{
            self,
            arithmetic::{self, Fused, Single},
            bits, operator,
        },
        table,
    },
    ir::Type,
    random,
};

/// Declares operations. Each line has the kernels (`one`, `two`, …, see [`super`]), the name, the operands
/// with their types, and the value, in which `F` says how to fuse. The second list names operations that are
/// written out below, with the number of their operands.
macro_rules! operations {
    (
        { $($kernels:ident $name:ident($($arg:ident: $ty:ty),+) = $value:expr;)+ }
        { $($also_kernels:ident $also:ident $also_arity:literal;)+ }
    ) => {
        /// The operations of the language, by name.
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Plain {
            $($name,)+
            $($also,)+
        }

        $(pub(super) struct $name;
        impl Op for $name {
            #[inline(always)]
            fn apply<F: Fused>(_: u32, a: u32, b: u32, c: u32, e: u32) -> u32 {
                let operands = [a, b, c, e];
                let mut next = 0;
                $(
                    let $arg = <$ty as Word>::of(operands[next]);
                    next += 1;
                )+
                let _ = next;
                Word::word($value)
            }
        })+

        impl Plain {
            /// The number of operands.
            pub fn arity(self) -> usize {
                match self {
                    $(Plain::$name => [$(stringify!($arg)),+].len(),)+
                    $(Plain::$also => $also_arity,)+
                }
            }

            /// The scalar function.
            pub fn scalar(self) -> Scalar {
                match self {
                    $(Plain::$name => scalar::<$name>,)+
                    $(Plain::$also => scalar::<$also>,)+
                }
            }

            /// See [`super::Code::kernel`].
            pub(super) fn kernel(self, scalars: u8, isa: Isa) -> Option<Kernel> {
                match self {
                    $(Plain::$name => $kernels::<$name>(scalars, isa),)+
                    $(Plain::$also => $also_kernels::<$also>(scalars, isa),)+
                }
            }
        }
    };
}

fn scalar<O: Op>([a, b, c, e]: [u32; 4]) -> u32 {
    if O::HAS_RARE && O::is_rare(a) {
        O::apply_rare(a)
    } else {
        O::apply::<Single>(0, a, b, c, e)
    }
}

operations! {{
    // Floats.
    two AddF(a: f32, b: f32) = a + b;
    two SubF(a: f32, b: f32) = a - b;
    two MulF(a: f32, b: f32) = a * b;
    two DivF(a: f32, b: f32) = a / b;
    two RemF(a: f32, b: f32) = operator::remainder(a, b);
    one NegF(a: f32) = -a;
    first Same(a: u32) = a;
    right EqF(a: f32, b: f32) = a == b;
    right NeF(a: f32, b: f32) = a != b;
    right LtF(a: f32, b: f32) = a < b;
    right LeF(a: f32, b: f32) = a <= b;
    right GtF(a: f32, b: f32) = a > b;
    right GeF(a: f32, b: f32) = a >= b;
    // Signed integers; those that do not depend on the sign are also used for unsigned ones.
    two AddI(a: i32, b: i32) = a.wrapping_add(b);
    two SubI(a: i32, b: i32) = a.wrapping_sub(b);
    two MulI(a: i32, b: i32) = a.wrapping_mul(b);
    right DivI(a: i32, b: i32) = operator::divide_i32(a, b);
    right RemI(a: i32, b: i32) = operator::remainder_i32(a, b);
    one NegI(a: i32) = a.wrapping_neg();
    right EqI(a: i32, b: i32) = a == b;
    right NeI(a: i32, b: i32) = a != b;
    right LtI(a: i32, b: i32) = a < b;
    right LeI(a: i32, b: i32) = a <= b;
    right GtI(a: i32, b: i32) = a > b;
    right GeI(a: i32, b: i32) = a >= b;
    right DivU(a: u32, b: u32) = operator::divide_u32(a, b);
    right RemU(a: u32, b: u32) = operator::remainder_u32(a, b);
    right LtU(a: u32, b: u32) = a < b;
    right LeU(a: u32, b: u32) = a <= b;
    right GtU(a: u32, b: u32) = a > b;
    right GeU(a: u32, b: u32) = a >= b;
    right ShiftLeft(a: u32, b: u32) = operator::shift_left(a, b);
    right ShiftRightI(a: i32, b: u32) = operator::shift_right_i32(a, b);
    right ShiftRightU(a: u32, b: u32) = operator::shift_right(a, b);
    // Bits, also of `bool`s.
    right And(a: u32, b: u32) = a & b;
    right AndNot(a: u32, b: u32) = a & !b;
    right Or(a: u32, b: u32) = a | b;
    right Xor(a: u32, b: u32) = a ^ b;
    one Not(a: u32) = !a;
    // Conversions.
    one FloatOfI(a: i32) = operator::i32_to_f32(a);
    one FloatOfU(a: u32) = operator::u32_to_f32(a);
    one FloatOfBool(a: bool) = operator::bool_to_f32(a);
    one IOfFloat(a: f32) = operator::f32_to_i32(a);
    one UOfFloat(a: f32) = operator::f32_to_u32(a);
    one IntOfBool(a: bool) = u32::from(a);
    one BoolOfFloat(a: f32) = operator::f32_to_bool(a);
    one BoolOfInt(a: u32) = a != 0;
    one BitsOfFloat(a: f32) = operator::f32_to_bits(a);
    // Selections.
    three Select(a: bool, b: u32, c: u32) = if a { b } else { c };
    // Builtins: arithmetic.
    one AbsF(a: f32) = arithmetic::abs(a);
    one AbsI(a: i32) = arithmetic::abs_i32(a);
    one Ceil(a: f32) = arithmetic::ceil(a);
    three ClampF(a: f32, b: f32, c: f32) = arithmetic::clamp(a, b, c);
    three ClampI(a: i32, b: i32, c: i32) = arithmetic::clamp_i32(a, b, c);
    three ClampU(a: u32, b: u32, c: u32) = arithmetic::clamp_u32(a, b, c);
    one Floor(a: f32) = arithmetic::floor(a);
    three Fma(a: f32, b: f32, c: f32) = F::fma(a, b, c);
    one Fract(a: f32) = arithmetic::fract(a);
    right Ldexp(a: f32, b: i32) = arithmetic::ldexp(a, b);
    two MaxF(a: f32, b: f32) = arithmetic::max(a, b);
    two MaxI(a: i32, b: i32) = arithmetic::max_i32(a, b);
    two MaxU(a: u32, b: u32) = arithmetic::max_u32(a, b);
    two MinF(a: f32, b: f32) = arithmetic::min(a, b);
    two MinI(a: i32, b: i32) = arithmetic::min_i32(a, b);
    two MinU(a: u32, b: u32) = arithmetic::min_u32(a, b);
    three Mix(a: f32, b: f32, c: f32) = arithmetic::mix(a, b, c);
    one Round(a: f32) = arithmetic::round(a);
    one Saturate(a: f32) = arithmetic::saturate(a);
    one SignF(a: f32) = arithmetic::sign(a);
    one SignI(a: i32) = arithmetic::sign_i32(a);
    three Smoothstep(a: f32, b: f32, c: f32) = arithmetic::smoothstep(a, b, c);
    two Step(a: f32, b: f32) = arithmetic::step(a, b);
    one Trunc(a: f32) = arithmetic::trunc(a);
    // Builtins: powers and logarithms.
    one Exp(a: f32) = math::exp_by::<F>(a);
    one Exp2(a: f32) = math::exp2(a);
    one InverseSqrt(a: f32) = arithmetic::inverse_sqrt_by::<F>(a);
    one Log(a: f32) = math::log_by::<F>(a);
    one Log2(a: f32) = math::log2(a);
    two Pow(a: f32, b: f32) = math::pow(a, b);
    one Sqrt(a: f32) = arithmetic::sqrt(a);
    // Builtins: trigonometry.
    one Acos(a: f32) = math::acos(a);
    one Acosh(a: f32) = math::acosh(a);
    one Asin(a: f32) = math::asin(a);
    one Asinh(a: f32) = math::asinh(a);
    one Atan(a: f32) = math::atan(a);
    right Atan2(a: f32, b: f32) = math::atan2(a, b);
    one Atanh(a: f32) = math::atanh(a);
    one Cosh(a: f32) = math::cosh(a);
    one Degrees(a: f32) = arithmetic::degrees(a);
    one Radians(a: f32) = arithmetic::radians(a);
    one Sinh(a: f32) = math::sinh(a);
    one Tanh(a: f32) = math::tanh_by::<F>(a);
    // Builtins: activation functions.
    one Erf(a: f32) = math::erf(a);
    one Erfc(a: f32) = math::erfc(a);
    one Gamma(a: f32) = math::gamma(a);
    one Lgamma(a: f32) = math::lgamma(a);
    one NormalCdf(a: f32) = math::normal_cdf(a);
    one NormalQuantile(a: f32) = math::normal_quantile(a);
    one Relu(a: f32) = arithmetic::relu(a);
    one Sigmoid(a: f32) = math::sigmoid_by::<F>(a);
    one Softplus(a: f32) = math::softplus(a);
    // Builtins: bits.
    one CountLeadingZeros(a: u32) = bits::count_leading_zeros(a);
    one CountOneBits(a: u32) = bits::count_one_bits(a);
    one CountTrailingZeros(a: u32) = bits::count_trailing_zeros(a);
    three ExtractBits(a: u32, b: u32, c: u32) = bits::extract_bits(a, b, c);
    one FirstLeadingBitI(a: i32) = bits::first_leading_bit_i32(a);
    one FirstLeadingBitU(a: u32) = bits::first_leading_bit(a);
    one FirstTrailingBit(a: u32) = bits::first_trailing_bit(a);
    one InsertBits(a: u32, b: u32, c: u32, e: u32) = bits::insert_bits(a, b, c, e);
    two MulHigh(a: u32, b: u32) = bits::mul_high(a, b);
    one ReverseBits(a: u32) = bits::reverse_bits(a);
    // Builtins: numbers of random words.
    one Unit(a: u32) = random::unit(a);
    one ExponentialFrom(a: u32) = math::exponential_from_by::<F>(a);
    right NormalFrom(a: u32, b: u32) = math::normal_from_by::<F>(a, b);
    // Random words of the default generator: the two words of an agent's key, of a step's, and a draw.
    seeds AgentKey0(a: u32, b: u32, c: u32) = random::keyed_hash::agent_key([b, c], a)[0];
    seeds AgentKey1(a: u32, b: u32, c: u32) = random::keyed_hash::agent_key([b, c], a)[1];
    third StepKey0(a: u32, b: u32, c: u32) = random::keyed_hash::step_key([a, b], c)[0];
    third StepKey1(a: u32, b: u32, c: u32) = random::keyed_hash::step_key([a, b], c)[1];
    third Draw(a: u32, b: u32, c: u32) = random::keyed_hash::word([a, b], c);
    third DrawUnit(a: u32, b: u32, c: u32) = random::unit(random::keyed_hash::word([a, b], c));
    last_two DrawNormal(a: u32, b: u32, c: u32, e: u32)
        = math::normal_from_by::<F>(random::keyed_hash::word([a, b], c), random::keyed_hash::word([a, b], e));
} {
    one Sin 1;
    one Cos 1;
    one Tan 1;
    right Blend 2;
    philox Philox 4;
}}

/// A builtin and the operations that it is, component by component, of floats, of `i32` and of `u32`.
type Builtin = (BuiltinId, [Plain; 3]);

/// The builtins that are operations on components.
const BUILTINS: &[Builtin] = {
    use Plain::*;
    &[
        (BuiltinId::ABS, [AbsF, AbsI, Same]),
        (BuiltinId::CEIL, [Ceil; 3]),
        (BuiltinId::CLAMP, [ClampF, ClampI, ClampU]),
        (BuiltinId::FLOOR, [Floor; 3]),
        (BuiltinId::FMA, [Fma; 3]),
        (BuiltinId::FRACT, [Fract; 3]),
        (BuiltinId::LDEXP, [Ldexp; 3]),
        (BuiltinId::MAX, [MaxF, MaxI, MaxU]),
        (BuiltinId::MIN, [MinF, MinI, MinU]),
        (BuiltinId::MIX, [Mix; 3]),
        (BuiltinId::ROUND, [Round; 3]),
        (BuiltinId::SATURATE, [Saturate; 3]),
        (BuiltinId::SIGN, [SignF, SignI, SignI]),
        (BuiltinId::SMOOTHSTEP, [Smoothstep; 3]),
        (BuiltinId::STEP, [Step; 3]),
        (BuiltinId::TRUNC, [Trunc; 3]),
        (BuiltinId::EXP, [Exp; 3]),
        (BuiltinId::EXP2, [Exp2; 3]),
        (BuiltinId::INVERSE_SQRT, [InverseSqrt; 3]),
        (BuiltinId::LOG, [Log; 3]),
        (BuiltinId::LOG2, [Log2; 3]),
        (BuiltinId::POW, [Pow; 3]),
        (BuiltinId::SQRT, [Sqrt; 3]),
        (BuiltinId::ACOS, [Acos; 3]),
        (BuiltinId::ACOSH, [Acosh; 3]),
        (BuiltinId::ASIN, [Asin; 3]),
        (BuiltinId::ASINH, [Asinh; 3]),
        (BuiltinId::ATAN, [Atan; 3]),
        (BuiltinId::ATAN2, [Atan2; 3]),
        (BuiltinId::ATANH, [Atanh; 3]),
        (BuiltinId::COS, [Cos; 3]),
        (BuiltinId::COSH, [Cosh; 3]),
        (BuiltinId::DEGREES, [Degrees; 3]),
        (BuiltinId::RADIANS, [Radians; 3]),
        (BuiltinId::SIN, [Sin; 3]),
        (BuiltinId::SINH, [Sinh; 3]),
        (BuiltinId::TAN, [Tan; 3]),
        (BuiltinId::TANH, [Tanh; 3]),
        (BuiltinId::ERF, [Erf; 3]),
        (BuiltinId::ERFC, [Erfc; 3]),
        (BuiltinId::GAMMA, [Gamma; 3]),
        (BuiltinId::LGAMMA, [Lgamma; 3]),
        (BuiltinId::NORMAL_CDF, [NormalCdf; 3]),
        (BuiltinId::NORMAL_QUANTILE, [NormalQuantile; 3]),
        (BuiltinId::RELU, [Relu; 3]),
        (BuiltinId::SIGMOID, [Sigmoid; 3]),
        (BuiltinId::SOFTPLUS, [Softplus; 3]),
        (BuiltinId::COUNT_LEADING_ZEROS, [CountLeadingZeros; 3]),
        (BuiltinId::COUNT_ONE_BITS, [CountOneBits; 3]),
        (BuiltinId::COUNT_TRAILING_ZEROS, [CountTrailingZeros; 3]),
        (BuiltinId::EXTRACT_BITS, [ExtractBits; 3]),
        (
            BuiltinId::FIRST_LEADING_BIT,
            [FirstLeadingBitU, FirstLeadingBitI, FirstLeadingBitU],
        ),
        (BuiltinId::FIRST_TRAILING_BIT, [FirstTrailingBit; 3]),
        (BuiltinId::INSERT_BITS, [InsertBits; 3]),
        (BuiltinId::MUL_HIGH, [MulHigh; 3]),
        (BuiltinId::REVERSE_BITS, [ReverseBits; 3]),
        (BuiltinId::UNIT, [Unit; 3]),
        (BuiltinId::EXPONENTIAL_FROM, [ExponentialFrom; 3]),
        (BuiltinId::NORMAL_FROM, [NormalFrom; 3]),
    ]
};

/// [`BUILTINS`] by the builtin's place in its table.
static BY_BUILTIN: [Option<[Plain; 3]>; table::COUNT] = {
    let mut all = [None; table::COUNT];
    let mut k = 0;
    while k < BUILTINS.len() {
        all[BUILTINS[k].0.index()] = Some(BUILTINS[k].1);
        k += 1;
    }
    all
};

impl Plain {
    /// The operation on components that a builtin is for arguments of this type, if there is one;
    /// [`Plain::Same`] if it gives its argument back.
    pub(in crate::cpu::vector) fn of_builtin(id: BuiltinId, ty: Type) -> Option<Plain> {
        let [float, signed, unsigned] = BY_BUILTIN[id.index()]?;
        Some(match ty {
            Type::I32 => signed,
            Type::U32 => unsigned,
            Type::F32 | Type::Bool | Type::Vec2 | Type::Vec3 | Type::Vec4 => float,
        })
    }
}

/// Sine; large arguments are rare and take a slower path.
pub struct Sin;
/// Cosine; as for sine.
pub struct Cos;
/// Tangent; as for sine.
pub(super) struct Tan;

macro_rules! with_long_way {
    ($name:ident, $short:expr, $long:path) => {
        impl Op for $name {
            const HAS_RARE: bool = true;

            #[inline(always)]
            fn apply<F: Fused>(_: u32, a: u32, _: u32, _: u32, _: u32) -> u32 {
                ($short)(f32::of(a)).word()
            }

            #[inline(always)]
            fn is_rare(a: u32) -> bool {
                math::needs_wide_reduction(f32::of(a))
            }

            fn apply_rare(a: u32) -> u32 {
                $long(f32::of(a)).word()
            }
        }
    };
}

with_long_way!(Sin, math::sin_fast_by::<F>, math::sin);
with_long_way!(Cos, math::cos_fast_by::<F>, math::cos);
with_long_way!(Tan, math::tan_fast, math::tan);

/// The second operand if the first is true, otherwise the old destination.
pub(super) struct Blend;

impl Op for Blend {
    #[inline(always)]
    fn apply<F: Fused>(d: u32, a: u32, b: u32, _: u32, _: u32) -> u32 {
        // By bit operations, since a condition would become a conditional store.
        d ^ ((d ^ b) & a)
    }
}

/// A word of Philox4x32-10 for an agent, a seed of two words and a number. The old destination is the step.
/// holds the step before.
pub(super) struct Philox;

impl Op for Philox {
    #[inline(always)]
    fn apply<F: Fused>(d: u32, a: u32, b: u32, c: u32, e: u32) -> u32 {
        random::philox::word([b, c, a, d], e)
    }
}
