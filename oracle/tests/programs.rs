//! Random programs give on every backend what the evaluator gives.
//!
//! `SIM_PROGRAMS` says how many (default 500), `SIM_FIRST_PROGRAM` the first seed. Every third one has
//! worlds, unless `SIM_PROGRAMS_WORLDS=0`. With `SIM_PROGRAMS_GPU=1` those of integers run on the GPU, too.

use sim_oracle::compare::{Outcome, compare, ways};
use sim_oracle::programs::{Profile, program};
use sim_oracle::{campaign, language::Model};

fn number(variable: &str, default: u64) -> u64 {
    let set = std::env::var(variable).ok();
    set.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_programs_agree_with_the_evaluator() {
    let first = number("SIM_FIRST_PROGRAM", 0);
    let count = number("SIM_PROGRAMS", 500);
    let gpu = number("SIM_PROGRAMS_GPU", 0) > 0;
    let (whole, integers) = (count - count / 5, count / 5);
    let worlds = number("SIM_PROGRAMS_WORLDS", 1) > 0;
    let say = |line: &str| eprintln!("{line}");
    let compare = |count, profile, gpu| {
        campaign::programs(first..first + count, profile, worlds, &ways(gpu), say)
    };
    let found = [
        compare(whole, Profile::Whole, false),
        compare(integers, Profile::Integers, gpu),
    ];
    let mut faults = Vec::new();
    for found in found {
        println!("{}", found.summary());
        let agree = found.ends.get("Agrees").copied().unwrap_or(0);
        let all: u64 = found.ends.values().sum();
        assert!(
            agree * 10 >= all * 9,
            "the pages leave too much open: {}",
            found.summary()
        );
        faults.extend(found.faults);
    }
    let texts: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(
        texts.is_empty(),
        "{} faults:\n{}",
        texts.len(),
        texts.join("\n")
    );
}

/// Would a difference be noticed? Programs whose evaluator is told another literal than the compiler
/// differ.
#[test]
fn a_difference_is_noticed() {
    let ways = ways(false);
    let (mut changed, mut noticed) = (0, 0);
    for seed in 0..60 {
        let program = program(seed, Profile::Whole, false);
        let mut other = program.clone();
        other.launch.seed ^= 1;
        let results = |program: &sim_oracle::programs::Program| {
            let model = Model::read(&program.text).expect("a program");
            model
                .run(&program.launch)
                .map(|results| (results.outputs, results.states))
                .ok()
        };
        if compare(&program, &ways) == Ok(Outcome::Agrees) && results(&program) != results(&other) {
            changed += 1;
            // The compiler runs the one seed, the evaluator the other.
            let mixed = sim_oracle::compare::compare_with(&program, &other.launch, &ways);
            noticed += u32::from(mixed.is_err());
        }
    }
    assert!(changed > 10, "{changed} programs draw");
    assert_eq!(changed, noticed);
}

/// Draws that the pages define to the bit, with arguments beyond their distributions as well.
#[test]
fn draws_agree_to_the_bit() {
    let text = "
        agents 300
        steps 3
        input a = f32(agent % 7) * 0.25 - 0.4
        state x = 0.0
        state n = 0
        state k = 0
        state yes = false
        step {
            x = x * 0.5 + random() + uniform(a, 0.3)
            n += randint(-3, 1000) + randint(agent - 150, 7)
            yes = bernoulli(a) != bernoulli(0.3)
            if yes { k += randint(-2147483648, 2147483647) }
            x += uniform(1.0, 1.0000001) + random()
        }
    ";
    for seed in [0, 1, 0xffff_ffff_0000_0001] {
        let program = sim_oracle::programs::Program {
            text: text.to_owned(),
            launch: sim_oracle::language::Launch {
                seed,
                ..Default::default()
            },
        };
        assert_eq!(compare(&program, &ways(false)), Ok(Outcome::Agrees));
    }
}

/// The evaluator runs the programs with worlds, and these have every form of the page.
#[test]
fn programs_with_worlds_are_evaluated() {
    let forms = [
        "for o",
        "in world {",
        "in world:",
        "in world if",
        "world[",
        "world.number",
        "len(world)",
        "member",
        ".agent",
        "world input",
        "~ randint",
        "world state",
        "world output",
        "world step {",
        "world step t {",
        "sum(for o",
        "mean(for o",
        "argmax(for o",
        "world 1\n",
        "world 2\n",
        "world 3\n",
        "world 5\n",
        "world 8\n",
        "world 4\n",
        "spread",
        "u_kept += ",
        " kept += ",
        "spread_own(o",
        "spread_drawn(o",
        "world 33\n",
        "let b",
        "let m",
    ];
    let (mut seen, mut all, mut too_long, mut open) = (vec![0; forms.len()], 0, 0, 0);
    for seed in (2..900).step_by(3) {
        for profile in [Profile::Whole, Profile::Integers] {
            let program = program(seed, profile, true);
            let run = Model::read(&program.text).and_then(|model| model.run(&program.launch));
            all += 1;
            match run {
                Ok(results) => {
                    open += u32::from(results.open_worlds.iter().any(Option::is_some));
                    assert!(!results.world_outputs.is_empty(), "seed {seed}");
                }
                Err(error) if error == "too long" => too_long += 1,
                Err(error) => panic!("seed {seed}: {error}\n{}", program.text),
            }
            for (count, form) in seen.iter_mut().zip(forms) {
                *count += u32::from(program.text.contains(form));
            }
        }
    }
    println!("{all} programs, {too_long} take too long, {open} partly open; {seen:?}");
    assert!(all > 500 && too_long * 20 < all && open * 10 < all);
    for (count, form) in seen.iter().zip(forms) {
        assert!(*count * 40 > all, "`{form}` in {count} of {all}");
    }
}

/// The evaluator runs the programs with series, and these have every form of the page.
#[test]
fn programs_with_series_are_evaluated() {
    let forms = [
        "record s",
        "record r",
        "record o",
        "observe m",
        "world observe m",
        "world observe z",
        "world observe u0",
        " every ",
        "sum(",
        "mean(",
        "min(",
        "count(",
        "any(",
        "var(",
        "sd(",
        "quantiles(",
        "histogram(",
        "record near_",
        "observe near_",
    ];
    let (mut seen, mut all, mut whole) = (vec![0; forms.len()], 0, 0);
    for seed in 0..600 {
        let program = program(seed, Profile::Whole, true);
        let series: Vec<&str> = (program.text.lines())
            .filter(|line| line.contains("record ") || line.contains("observe "))
            .collect();
        if series.is_empty() {
            continue;
        }
        all += 1;
        match Model::read(&program.text).and_then(|model| model.run(&program.launch)) {
            Ok(results) => {
                assert!(results.series.len() >= series.len(), "seed {seed}");
                for found in &results.series {
                    let words: usize = found.shape.iter().product();
                    assert_eq!(words, found.column.words.len(), "seed {seed}");
                }
                whole += u32::from(results.series.iter().any(|found| found.open.is_none()));
            }
            Err(error) => assert_eq!(error, "too long", "seed {seed}\n{}", program.text),
        }
        for (count, form) in seen.iter_mut().zip(forms) {
            *count += u32::from(series.iter().any(|line| line.contains(form)));
        }
    }
    println!("{all} programs, {whole} with a series that the pages say; {seen:?}");
    assert!(all > 300 && whole * 10 > all * 8);
    for (count, form) in seen.iter().zip(forms) {
        assert!(*count * 60 > all, "`{form}` in {count} of {all}");
    }
}
