//! Worlds of the evaluator, held against answers that were found by hand.

use super::draw::{self, Words};
use super::value::Value;
use super::{Column, Launch, Model, Results};

fn run(text: &str) -> Results {
    run_with(text, &Launch::default())
}

fn run_with(text: &str, launch: &Launch) -> Results {
    let model = Model::read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let results = model.run(launch);
    results.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn found<'a>(columns: &'a [Column], name: &str) -> &'a Column {
    let column = columns.iter().find(|column| column.name == name);
    column.unwrap_or_else(|| panic!("no column `{name}`"))
}

fn floats(columns: &[Column], name: &str) -> Vec<f32> {
    let words = found(columns, name).words.iter();
    words.map(|word| f32::from_bits(*word)).collect()
}

fn integers(columns: &[Column], name: &str) -> Vec<i32> {
    let words = found(columns, name).words.iter();
    words.map(|word| *word as i32).collect()
}

/// The order of the pages, once more: halves of the next power of two are summed, then added.
fn tree(terms: &[f32]) -> f32 {
    match terms {
        [one] => *one,
        _ => {
            let (left, right) = terms.split_at(terms.len().next_power_of_two() / 2);
            tree(left) + tree(right)
        }
    }
}

#[test]
fn agents_of_a_world_are_counted_from_its_first() {
    let text = "
        agents 12
        world 4
        state x = 10 * world.number + member
        output mean_place = mean(for other in world: f32(other.member))
        output first = world[0].agent
        output last = world[len(world)].agent
        output below = world[-3].x
        output next = world[u32(member) + 1u].x
        output best = argmax(for a in world if a.member != 3: a.agent)
        world output total = sum(for other in world: other.x)
        world output place = world.number
    ";
    for (size, mean) in [(1, 0.0), (3, 1.0), (4, 1.5)] {
        let launch = Launch {
            world: Some(size),
            ..Launch::default()
        };
        let results = run_with(text, &launch);
        assert_eq!(floats(&results.outputs, "mean_place"), [mean; 12]);
        let worlds = 12 / size as i32;
        let places: Vec<i32> = (0..worlds).collect();
        assert_eq!(integers(&results.world_outputs, "place"), places);
        let firsts: Vec<i32> = (0..12).map(|agent| agent - agent % size as i32).collect();
        assert_eq!(integers(&results.outputs, "first"), firsts);
    }
    let results = run(text);
    assert_eq!(integers(&results.outputs, "last")[4..8], [7; 4]);
    assert_eq!(integers(&results.outputs, "below")[8..], [20; 4]);
    assert_eq!(integers(&results.outputs, "next")[4..8], [11, 12, 13, 13]);
    assert_eq!(integers(&results.outputs, "best"), [2; 12]);
    assert_eq!(integers(&results.world_outputs, "total"), [6, 46, 86]);
}

#[test]
fn a_part_of_a_population_is_the_same_as_in_the_whole() {
    let text = "
        agents 12
        world 4
        steps 3
        input w ~ uniform(0.0, 1.0)
        world input q ~ uniform(0.0, 1.0)
        world state u = random()
        state x = random()
        step { x = mean(for o in world: o.x * o.w) + u * random() }
        world step { u += random() * sum(for o in world if o.x > q: o.x) }
        output y = x + f32(agent - member)
        world output v = u + f32(world.number)
    ";
    let whole = run(text);
    let part = Launch {
        agents: Some(8),
        first_agent: 4,
        ..Launch::default()
    };
    let part = run_with(text, &part);
    assert_eq!(whole.outputs[0].words[4..], part.outputs[0].words);
    assert_eq!(
        whole.world_outputs[0].words[1..],
        part.world_outputs[0].words
    );
}

#[test]
fn a_population_that_worlds_do_not_divide_is_refused() {
    let model = Model::read("agents 10\nworld 4\nstate x = 0").expect("a model");
    assert!(model.run(&Launch::default()).is_err());
    let model = Model::read("agents 10\noutput x = member").expect("a model");
    assert!(model.run(&Launch::default()).is_err(), "no size");
    let launch = Launch {
        world: Some(5),
        ..Launch::default()
    };
    let results = model.run(&launch).expect("a run");
    let places = [0, 1, 2, 3, 4, 0, 1, 2, 3, 4];
    assert_eq!(integers(&results.outputs, "x"), places);
}

