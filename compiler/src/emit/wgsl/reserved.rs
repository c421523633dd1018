//! The words that a name in the generated text may not be.

use crate::builtin::{Meaning, Wgsl, precise, table};
use std::sync::LazyLock;

/// Keywords and reserved words of WGSL, sections 2.6 and 16.1 of the specification: never an identifier.
const KEYWORDS: &str = "\
alias break case const const_assert continue continuing default diagnostic discard else enable false fn \
for if let loop override requires return struct switch true var while \
NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast \
catch class co_await co_return co_yield coherent column_major common compile compile_fragment concept \
const_cast consteval constexpr constinit crate debugger decltype delete demote demote_to_helper do \
dynamic_cast enum explicit export extends extern external fallthrough filter final finally friend from \
fxgroup get goto groupshared highp impl implements import inline instanceof interface layout lowp macro \
macro_rules match mediump meta mod module move mut mutable namespace new nil noexcept noinline \
nointerpolation non_coherent noncoherent noperspective null nullptr of operator package packoffset \
partial pass patch pixelfragment precise precision premerge priv protected pub public readonly ref \
regardless register reinterpret_cast require resource restrict self set shared sizeof smooth snorm \
static static_assert static_cast std subroutine super target template this thread_local throw trait try \
type typedef typeid typename typeof union unless unorm unsafe unsized use using varying virtual volatile \
wgsl where with writeonly yield";

/// Predeclared types, type generators, enumerants and functions of WGSL: legal as identifiers, but a
/// declaration would hide what the text itself uses.
const PREDECLARED: &str = "\
array atomic bool f16 f32 i32 i64 u32 u64 f64 mat2x2 mat2x3 mat2x4 mat3x2 mat3x3 mat3x4 mat4x2 mat4x3 mat4x4 \
ptr sampler sampler_comparison vec2 vec3 vec4 vec2f vec3f vec4f vec2i vec3i vec4i vec2u vec3u vec4u vec2h \
vec3h vec4h binding_array texture_1d texture_2d texture_3d \
read write read_write function private workgroup uniform storage \
bitcast all any select arrayLength abs acos acosh asin asinh atan atanh atan2 ceil clamp cos cosh \
countLeadingZeros countOneBits countTrailingZeros cross degrees determinant distance dot dot4U8Packed \
dot4I8Packed exp exp2 extractBits faceForward firstLeadingBit firstTrailingBit floor fma fract frexp \
insertBits inverseSqrt ldexp length log log2 max min mix modf normalize pow quantizeToF16 radians reflect \
refract reverseBits round saturate sign sin sinh smoothstep sqrt step tan tanh transpose trunc dpdx \
dpdy fwidth atomicLoad atomicStore atomicAdd pack4x8snorm pack4x8unorm pack2x16float unpack2x16float \
storageBarrier textureBarrier workgroupBarrier workgroupUniformLoad";

/// What the kernel itself declares at module scope: see `bindings`, `kernel` and `support`.
const OWN: &str = "\
Run run inputs states outputs progress per_step prepared prepare main agent_key step_key random_word \
random_round div_i32 div_u32 rem_i32 rem_u32 i32_from_f32 u32_from_f32 kept \
precise_quotient_vec2 precise_quotient_vec3 precise_quotient_vec4 \
runtime_f32 runtime_i32 runtime_u32 runtime_bool";

/// Prefixes of names that lanes need: see `lanes` and `exchange`.
const LANES: &str = "lanes_";

static SORTED_KEYWORDS: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| sorted(KEYWORDS.split_whitespace()));

static SORTED_MODULE: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let helpers = table::rows()
        .iter()
        .filter_map(|row| match &row.meaning {
            Meaning::Pure(pure) => Some(pure),
            Meaning::Fold(_) | Meaning::Draw(_) | Meaning::Length => None,
        })
        .flat_map(|pure| match pure.wgsl {
            Wgsl::Native(name) => vec![name],
            Wgsl::Helper { text, .. } => declared(text).collect(),
            // Its words are builtins of WGSL.
            Wgsl::Expression(_) => Vec::new(),
        });
    let names = PREDECLARED
        .split_whitespace()
        .chain(OWN.split_whitespace())
        .chain(KEYWORDS.split_whitespace())
        .chain(helpers)
        .chain(precise::names());
    sorted(names)
});

/// A process looks up few names: that is faster than building a hash table of this many.
fn sorted(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names
}

/// May no struct have a member of this name?
pub(super) fn is_keyword(name: &str) -> bool {
    SORTED_KEYWORDS.binary_search(&name).is_ok()
}

/// May no function or variable have this name?
pub(super) fn is_reserved(name: &str) -> bool {
    SORTED_MODULE.binary_search(&name).is_ok() || name.starts_with(LANES)
}

/// The names that a text declares at module scope: those after `fn`, `const` and the like at the
/// beginning of a line.
fn declared(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter_map(|line| {
        let (word, rest) = line.split_once(' ')?;
        let declares =
            matches!(word, "fn" | "const" | "struct" | "alias") || word.starts_with("var");
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
        declares.then_some(&rest[..end])
    })
}
