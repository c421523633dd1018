//! The operations of the language: operators, conversions, builtins, random words and some of the machine's
//! own, each with its scalar function and its kernels.

use super::{Op, Scalar, Word, first, last_two, one, philox, right, seeds, third, three, two};
use crate::cpu::vector::{
    isa::Isa,
    kernel::{Kernel, Lane, Meaning},
};
use sim_compiler::{
    builtin::{
        BuiltinId,
        math::{
            self,
            arithmetic::{self, Fused, Single},
            bits, double, operator,
        },
        real::Real,
        table,
    },
    ir::Type,
    random,
};

/// The last of one or two expressions.
macro_rules! last {
    ($only:expr) => {
        $only
    };
    ($first:expr, $last:expr) => {
        $last
    };
}

/// Declares functions of operands with their types. Where floats are `f32`, the value is the first one, the
/// floats' type is `R`, and that of all bits of a lane is `W`; where they are `f64`, the value is the second
/// one, if there are two. `F` says how to fuse.
macro_rules! meanings {
    ($($name:ident($($arg:ident: $ty:ty),+) = $single:expr $(, $double:expr)?;)+) => {
        $(pub(super) struct $name;
        impl Meaning for $name {
            #[inline(always)]
            fn single<F: Fused>(operands: [u32; 4]) -> u32 {
                #[allow(dead_code)]
                type R = f32;
                #[allow(dead_code)]
                type W = u32;
                let mut next = 0;
                $(
                    let $arg = <$ty as Word<u32>>::of(operands[next]);
                    next += 1;
                )+
                let _ = next;
                Word::<u32>::lane($single)
            }

            #[inline(always)]
            fn double<F: Fused>(operands: [u64; 4]) -> u64 {
                #[allow(dead_code)]
                type R = f64;
                #[allow(dead_code)]
                type W = u64;
                let mut next = 0;
                $(
                    let $arg = <$ty as Word<u64>>::of(operands[next]);
                    next += 1;
                )+
                let _ = next;
                Word::<u64>::lane(last!($single $(, $double)?))
            }
        })+
    };
}