#[test]
fn others_are_read_as_they_were_when_the_phase_began() {
    // Two agents swap; the own state is as it is now.
    let text = "
        agents 4
        world 2
        steps 3
        state x = agent
        state own = 0
        state seen = 0
        step {
            x = world[1 - member].x
            own = x
            seen = world[member].x
        }
    ";
    let results = run(text);
    assert_eq!(integers(&results.states, "x"), [1, 0, 3, 2]);
    assert_eq!(integers(&results.states, "own"), [1, 0, 3, 2]);
    assert_eq!(integers(&results.states, "seen"), [0, 1, 2, 3]);
}

#[test]
fn phases_follow_one_another() {
    // The second phase sees what the first made of all agents, the world what both did, the third the world.
    let text = "
        agents 6
        world 3
        steps 2
        world state total = 0
        state x = member
        state y = 0
        state z = 0
        step { x += 1 }
        step t { y = sum(for other in world: other.x) + 100 * t }
        world step n {
            total += sum(for other in world: other.y) + n
            for other in world { if other.member == 1 { break } total += 1 }
        }
        step { z = total }
        finish { x = world[(member + 1) % 3].x }
        finish { y = world[(member + 1) % 3].x }
        world output total
        output again = total
    ";
    // x sums to 6, then 9; y is 6, then 109, each thrice; the world adds 18 + 1, then 327 + 1 + 1.
    let results = run(text);
    assert_eq!(integers(&results.world_outputs, "total"), [348, 348]);
    assert_eq!(integers(&results.outputs, "again"), [348; 6]);
    assert_eq!(integers(&results.world_states, "total"), [348, 348]);
    assert_eq!(integers(&results.states, "z"), [348; 6]);
    assert_eq!(integers(&results.states, "x"), [3, 4, 2, 3, 4, 2]);
    assert_eq!(integers(&results.states, "y"), [4, 2, 3, 4, 2, 3]);
}

#[test]
fn folds_of_the_world_are_trees_and_others_are_not() {
    let value = |k: usize| 1.0 / (k as f32 * 1.7 + 0.3);
    let text = "
        agents 7
        world 7
        steps 1
        state x = 1.0 / (f32(member) * 1.7 + 0.3)
        state k = 1.0
        output tree = sum(for o in world: o.x)
        output loop = sum(for o in world: o.x * k)
        output inner = [for i in 0..1: sum(for o in world: o.x * f32(i + 1))]
        output filtered = sum(for o in world if o.member != 2: o.x)
        output average = mean(for o in world: o.x)
        output power = product(for o in world: o.x)
        state named = 0.0
        state changed = 0.0
        step {
            let one = f32(len(world)) / 7.0
            let two = one * world[0].k
            var three = one
            named = sum(for o in world: o.x * two)
            changed = sum(for o in world: o.x * three)
        }
        world output all = sum(for o in world: o.x)
        world output nested = max(for o in world: sum(for p in world: p.x * o.k))
        world output apart = max(for o in world: sum(for p in world: p.x))
        world output inside = [for i in 0..1: sum(for o in world: o.x * f32(i + 1))]
    ";
    let terms: Vec<f32> = (0..7).map(value).collect();
    let in_order: f32 = terms
        .iter()
        .copied()
        .reduce(|sum, x| sum + x)
        .expect("terms");
    assert_ne!(in_order, tree(&terms), "the orders differ in bits");
    let results = run(text);
    let agents = |name: &str| floats(&results.outputs, name)[0];
    let worlds = |name: &str| floats(&results.world_outputs, name)[0];
    assert_eq!(agents("tree"), tree(&terms));
    assert_eq!(agents("average"), tree(&terms) / 7.0);
    assert_eq!(agents("loop"), in_order);
    assert_eq!(agents("inner"), in_order);
    assert_eq!(floats(&results.states, "named"), [tree(&terms); 7]);
    assert_eq!(floats(&results.states, "changed"), [in_order; 7]);
    // The place of the one that is left out stays in the tree.
    let mut filtered = terms.clone();
    filtered[2] = -0.0;
    assert_eq!(agents("filtered"), tree(&filtered));
    let pairs = [
        terms[0] * terms[1],
        terms[2] * terms[3],
        terms[4] * terms[5],
    ];
    assert_eq!(
        agents("power"),
        (pairs[0] * pairs[1]) * (pairs[2] * terms[6])
    );
    assert_eq!(worlds("all"), tree(&terms));
    assert_eq!(worlds("nested"), in_order);
    assert_eq!(worlds("apart"), tree(&terms));
    assert_eq!(worlds("inside"), tree(&terms));
}

