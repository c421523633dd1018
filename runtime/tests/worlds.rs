//! The vector machine runs worlds as the reference interpreter does, to the bit: worlds of every size, on
//! every instruction set, optimised and not, whole and in parts.

use sim_compiler::{Options, artifact::Artifact, compile_with, random::Generator};
use sim_runtime::{Backend, Column, Device, Isa, Run, Simulation, Tuning};

/// Sizes around those of a kernel's group of lanes and of a block, and of several blocks.
const SIZES: [u32; 15] = [
    1, 2, 3, 31, 32, 33, 64, 255, 256, 257, 511, 512, 513, 1000, 1025,
];

/// Every fold of the world, with filters, in world code and in the code of agents.
const FOLDS: &str = "
    world 2 agents 2 steps 3
    state x = random() * 4.0 - 1.0
    state k = randint(-9, 9)
    state u = u32(randint(0, 2000000000))
    state yes = bernoulli(0.5)
    state v = vec3(random(), f32(member), -random())
    world state a = [0.0; 6]
    world state b = [0; 8]
    world state seen = [false; 4]
    world state w = vec3(0.0)
    step {
        let mean_x = mean(for o in world: o.x)
        let first = argmin(for o in world: o.x)
        let last = argmax(for o in world if o.yes: o.k)
        x += 0.1 * mean_x * (random() - 0.5) + 0.001 * f32(first - last)
        k += count(for o in world: o.x > mean_x) % 5 - 2
        yes = yes != (random() < 0.3)
        u = u * 3u + u32(sum(for o in world if o.yes: o.u % 7u))
        v = v * 0.5 + sum(for o in world: o.v) / f32(len(world))
    }
    world step t {
        a[0] = sum(for o in world: o.x)
        a[1] = mean(for o in world if o.k > 0: o.x * o.x)
        a[2] = product(for o in world: 1.0 + 0.001 * o.x)
        a[3] = min(for o in world if o.yes: o.x)
        a[4] = max(for o in world: abs(o.x))
        a[5] = sum(for o in world if o.x > 1e9: o.x) + f32(t)
        b[0] = sum(for o in world: o.k)
        b[1] = product(for o in world if o.k != 0: o.k)
        b[2] = min(for o in world: o.k)
        b[3] = max(for o in world if o.yes: o.k)
        b[4] = count(for o in world: o.yes)
        b[5] = argmin(for o in world if o.k > 3: o.x)
        b[6] = argmax(for o in world: o.k)
        b[7] = i32(max(for o in world: o.u) / 3u) - i32(min(for o in world: o.u) / 3u)
        seen[0] = any(for o in world: o.x > 2.5)
        seen[1] = all(for o in world if o.yes: o.x > -0.9)
        seen[2] = any(for o in world if o.k > 100: o.yes)
        seen[3] = all(for o in world if o.k > 100: o.yes)
        w = sum(for o in world: o.v)
        // Where agents are combined under control flow of the world, in several loops.
        for i in 0..2 + world.number % 3 {
            if b[4] % 2 == i % 2 {
                a[5] += sum(for o in world if o.k > i: o.x)
            } else {
                b[4] = count(for o in world if o.k > b[i]: true)
                if b[4] > len(world) / 2 { break }
            }
        }
        var n = 0
        while mean(for o in world: o.x * f32(n)) < 1.0 + f32(world.number) limit 6 { n += 1 }
        b[6] += n
    }
    output x  output k  output u  output yes  output v
    output above = x > mean(for o in world: o.x)
    world output a  world output b  world output seen  world output w
    world output spread = sqrt(mean(for o in world: (o.x - a[0]) * (o.x - a[0])))
";

/// Agents that stop, several phases, and what is read of others by place and in loops.
const OTHERS: &str = "
    world 2 agents 2 steps 4
    input place ~ randint(0, 1000)
    input weight = 0.5 + 0.25 * f32(member) - f32(world.number)
    state x = random()
    state genes = [random(), random(), random()]
    state y = vec2(0.0)
    state gap = 0.0
    state taken = 0
    step t {
        let partner = world[place + t]
        let next = world[member + 1]
        let before = world[member - 1]
        genes[t % 3] = 0.5 * (genes[t % 3] + partner.genes[(t + place) % 3])
        x = 0.25 * (next.x + before.x) + partner.weight * 0.01
        gap = next.y.x + world[2 * member - 5].x
        if x > 0.9 + 0.01 * f32(place % 7) { stop }
    }
    step {
        var sum_of_gaps = 0.0
        for o in world {
            if o.member == member { continue }
            if o.member > 40 { break }
            sum_of_gaps += abs(o.x - x) * o.genes[o.member % 3]
        }
        x += 0.001 * sum_of_gaps
        y = vec2(x, sum_of_gaps) + world[taken % 5].y * 0.5
        taken = argmin(for o in world if o.member != member && o.member < 50: abs(o.x - x))
        if random() < 0.02 { stop }
    }
    finish {
        let left = world[member - 1].x
        x = left + world[0].x
    }
    finish { genes[0] = world[place].x }
    output x  output genes  output y  output gap  output taken
    output mirrored = world[len(world) - 1 - member].genes[1]
    output self_number = agent * 3 + member + 1000 * world.number
    world output oldest = world[7].x + world[world.number].genes[2]
