//! A model of as many lines as wanted: a chain of compartments, each with a param, a state, a function, a
//! step block and an output of its own.

const HEAD: &str = "\
//! Compartments in a chain.

agents 1_000
steps  100

";

/// `K` is the number of the compartment, `BEFORE` that of its neighbour.
const COMPARTMENT: &str = "\
/// How fast compartment K answers.
param rate_K = 0.25 in 0.0..1.0
state level_K = 1.0 + 0.5 * rate_K

/// What flows into compartment K.
fn flow_K(level: f32, near: f32) -> f32 {
    let slope = rate_K * (near - level)
    if slope > 2.0 {
        return 2.0 + 0.1 * (slope - 2.0)
    }
    return slope * exp(-abs(level))
}

step {
    let near = 0.5 * (level_K + level_BEFORE)
    var change = flow_K(level_K, near)
    for i in 0..3 {
        change += 0.1 * sin(near * f32(i + 1))
    }
    if random() < 0.01 {
        change -= level_K
    } else {
        change *= 0.9
    }
    level_K += change / f32(steps)
}

output level_K

";

/// The shortest such model of at least `lines` lines.
pub fn model(lines: usize) -> String {
    let per_compartment = COMPARTMENT.lines().count();
    let compartments = lines
        .saturating_sub(HEAD.lines().count())
        .div_ceil(per_compartment);
    let body = (0..compartments).map(|k| {
        COMPARTMENT
            .replace("BEFORE", &k.saturating_sub(1).to_string())
            .replace('K', &k.to_string())
    });
    HEAD.to_owned() + &body.collect::<String>()
}