#[test]
fn functions_with_what_an_agent_has_make_a_loop_of_a_fold() {
    let text = "
        agents 7
        world 7
        input w = 1.0
        world input q = 1.0
        state x = 1.0 / (f32(member) * 1.7 + 0.3)
        fn plain(x: f32) -> f32 { return x * q }
        fn own(x: f32) -> f32 { return x * w }
        fn calls(x: f32) -> f32 { return own(x) }
        fn placed(x: f32) -> f32 { if member < 0 { return 0.0 } return x }
        output a = sum(for o in world: plain(o.x))
        output b = sum(for o in world: own(o.x))
        output c = sum(for o in world: calls(o.x))
        output d = sum(for o in world: placed(o.x))
        output e = sum(for o in world: o.x * o.w)
    ";
    let terms: Vec<f32> = (0..7).map(|k| 1.0 / (k as f32 * 1.7 + 0.3)).collect();
    let in_order: f32 = terms
        .iter()
        .copied()
        .reduce(|sum, x| sum + x)
        .expect("terms");
    let results = run(text);
    for (name, expected) in [
        ("a", tree(&terms)),
        ("b", in_order),
        ("c", in_order),
        ("d", in_order),
        ("e", tree(&terms)),
    ] {
        assert_eq!(floats(&results.outputs, name)[0], expected, "{name}");
    }
}

#[test]
fn sums_of_negative_zeros_say_whether_something_may_be_left_out() {
    let text = "
        agents 3
        world 3
        state x = -0.0
        output tree = sum(for o in world: o.x)
        output tree_filtered = sum(for o in world if o.member >= 0: o.x)
        output loop = sum(for o in world: o.x * (x + 1.0))
        output loop_filtered = sum(for o in world if o.x == x: o.x)
        output nothing = sum(for o in world if false: o.x)
        output no_mean = mean(for o in world if false: o.x)
    ";
    let results = run(text);
    let bits = |name: &str| found(&results.outputs, name).words[0];
    let negative = (-0.0_f32).to_bits();
    assert_eq!(bits("tree"), negative);
    assert_eq!(bits("tree_filtered"), 0);
    assert_eq!(bits("loop"), negative);
    assert_eq!(bits("loop_filtered"), 0);
    assert_eq!(bits("nothing"), 0);
    assert!(f32::from_bits(bits("no_mean")).is_nan());
    assert_eq!(results.open, [None; 3]);
}

#[test]
fn truths_are_counted() {
    let text = "
        agents 4
        world 4
        enum Health { Well, Ill }
        state health = if member % 3 == 0 { Ill } else { Well }
        output ill = sum(for o in world: o.health == Ill)
        output share = mean(for o in world: o.health == Ill)
        output plain = sum([true, false, true])
        output part = mean([true, false])
        output twice = sum(for i in 0..5: i > 1) + 2
    ";
    let results = run(text);
    assert_eq!(integers(&results.outputs, "ill"), [2; 4]);
    assert_eq!(floats(&results.outputs, "share"), [0.5; 4]);
    assert_eq!(integers(&results.outputs, "plain"), [2; 4]);
    assert_eq!(floats(&results.outputs, "part"), [0.5; 4]);
    assert_eq!(integers(&results.outputs, "twice"), [5; 4]);
}

#[test]
fn a_world_draws_by_its_number_above_all_agents() {
    let text = "
        agents 4
        world 2
        steps 3
        input a ~ random()
        world input b ~ random()
        world input c = 1.0
        world input d: [f32; 2] ~ random()
        world state first = random()
        world state u = 0.0
        world state v = 0.0
        world state n = 0
        state own = 0.0
        world step { u = random() }
        step { own = random() }
        world step { v = random() n = randint(0, 1000) }
        world output b
        world output d
    ";
    let seed = 0x1234_5678_9abc_def0;
    let launch = Launch {
        seed,
        ..Launch::default()
    };
    let results = run_with(text, &launch);
    for world in 0..2_u32 {
        let words = |step: u32| Words::new(seed, 0x8000_0000 + world, step);
        let mut draws = words(2);
        let mut next = |name: &str, arguments: &[Value]| {
            draw::draw(name, arguments, &mut draws).expect("a draw")
        };
        let k = world as usize;
        let state = |name: &str| Value::F(floats(&results.world_states, name)[k]);
        assert_eq!(state("u"), next("random", &[]));
        assert_eq!(state("v"), next("random", &[]));
        let n = Value::I(integers(&results.world_states, "n")[k]);
        assert_eq!(n, next("randint", &[Value::I(0), Value::I(1000)]));
        let one = |step: u32| draw::draw("random", &[], &mut words(step)).expect("a draw");
        assert_eq!(state("first"), one(0xffff_ffff));
        // The second and the fourth of all inputs.
        let b = Value::F(floats(&results.world_outputs, "b")[k]);
        assert_eq!(b, one(0xffff_fffd - 1));
        let d = Value::F(floats(&results.world_outputs, "d")[2 * k]);
        assert_eq!(d, one(0xffff_fffd - 3));
    }
    let own = floats(&results.states, "own");
    let agent = draw::draw("random", &[], &mut Words::new(seed, 3, 2)).expect("a draw");
    assert_eq!(Value::F(own[3]), agent);
}

