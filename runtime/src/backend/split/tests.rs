//! Several devices that may fail, against one: the vector machine, with faults in front of it.

use super::*;
use crate::{
    backend::vector::VectorBackend,
    bind::{Settings, bind},
    control::{Control, Keep},
    cut::Part,
    launches::{InputCache, Model},
};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const MODEL: &str = "
agents 1000
steps 6
state x = agent % 7
state y = 0.5
step t { x = (x * 3 + randint(0, 9) + t) % 101  y += 0.25 * f32(x) }
observe total = sum(y)
observe middle = quantiles(y, 0.5) every 2
record x every 3
output x
output pair = [y, 2.0 * y]
";

/// How an executor fails.
#[derive(Clone, Copy)]
enum Fails {
    Never,
    /// As if its device was lost, after it has written some results, in this call and all later ones.
    From(usize),
    /// By a panic, at once.
    Panics,
    /// By an error that no other device can help.
    Refuses,
}

/// The vector machine, which may fail.
struct Fragile {
    machine: VectorBackend,
    fails: Fails,
    calls: AtomicUsize,
}

impl Executor for Fragile {
    fn device(&self) -> Device {
        self.machine.device()
    }

    fn need(&self, launch: &Launch, keep: Keep, held: usize) -> Need {
        self.machine.need(launch, keep, held)
    }

    fn run<'a>(&'a mut self, batch: &'a Batch<'a>, deliver: Deliver<'a>) -> Running<'a> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let error = match self.fails {
            Fails::Never => return self.machine.run(batch, deliver),
            Fails::From(first) if call < first => return self.machine.run(batch, deliver),
            Fails::From(_) => Error::DeviceLost {
                adapter: "Fragile".to_owned(),
                message: "unplugged".to_owned(),
            },
            Fails::Panics => panic!("a bug of ours"),
            Fails::Refuses => Error::KernelRefused {
                during: "testing",
                message: "no".to_owned(),
            },
        };
        if let Some(lend) = batch.target {
            lend(&mut |target| target.outputs[0].fill(0xdead));
        }
        if batch.runs > 1 {
            // Half of the runs are delivered.
            let half = Batch {
                runs: batch.runs / 2,
                ..*batch
            };
            let done = clock::at_once(self.machine.run(&half, deliver));
            done.expect("it blocks").expect("it runs");
        }
        Box::pin(async { Err(error) })
    }
}

fn artifact() -> Arc<Artifact> {
    Arc::new(sim_compiler::compile(MODEL).expect("it compiles"))
}

fn machine(artifact: &Arc<Artifact>) -> VectorBackend {
    let model = Model {
        artifact,
        isa: None,
        input_cache: &InputCache::default(),
    };
    let program = model
        .vector_program::<u32>(128)
        .expect("it has instructions");
    VectorBackend {
        program: program.expect("it is small"),
        artifact: Arc::clone(artifact),
        reduce: None,
        jit: None,
        work: 0,
    }
}

fn split(artifact: &Arc<Artifact>, fails: &[Fails]) -> SplitBackend {
    let member = |(number, &fails): (usize, &Fails)| {
        let executor = Box::new(Fragile {
            machine: machine(artifact),
            fails,
            calls: AtomicUsize::new(0),
        });
        Member::new(format!("number {number}"), executor)
    };
    let members = fails.iter().enumerate().map(member).collect();
    SplitBackend::new(Arc::clone(artifact), members)
}

/// The results of `runs` runs that differ by their seeds.
fn run(
    backend: &mut dyn Executor,
    artifact: &Artifact,
    (agents, runs): (u32, usize),
    control: Control<'_>,
) -> Result<Vec<RawResults>, Error> {
    let launch = |number: usize| {
        let settings = Settings {
            agents: Some(agents),
            seed: number as u64,
            ..Settings::default()
        };
        bind(artifact, &settings).map(Arc::new)
    };
    let batch = Batch {
        runs,
        launch: &launch,
        complete_launch: &launch,
        same_inputs: true,
        keep: Keep::ALL,
        part: Part::whole(6),
        control,
        target: None,
    };
    let mut all = Vec::new();
    let mut deliver = |number, raw| {
        assert_eq!(number, all.len(), "in order");
        all.push(raw);
    };
    clock::at_once(backend.run(&batch, &mut deliver)).expect("it blocks")?;
    Ok(all)
}

fn assert_same(got: &[RawResults], expected: &[RawResults]) {
    assert_eq!(got.len(), expected.len());
    for (got, expected) in got.iter().zip(expected) {
        assert_eq!(got.outputs, expected.outputs);
        assert_eq!(got.states, expected.states);
        assert_eq!(got.series, expected.series);
        assert_eq!(got.progress, expected.progress);
    }
}

