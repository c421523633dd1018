//! What the compiler of the vector machine relies on.

use super::{isa::Isa, op::Plain};
use crate::cpu::vector;
use sim_compiler::builtin::{Area, BuiltinId, Meaning, Slot};
use sim_compiler::ir::Type;

/// Functions of whole vectors are made of other operations, and `select` is one of its own;
/// `runtime/tests/builtins.rs` runs them all.
#[test]
fn every_builtin_of_components_has_an_operation() {
    let mut missing = Vec::new();
    for id in BuiltinId::all() {
        let row = id.row();
        let Meaning::Pure(pure) = &row.meaning else {
            continue;
        };
        if row.area() == Area::Vector || id == BuiltinId::SELECT {
            continue;
        }
        for t in [Type::F32, Type::I32, Type::U32] {
            let generic = pure.params.contains(&Slot::T);
            let fits = if generic {
                pure.class.contains(t)
            } else {
                t == Type::F32
            };
            let arity = Plain::of_builtin(id, t).map(Plain::arity);
            if fits && arity != Some(pure.params.len()) {
                missing.push((row.name, t));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "no operation in `op/table.rs` for {missing:?}"
    );
}

/// The compiled program of a model.
fn program(source: &str) -> vector::Program {
    program_of_worlds(source, 1)
}

/// The same for worlds of that size.
fn program_of_worlds(source: &str, members: u32) -> vector::Program {
    let artifact = sim_compiler::compile(source).expect("a legal model");
    vector::compile(
        &artifact.program,
        &artifact.manifest,
        artifact.options.generator,
        Isa::best(),
        members,
    )
    .expect("a small model")
}

/// Where a block has agents of one world, what they share is computed once.
#[test]
fn values_of_the_only_world_of_a_block_are_no_loops_over_lanes() {
    let source = "
agents 1
steps 1
world 1
world state level = random()
state x = 0.0
step { x += exp(level) * sqrt(level + 1.0) }
world step { for i in 0..3 { level = exp(-level) * sqrt(level + f32(i)) } }
output x
";
    let lanes = |members| program_of_worlds(source, members).lane_instructions();
    assert!(lanes(1000) + 5 < lanes(3), "{} {}", lanes(1000), lanes(3));
}

/// The memory of a run counts all blocks of the groups that run at a time.
#[test]
fn the_work_space_counts_the_blocks_of_a_world() {
    let source = "
agents 1
steps 1
world 1
state x = random()
step { x = 0.5 * (x + world[member + 1].x) }
output x
";
    let program = program_of_worlds(source, 100_000);
    let one = vector::Group::bytes(&program, 1);
    let space = |agents, members| vector::drive::work_space(&program, agents, members);
    assert_eq!(space(100_000, 100_000), 196 * one);
    let threads = rayon::current_num_threads() as u64;
    assert_eq!(space(6_400_000, 100_000), 196 * one * threads.min(64));
}

#[test]
fn registers_are_shared_by_values_that_are_not_needed_at_once() {
    let long: String = (0..200)
        .map(|k| format!("    x = sin(x * 1.5 + {k}.0) * cos(x)\n"))
        .collect();
    let source = format!("agents 1\nsteps 1\nstate x = 0.5\nstep {{\n{long}}}\noutput x\n");
    let registers = program(&source).registers();
    assert!(registers < 16, "{registers} registers");
}

#[test]
fn what_all_agents_share_is_no_loop_over_lanes() {
    let source = "
agents 1
steps 10
param rate = 0.5
state x = 0.0
step t {
    let drift = exp(-rate * f32(t)) * sqrt(rate + 3.0) / 7.0
    x += drift
}
output x
";
    let shared = program(source);
    let own = program(&source.replace("f32(t)", "f32(t) * x"));
    let lanes = |program: &vector::Program| program.lane_instructions();
    assert!(
        lanes(&shared) < lanes(&own),
        "{} {}",
        lanes(&shared),
        lanes(&own)
    );
}

/// So is a variable that is assigned in a loop, if it is the same for all agents.
#[test]
fn variables_that_all_agents_share_are_no_loops_over_lanes() {
    let source = "
agents 1
steps 10
param rate = 0.5
param n = 3
state x = 0.0
step t {
    var drift = rate
    for i in 0..n {
        drift = sqrt(drift * rate + f32(i + t))
    }
    x += drift
}
output x
";
    let own = source.replace("var drift = rate", "var drift = x");
    let lanes = |source: &str| program(source).lane_instructions();
    // The sum, and the shared value in all lanes.
    assert_eq!(lanes(source), 2);
    assert!(lanes(&own) > 2);
}

#[test]
fn a_model_whose_calls_would_fill_the_memory_is_too_large() {
    let mut source =
        "fn f0(x: f32) -> f32 {\n    var y = x\n    if y > 1.0 { y = sin(y) }\n    return y\n}\n"
            .to_owned();
    for k in 1..24 {
        source += &format!(
            "fn f{k}(x: f32) -> f32 {{\n    var y = f{p}(x)\n\
             if y > 2.0 {{ y = f{p}(y + 1.0) }}\n    return y\n}}\n",
            p = k - 1
        );
    }
    source += "agents 1\nsteps 1\nstate x = 3.0\nstep { x = f23(x) }\noutput x\n";
    let artifact = sim_compiler::compile(&source).expect("a legal model");
    let outcome = vector::compile::<u32>(
        &artifact.program,
        &artifact.manifest,
        artifact.options.generator,
        Isa::best(),
        1,
    );
    assert_eq!(outcome.err(), Some(vector::NotCompiled::TooLarge));
}

/// How many lane instructions a step with `y = EXPRESSION` has: `x`, `i`, `u` and others are an agent's own,
/// `p`, `n` and `m` are params.
fn instructions(expression: &str) -> usize {
    let source = format!(
        "agents 1 steps 1 param p = 1.5 param n = 3 param m = 4u
        state y = 1.0 state z = 2.0 state w = 3.0 state x = 0.5 state i = agent state u = u32(agent)
        step {{ y = {expression} z = z * 1.5 w = w * 2.5 x = x * 3.5 i += 3 u += 3u }}
        output y"
    );
    program(&source).lane_instructions()
}

/// Comparisons of an agent's value with a uniform one cost the same in either order, and a selection by one
/// is one instruction, except for unsigned numbers compared by order.
#[test]
fn comparisons_cost_the_same_in_either_order() {
    let (product, word) = (instructions("z * w"), instructions("z"));
    for (own, shared) in [("x", "p"), ("i", "n"), ("u", "m")] {
        for op in ["==", "!=", "<", "<=", ">", ">="] {
            for condition in [
                format!("{own} {op} {shared}"),
                format!("{shared} {op} {own}"),
            ] {
                let choice = format!("z * if {condition} {{ y }} else {{ w }}");
                let expected = 1 + usize::from(own == "u" && !matches!(op, "==" | "!="));
                assert_eq!(instructions(&choice) - product, expected, "{condition}");
                let number = format!("f32(i32({condition}))");
                assert_eq!(instructions(&number) - word, 3, "{condition}");
            }
        }
    }
}

/// Assignments are made where their operations are: without a copy, and in place where the variable takes
/// part.
#[test]
fn assignments_need_no_copies() {
    let step = |statements: &str| {
        let source = format!(
            "agents 1 steps 1 state x = 0.5 state y = 1.5 state z = 2.5 state w = 0.0
            step {{ {statements} y = y * 0.5 z = z * 0.5 }}
            output x output y output z output w"
        );
        program(&source).instructions()
    };
    let none = step("");
    for (statements, expected) in [
        ("x = y * z", 1),
        ("x = sqrt(y)", 1),
        ("x += y", 1),
        ("x -= y", 1),
        ("x *= y", 1),
        ("x /= y", 1),
        ("x = y + x", 1),
        ("x = y * x", 1),
        ("x = y - x", 2),
        ("x = y / x", 2),
        ("x += y * z", 1),
        ("x = y * z + x", 1),
        ("x = x * x", 2),
        ("x = x * y + x", 2),
        ("x = y", 1),
        ("w = x x = y", 2),
        ("x = if y > z { y } else { z }", 1),
    ] {
        assert_eq!(step(statements) - none, expected, "{statements}");
    }
}
