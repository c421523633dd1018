//! An open device: every call that may fail goes through [`OpenDevice::guarded`] or [`OpenDevice::wait`],
//! which turn wgpu's errors and panics into ours.

use crate::{
    adapter::AdapterSummary,
    clock::Stopwatch,
    error::Error,
    gpu::{
        adapter::{seconds, summary},
        processors,
    },
    telemetry::Telemetry,
};
use std::{
    cell::Cell,
    mem::ManuallyDrop,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

/// How long a wait spins before it blocks: blocking adds 50 to 400 microseconds, which short runs on a GPU
/// would feel, and spinning 35.
const SPIN: Duration = Duration::from_millis(2);

/// How long a wait sleeps at a time.
const NAP: Duration = Duration::from_millis(5);

/// Invocations of a workgroup: the kernels of the compiler all have so many.
const WORKGROUP: u32 = 64;

/// Held by the thread that opens or closes a device or has a kernel compiled.
static DRIVER: Mutex<()> = Mutex::new(());

/// Waits until no other thread opens or closes a device or has a kernel compiled. A driver of NVIDIA (580.159) was seen
/// to stand still when several did at once: one in the loader of libraries, the other in the driver, each waiting for
/// what the other held.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    DRIVER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A device, its queue and what went wrong with it.
pub(crate) struct OpenDevice {
    pub(crate) device: ManuallyDrop<wgpu::Device>,
    pub(crate) queue: ManuallyDrop<wgpu::Queue>,
    pub(crate) limits: wgpu::Limits,
    pub(crate) adapter: AdapterSummary,
    /// The smallest subgroup that it may form; 1 if it has none.
    pub(crate) subgroup: u32,
    /// Processors that run workgroups of their own, where the driver tells.
    pub(crate) processors: Option<u32>,
    faults: Arc<Mutex<Faults>>,
    telemetry: Cell<Telemetry>,
}

/// What the driver told us outside of any call.
#[derive(Default)]
struct Faults {
    lost: Option<String>,
    stray: Option<wgpu::Error>,
}

/// What is being done, for the error.
#[derive(Clone, Copy)]
pub(crate) struct Task {
    pub(crate) during: &'static str,
    /// Bytes that it allocates.
    pub(crate) bytes: u64,
}

impl Task {
    pub(crate) const fn new(during: &'static str) -> Task {
        Task { during, bytes: 0 }
    }
}

impl OpenDevice {
    /// Opens a device with everything that the adapter allows.
    pub(crate) fn open(adapter: &wgpu::Adapter) -> Result<OpenDevice, Error> {
        let limits = adapter.limits();
        let summary = summary(adapter);
        let _alone = alone();
        let started = Stopwatch::start();
        // What the driver may have: a clock for the report, and a cache for its own compiler.
        let wanted = wgpu::Features::TIMESTAMP_QUERY
            | wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES
            | wgpu::Features::PIPELINE_CACHE
            | wgpu::Features::SUBGROUP;
        let request = adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("sim"),
            required_features: adapter.features() & wanted,
            required_limits: limits.clone(),
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        });
        let (device, queue) =
            pollster::block_on(request).map_err(|error| Error::DeviceRefused {
                adapter: summary.name.clone(),
                message: error.to_string(),
            })?;
        let faults = Arc::new(Mutex::new(Faults::default()));
        let at_loss = Arc::clone(&faults);
        device.set_device_lost_callback(move |reason, message| {
            let mut faults = at_loss.lock().unwrap_or_else(PoisonError::into_inner);
            faults.lost = Some(format!("{reason:?} {message}").trim().to_owned());
        });
        let at_error = Arc::clone(&faults);
        device.on_uncaptured_error(Arc::new(move |error| {
            let mut faults = at_error.lock().unwrap_or_else(PoisonError::into_inner);
            faults.stray.get_or_insert(error);
        }));
        let (instance_seconds, adapter_seconds) = seconds();
        let subgroup = subgroup(adapter, &device);
        let processors = processors::count(adapter);
        Ok(OpenDevice {
            device: ManuallyDrop::new(device),
            queue: ManuallyDrop::new(queue),
            limits,
            adapter: summary,
            subgroup,
            processors,
            faults,
            telemetry: Cell::new(Telemetry {
                instance_seconds,
                adapter_seconds,
                device_seconds: started.seconds(),
                ..Telemetry::default()
            }),
        })
    }

    /// Takes note of something that was done.
    pub(crate) fn meter(&self, note: impl FnOnce(&mut Telemetry)) {
        let mut telemetry = self.telemetry.get();
        note(&mut telemetry);
        self.telemetry.set(telemetry);
    }

    /// What was done since the device was opened, or since the last such call.
    pub(crate) fn taken_telemetry(&self) -> Telemetry {
        self.telemetry.take()
    }

    /// Does something with the device and gives what went wrong in it as an error.
    pub(crate) fn guarded<T>(&self, task: Task, act: impl FnOnce() -> T) -> Result<T, Error> {
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        // wgpu panics where it cannot go on, above all when the device is lost. The session that owns this
        // device is dropped after any error, so nobody sees what a panic left behind.
        let result = catch_unwind(AssertUnwindSafe(act));
        let errors = [
            pollster::block_on(validation.pop()),
            pollster::block_on(memory.pop()),
            pollster::block_on(internal.pop()),
        ];
        let result = result.map_err(|panic| self.panicked(task, panic.as_ref()));
        self.check_faults(task)?;
        if let Some(error) = errors.into_iter().flatten().next() {
            return Err(self.named(task, &error));
        }
        result
    }

    /// Waits until a submission `is_done`, which should be the case when it is `due`: sleeps for most of that time,
    /// then spins, and blocks if it takes longer.
    pub(crate) fn wait(
        &self,
        task: Task,
        submission: wgpu::SubmissionIndex,
        due: Instant,
        mut is_done: impl FnMut() -> bool,
    ) -> Result<(), Error> {
        let started = Instant::now();
        // A software adapter needs the cores for itself.
        let spin = self.adapter.kind.is_gpu();
        let expected = due.saturating_duration_since(started);
        let nap = (expected * 9 / 10).saturating_sub(SPIN / 2);
        let poll = || -> Result<(), wgpu::PollError> {
            // In short naps: what is expected may be wrong.
            while spin && nap >= SPIN / 2 && started.elapsed() < nap {
                thread::sleep(NAP.min(nap.saturating_sub(started.elapsed())));
                self.device.poll(wgpu::PollType::Poll)?;
                if is_done() {
                    return Ok(());
                }
            }
            while spin && started.elapsed() < expected + SPIN {
                self.device.poll(wgpu::PollType::Poll)?;
                if is_done() {
                    return Ok(());
                }
                std::hint::spin_loop();
            }
            self.device.poll(wgpu::PollType::Wait {
                submission_index: Some(submission),
                timeout: None,
            })?;
            Ok(())
        };
        let result = self.guarded(task, poll)?;
        self.meter(|telemetry| telemetry.wait_seconds += started.elapsed().as_secs_f64());
        result.map_err(|error| Error::Device {
            adapter: self.adapter.name.clone(),
            during: task.during,
            message: error.to_string(),
        })
    }

    /// An error if the driver complained outside of any call.
    fn check_faults(&self, task: Task) -> Result<(), Error> {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(message) = &faults.lost {
            return Err(Error::DeviceLost {
                adapter: self.adapter.name.clone(),
                message: message.clone(),
            });
        }
        match faults.stray.take() {
            Some(error) => Err(self.named(task, &error)),
            None => Ok(()),
        }
    }

    fn named(&self, task: Task, error: &wgpu::Error) -> Error {
        match error {
            wgpu::Error::OutOfMemory { .. } => Error::GpuMemory {
                adapter: self.adapter.name.clone(),
                what: task.during.to_owned(),
                bytes: task.bytes,
            },
            wgpu::Error::Validation { description, .. } => Error::KernelRefused {
                during: task.during,
                message: description.trim().to_owned(),
            },
            wgpu::Error::Internal { description, .. } => Error::Device {
                adapter: self.adapter.name.clone(),
                during: task.during,
                message: description.trim().to_owned(),
            },
        }
    }

    fn panicked(&self, task: Task, panic: &(dyn std::any::Any + Send)) -> Error {
        let message = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_else(|| "no reason given".to_owned());
        let adapter = self.adapter.name.clone();
        if message.contains("lost") {
            Error::DeviceLost { adapter, message }
        } else {
            Error::Device {
                adapter,
                during: task.during,
                message,
            }
        }
    }
}

impl Drop for OpenDevice {
    fn drop(&mut self) {
        let _alone = alone();
        // SAFETY: nothing uses them afterwards.
        unsafe {
            ManuallyDrop::drop(&mut self.queue);
            ManuallyDrop::drop(&mut self.device);
        }
    }
}

/// The smallest subgroup, if workgroups consist of whole ones; else 1.
fn subgroup(adapter: &wgpu::Adapter, device: &wgpu::Device) -> u32 {
    let info = adapter.get_info();
    let whole = info.subgroup_max_size <= WORKGROUP;
    if device.features().contains(wgpu::Features::SUBGROUP) && whole {
        info.subgroup_min_size
    } else {
        1
    }
}
