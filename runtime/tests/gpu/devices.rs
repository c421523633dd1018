//! Several devices by the public interface: two that are opened on one adapter, and a GPU beside the CPU.

use sim_runtime::{Backend, Control, Device, Devices, Error, Options, Run, Simulation, Variation};
use sim_tests::{
    compare::{Tolerance, compare},
    launch::has_gpu,
};
use std::sync::atomic::AtomicBool;

const MODEL: &str = "
agents 5000
steps 30
param rate = 3
input luck: i32 ~ randint(0, 100)
state x = agent % 7 + luck
step t { x = (x * rate + randint(0, 9) + t) % 101 }
observe total = sum(x)
observe spread = sd(x) every 10
observe middle = quantiles(x, 0.1, 0.5) every 10
record x every 15
output x
output pair = vec2(f32(x), 0.5)
";

fn model() -> Simulation {
    let model = Simulation::compile(MODEL).unwrap_or_else(|error| panic!("{error}"));
    model.seed(3).backend(Backend::Gpu)
}

fn devices(text: &str) -> Devices {
    text.parse()
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn assert_same(got: &Run, expected: &Run) {
    compare(got, expected, Tolerance::Bits).unwrap_or_else(|difference| panic!("{difference}"));
}

#[test]
fn two_devices_share_a_run_and_the_report_says_how() {
    if !has_gpu() {
        return;
    }
    let one = model().run().expect("it runs");
    assert!(one.report().devices.is_empty());
    let two = model().devices(devices("0,0"));
    for _ in 0..3 {
        let run = two.run().expect("it runs");
        assert_same(&run, &one);
        let report = run.report();
        let names: Vec<_> = report
            .devices
            .iter()
            .map(|share| share.name.as_str())
            .collect();
        assert_eq!(names, ["0", "0#2"]);
        assert_eq!(
            report.devices.iter().map(|share| share.agents).sum::<u32>(),
            5000
        );
        for share in &report.devices {
            assert!(share.agents > 0 && share.seconds > 0.0 && share.failure.is_none());
            assert_eq!(share.device, report.backend);
        }
        assert!(report.reason.contains("`0,0`"), "{}", report.reason);
        assert!(report.dispatches >= 2 && report.chunks >= 2);
    }
    let reduced = model().devices(devices("0,0")).keep_outputs(false).run();
    let reduced = reduced.expect("it runs");
    for name in ["x", "pair"] {
        assert_eq!(reduced.statistics(name).ok(), one.statistics(name).ok());
    }
    let single = model().devices(Devices::Count(1)).run().expect("it runs");
    assert!(single.report().devices.is_empty());
    assert_same(&single, &one);
}

#[test]
fn a_gpu_and_the_processor_share_a_run_of_integers() {
    if !has_gpu() {
        return;
    }
    let one = model().run().expect("it runs");
    let both = model().devices(devices("0,cpu"));
    for _ in 0..2 {
        let run = both.run().expect("it runs");
        assert_same(&run, &one);
        let kinds = run
            .report()
            .devices
            .iter()
            .map(|share| matches!(share.device, Device::Gpu(_)));
        assert_eq!(kinds.collect::<Vec<_>>(), [true, false]);
    }
}

#[test]
fn a_sweep_is_distributed() {
    if !has_gpu() {
        return;
    }
    for (points, agents) in [(3, 5000), (30, 700)] {
        let variations: Vec<_> = (0..points)
            .map(|point| {
                Variation::new()
                    .seed(point)
                    .param("rate", 2 + point as i32 % 5)
            })
            .collect();
        let one = model()
            .agents(agents)
            .run_batch(&variations)
            .expect("it runs");
        let two = model().agents(agents).devices(devices("0,0"));
        let two = two.run_batch(&variations).expect("it runs");
        assert_eq!(one.len(), two.len());
        for (one, two) in one.iter().zip(&two) {
            assert_same(two, one);
            assert_eq!(two.report().seed, one.report().seed);
        }
    }
}

#[test]
fn the_first_fault_of_all_is_found() {
    if !has_gpu() {
        return;
    }
    let source = "agents 4000 steps 9 state x = 0 step t { x += 1
        assert agent != 3900 || t != 2, \"late agent\"
        assert agent != 100 || t != 5, \"early agent\" } output x";
    let options = Options {
        checks: true,
        ..Options::default()
    };
    let model = Simulation::compile_with(source, options).unwrap_or_else(|error| panic!("{error}"));
    let error = model
        .devices(devices("0,0"))
        .run()
        .expect_err("it is found");
    let message = error.to_string();
    assert!(
        message.contains("late agent") && message.contains("3900"),
        "{message}"
    );
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let two = |text| model().devices(devices(text));
    let error = two("cpu,cpu")
        .session()
        .map(drop)
        .expect_err("it is refused");
    assert_eq!(error.code(), "E0750");
    let error = two("cpu,cpu").begin().map(drop).expect_err("it is refused");
    assert_eq!(error.code(), "E0750");
    assert!(error.to_string().contains("in parts"), "{error}");
    // Whoever asks for a backend asks for no devices.
    let session = two("cpu,cpu").backend(Backend::Cpu).session();
    session.map(drop).expect("one backend was asked for");
    if !has_gpu() {
        return;
    }
    let error = two("77,").run().expect_err("there are fewer");
    assert_eq!(error.code(), "E0751");
    let error = two("77").run().expect_err("there are fewer");
    assert_eq!(error.code(), "E0752");
    let error = two("no such GPU,cpu").run().expect_err("there is none");
    assert_eq!(error.code(), "E0801");
}

#[test]
fn a_run_on_two_devices_is_cancelled() {
    let cancel = AtomicBool::new(true);
    let control = Control {
        cancel: Some(&cancel),
        ..Control::default()
    };
    for text in ["cpu,cpu", "0,0"] {
        if text != "0,0" || has_gpu() {
            let two = model().devices(devices(text));
            let result = two.run_with(&control).map(drop);
            assert!(matches!(result, Err(Error::Cancelled)), "{result:?}");
            two.run().expect("the devices are not lost");
        }
    }
}