";

/// World inputs, states and draws; numbers of draws that depend on the run; integrated states.
const VALUES: &str = "
    world 2 agents 2 steps 3
    world input rate ~ uniform(0.1, 0.9)
    world input shift = [0.5 * f32(world.number), 1.0]
    world input level: f32
    world state mood = random()
    world state walk = [normal(), 0.0]
    world state calls = 0
    world state even = false
    input own = f32(member) * 0.125 + f32(world.number)
    state z = rate * random() + mood
    state q = 1.0
    state p = 0.0
    step t {
        let pull = mean(for o in world: o.q)
        let other = world[member + calls].q
        if random() < rate { z += random() } else { z += random() + random() * random() }
        integrate rk4(0.05) {
            q' = p
            p' = -q + 0.1 * (pull - q) + 0.01 * other
        }
    }
    world step {
        for i in 0..calls % 3 { mood += random() * 0.1 }
        walk[calls % 2] += normal() + f32(randint(0, 10)) + level
        calls += 1 + i32(random() * 3.0)
        if mood > 1.0 { mood -= random() }
    }
    step { z += random() * rate + f32(randint(-3, 3)) + own * 0.01 }
    world step t {
        even = calls % 2 == 0
        mood += random() * 0.01 + shift[t % 2] * rate
    }
    output z output q output p output mood
    world output walk world output calls world output even
    finish { z += random() + mood }
    world output energy = sum(for o in world: o.p * o.p + o.q * o.q) / 2.0
";

fn compiled(source: &str, optimise: bool, generator: Generator) -> Artifact {
    let options = Options {
        optimise,
        generator,
        ..Options::default()
    };
    compile_with(source, options).unwrap_or_else(|found| panic!("{found:#?}"))
}

/// A launch of so many worlds of that size.
fn launched(artifact: &Artifact, members: u32, worlds: u32) -> Simulation {
    let simulation = Simulation::from_artifact(artifact.clone()).seed(77);
    let simulation = simulation.world(members).agents(members * worlds);
    let inputs = &simulation.manifest().world_rows().inputs;
    if !inputs.iter().any(|input| input.field.name == "level") {
        return simulation;
    }
    let level: Vec<f32> = (0..worlds).map(|world| world as f32 - 0.5).collect();
    simulation.input("level", level).expect("a world input")
}

fn run(simulation: Simulation, way: Option<Isa>) -> Run {
    let simulation = simulation.keep_states(true);
    let simulation = match way {
        None => simulation.backend(Backend::Reference),
        Some(isa) => simulation.backend(Backend::Cpu).instruction_set(isa),
    };
    let run = simulation
        .run()
        .unwrap_or_else(|error| panic!("{}", error.to_string()));
    let device = way.map_or(Device::Reference, Device::Cpu);
    assert_eq!(run.report().backend, device);
    run
}

/// Every number of a run, by name: bits, but NaN is NaN.
fn numbers(run: &Run) -> Vec<(String, Vec<u32>)> {
    let words = |column: &Column| {
        let word = |word: u32| match f32::from_bits(word).is_nan() {
            true => f32::NAN.to_bits(),
            false => word,
        };
        let words = column
            .values
            .words()
            .iter()
            .map(|&bits| word(bits))
            .collect();
        (column.field.name.clone(), words)
    };
    let columns = run.outputs().iter().chain(run.states());
    let columns = columns.chain(run.world_outputs()).chain(run.world_states());
    let mut all: Vec<(String, Vec<u32>)> = columns.map(words).collect();
    all.push(("steps".into(), run.steps().expect("kept").collect()));
    let stopped = run.stopped().expect("kept").map(u32::from);
    all.push(("stopped".into(), stopped.collect()));
    all
}

fn hold(reference: &Run, got: &Run, what: &str) {
    for ((name, wanted), (_, got)) in numbers(reference).iter().zip(&numbers(got)) {
        let wrong = wanted.iter().zip(got).position(|(a, b)| a != b);
        assert_eq!(wrong, None, "the first wrong value of {name}, {what}");
        assert_eq!(wanted.len(), got.len(), "{name}, {what}");
    }
}

fn worlds_agree(source: &str, sizes: &[u32]) {
    for optimise in [false, true] {
        let artifact = compiled(source, optimise, Generator::default());
        for &members in sizes {
            let launched = || launched(&artifact, members, 3);
            let reference = run(launched(), None);
            for isa in Isa::available() {
                let what = format!("worlds of {members}, {isa}, optimised: {optimise}");
                hold(&reference, &run(launched(), Some(isa)), &what);
            }
        }
    }
}

