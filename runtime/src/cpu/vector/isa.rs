//! The instruction sets that the kernels are compiled for.

use std::{fmt, sync::LazyLock};

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// 512-bit vectors: AVX-512 F, BW, CD, DQ and VL.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 256-bit vectors and fused multiply–add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The baseline of the target: SSE2, NEON, or scalar code.
    Portable,
}

impl Isa {
    /// The instruction sets of this processor, the fastest first.
    pub fn available() -> Vec<Isa> {
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            let bits = is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt");
            let avx2 = bits && is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let avx512 = avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            if avx512 {
                found.push(Isa::Avx512);
            }
            if avx2 {
                found.push(Isa::Avx2);
            }
        }
        found.push(Isa::Portable);
        found
    }

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        Isa::available().contains(&self)
    }

    /// The fastest instruction set of this processor.
    pub fn best() -> Isa {
        Isa::available()[0]
    }

    /// The one whose kernels run floats of `f64` where this one runs those of `f32`. There are fewer, which
    /// keeps the library small.
    pub fn of_doubles(self) -> Isa {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Isa::Avx2,
            other => other,
        }
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => "avx2",
            Isa::Portable => "portable",
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A loop that LLVM vectorises.
pub trait Work {
    /// Runs it. To be inlined, so that it is compiled for each instruction set.
    fn run(self);
}

/// Runs a loop with the fastest instruction set of this processor. All give the same bits, since Rust neither
/// contracts nor reassociates.
pub fn vectorised<W: Work>(work: W) {
    static BEST: LazyLock<Isa> = LazyLock::new(Isa::best);
    match *BEST {
        // SAFETY: the processor has what was detected.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { avx512(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { avx2(work) },
        Isa::Portable => work.run(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt"
)]
fn avx512<W: Work>(work: W) {
    work.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<W: Work>(work: W) {
    work.run();
}
