//! Models with worlds: closed forms, and the same bits optimised and not.
//!
//! The expected numbers follow from docs/language.md by hand.

use sim_compiler::Options;
use sim_runtime::{Backend, Run, Simulation};
use sim_tests::compare::{Tolerance, compare};

fn simulation(source: &str, optimise: bool) -> Simulation {
    let options = Options {
        optimise,
        ..Options::default()
    };
    let artifact = sim_compiler::compile_with(source, options)
        .unwrap_or_else(|complaints| panic!("{complaints:?}\n{source}"));
    Simulation::from_artifact(artifact)
        .backend(Backend::Reference)
        .seed(5)
}

fn run(source: &str) -> Run {
    simulation(source, true).run().expect("a run")
}

fn floats(run: &Run, name: &str) -> Vec<f32> {
    run.output::<f32>(name).expect("an f32").to_vec()
}

fn integers(run: &Run, name: &str) -> Vec<i32> {
    run.output::<i32>(name).expect("an i32").to_vec()
}

/// Forms of worlds, without the lines `agents`, `world` and `steps`.
const FORMS: [&str; 8] = [
    // A snapshot, a fold of the world, and one that is not.
    "state x = f32(agent) * 0.37
     step {
         let m = mean(for o in world: o.x)
         x = world[(member + 1) % len(world)].x - m + 0.1 * sum(for o in world if o.x > x: o.x - x)
     }
     step t { x += f32(t) * max(for o in world: o.x) }
     output x",
    // Agents that stop at different times; the world goes on.
    "state left = 3 + agent % 5
     world state sum_left = 0
     step {
         left -= 1
         if left == world[0].left { stop }
     }
     world step { sum_left += sum(for o in world: o.left) }
     output left
     world output sum_left",
    // Draws of worlds and of agents, in several phases, whose number depends on the run.
    "state a = random()
     state b = 0.0
     world state price = 10.0 + normal()
     world input drift ~ uniform(-0.1, 0.1)
     step { if a < 0.5 { a = random() } else { a += random() * random() } }
     world step { price *= exp(drift + 0.1 * normal() * mean(for o in world: o.a)) }
     step { b += random() * price + world[randint(-1, len(world) + 1)].a }
     world step { if price > 10.0 { price -= random() } else { price += random() * random() } }
     step { a = fract(a + random() + 0.01 * f32(count(for o in world if o.b > b: true))) }
     output a
     output b
     world output price",
    // Arrays of others, at computed indices, and structs.
    "struct P { at: vec2, mass: f32 }
     input gene: [f32; 4] ~ normal(0.0, 1.0)
     state genes = gene
     state p = P(vec2(f32(member), 1.0), 1.5)
     step t {
         let mate = world[(member * 7 + t) % len(world)]
         for k in 0..4 { if (k + t) % 2 == 0 { genes[k] = mate.genes[3 - k] } }
         p.at = p.at * 0.5 + mate.p.at * world[t].p.mass
         p.mass = mate.gene[t % 4] + sum(for o in world: o.genes[t % 4])
     }
     output genes
     output p",
    // World code with control flow around its folds.
    "state x = f32(member)
     world state lowest = 0.0
     world state rounds = 0
     step { x = fract(x * 1.7 + 0.3) }
     world step t {
         for k in 0..3 {
             if k != t { lowest += sum(for o in world if o.member % 3 == k: o.x) }
         }
         var bound = 0.9
         while count(for o in world if o.x > bound: true) < len(world) / 2 limit 20 {
             bound -= 0.1
             rounds += 1
         }
         if rounds > 3 && any(for o in world: o.x < 0.2) { lowest = min(for o in world: o.x) }
         for o in world { lowest += o.x * 0.125 }
     }
     output x
     world output lowest
     world output rounds",
    // Every fold, of the world and not, in outputs; `finish` reads others.
    "state x = sin(f32(agent) * 1.3)
     state k = agent % 7 - 3
     finish { k = world[len(world) - 1 - member].k + k }
     finish { x += f32(world[0].k) }
     output own = sum(for o in world: o.x * x)
     output best = argmax(for o in world if o.member != member: o.x - x)
     output least = argmin(for o in world: abs(o.x))
     world output total = sum(for o in world: o.x)
     world output whole = product(for o in world: o.k)
     world output many = count(for o in world if o.k > 0: o.k)
     world output low = min(for o in world: o.k)
     world output high = max(for o in world if o.x > 0.5: o.x)
     world output all_small = all(for o in world: o.x < 9.0)
     world output share = mean(for o in world: o.k > 0)
     world output place = argmax(for o in world if o.k == 2: o.x)",
    // States that are integrated, read by others.
    "state x = f32(member) * 0.1
     state v = 1.0
     world state energy = 0.0
     step {
         let force = -sum(for o in world: x - o.x) / f32(len(world))
         integrate rk4(0.05) { x' = v  v' = force }
     }
     world step { energy = sum(for o in world: o.v * o.v + o.x * o.x) }
     output x
     output v
     world output energy",
    // Folds within folds.
    "state x = f32(agent % 5)
     world state spread = 0.0
     step { x += sum(for a in world: a.x * mean(for b in world: b.x) + x) * 0.01 }
     world step {
         spread = sum(for a in world: sum(for b in world: abs(a.x - b.x)) + max(for c in world: c.x))
     }
     output x
     world output spread",
];