#[test]
fn draws_of_the_phases_of_a_step_are_numbered_together() {
    let text =
        |step: &str| format!("agents 4\nworld 2\nsteps 2\nstate x = 0.0\nstate y = 0.0\n{step}\n");
    let apart = run(&text(
        "step { x = random() }\nworld step { }\nstep { y = random() }",
    ));
    let together = run(&text("step { x = random() y = random() }"));
    assert_eq!(apart.states, together.states);
}

#[test]
fn who_has_stopped_is_still_seen() {
    // Agent 1 of each world stops in the first phase of step 2; the world goes on.
    let text = "
        agents 6
        world 3
        steps 5
        world state rounds = 0
        state x = 0
        state y = 0
        state sum = 0
        step t {
            x += 1
            if member == 1 && t == 2 { stop }
            sum = sum(for other in world: other.x)
        }
        step { y += 1 }
        world step { rounds += 1 }
        finish { y += 100 }
    ";
    let results = run(text);
    assert_eq!(integers(&results.states, "x"), [5, 3, 5, 5, 3, 5]);
    assert_eq!(
        integers(&results.states, "y"),
        [105, 102, 105, 105, 102, 105]
    );
    assert_eq!(integers(&results.states, "sum"), [11, 3, 11, 11, 3, 11]);
    assert_eq!(integers(&results.world_states, "rounds"), [5, 5]);
}

#[test]
fn agents_have_names_and_loops_may_be_left() {
    let text = "
        agents 5
        world 5
        steps 1
        struct Pair { a: i32, b: [i32; 2] }
        input w: [i32; 2] = 7
        state pair = Pair(member, [10 * member, 20 * member])
        state close = 0
        state far = 0
        step {
            let right = world[member + 1]
            close = right.pair.b[1] + right.w[0]
            for other in world {
                if other.member < member { continue }
                for third in world {
                    if third.pair.a > other.pair.a { break }
                    far += third.pair.b[0]
                }
            }
            for i in world[0].pair.a..len(world) { far += i }
        }
    ";
    let results = run(text);
    assert_eq!(integers(&results.states, "close"), [27, 47, 67, 87, 87]);
    // For others from the own place on: 10 * (0 + … + its place); 10 for the last loop.
    let triangle = |m: i32| 10 * m * (m + 1) / 2;
    let far: Vec<i32> = (0..5)
        .map(|m| (m..5).map(triangle).sum::<i32>() + 10)
        .collect();
    assert_eq!(integers(&results.states, "far"), far);
}

#[test]
fn world_inputs_come_by_rows_of_worlds() {
    let text = "
        agents 6
        world 2
        world input q: i32
        world input r = 10 * world.number + len(world)
        world state p = q + r
        state x = p + member
        world output p
        output q
    ";
    let mut launch = Launch::default();
    launch.values.insert("q".into(), vec![100, 200, 300]);
    let results = run_with(text, &launch);
    assert_eq!(integers(&results.world_outputs, "p"), [102, 212, 322]);
    assert_eq!(
        integers(&results.states, "x"),
        [102, 103, 212, 213, 322, 323]
    );
    assert_eq!(
        integers(&results.outputs, "q"),
        [100, 100, 200, 200, 300, 300]
    );
}

#[test]
fn worlds_have_no_agent() {
    for text in [
        "agents 2\nworld 2\nworld output x = member",
        "agents 2\nworld 2\nworld output x = agent",
        "agents 2\nworld 2\nstate y = 1\nworld output x = y",
        "agents 2\nworld 2\nstate y = 1\ninit { y = world[0].y }",
        "agents 2\nworld 2\nstate y = 1\nworld state x = world[0].y",
        "agents 2\nworld 2\nworld state x = 1\nsteps 1\nstep { x = 2 }",
    ] {
        let run = Model::read(text).and_then(|model| model.run(&Launch::default()));
        assert!(run.is_err(), "{text}");
    }
}
