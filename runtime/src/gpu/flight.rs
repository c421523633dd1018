//! The way of a batch through the device: its runs, in chunks where they do not fit, go out in submissions, of which
//! two are in flight at a time, so that the device computes while the host reads what it computed before. Short runs
//! share a submission: where their agents do not fill the device they run side by side.

use super::{
    Built,
    buffers::{self, Buffers, Dispatch, Inputs, Shape},
    commands::{Commands, Once, Plan, RUNNING},
    device::OpenDevice,
    kernel::binding,
    order::InOrder,
    plan,
    reduce::{self, Reducer, Reduction},
    results::{Chunk, Fault, HEAD_BYTES, HEAD_WORDS, Layout},
    staging::{Mapping, Staging},
    stock::Stock,
};
use crate::{
    batch::Batch, bind::Launch, control::Keep, error::Error, results::RawResults,
    telemetry::Telemetry,
};
use sim_compiler::manifest::Manifest;
use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

/// Submissions that are on their way at a time.
pub(super) const IN_FLIGHT: usize = 2;
/// Runs that share a submission should be over in about this time, so that a batch can be cancelled.
const TOGETHER: Duration = Duration::from_millis(50);
/// Bytes of results that they may have together.
const TOGETHER_BYTES: u64 = 64 << 20;

/// One chunk of a run, in a submission.
struct Job {
    run: usize,
    launch: Arc<Launch>,
    chunk: Chunk,
}

/// A submission that is on its way.
struct Flight {
    buffers: Buffers,
    /// Its runs, one per place of the buffers.
    jobs: Vec<Job>,
    /// The steps that it runs: from the first to the one after the last.
    steps: (u32, u32),
    dispatches: u64,
    /// Steps of the longest of them.
    longest: u32,
    /// What its commands did.
    plan: Plan,
    /// What the results of each run are reduced to, after the last step of runs that do not keep them.
    reductions: Vec<Reduction>,
    submission: wgpu::SubmissionIndex,
    mapping: Mapping,
    since: Instant,
}

/// A run that has begun.
struct Begun {
    raw: RawResults,
    /// Agents that are not yet done.
    left: u32,
}

/// A batch on its way through the device.
pub(super) struct Traffic<'a> {
    pub(super) open: &'a OpenDevice,
    pub(super) manifest: &'a Manifest,
    pub(super) built: &'a mut Built,
    pub(super) stock: &'a mut Stock,
    pub(super) batch: &'a Batch<'a>,
    /// Most agents of a chunk, where the caller wants it smaller.
    pub(super) most: Option<u32>,
    /// Are the results reduced where they lie, if a chunk is a whole run?
    pub(super) reduces: bool,
    /// The run whose chunks go out next, and its first agent that has not.
    next: (usize, u32),
    launch: Arc<Launch>,
    begun: BTreeMap<usize, Begun>,
    order: InOrder<RawResults>,
    /// Runs that can be launched, and what is wrong with the one after them.
    runs: usize,
    failed: Option<Error>,
    /// Agent-steps that are done.
    done: u64,
    /// When the device was last seen to have finished something.
    landed: Instant,
}