#[test]
fn optimised_and_not_give_the_same_bits() {
    for (number, form) in FORMS.iter().enumerate() {
        for members in [1, 2, 3, 5, 8, 33] {
            let source = format!("agents {}\nworld {members}\nsteps 4\n{form}", 3 * members);
            let [got, expected] = [true, false].map(|optimise| {
                let run = simulation(&source, optimise).run();
                run.unwrap_or_else(|error| panic!("{error}\n{source}"))
            });
            compare(&got, &expected, Tolerance::Bits)
                .unwrap_or_else(|difference| panic!("form {number}: {difference}\n{source}"));
        }
    }
}

/// Neighbours first: ((a + b) + (c + d)) + e, where each order rounds otherwise.
#[test]
fn sums_of_the_world_are_trees() {
    let source = "agents 5 world 5 steps 0
        state x = [1.0, 1e8, -1e8, 3.0, 0.5][member]
        world output tree = sum(for o in world: o.x)
        output own = sum(for o in world: o.x + 0.0 * x)
        output after = sum(for o in world if o.member > 4: -0.0)";
    let run = run(source);
    let tree = ((1.0_f32 + 1e8) + (-1e8 + 3.0)) + 0.5;
    let in_order = (((1.0_f32 + 1e8) + -1e8) + 3.0) + 0.5;
    assert_ne!(tree, in_order);
    assert_eq!(floats(&run, "tree"), [tree]);
    assert_eq!(floats(&run, "own"), [in_order; 5]);
    assert_eq!(floats(&run, "after")[0].to_bits(), 0);
}

/// What phases draw is numbered as if they were one.
#[test]
fn phases_of_a_step_number_their_draws_together() {
    let step = |first: &str, read: &str| {
        format!(
            "agents 6 world 3 steps 3
             state a = 0.0 state b = 0.0 state c = 0.0
             step {{ {first} }}
             step {{ b += random() * 2.0 {read} }}
             step {{ c += random() - random() {read} }}
             output a output b output c"
        )
    };
    for first in [
        "a += random()",
        "if agent % 2 == 0 { a += random() } else { a -= random() * random() }",
        "for k in 0..3 { a += random() if a > 1.0 { break } }",
    ] {
        let apart = run(&step(first, "+ 0.0 * world[0].a"));
        let together = run(&step(first, ""));
        compare(&apart, &together, Tolerance::Bits).expect(first);
    }
}

#[test]
fn a_swap_reads_what_was_before() {
    let run = run("agents 4 world 2 steps 3
        state x = agent
        step { x = world[1 - member].x }
        output x");
    assert_eq!(integers(&run, "x"), [1, 0, 3, 2]);
}

/// What stops keeps its states, is still read, and runs none of the phases that follow.
#[test]
fn who_has_stopped_is_still_in_the_world() {
    let run = run("agents 3 world 3 steps 4
        state x = 0
        state seen = 0
        world state total = 0
        step t { x += 1 if t == member { stop } }
        step { seen += sum(for o in world: o.x) + 0 * x }
        world step { total = sum(for o in world: o.x) }
        output x
        output seen
        world output total");
    assert_eq!(integers(&run, "x"), [1, 2, 3]);
    // After step 0: 1 1 1; after step 1: 1 2 2; after step 2: 1 2 3.
    assert_eq!(integers(&run, "seen"), [0, 3, 3 + 5]);
    assert_eq!(integers(&run, "total"), [6]);
    assert_eq!(run.stopped_agents(), 3);
}

#[test]
fn a_world_that_does_not_divide_the_population_is_refused() {
    let source = "agents 10 world 4 steps 1 state x = 0 step { x = world[0].x } output x";
    let refused = simulation(source, true)
        .run()
        .expect_err("10 is no multiple of 4");
    assert_eq!(refused.code(), "E0718");
    let help = refused.help().unwrap_or_default();
    assert!(help.contains('8') && help.contains("12"), "{help}");
    let part = simulation(source, true)
        .agents(8)
        .first_agent(2)
        .population(12);
    assert_eq!(part.run().expect_err("it cuts a world").code(), "E0718");
    let whole = simulation(source, true)
        .agents(8)
        .first_agent(4)
        .population(12);
    whole.run().expect("two worlds of three");
    let resized = simulation(source, true).world(5);
    resized.run().expect("two worlds of five");
}
