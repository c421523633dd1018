//! What is recorded and observed as a run goes on.

use sim_runtime::{Backend, Run, Simulation};

/// A walk of which everything is sampled.
const WALK: &str = "
agents 1_000
steps 50
state x = 0.0
state k = 0
state up = false
step t {
    x += normal()
    k += i32(floor(3.0 * random())) - 1
    up = x > 0.5
    if t >= 20 && x > 9.0 { stop }
}
record x
record both = vec2(x, f32(k)) every 10
record parts = [k, k * k] every 7
record up every 25
observe total = sum(x)
observe mean_x = mean(x) every 5
observe low = min(x)
observe high = max(x) every 3
observe ups = count(up)
observe any_up = any(up)
observe all_up = all(up)
observe whole = sum(k)
observe place = mean(vec2(x, f32(k)))
observe spread = sd(x) every 10
observe wide = var(x) every 10
observe quarters = quantiles(x, 0.0, 0.25, 0.5, 1.0) every 10
observe bins = histogram(x, -2.0, 2.0, 8) every 10
output x
";

fn run(source: &str, backend: Backend, agents: u32) -> Run {
    let simulation = Simulation::compile(source).expect("compiles");
    let simulation = simulation.agents(agents).backend(backend).keep_states(true);
    simulation.run().expect("runs")
}

fn tree(values: &[f32]) -> f32 {
    match values {
        [one] => *one,
        _ => {
            let (front, back) = values.split_at(values.len().next_power_of_two() / 2);
            tree(front) + tree(back)
        }
    }
}

#[test]
fn what_is_observed_follows_from_what_is_recorded() {
    for backend in [Backend::Reference, Backend::Cpu] {
        for agents in [1, 2, 127, 128, 129, 600, 1_000] {
            let run = run(WALK, backend, agents);
            let record = run.record("x").expect("it is recorded");
            assert_eq!(record.column.shape, [51, agents as usize]);
            assert_eq!(record.steps, (0..=50).collect::<Vec<u32>>());
            let x: &[f32] = record.values().expect("floats");
            let rows: Vec<&[f32]> = x.chunks(agents as usize).collect();
            assert!(rows[0].iter().all(|&x| x == 0.0));
            assert_eq!(rows[50], run.output::<f32>("x").expect("an output"));
            let floats = |name: &str| {
                run.observed(name)
                    .expect(name)
                    .values::<f32>()
                    .expect(name)
                    .to_vec()
            };
            let totals: Vec<f32> = rows.iter().map(|row| tree(row)).collect();
            assert_eq!(floats("total"), totals);
            let means: Vec<f32> = totals
                .iter()
                .step_by(5)
                .map(|sum| sum / agents as f32)
                .collect();
            assert_eq!(floats("mean_x"), means);
            let lows: Vec<f32> = (rows.iter())
                .map(|row| row.iter().copied().fold(f32::INFINITY, f32::min))
                .collect();
            assert_eq!(floats("low"), lows);
            let highs: Vec<f32> = (rows.iter().step_by(3))
                .map(|row| row.iter().copied().fold(f32::NEG_INFINITY, f32::max))
                .collect();
            assert_eq!(floats("high"), highs);
        }
    }
}

#[test]
fn backends_agree() {
    for agents in [1, 129, 1_000] {
        let reference = run(WALK, Backend::Reference, agents);
        let vector = run(WALK, Backend::Cpu, agents);
        for (a, b) in reference.series().iter().zip(vector.series()) {
            assert_eq!(a.column.shape, b.column.shape, "{}", a.name());
            assert_eq!(
                a.column.values.words(),
                b.column.values.words(),
                "{}",
                a.name()
            );
        }
    }
}