impl<'a> Traffic<'a> {
    /// For a batch whose first launch is given.
    pub(super) fn new(
        (open, manifest): (&'a OpenDevice, &'a Manifest),
        built: &'a mut Built,
        stock: &'a mut Stock,
        batch: &'a Batch<'a>,
        (launch, most, reduces): (Arc<Launch>, Option<u32>, bool),
    ) -> Traffic<'a> {
        Traffic {
            open,
            manifest,
            built,
            stock,
            batch,
            most,
            reduces,
            next: (0, 0),
            launch,
            begun: BTreeMap::new(),
            order: InOrder::new(),
            runs: batch.runs,
            failed: None,
            done: 0,
            landed: Instant::now(),
        }
    }

    /// Runs all of it; hands over each run when it is done.
    pub(super) fn run(mut self, each: &mut dyn FnMut(usize, RawResults)) -> Result<(), Error> {
        if !buffers::are_tables_of(&self.stock.tables, &self.launch) {
            self.stock.spare.clear();
            self.stock.tables = buffers::upload_tables(self.open, &self.launch)?;
        }
        let mut flying = VecDeque::new();
        loop {
            while flying.len() < IN_FLIGHT
                && let Some(flight) = self.depart(flying.is_empty())?
            {
                flying.push_back(flight);
            }
            let Some(flight) = flying.pop_front() else {
                return self.failed.map_or(Ok(()), Err);
            };
            self.batch.control.check()?;
            if let Some(flight) = self.land(flight, each)? {
                flying.push_back(flight);
            }
        }
    }

    /// Sends out the next chunk or the next few runs; none if all have gone, or if memory is short and others
    /// must come back first (unless this is the `only` one).
    fn depart(&mut self, only: bool) -> Result<Option<Flight>, Error> {
        // What is done early waits in memory: nothing more goes out meanwhile.
        if self.next.0 == self.runs || (self.order.waits() && !only) {
            return Ok(None);
        }
        let Some(mut buffers) = self.buffers(only)? else {
            return Ok(None);
        };
        let agents = buffers.agents();
        let places = self.together(agents).min(buffers.places.len());
        let mut jobs = Vec::with_capacity(places);
        for place in &mut buffers.places[..places] {
            if self.next.0 == self.runs {
                break;
            }
            let job = self.next_job(agents)?;
            let chunk = (job.chunk.first, job.chunk.count);
            place.load(self.open, &job.launch, self.manifest.input_words, chunk)?;
            jobs.push(job);
        }
        self.submit(buffers, jobs, 0).map(Some)
    }

    /// The next chunk; the run begins with its first one.
    fn next_job(&mut self, agents: u32) -> Result<Job, Error> {
        let (run, first) = self.next;
        let launch = Arc::clone(&self.launch);
        if first == 0 {
            let begun = Begun {
                raw: self.empty(&launch, self.keep(agents))?,
                left: launch.agents,
            };
            self.begun.insert(run, begun);
        }
        let count = agents.min(launch.agents - first);
        self.next.1 += count;
        if self.next.1 == launch.agents {
            self.next = (run + 1, 0);
            if run + 1 < self.runs {
                match (self.batch.complete_launch)(run + 1) {
                    Ok(launch) => self.launch = launch,
                    // Those before it are finished and handed over.
                    Err(error) => {
                        self.runs = run + 1;
                        self.failed = Some(error);
                    }
                }
            }
        }
        Ok(Job {
            run,
            launch,
            chunk: Chunk { first, count },
        })
    }

    /// What is fetched of chunks of so many agents.
    fn keep(&self, agents: u32) -> Keep {
        let reduces = self.reduces && agents == self.launch.agents;
        Keep {
            outputs: !reduces,
            states: self.batch.keep.states,
        }
    }

    /// Room for what is fetched of a run.
    fn empty(&self, launch: &Launch, keep: Keep) -> Result<RawResults, Error> {
        Ok(RawResults {
            chunks: 0,
            choices: self.built.choices.clone(),
            ..RawResults::empty(self.manifest, launch.agents, keep)?
        })
    }

    /// Buffers for the largest chunk that limits and memory allow, or for several runs; none if others must come back
    /// first.
    fn buffers(&mut self, only: bool) -> Result<Option<Buffers>, Error> {
        let (open, manifest) = (self.open, self.manifest);
        let limit = plan::most_agents(manifest, &open.limits, &open.adapter.name)?;
        let mut fewer = usize::MAX;
        loop {
            let most = self.stock.most(limit, self.most);
            let agents = plan::chunk_agents(self.launch.agents, most, manifest.workgroup_size);
            let runs = self.together(agents).min(fewer);
            match self.buffers_for(agents, runs) {
                Err(Error::GpuMemory { .. }) if !only => return Ok(None),
                Err(Error::GpuMemory { .. }) if runs > 1 => fewer = runs / 2,
                Err(Error::GpuMemory { .. }) if agents > plan::SMALLEST_CHUNK => {
                    self.stock.most = Some(agents / 2);
                }
                other => return other.map(Some),
            }
        }
    }

    /// Buffers for so many agents of each of so many runs.
    fn buffers_for(&mut self, agents: u32, runs: usize) -> Result<Buffers, Error> {
        let (open, manifest, steps) = (self.open, self.manifest, self.launch.steps);
        let whole = agents == self.launch.agents;
        let same = whole && (self.batch.same_inputs || self.batch.runs == 1);
        if same && !(self.stock.inputs.as_ref()).is_some_and(|inputs| inputs.has_room(agents)) {
            self.stock.inputs = Inputs::create(open, agents, manifest.input_words)?;
        }
        if !whole {
            self.stock.inputs = None;
        }
        let shape = Shape {
            runs,
            agents,
            keep: self.keep(agents),
            tables: &self.stock.tables,
            shared: self.stock.inputs.as_ref().filter(|_| same),
        };
        let serves = |buffers: &Buffers| buffers.serve(shape, steps);
        if let Some(at) = self.stock.spare.iter().position(serves) {
            return Ok(self.stock.spare.swap_remove(at));
        }
        self.stock.spare.clear();
        Buffers::create(open, &self.built.kernel, manifest, steps, shape)
    }

    /// How many of the runs that are left should share a submission, if a chunk has so many agents.
    fn together(&self, agents: u32) -> usize {
        let left = self.runs - self.next.0;
        let launch = &self.launch;
        let alone = self.built.pace.expected(agents, launch.steps);
        if agents < launch.agents || left < 2 || alone.is_zero() {
            return 1;
        }
        let by_time = TOGETHER.as_secs_f64() / alone.as_secs_f64();
        let outputs = Keep {
            outputs: true,
            ..self.batch.keep
        };
        let bytes = Layout::new(self.manifest, agents).read(outputs);
        let by_memory = TOGETHER_BYTES / bytes.max(1);
        let slots = buffers::slots(self.open, self.manifest).1;
        // Half of them, so that the other half is in flight meanwhile.
        (left.div_ceil(2))
            .min(by_time as usize)
            .min(by_memory.min(slots) as usize)
            .max(1)
    }

    /// Submits the next steps of some jobs, from `step` on; after the last step the results are copied to where the
    /// host can read them, in the same submission.
    fn submit(&mut self, mut buffers: Buffers, jobs: Vec<Job>, step: u32) -> Result<Flight, Error> {
        self.batch.control.check()?;
        let (open, built) = (self.open, &*self.built);
        let agents = jobs.iter().map(|job| job.chunk.count).sum();
        let steps = self.launch_steps(&jobs);
        let slots = buffers.slots as usize / jobs.len();
        let ranges = built.pace.ranges(agents, (step, steps), slots.max(1));
        let end = ranges.last().map_or(steps, |&(_, end)| end);
        let dispatches = dispatches(&jobs, &ranges);
        buffers.write_headers(open, &dispatches)?;
        let last = end == steps;
        let keep = self.keep(buffers.agents());
        let bytes = match last {
            true => Layout::new(self.manifest, buffers.agents()).read(keep),
            false => HEAD_BYTES,
        };
        let reductions = match last && !keep.outputs {
            true => reductions(
                (open, self.manifest),
                &mut self.stock.reducer,
                &buffers,
                &jobs,
            )?,
            false => Vec::new(),
        };
        let clocked = self.batch.control.clock || built.pace.needs_clock(agents, end - step);
        let repeats = match dispatches.len() == 1 && step == 0 && last {
            true => self.repeats(&buffers.staging, (agents, steps)),
            false => 1,
        };
        let plan = Plan::new(&dispatches, repeats, (jobs.len(), bytes), clocked);
        let commands = match buffers.recorded(&plan).filter(|_| reductions.is_empty()) {
            Some(commands) => commands,
            None => {
                let started = Instant::now();
                let reducer = self.stock.reducer.as_ref();
                let once = Once {
                    prepared: &dispatches,
                    reduced: reducer.map(|it| (it, &reductions[..])),
                };
                let commands = Commands::record(open, built, &buffers, plan.clone(), once)?;
                let seconds = started.elapsed().as_secs_f64();
                open.meter(|telemetry| telemetry.record_seconds += seconds);
                commands
            }
        };
        let (submission, mapping) = commands.submit(open)?;
        let dispatches = ranges.len() as u64 * u64::from(repeats);
        let lengths = ranges.iter().map(|(first, end)| end - first);
        let longest = lengths.max().unwrap_or(0);
        Ok(Flight {
            buffers,
            jobs,
            steps: (step, end),
            dispatches,
            longest,
            plan,
            reductions,
            submission,
            mapping,
            since: Instant::now(),
        })
    }

    /// How often a run that goes out in one dispatch is computed: as often as was asked for, if that is known to take
    /// no longer than several runs together may.
    fn repeats(&self, staging: &Staging, (agents, steps): (u32, u32)) -> u32 {
        let control = &self.batch.control;
        let alone = self.built.pace.expected(agents, steps);
        if !control.clock || !staging.has_clock() || alone.is_zero() {
            return 1;
        }
        let most = TOGETHER.as_secs_f64() / alone.as_secs_f64();
        control.repeats.min(most as u32).max(1)
    }

    /// Steps of the runs of a submission, which are the same for all.
    fn launch_steps(&self, jobs: &[Job]) -> u32 {
        jobs.first()
            .map_or(self.launch.steps, |job| job.launch.steps)
    }

    /// Waits until a submission is done; meanwhile records the commands of the next run like it. Gives the time since it
    /// went out, or since the one before it was done.
    fn wait(&mut self, flight: &mut Flight) -> Result<Duration, Error> {
        let (first, end) = flight.steps;
        let buffers = &mut flight.buffers;
        let is_whole = first == 0 && end == self.launch_steps(&flight.jobs);
        if is_whole && flight.reductions.is_empty() {
            let plan = flight.plan.clone();
            let ahead = Commands::record(self.open, self.built, buffers, plan, Once::default())?;
            buffers.keep_recorded(ahead);
        }
        let since = flight.since.max(self.landed);
        let agents = flight.jobs.iter().map(|job| job.chunk.count).sum();
        let expected = self.built.pace.expected(agents, end - first) * flight.plan.repeats;
        // The host's time counts the nap that it takes meanwhile: a pace that is too slow would stay so.
        let due = match buffers.staging.has_clock() {
            true => since + expected,
            false => since + expected / 2,
        };
        let submission = flight.submission.clone();
        self.open
            .wait(RUNNING, submission, due, || flight.mapping.is_done())?;
        self.landed = Instant::now();
        Ok(self.landed - since)
    }

    /// Waits for a submission and takes its results. If its runs have more steps, or begin again because a driver
    /// cut their loops short, the submission that goes on with them.
    fn land(
        &mut self,
        mut flight: Flight,
        each: &mut dyn FnMut(usize, RawResults),
    ) -> Result<Option<Flight>, Error> {
        let host = self.wait(&mut flight)?;
        let Flight {
            buffers,
            jobs,
            steps: (step, end),
            dispatches,
            longest,
            plan,
            reductions,
            mapping,
            ..
        } = flight;
        let open = self.open;
        let agents: u32 = jobs.iter().map(|job| job.chunk.count).sum();
        let last = end == self.launch_steps(&jobs);
        let (fault, clocked) = buffers.staging.read(open, mapping, |words, seconds| {
            let seconds = seconds.map(|seconds| seconds / f64::from(plan.repeats));
            self.note(&jobs, dispatches, seconds);
            let fault = match (last, reductions.is_empty()) {
                (false, _) => None,
                (true, true) => self.take(&buffers, &jobs, words),
                (true, false) => self.take_sums(&jobs, &reductions, words),
            };
            (fault, seconds)
        })?;
        // Where the device has no clock, the host's counts the way there and back too.
        let by_host = || (!buffers.staging.has_clock()).then_some(host.as_secs_f64());
        if let Some(seconds) = clocked.or_else(by_host) {
            self.built.pace.learn(agents, end - step, seconds);
        }
        if let Some(error) = fault {
            self.done -= u64::from(agents) * u64::from(step);
            return match self.built.pace.shorten(longest) {
                true => self.begin_again(buffers, jobs).map(Some),
                false => Err(error),
            };
        }
        self.done += u64::from(agents) * u64::from(end - step);
        let all = u64::from(self.launch.agents) * u64::from(self.launch.steps);
        self.batch
            .control
            .report(self.done, all.saturating_mul(self.batch.runs as u64));
        if !last {
            return self.submit(buffers, jobs, end).map(Some);
        }
        self.stock.spare.push(buffers);
        for job in jobs {
            self.finish(&job, each);
        }
        Ok(None)
    }

    /// Sends jobs out again from their first step on.
    fn begin_again(&mut self, mut buffers: Buffers, jobs: Vec<Job>) -> Result<Flight, Error> {
        for (place, job) in buffers.places.iter_mut().zip(&jobs) {
            let chunk = (job.chunk.first, job.chunk.count);
            place.load(self.open, &job.launch, self.manifest.input_words, chunk)?;
        }
        self.submit(buffers, jobs, 0)
    }

    /// Takes note of a submission, and of its seconds by the device's clock, in what its runs will report.
    fn note(&mut self, jobs: &[Job], dispatches: u64, seconds: Option<f64>) {
        let asked = seconds.filter(|_| self.batch.control.clock);
        let share = asked.map(|seconds| seconds / jobs.len() as f64);
        for job in jobs {
            if let Some(Begun { raw, .. }) = self.begun.get_mut(&job.run) {
                raw.dispatches += dispatches;
                if let Some(seconds) = share {
                    *raw.telemetry.gpu_seconds.get_or_insert(0.0) += seconds;
                }
            }
        }
    }

    /// Takes the results of a submission; an error if the steps of an agent were not all run.
    fn take(&mut self, buffers: &Buffers, jobs: &[Job], words: &[u32]) -> Option<Error> {
        let keep = self.keep(buffers.agents());
        for (place, job) in jobs.iter().enumerate() {
            let layout = &buffers.places[place].results.layout;
            let words = &words[place * (layout.read(keep) / 4) as usize..];
            let Some(begun) = self.begun.get_mut(&job.run) else {
                continue;
            };
            let (launch, chunk) = (&job.launch, &job.chunk);
            let taken = chunk.take(self.manifest, layout, words, launch.steps, &mut begun.raw);
            if let Err(fault) = taken {
                return Some(self.error(fault, job));
            }
        }
        None
    }

    /// Takes what the results of a submission were reduced to.
    fn take_sums(
        &mut self,
        jobs: &[Job],
        reductions: &[Reduction],
        words: &[u32],
    ) -> Option<Error> {
        let mut words = &words[jobs.len() * HEAD_WORDS..];
        for (job, reduction) in jobs.iter().zip(reductions) {
            let reduced = reduction.read(&mut words);
            if let Some(fault) = reduced.wrong {
                return Some(self.error(fault, job));
            }
            if let Some(begun) = self.begun.get_mut(&job.run) {
                begun.raw.sums = Some(reduced.sums);
            }
        }
        None
    }

    fn error(&self, fault: Fault, job: &Job) -> Error {
        let first = u64::from(job.launch.first_agent) + u64::from(job.chunk.first);
        fault.error(&self.open.adapter.name, first, job.launch.steps)
    }

    /// Counts a chunk as done, and hands its run over if it was the last.
    fn finish(&mut self, job: &Job, each: &mut dyn FnMut(usize, RawResults)) {
        let Some(begun) = self.begun.get_mut(&job.run) else {
            return;
        };
        begun.raw.chunks += 1;
        begun.left -= job.chunk.count;
        if begun.left > 0 {
            return;
        }
        if let Some(Begun { mut raw, .. }) = self.begun.remove(&job.run) {
            raw.telemetry = Telemetry {
                gpu_seconds: raw.telemetry.gpu_seconds,
                ..self.open.taken_telemetry()
            };
            self.order.done(job.run, raw, each);
        }
    }
}

