//! Every pass keeps every result to the bit, and does what its head says.

mod build;
#[allow(warnings)]
mod dump;
mod evaluate;
mod random;

use sim_compiler::passes::{PIPELINE, optimise};

/// Random programs, held against themselves after every pass.
#[test]
fn passes_keep_results() {
    let count = std::env::var("PASSES_PROGRAMS").map_or(300, |n| n.parse().expect("a number"));
    let first = std::env::var("PASSES_FIRST").map_or(0, |n| n.parse().expect("a number"));
    for seed in first..first + count {
        let mut program = random::program(seed);
        evaluate::check(&program);
        let seeds = [(0, 1), (1, 2), (5, 3)];
        let expected = seeds.map(|(steps, seed)| evaluate::run(&program, steps, seed));
        for (number, pass) in PIPELINE.iter().enumerate() {
            let place = format!("program {seed} after pass {number}, {}", pass.name);
            let before = program.clone();
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                (pass.run)(&mut program);
                evaluate::check(&program);
                seeds.map(|(steps, seed)| evaluate::run(&program, steps, seed))
            }));
            match result {
                Ok(got) if got == expected => {}
                Ok(got) => panic!("{place}: {got:?} is not {expected:?}\nbefore {before:#?}"),
                Err(_) => panic!("{place} panicked"),
            }
        }
    }
}

/// Optimising twice changes no result either.
#[test]
fn optimising_again_keeps_results() {
    for seed in 10_000..10_100 {
        let mut program = random::program(seed);
        let expected = evaluate::run(&program, 3, 1);
        optimise(&mut program);
        optimise(&mut program);
        evaluate::check(&program);
        assert_eq!(evaluate::run(&program, 3, 1), expected, "program {seed}");
    }
}

#[test]
#[ignore]
fn models() {
    let only = std::env::var("MODEL").unwrap_or_default();
    for entry in std::fs::read_dir("../lang-examples").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "sim") || !path.to_str().unwrap().contains(&only) {
            continue;
        }
        let source = std::fs::read_to_string(&path).unwrap();
        let parsed = sim_compiler::syntax::parse(&source);
        let prelude = Default::default();
        let model = match sim_compiler::check::check(&parsed.model, &prelude) {
            Ok(m) => m,
            Err(e) => {
                println!("{path:?}: {e:?}");
                continue;
            }
        };
        let (program, _) = sim_compiler::lower::lower(&model);
        let reach = |p: &sim_compiler::ir::Program| {
            let mut p = p.clone();
            (PIPELINE.last().unwrap().run)(&mut p);
            p.exprs.len()
        };
        let mut best = vec![f64::MAX; PIPELINE.len()];
        let mut total = f64::MAX;
        let mut peak = 0;
        for _ in 0..30 {
            let mut p = program.clone();
            let mut sum = 0.0;
            for (k, pass) in PIPELINE.iter().enumerate() {
                let t = std::time::Instant::now();
                (pass.run)(&mut p);
                let s = t.elapsed().as_secs_f64() * 1e6;
                best[k] = best[k].min(s);
                sum += s;
                if k == 3 {
                    peak = reach(&p);
                }
            }
            total = total.min(sum);
        }
        let mut p = program.clone();
        optimise(&mut p);
        evaluate::check(&p);
        println!(
            "{} nodes {} unrolled {} -> {} in {total:.0} us",
            path.file_name().unwrap().to_str().unwrap(),
            program.exprs.len(),
            peak,
            p.exprs.len()
        );
        if only.len() > 0 {
            for (k, pass) in PIPELINE.iter().enumerate() {
                print!("{} {:.0}, ", pass.name, best[k]);
            }
            println!();
            println!("{}", dump::dump(&program));
            println!("=====\n{}", dump::dump(&p));
        }
    }
}
