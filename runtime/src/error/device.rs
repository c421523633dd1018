//! The errors of a device, `E08xx`: the last ones of the list.

/// Defines the errors that it is given, and those of a device after them.
macro_rules! with_device_errors {
    ($($others:tt)*) => {
        errors! {
            $($others)*

    /// The GPU backend found no adapter, or none whose name contains what was asked for. On Linux an adapter
    /// needs a Vulkan driver (for software, Mesa's llvmpipe). `auto` never takes a software adapter: the CPU
    /// backend is what it falls back to.
    E0801 no_adapter NoAdapter {
        /// The name that was asked for.
        wanted: Option<String>,
        /// The names of all adapters.
        found: Vec<String>,
    }
        says("{}", no_adapter(wanted.as_deref(), found))
        help(Some("run on the CPU backend, or install a Vulkan, Metal or DirectX 12 driver".into()))
        after(DropBackend)

    /// The driver lists the adapter but opens no device on it. Often another process holds it, or the driver
    /// and its kernel module differ in version.
    E0802 device_refused DeviceRefused {
        /// The adapter's name.
        adapter: String,
        /// The driver's message.
        message: String,
    }
        says("the driver of {adapter} gives no device: {message}")
        help(Some("close other programs that use the GPU, or run on the CPU backend".into()))
        after(DropBackend)

    /// The model is too large for this adapter: too many tables, too large a table, or too large a workgroup.
    /// The number of agents is no matter here: populations too large for one buffer run in chunks.
    E0803 adapter_limit AdapterLimit {
        /// The adapter's name.
        adapter: String,
        /// The limited quantity, in words.
        limit: &'static str,
        /// The amount that the model needs.
        needed: u64,
        /// The amount that the adapter allows.
        available: u64,
    }
        says("the model needs {needed} {limit}, but {adapter} allows {available}")
        help(Some("run on the CPU backend, which has no such limit".into()))
        after(DropBackend)

    /// The device's memory does not hold the tables and at least a small chunk of agents. Large populations
    /// are split into smaller chunks first; this is said only when even these do not fit.
    E0804 gpu_out_of_memory GpuMemory {
        /// The adapter's name.
        adapter: String,
        /// The allocation that failed, in words.
        what: String,
        /// Its size.
        bytes: u64,
    }
        says("{adapter} has no memory left for {what} ({bytes} bytes)")
        help(Some("run fewer agents at a time, smaller tables, or on the CPU backend".into()))
        after(DropBackend)

    /// The shader validator or the driver refused the kernel that the compiler wrote, or a command that the
    /// runtime gave. Whatever the compiler accepts must be valid, so this is a bug of ours. Please report it
    /// with the model, the message and the adapter's name.
    E0805 kernel_refused KernelRefused {
        /// The operation that failed, in words.
        during: &'static str,
        /// The validator's message.
        message: String,
    }
        says("the kernel was refused while {during}: {message}")
        help(Some("this is a bug of the compiler, not of the model: please report it with the model, \
            this message and the adapter's name; the CPU backend runs the model meanwhile".into()))
        after(DropBackend)

    /// The driver gave up on the device: it hung, was reset or unplugged, or a watchdog found that one
    /// command took too long. Long runs are split so that no command takes more than a fraction of a second,
    /// as far as that can be known from the ones before.
    E0806 device_lost DeviceLost {
        /// The adapter's name.
        adapter: String,
        /// The driver's message.
        message: String,
    }
        says("{adapter} was lost: {message}")
        help(Some("run again; if it happens again, run fewer steps per dispatch or on the CPU \
            backend".into()))
        after(DropBackend)

    /// Every agent reports the number of steps that it ran, and one reports too few or too many. Some
    /// software drivers silently end loops after 65,535 iterations; the runtime splits the time loop to stay
    /// below that, and this check finds where that did not suffice. The results would be wrong, so none are
    /// given.
    E0807 wrong_step_count WrongStepCount {
        /// The adapter's name.
        adapter: String,
        /// The first such agent's number.
        agent: u64,
        /// The number of steps that it should have run.
        expected: u32,
        /// The number of steps that it ran.
        found: u32,
    }
        says("on {adapter}, agent {agent} ran {found} steps instead of {expected}")
        help(Some(
            "no result of this run is right, so none is given; run on the CPU backend or on another \
             adapter"
            .into()
        ))
        after(DropBackend)

    /// The kernel detects inner loops that a driver ends silently (software drivers do so after 65,535
    /// iterations within a dispatch). It still does with a single step per dispatch: one step of the model
    /// has too many iterations for this driver.
    E0808 loop_cut_short LoopCutShort {
        /// The adapter's name.
        adapter: String,
        /// The first such agent's number.
        agent: u64,
    }
        says("{adapter} cuts the loops of a single step short (first in agent {agent})")
        help(Some(
            "no result of this run is right, so none is given; run on the CPU backend or on another \
             adapter"
            .into()
        ))
        after(DropBackend)

    /// The driver reported a failure that has no name of its own; its words are in the message.
    E0809 device_failed Device {
        /// The adapter's name.
        adapter: String,
        /// The operation that failed, in words.
        during: &'static str,
        /// The driver's message.
        message: String,
    }
        says("{adapter} failed while {during}: {message}")
        help(Some("run on the CPU backend or on another adapter".into()))
        after(DropBackend)

    /// The GPU backend is the feature `gpu` of the crate `sim-runtime` and of `simc`. It is on by default;
    /// this program was built without it, and has the CPU backend only.
    E0810 no_gpu_support NoGpuSupport
        says("this build has no GPU support")
        help(Some("run on the CPU, or build with the feature `gpu`".into()))
        after(KeepBackend)

    /// A browser gives the results of a GPU only after the call that asked for them has returned, so that a
    /// run there is a future: `Simulation::run_async`. Batches of runs, parts of runs, searches and fits,
    /// which return what they computed, run on the CPU there.
    E0811 must_not_block MustNotBlock
        says("a GPU cannot be waited for on this target")
        help(Some("use `Simulation::run_async`, or run on the CPU".into()))
        after(DropBackend)

    /// A page has no compiler. It brings kernels that were made when it was built, for worlds of one size,
    /// and this run has worlds of another. The CPU runs worlds of any size.
    E0812 no_prepared_kernel NoPreparedKernel {
        /// Agents of a world.
        members: u32,
    }
        says("the model was built without a kernel for worlds of {members} agents")
        help(Some("run on the CPU, or build the model for worlds of this size".into()))
        after(DropBackend)
        }
    };
}
pub(super) use with_device_errors;