#[test]
fn folds_of_the_world_have_the_bits_of_the_reference() {
    worlds_agree(FOLDS, &SIZES);
}

#[test]
fn reads_of_others_have_the_bits_of_the_reference() {
    worlds_agree(OTHERS, &SIZES);
}

#[test]
fn values_of_worlds_have_the_bits_of_the_reference() {
    worlds_agree(VALUES, &SIZES);
}

#[test]
fn worlds_draw_from_every_generator() {
    for generator in Generator::ALL {
        let artifact = compiled(VALUES, true, generator);
        for members in [5, 600] {
            let launched = || launched(&artifact, members, 2);
            let reference = run(launched(), None);
            hold(&reference, &run(launched(), Some(Isa::best())), "draws");
        }
    }
}

/// Many worlds per block, and tasks of several blocks.
#[test]
fn many_worlds_have_the_bits_of_the_reference() {
    for source in [FOLDS, VALUES] {
        let artifact = compiled(source, true, Generator::default());
        for (members, worlds) in [(1, 5000), (3, 4001), (100, 151), (700, 17)] {
            let launched = || launched(&artifact, members, worlds);
            let what = format!("{worlds} worlds of {members}");
            let reference = run(launched(), None);
            hold(&reference, &run(launched(), Some(Isa::best())), &what);
        }
    }
}

/// Some worlds of a population are what they are in the whole.
#[test]
fn a_part_of_the_worlds_is_as_in_the_whole() {
    for source in [FOLDS, OTHERS] {
        for members in [3, 600] {
            let artifact = compiled(source, true, Generator::default());
            let whole = run(launched(&artifact, members, 6), Some(Isa::best()));
            let part = launched(&artifact, members, 2)
                .first_agent(members * 3)
                .population(members * 6);
            let part = run(part, Some(Isa::best()));
            for ((name, whole), (_, part)) in numbers(&whole).iter().zip(&numbers(&part)) {
                let third = whole.len() / 6 * 3;
                assert_eq!(
                    whole[third..][..part.len()],
                    part[..],
                    "{name} of {members}"
                );
            }
        }
    }
}

/// Runs for statistics only give the worlds' outputs all the same.
#[test]
fn statistics_have_the_worlds() {
    for members in [3, 600] {
        let artifact = compiled(FOLDS, true, Generator::default());
        let simulation = launched(&artifact, members, 5).backend(Backend::Cpu);
        let kept = simulation.run().expect("it runs");
        let tuning = Tuning {
            reduce: Some(true),
            ..Tuning::default()
        };
        let reduced = simulation
            .tuning(tuning)
            .keep_outputs(false)
            .keep_states(false)
            .run();
        let reduced = reduced.expect("it runs");
        assert!(reduced.report().reduced);
        for (kept, reduced) in kept.world_outputs().iter().zip(reduced.world_outputs()) {
            assert_eq!(kept.values.words(), reduced.values.words());
        }
        let mean = |run: &Run| run.statistics("x").expect("an output")[0].mean;
        assert_eq!(mean(&kept), mean(&reduced));
    }
}

/// The best agents have the best values.
#[test]
fn places_of_the_world_are_those_of_their_values() {
    const BEST: &str = "
        world 9 agents 45 steps 1
        state x = random() - 0.5
        state k = randint(-50, 50)
        world output least = world[argmin(for o in world: o.x)].x == min(for o in world: o.x)
        world output most = world[argmax(for o in world: o.x)].x == max(for o in world: o.x)
        world output some = world[argmin(for o in world if o.k > 0: o.x)].x
            == min(for o in world if o.k > 0: o.x)
        world output whole = world[argmax(for o in world: o.k)].k == max(for o in world: o.k)
        output own = world[argmin(for o in world: o.x)].x == min(for o in world: o.x)
    ";
    let artifact = compiled(BEST, true, Generator::default());
    for way in [None, Some(Isa::best())] {
        let run = run(launched(&artifact, 9, 5), way);
        let columns = run.world_outputs().iter().chain(run.outputs());
        for column in columns {
            let words = column.values.words();
            assert!(words.iter().all(|&word| word == 1), "{}", column.field.name);
        }
    }
}

/// World code without a state, whose values nobody needs, is a model of worlds, too.
#[test]
fn values_that_nobody_reads_are_combined() {
    const IDLE: &str = "
        world 3 agents 6 steps 2
        state x = 0.0
        step { x += 1.0 }
        world step { let all = sum(for o in world: 0.1) }
        output x
    ";
    for optimise in [false, true] {
        let artifact = compiled(IDLE, optimise, Generator::default());
        for way in [None, Some(Isa::best())] {
            let run = run(launched(&artifact, 3, 2), way);
            assert_eq!(run.output::<f32>("x").expect("floats"), [2.0; 6]);
        }
    }
}
