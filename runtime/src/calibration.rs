//! How fast this machine is, as far as [`Backend::Auto`](crate::Backend::Auto) must know it.

/// Speeds of a processor and a GPU, by which [`Backend::Auto`](crate::Backend::Auto) decides which of them
/// is done first. [`calibrate`](crate::calibrate) measures them; [`Calibration::default`] has estimates that
/// hold for no machine in particular.
///
/// Work is counted in instructions of the CPU backend's program, each for one agent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Seconds from the start until a GPU has compiled a small kernel.
    pub gpu_open_seconds: f64,
    /// Seconds per instruction and agent on the GPU, if it is busy.
    pub gpu_instruction_seconds: f64,
    /// Seconds per instruction and agent on the processor, if all its threads are busy.
    pub cpu_instruction_seconds: f64,
    /// The threads of the CPU backend.
    pub cpu_threads: u32,
}

impl Default for Calibration {
    /// A GPU that takes 50 ms to open and no time to compute, and one thread that takes 30 ns for an
    /// instruction of 512 agents.
    fn default() -> Calibration {
        Calibration {
            gpu_open_seconds: 0.05,
            gpu_instruction_seconds: 0.0,
            cpu_instruction_seconds: 6e-11,
            cpu_threads: 1,
        }
    }
}

impl Calibration {
    /// Whether the processor is done before the GPU, for `work` instructions in all, of agents in that many
    /// blocks: a block runs on one thread.
    pub(crate) fn cpu_is_faster(&self, work: f64, blocks: u64) -> bool {
        let idle = f64::from(self.cpu_threads)
            / blocks.clamp(1, u64::from(self.cpu_threads.max(1))) as f64;
        let cpu = work * self.cpu_instruction_seconds * idle.max(1.0);
        cpu <= self.gpu_open_seconds + work * self.gpu_instruction_seconds
    }

    /// The work that takes both the same time, if all threads of the processor are busy; none if the GPU
    /// never catches up.
    pub fn break_even(&self) -> Option<f64> {
        let gain = self.cpu_instruction_seconds - self.gpu_instruction_seconds;
        (gain > 0.0).then_some(self.gpu_open_seconds / gain)
    }
}

#[cfg(test)]
mod tests {
    use super::Calibration;

    const MEASURED: Calibration = Calibration {
        gpu_open_seconds: 0.2,
        gpu_instruction_seconds: 1e-13,
        cpu_instruction_seconds: 1e-11,
        cpu_threads: 8,
    };

    #[test]
    fn the_cpu_is_faster_below_the_break_even() {
        let even = MEASURED.break_even().expect("the GPU is faster");
        assert!((even / (0.2 / 9.9e-12) - 1.0).abs() < 1e-12, "{even}");
        assert!(MEASURED.cpu_is_faster(even * 0.999, 8));
        assert!(!MEASURED.cpu_is_faster(even * 1.001, 8));
        // Two blocks keep two of eight threads busy.
        assert!(MEASURED.cpu_is_faster(even * 0.24, 2));
        assert!(!MEASURED.cpu_is_faster(even * 0.26, 2));
    }

    #[test]
    fn a_slow_gpu_never_catches_up() {
        let slow = Calibration {
            gpu_instruction_seconds: 1e-11,
            ..MEASURED
        };
        assert_eq!(slow.break_even(), None);
        assert!(slow.cpu_is_faster(1e30, 8));
    }
}