/// Declares operations. Each line has the kernels (`one`, `two`, …, see [`super`]) and a function, see
/// [`meanings`]. The second list names operations that are written out below, with the number of their
/// operands.
macro_rules! operations {
    (
        {
            $($kernels:ident $name:ident($($arg:ident: $ty:ty),+)
                = $single:expr $(, $double:expr)?;)+
        }
        { $($also_kernels:ident $also:ident $also_arity:literal;)+ }
    ) => {
        /// The operations of the language, by name.
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Plain {
            $($name,)+
            $($also,)+
        }

        meanings! {
            $($name($($arg: $ty),+) = $single $(, $double)?;)+
        }

        $(impl Op for $name {
            #[inline(always)]
            fn apply<L: Lane, F: Fused>(_: L, a: L, b: L, c: L, e: L) -> L {
                L::apply::<Self, F>([a, b, c, e])
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
            pub fn scalar<L: Lane>(self) -> Scalar<L> {
                match self {
                    $(Plain::$name => scalar::<L, $name>,)+
                    $(Plain::$also => scalar::<L, $also>,)+
                }
            }

            /// See [`super::Code::kernel`].
            pub(super) fn kernel<L: Lane>(self, scalars: u8, isa: Isa) -> Option<Kernel<L>> {
                match self {
                    $(Plain::$name => $kernels::<L, $name>(scalars, isa),)+
                    $(Plain::$also => $also_kernels::<L, $also>(scalars, isa),)+
                }
            }
        }
    };
}

fn scalar<L: Lane, O: Op>([a, b, c, e]: [L; 4]) -> L {
    if O::HAS_RARE && O::is_rare(a) {
        O::apply_rare(a)
    } else {
        O::apply::<L, Single>(L::ZERO, a, b, c, e)
    }
}

operations! {{
    // Floats.
    two AddF(a: R, b: R) = a + b;
    two SubF(a: R, b: R) = a - b;
    two MulF(a: R, b: R) = a * b;
    two DivF(a: R, b: R) = a / b;
    two RemF(a: R, b: R) = a.remainder(b);
    one NegF(a: R) = -a;
    first Same(a: W) = a;
    right EqF(a: R, b: R) = a == b;
    right NeF(a: R, b: R) = a != b;
    right LtF(a: R, b: R) = a < b;
    right LeF(a: R, b: R) = a <= b;
    right GtF(a: R, b: R) = a > b;
    right GeF(a: R, b: R) = a >= b;
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
    right And(a: W, b: W) = a & b;
    right AndNot(a: W, b: W) = a & !b;
    right Or(a: W, b: W) = a | b;
    right Xor(a: W, b: W) = a ^ b;
    one Not(a: W) = !a;
    // Conversions.
    one FloatOfI(a: i32) = R::from_i32(a);
    one FloatOfU(a: u32) = R::from_u32(a);
    one FloatOfBool(a: bool) = if a { 1.0 } else { 0.0 };
    one IOfFloat(a: R) = a.to_i32();
    one UOfFloat(a: R) = a.to_u32();
    one IntOfBool(a: bool) = u32::from(a);
    one BoolOfFloat(a: R) = a != R::ZERO;
    one BoolOfInt(a: u32) = a != 0;
    one BitsOfFloat(a: R) = operator::f32_to_bits(a.to_f32());
    one FloatOfBits(a: u32) = R::from_f32(f32::from_bits(a));
    // Selections.
    three Select(a: bool, b: W, c: W) = if a { b } else { c };
    // Builtins: arithmetic.
    one AbsF(a: R) = a.abs();
    one AbsI(a: i32) = arithmetic::abs_i32(a);
    one Ceil(a: R) = a.ceil();
    three ClampF(a: R, b: R, c: R) = Real::min(Real::max(a, b), c);
    three ClampI(a: i32, b: i32, c: i32) = arithmetic::clamp_i32(a, b, c);
    three ClampU(a: u32, b: u32, c: u32) = arithmetic::clamp_u32(a, b, c);
    one Floor(a: R) = a.floor();
    three Fma(a: R, b: R, c: R) = F::fma(a, b, c), double::fma(a, b, c);
    one Fract(a: R) = a - a.floor();
    right Ldexp(a: R, b: i32) = arithmetic::ldexp(a, b), double::ldexp(a, b);
    two MaxF(a: R, b: R) = Real::max(a, b);
    two MaxI(a: i32, b: i32) = arithmetic::max_i32(a, b);
    two MaxU(a: u32, b: u32) = arithmetic::max_u32(a, b);
    two MinF(a: R, b: R) = Real::min(a, b);
    two MinI(a: i32, b: i32) = arithmetic::min_i32(a, b);
    two MinU(a: u32, b: u32) = arithmetic::min_u32(a, b);
    three Mix(a: R, b: R, c: R) = arithmetic::mix(a, b, c), double::mix(a, b, c);
    one Round(a: R) = a.round_ties_even();
    one Saturate(a: R) = arithmetic::saturate(a), double::saturate(a);
    one SignF(a: R) = Real::sign(a);
    one SignI(a: i32) = arithmetic::sign_i32(a);
    three Smoothstep(a: R, b: R, c: R) = arithmetic::smoothstep(a, b, c), double::smoothstep(a, b, c);
    two Step(a: R, b: R) = arithmetic::step(a, b), double::step(a, b);
    one Trunc(a: R) = a.trunc();
    // Builtins: powers and logarithms.
    one Exp(a: R) = math::exp_by::<F>(a), double::exp(a);
    one Exp2(a: R) = math::exp2(a), double::exp2(a);
    one InverseSqrt(a: R) = arithmetic::inverse_sqrt_by::<F>(a), double::inverse_sqrt(a);
    one Log(a: R) = math::log_by::<F>(a), double::log(a);
    one Log2(a: R) = math::log2(a), double::log2(a);
    two Pow(a: R, b: R) = math::pow(a, b), double::pow(a, b);
    one Sqrt(a: R) = a.sqrt();
    // Builtins: trigonometry.
    one Acos(a: R) = math::acos(a), double::acos(a);
    one Acosh(a: R) = math::acosh(a), double::acosh(a);
    one Asin(a: R) = math::asin(a), double::asin(a);
    one Asinh(a: R) = math::asinh(a), double::asinh(a);
    one Atan(a: R) = math::atan(a), double::atan(a);
    right Atan2(a: R, b: R) = math::atan2(a, b), double::atan2(a, b);
    one Atanh(a: R) = math::atanh(a), double::atanh(a);
    one Cosh(a: R) = math::cosh(a), double::cosh(a);
    one Degrees(a: R) = arithmetic::degrees(a), double::degrees(a);
    one Radians(a: R) = arithmetic::radians(a), double::radians(a);
    one Sinh(a: R) = math::sinh(a), double::sinh(a);
    one Tanh(a: R) = math::tanh_by::<F>(a), double::tanh(a);
    // Builtins: activation functions.
    one Erf(a: R) = math::erf(a), double::erf(a);
    one Erfc(a: R) = math::erfc(a), double::erfc(a);
    one Gamma(a: R) = math::gamma(a), double::gamma(a);
    one Lgamma(a: R) = math::lgamma(a), double::lgamma(a);
    one NormalCdf(a: R) = math::normal_cdf(a), double::normal_cdf(a);
    one NormalQuantile(a: R) = math::normal_quantile(a), double::normal_quantile(a);
    one Relu(a: R) = arithmetic::relu(a), double::relu(a);
    one Sigmoid(a: R) = math::sigmoid_by::<F>(a), double::sigmoid(a);
    one Softplus(a: R) = math::softplus(a), double::softplus(a);
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
    one Unit(a: u32) = random::unit(a), double::unit(a);
    one ExponentialFrom(a: u32) = math::exponential_from_by::<F>(a), double::exponential_from(a);
    right NormalFrom(a: u32, b: u32) = math::normal_from_by::<F>(a, b), double::normal_from(a, b);
    // Random words of the default generator: the two words of an agent's key, of a step's, and a draw.
    seeds AgentKey0(a: u32, b: u32, c: u32) = random::keyed_hash::agent_key([b, c], a)[0];
    seeds AgentKey1(a: u32, b: u32, c: u32) = random::keyed_hash::agent_key([b, c], a)[1];
    third StepKey0(a: u32, b: u32, c: u32) = random::keyed_hash::step_key([a, b], c)[0];
    third StepKey1(a: u32, b: u32, c: u32) = random::keyed_hash::step_key([a, b], c)[1];
    third Draw(a: u32, b: u32, c: u32) = random::keyed_hash::word([a, b], c);
    third DrawUnit(a: u32, b: u32, c: u32)
        = random::unit(random::keyed_hash::word([a, b], c)),
        double::unit(random::keyed_hash::word([a, b], c));
    last_two DrawNormal(a: u32, b: u32, c: u32, e: u32)
        = math::normal_from_by::<F>(random::keyed_hash::word([a, b], c), random::keyed_hash::word([a, b], e)),
        double::normal_from(random::keyed_hash::word([a, b], c), random::keyed_hash::word([a, b], e));
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

/// Its one operand, and no others. `[a; 4]` is a loop where LLVM compiles for size, and then the loop over
/// lanes does not become vector instructions.
#[inline(always)]
fn alone<L: Lane>(a: L) -> [L; 4] {
    [a, L::ZERO, L::ZERO, L::ZERO]
}

macro_rules! with_long_way {
    ($name:ident, $short:ident, $whole:ident) => {
        impl Op for $name {
            const HAS_RARE: bool = true;

            #[inline(always)]
            fn apply<L: Lane, F: Fused>(_: L, a: L, _: L, _: L, _: L) -> L {
                L::apply::<$short, F>(alone(a))
            }

            #[inline(always)]
            fn is_rare<L: Lane>(a: L) -> bool {
                L::apply::<IsLarge, Single>(alone(a)).is_true()
            }

            fn apply_rare<L: Lane>(a: L) -> L {
                L::apply::<$whole, Single>(alone(a))
            }
        }
    };
}

meanings! {
    IsLarge(a: R) = math::needs_wide_reduction(a), double::needs_wide_reduction(a);
    ShortSin(a: R) = math::sin_fast_by::<F>(a), double::sin_fast(a);
    WholeSin(a: R) = math::sin(a), double::sin(a);
    ShortCos(a: R) = math::cos_fast_by::<F>(a), double::cos_fast(a);
    WholeCos(a: R) = math::cos(a), double::cos(a);
    ShortTan(a: R) = math::tan_fast(a), double::tan(a);
    WholeTan(a: R) = math::tan(a), double::tan(a);
}

with_long_way!(Sin, ShortSin, WholeSin);
with_long_way!(Cos, ShortCos, WholeCos);
with_long_way!(Tan, ShortTan, WholeTan);

/// The second operand if the first is true, otherwise the old destination.
pub(super) struct Blend;

impl Op for Blend {
    #[inline(always)]
    fn apply<L: Lane, F: Fused>(d: L, a: L, b: L, _: L, _: L) -> L {
        // By bit operations, since a condition would become a conditional store.
        d ^ ((d ^ b) & a)
    }
}

/// A word of Philox4x32-10 for an agent, a seed of two words and a number. The old destination is the step.
/// holds the step before.
pub(super) struct Philox;

impl Op for Philox {
    #[inline(always)]
    fn apply<L: Lane, F: Fused>(d: L, a: L, b: L, c: L, e: L) -> L {
        let [d, a, b, c, e] = [d, a, b, c, e].map(L::word);
        L::of_word(random::philox::word([b, c, a, d], e))
    }
}
