//! An open device. Every call that can fail goes through [`OpenDevice::guarded`], which turns the errors and
//! panics of wgpu into errors of this crate.

#[cfg(not(target_family = "wasm"))]
use crate::clock;
#[cfg(target_family = "wasm")]
use crate::gpu::pending::Pending;
use crate::{
    adapter::AdapterSummary,
    clock::Stopwatch,
    error::Error,
    gpu::{
        adapter::{summary, take_seconds},
        processors,
    },
    telemetry::Telemetry,
};
use sim_compiler::value::WORD_BYTES;
#[cfg(not(target_family = "wasm"))]
use std::time::Duration;
use std::{
    cell::Cell,
    mem::ManuallyDrop,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// How long a wait spins before it blocks. Blocking adds 50 to 400 microseconds of latency to a run, spinning
/// 35.
#[cfg(not(target_family = "wasm"))]
const SPIN: Duration = Duration::from_millis(2);

/// Longest wait in the driver before it is asked again whether the submission is done. A thread that waits in
/// lavapipe (Mesa 22.3) was seen not to wake up on a loaded machine, when nothing was left to be done.
#[cfg(not(target_family = "wasm"))]
const RECHECK: Duration = Duration::from_secs(2);

/// Longest sleep of a wait between two polls.
#[cfg(not(target_family = "wasm"))]
const NAP: Duration = Duration::from_millis(5);

/// Invocations of a workgroup of the compiler's kernels that use subgroups.
const WORKGROUP: u32 = 64;

/// Held while a device is opened or closed or a kernel is compiled.
static DRIVER: Mutex<()> = Mutex::new(());

/// Waits until no other thread opens or closes a device or compiles a kernel. NVIDIA's driver 580.159 was
/// seen to deadlock when two threads did so at once: one held the lock of the dynamic loader, the other the
/// driver's.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    lock(&DRIVER)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A device, its queue and its asynchronous errors.
pub(crate) struct OpenDevice {
    pub(crate) device: ManuallyDrop<wgpu::Device>,
    pub(crate) queue: ManuallyDrop<wgpu::Queue>,
    pub(crate) limits: wgpu::Limits,
    pub(crate) adapter: AdapterSummary,
    /// The smallest size of a subgroup; 1 without subgroups.
    pub(crate) subgroup: u32,
    /// The number of processors (SMs) if the driver reports it.
    pub(crate) processors: Option<u32>,
    /// What memory of this device is known by.
    pub(crate) identity: Arc<()>,
    faults: Arc<Mutex<Faults>>,
    #[cfg(target_family = "wasm")]
    pending: Pending<Task>,
    telemetry: Cell<Telemetry>,
}

/// Errors that the driver reported outside of any call.
#[derive(Default)]
struct Faults {
    lost: Option<String>,
    stray: Option<wgpu::Error>,
}

/// The operation that an error is about.
#[derive(Clone, Copy)]
pub(crate) struct Task {
    pub(crate) during: &'static str,
    /// Bytes that it allocates; 0 if none.
    pub(crate) bytes: u64,
}

impl Task {
    pub(crate) const fn new(during: &'static str) -> Task {
        Task { during, bytes: 0 }
    }
}

impl OpenDevice {
    /// Opens a device with all of the adapter's limits.
    ///
    /// # Errors
    /// [`Error::DeviceRefused`]
    pub(crate) async fn open(adapter: &wgpu::Adapter) -> Result<OpenDevice, Error> {
        let limits = adapter.limits();
        let summary = summary(adapter);
        let started = Stopwatch::start();
        // All optional: timestamps for telemetry, a cache for the driver's compiler, subgroups for shuffles.
        let mut wanted = wgpu::Features::TIMESTAMP_QUERY
            | wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES
            | wgpu::Features::PIPELINE_CACHE
            | wgpu::Features::SUBGROUP;
        if cfg!(target_family = "wasm") {
            // A browser wants the kernel to say that it uses them, which naga refuses.
            wanted.remove(wgpu::Features::SUBGROUP);
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("sim"),
            required_features: adapter.features() & wanted,
            required_limits: limits.clone(),
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        };
        let opened = request(adapter, &descriptor).await;
        let (device, queue) = opened.map_err(|error| Error::DeviceRefused {
            adapter: summary.name.clone(),
            message: error.to_string(),
        })?;
        let faults = Arc::new(Mutex::new(Faults::default()));
        let at_loss = Arc::clone(&faults);
        device.set_device_lost_callback(move |reason, message| {
            lock(&at_loss).lost = Some(format!("{reason:?} {message}").trim().to_owned());
        });
        let at_error = Arc::clone(&faults);
        device.on_uncaptured_error(Arc::new(move |error| {
            lock(&at_error).stray.get_or_insert(error);
        }));
        let (instance_seconds, adapter_seconds) = take_seconds();
        let subgroup = subgroup(adapter, &device);
        let processors = processors::count(adapter);
        Ok(OpenDevice {
            device: ManuallyDrop::new(device),
            queue: ManuallyDrop::new(queue),
            limits,
            adapter: summary,
            subgroup,
            processors,
            identity: Arc::new(()),
            faults,
            #[cfg(target_family = "wasm")]
            pending: Pending::new(),
            telemetry: Cell::new(Telemetry {
                instance_seconds,
                adapter_seconds,
                device_seconds: started.seconds(),
                ..Telemetry::default()
            }),
        })
    }

    /// Whether the device has a feature.
    pub(crate) fn has(&self, feature: wgpu::Features) -> bool {
        self.device.features().contains(feature)
    }

    /// Most bytes of a storage buffer.
    pub(crate) fn most_bytes(&self) -> u64 {
        let limits = &self.limits;
        (limits.max_storage_buffer_binding_size).min(limits.max_buffer_size)
    }

    /// The error for a limit of the adapter.
    pub(crate) fn beyond_limit(&self, limit: &'static str, needed: u64, available: u64) -> Error {
        Error::AdapterLimit {
            adapter: self.adapter.name.clone(),
            limit,
            needed,
            available,
        }
    }

    /// Adds to the telemetry.
    pub(crate) fn meter(&self, note: impl FnOnce(&mut Telemetry)) {
        let mut telemetry = self.telemetry.get();
        note(&mut telemetry);
        self.telemetry.set(telemetry);
    }

    /// The telemetry since the device was opened or since the last call.
    pub(crate) fn take_telemetry(&self) -> Telemetry {
        self.telemetry.take()
    }

    /// Calls `act`, which uses the device, and returns the first error that the device reports. A browser
    /// reports errors later: there [`OpenDevice::settle`] returns them.
    pub(crate) fn guarded<T>(&self, task: Task, act: impl FnOnce() -> T) -> Result<T, Error> {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        let scopes = [Internal, OutOfMemory, Validation].map(|it| self.device.push_error_scope(it));
        // wgpu panics where it cannot continue, above all if the device is lost. The session that owns the
        // device is dropped after any error, so nothing observes the state that a panic leaves.
        let result = catch_unwind(AssertUnwindSafe(act));
        #[cfg(not(target_family = "wasm"))]
        let first = {
            let scopes = scopes.into_iter().rev();
            let errors: Vec<_> = scopes
                .filter_map(|scope| clock::block_on(scope.pop()))
                .collect();
            errors.into_iter().next()
        };
        #[cfg(target_family = "wasm")]
        let first = {
            self.pending.add(task, scopes);
            None
        };
        let result = result.map_err(|panic| self.panicked(task, panic.as_ref()));
        self.check_faults(task)?;
        match first {
            Some(error) => {
                #[cfg(not(target_family = "wasm"))]
                self.learn_of_loss();
                self.check_faults(task)?;
                Err(self.named(task, &error))
            }
            None => result,
        }
    }

    /// Lets wgpu say that the device is lost, which it does when it is polled with nothing left to wait for.
    /// A device that was lost a moment ago makes buffers that are invalid: nothing else is known then.
    #[cfg(not(target_family = "wasm"))]
    fn learn_of_loss(&self) {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            self.device.poll(wgpu::PollType::Wait {
                submission_index: None,
                timeout: Some(RECHECK),
            })
        }));
    }

    /// Waits until the browser has said that the device is lost, if it is: it refuses to map a buffer before.
    #[cfg(target_family = "wasm")]
    pub(crate) async fn learn_of_loss(&self) {
        /// Promises that may be kept before that of the loss.
        const TURNS: u32 = 4;
        for _ in 0..TURNS {
            if lock(&self.faults).lost.is_some() {
                return;
            }
            let _ = (self.device.push_error_scope(wgpu::ErrorFilter::Internal))
                .pop()
                .await;
        }
    }

    /// Waits for the errors of all that was done, and returns the first one.
    #[cfg(target_family = "wasm")]
    pub(crate) async fn settle(&self) -> Result<(), Error> {
        let first = self.pending.first_error().await;
        self.check_faults(Task::new("running the kernel"))?;
        match first {
            Some((task, error)) => Err(self.named(task, &error)),
            None => Ok(()),
        }
    }

    /// Nothing is left to wait for: [`OpenDevice::guarded`] has returned all errors.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) async fn settle(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Allocates a buffer.
    ///
    /// # Errors
    /// [`Error::GpuMemory`]
    pub(crate) fn buffer(
        &self,
        during: &'static str,
        bytes: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, Error> {
        self.guarded(Task { during, bytes }, || {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("sim"),
                size: bytes,
                usage,
                mapped_at_creation: false,
            })
        })
    }

    /// Writes words to a buffer from the byte `offset` on, and counts them in the telemetry.
    pub(crate) fn upload(
        &self,
        during: &'static str,
        buffer: &wgpu::Buffer,
        offset: u64,
        words: &[u32],
    ) -> Result<(), Error> {
        self.meter(|telemetry| telemetry.bytes_up += words.len() as u64 * WORD_BYTES);
        self.write(during, buffer, offset, words)
    }

    /// Writes words to a buffer from the byte `offset` on.
    pub(crate) fn write(
        &self,
        during: &'static str,
        buffer: &wgpu::Buffer,
        offset: u64,
        words: &[u32],
    ) -> Result<(), Error> {
        let bytes = words.len() as u64 * WORD_BYTES;
        self.guarded(Task { during, bytes }, || {
            self.queue
                .write_buffer(buffer, offset, bytemuck::cast_slice(words));
        })
    }

    /// Lets callbacks of completed submissions run. Never blocks.
    pub(crate) fn poll(&self, task: Task) -> Result<(), Error> {
        let polled = self.guarded(task, || self.device.poll(wgpu::PollType::Poll))?;
        polled.map(drop).map_err(|error| self.failed(task, error))
    }

    /// Blocks until a submission `is_done`, which is expected at the time `due`: sleeps for most of the time
    /// until then, spins around `due`, and waits for the driver if the submission takes longer.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn wait(
        &self,
        task: Task,
        submission: wgpu::SubmissionIndex,
        due: Duration,
        mut is_done: impl FnMut() -> bool,
    ) -> Result<(), Error> {
        let started = clock::now();
        let elapsed = || clock::now() - started;
        // A software adapter needs the cores for itself.
        let spins = self.adapter.kind.is_gpu();
        let expected = due.saturating_sub(started);
        let sleep = (expected * 9 / 10).saturating_sub(SPIN / 2);
        let poll = || -> Result<(), wgpu::PollError> {
            while spins && elapsed() < expected + SPIN {
                let left = sleep.saturating_sub(elapsed());
                // In short naps, since the estimate may be wrong.
                if sleep >= SPIN / 2 && !left.is_zero() {
                    clock::sleep(NAP.min(left));
                }
                self.device.poll(wgpu::PollType::Poll)?;
                if is_done() {
                    return Ok(());
                }
                std::hint::spin_loop();
            }
            loop {
                let waited = self.device.poll(wgpu::PollType::Wait {
                    submission_index: Some(submission.clone()),
                    timeout: Some(RECHECK),
                });
                match waited {
                    Err(wgpu::PollError::Timeout) if !is_done() => {}
                    Err(wgpu::PollError::Timeout) => return Ok(()),
                    other => return other.map(drop),
                }
            }
        };
        let result = self.guarded(task, poll)?;
        self.meter(|telemetry| telemetry.wait_seconds += elapsed().as_secs_f64());
        result.map_err(|error| self.failed(task, error))
    }

    /// The error for an operation of the device that failed.
    pub(crate) fn failed(&self, task: Task, message: impl ToString) -> Error {
        Error::Device {
            adapter: self.adapter.name.clone(),
            during: task.during,
            message: message.to_string(),
        }
    }

    /// The error that the driver reported outside of any call, if any.
    fn check_faults(&self, task: Task) -> Result<(), Error> {
        let mut faults = lock(&self.faults);
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
            wgpu::Error::Internal { description, .. } => self.failed(task, description.trim()),
        }
    }

    fn panicked(&self, task: Task, panic: &(dyn std::any::Any + Send)) -> Error {
        let message = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap_or_else(|| "no reason given".to_owned());
        let adapter = self.adapter.name.clone();
        match message.contains("lost") {
            true => Error::DeviceLost { adapter, message },
            false => self.failed(task, message),
        }
    }
}

#[cfg(not(target_family = "wasm"))]
async fn request(
    adapter: &wgpu::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
) -> Result<(wgpu::Device, wgpu::Queue), wgpu::RequestDeviceError> {
    let _alone = alone();
    clock::block_on(adapter.request_device(descriptor))
}

#[cfg(target_family = "wasm")]
async fn request(
    adapter: &wgpu::Adapter,
    descriptor: &wgpu::DeviceDescriptor<'_>,
) -> Result<(wgpu::Device, wgpu::Queue), wgpu::RequestDeviceError> {
    adapter.request_device(descriptor).await
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

/// The smallest size of a subgroup if a workgroup always consists of whole subgroups, otherwise 1.
fn subgroup(adapter: &wgpu::Adapter, device: &wgpu::Device) -> u32 {
    let info = adapter.get_info();
    let whole = info.subgroup_max_size <= WORKGROUP;
    if device.features().contains(wgpu::Features::SUBGROUP) && whole {
        info.subgroup_min_size
    } else {
        1
    }
}