#[test]
fn every_population_is_split_and_has_the_bits_of_one_device() {
    let artifact = artifact();
    for agents in [1, 127, 128, 129, 256, 1000, 5000] {
        let one = run(
            &mut machine(&artifact),
            &artifact,
            (agents, 1),
            Control::default(),
        );
        let one = one.expect("it runs");
        for count in 1..=5 {
            let mut several = split(&artifact, &vec![Fails::Never; count]);
            for is_first in [true, false] {
                let got = run(&mut several, &artifact, (agents, 1), Control::default());
                let got = got.expect("it runs");
                assert_same(&got, &one);
                let shares = got[0].shares.iter().map(|share| share.agents);
                assert_eq!(shares.sum::<u32>(), agents);
                let busy = got[0]
                    .shares
                    .iter()
                    .filter(|share| share.agents > 0)
                    .count();
                // The second run is split by the speeds of the first one, whatever these were.
                let most = count.min(agents.div_ceil(128) as usize);
                assert!(busy == most || !is_first && (1..most).contains(&busy));
            }
        }
    }
}

#[test]
fn a_batch_is_split_by_runs_and_delivered_in_order() {
    let artifact = artifact();
    for runs in [2, 3, 8, 40] {
        let one = run(
            &mut machine(&artifact),
            &artifact,
            (1000, runs),
            Control::default(),
        );
        let one = one.expect("it runs");
        for count in [1, 2, 3] {
            let mut several = split(&artifact, &vec![Fails::Never; count]);
            let got = run(&mut several, &artifact, (1000, runs), Control::default());
            assert_same(&got.expect("it runs"), &one);
        }
    }
}

#[test]
fn a_device_that_fails_hands_its_share_to_the_others() {
    use Fails::{From, Never};
    let artifact = artifact();
    for size in [(1000, 1), (1000, 3), (1000, 40), (100, 3)] {
        let one = run(&mut machine(&artifact), &artifact, size, Control::default());
        let one = one.expect("it runs");
        for fails in [
            vec![From(0), Never],
            vec![Never, From(0)],
            vec![From(0), Never, From(0)],
            vec![From(1), Never, Never],
        ] {
            let mut several = split(&artifact, &fails);
            for _ in 0..3 {
                let got = run(&mut several, &artifact, size, Control::default());
                assert_same(&got.expect("others take over"), &one);
            }
            if size.1 == 1 {
                let failed = several.members.iter().filter(|it| it.failure.is_some());
                let expected = fails.iter().filter(|it| matches!(it, From(_)));
                assert_eq!(failed.count(), expected.count());
            }
        }
        let mut none = split(&artifact, &[From(0), From(1), From(0)]);
        let error = run(&mut none, &artifact, size, Control::default())
            .and_then(|_| run(&mut none, &artifact, size, Control::default()).map(|_| ()));
        let error = error.expect_err("all have failed");
        assert!(matches!(error, Error::DeviceLost { .. }), "{error}");
        assert!(error.drops_backend());
    }
}

#[test]
fn other_errors_end_the_run_and_panics_are_passed_on() {
    use Fails::{Never, Panics, Refuses};
    let artifact = artifact();
    for size in [(1000, 1), (1000, 40)] {
        let mut several = split(&artifact, &[Never, Refuses]);
        let error = run(&mut several, &artifact, size, Control::default());
        let error = error.map(drop).expect_err("it is refused");
        assert!(matches!(error, Error::KernelRefused { .. }), "{error}");
        let panicked = std::panic::catch_unwind(|| {
            let mut several = split(&artifact, &[Never, Panics]);
            drop(run(&mut several, &artifact, size, Control::default()));
        });
        assert!(panicked.is_err());
    }
}

#[test]
fn wrong_values_end_a_batch_after_the_runs_before_them() {
    let artifact = artifact();
    let mut several = split(&artifact, &[Fails::Never; 3]);
    let launch = |number: usize| match number {
        17.. => Err(Error::MissingCount { what: "steps" }),
        _ => bind(&artifact, &Settings::default()).map(Arc::new),
    };
    let batch = Batch {
        runs: 40,
        launch: &launch,
        complete_launch: &launch,
        same_inputs: true,
        keep: Keep::ALL,
        part: Part::whole(6),
        control: Control::default(),
        target: None,
    };
    let mut delivered = 0;
    let mut deliver = |number, _| {
        assert_eq!(number, delivered);
        delivered += 1;
    };
    let result = clock::at_once(several.run(&batch, &mut deliver)).expect("it blocks");
    assert!(matches!(result, Err(Error::MissingCount { .. })));
    assert_eq!(delivered, 17);
}

#[test]
fn progress_grows_to_the_end_and_all_devices_are_cancelled() {
    let artifact = artifact();
    for size in [(5000, 1), (1000, 30)] {
        let last = Mutex::new((0, 0));
        let progress = |done: u64, all: u64| {
            let mut last = lock(&last);
            assert!(
                done >= last.0 && done <= all,
                "{done} after {} of {all}",
                last.0
            );
            *last = (done, all);
        };
        let control = Control {
            progress: Some(&progress),
            ..Control::default()
        };
        let mut several = split(&artifact, &[Fails::Never; 3]);
        run(&mut several, &artifact, size, control).expect("it runs");
        let all = u64::from(size.0) * 6 * size.1 as u64;
        assert_eq!(*lock(&last), (all, all));
        let cancel = AtomicBool::new(true);
        let control = Control {
            cancel: Some(&cancel),
            ..Control::default()
        };
        let result = run(&mut several, &artifact, size, control).map(drop);
        assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
    }
}