/// The starts of the kernel for some ranges of steps, all jobs side by side in each.
fn dispatches<'a>(jobs: &'a [Job], ranges: &[(u32, u32)]) -> Vec<Dispatch<'a>> {
    let of = |steps| {
        jobs.iter().enumerate().map(move |(place, job)| Dispatch {
            place,
            launch: &job.launch,
            chunk: (job.chunk.first, job.chunk.count),
            steps,
        })
    };
    ranges.iter().copied().flat_map(of).collect()
}

/// How the results of jobs are to be reduced.
fn reductions(
    (open, manifest): (&OpenDevice, &Manifest),
    reducer: &mut Option<Reducer>,
    buffers: &Buffers,
    jobs: &[Job],
) -> Result<Vec<Reduction>, Error> {
    let known = match reducer.take() {
        Some(known) => known,
        None => Reducer::create(open)?,
    };
    let reducer = reducer.insert(known);
    let each = buffers.places.iter().zip(jobs).filter_map(|(place, job)| {
        let source = reduce::Source {
            outputs: place.results.resource(binding::OUTPUTS)?,
            progress: place.results.resource(binding::PROGRESS)?,
            fields: &manifest.outputs,
            agents: job.chunk.count,
            steps: job.launch.steps,
        };
        Some(reducer.prepare(open, &source))
    });
    each.collect()
}
