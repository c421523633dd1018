//! The arguments for which a distribution exists. The checker asks about constants, the launch about what
//! only params and the launch's own numbers say.

use super::Draw;
use crate::value::Shown;

/// The largest mean of a Poisson number.
pub const MOST_MEAN: f64 = 1_073_741_824.0;

/// Arguments that name no distribution.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What the draw needs, such as "`a` below `b`".
    pub needs: &'static str,
    /// What it was given, such as "`a` is 5 and `b` is 2".
    pub found: String,
}

/// What is wrong with the arguments of a draw, as far as they are known. Those of `categorical` are its
/// weights.
pub fn fault(draw: Draw, args: &[Option<f64>]) -> Option<Fault> {
    let one = |name, needs, legal| nth(args, 0, name, needs, legal);
    let other = |name, needs, legal| nth(args, 1, name, needs, legal);
    let finite: fn(f64) -> bool = f64::is_finite;
    match draw {
        Draw::Random => None,
        Draw::Uniform => uniform(args),
        Draw::Normal => normal(args),
        Draw::NormalBetween => {
            normal(args).or_else(|| pair(args, 2, "`a` below `b`", |a, b| a < b))
        }
        Draw::Exponential => one("rate", "a rate that is finite and above 0", positive),
        Draw::LogNormal => one("mu", "a mean of logarithms that is finite", finite).or_else(|| {
            let needs = "a deviation of logarithms that is finite and not negative";
            other("sigma", needs, not_negative)
        }),
        Draw::Gamma => {
            one("shape", SHAPE, positive).or_else(|| other("scale", SCALE, not_negative))
        }
        Draw::Beta => one("a", SHAPE, positive).or_else(|| other("b", SHAPE, positive)),
        Draw::ChiSquared | Draw::StudentT => {
            let needs = "degrees of freedom that are finite and above 0";
            one("freedom", needs, positive)
        }
        Draw::Cauchy | Draw::Laplace => one("location", "a location that is finite", finite)
            .or_else(|| other("scale", SCALE, not_negative)),
        Draw::Bernoulli => one("p", CHANCE, is_chance),
        Draw::Binomial => one("n", "a number of trials that is not negative", |n| n >= 0.0)
            .or_else(|| other("p", CHANCE, is_chance)),
        Draw::Geometric => one("p", "a chance above 0, and 1 at most", |p| {
            0.0 < p && p <= 1.0
        }),
        Draw::RandInt => pair(args, 0, "`a` below `b`", |a, b| a < b),
        Draw::Poisson => one("mean", "a mean from 0 to 2^30", |mean| {
            (0.0..=MOST_MEAN).contains(&mean)
        }),
        Draw::Categorical => categorical(args),
    }
}

const SHAPE: &str = "a shape that is finite and above 0";
const SCALE: &str = "a scale that is finite and not negative";
const CHANCE: &str = "a chance from 0 to 1";

fn positive(x: f64) -> bool {
    x.is_finite() && x > 0.0
}

fn not_negative(x: f64) -> bool {
    x.is_finite() && x >= 0.0
}

fn is_chance(p: f64) -> bool {
    (0.0..=1.0).contains(&p)
}

/// An argument that is not legal.
fn nth(
    args: &[Option<f64>],
    k: usize,
    name: &str,
    needs: &'static str,
    legal: fn(f64) -> bool,
) -> Option<Fault> {
    let wrong = args.get(k).copied().flatten();
    let wrong = wrong.filter(|value| !legal(*value))?;
    let found = format!("`{name}` is {}", Shown(wrong));
    Some(Fault { needs, found })
}

/// Two ends, from the argument `first` on, that are not legal.
fn pair(
    args: &[Option<f64>],
    first: usize,
    needs: &'static str,
    legal: fn(f64, f64) -> bool,
) -> Option<Fault> {
    let [Some(a), Some(b)] = *args.get(first..first + 2)? else {
        return None;
    };
    let found = format!("`a` is {} and `b` is {}", Shown(a), Shown(b));
    (!legal(a, b)).then_some(Fault { needs, found })
}

fn uniform(args: &[Option<f64>]) -> Option<Fault> {
    let infinite = args.iter().flatten().find(|end| !end.is_finite());
    let infinite = infinite.map(|end| Fault {
        needs: "ends that are finite",
        found: format!("one is {}", Shown(*end)),
    });
    let wide = |a: f64, b: f64| !(b as f32 - a as f32).is_infinite();
    infinite
        .or_else(|| pair(args, 0, "`a` not above `b`", |a, b| a <= b))
        .or_else(|| pair(args, 0, "a width that an `f32` holds", wide))
}

fn normal(args: &[Option<f64>]) -> Option<Fault> {
    let needs = "a standard deviation that is finite and not negative";
    nth(args, 0, "mean", "a mean that is finite", f64::is_finite)
        .or_else(|| nth(args, 1, "deviation", needs, not_negative))
}

fn categorical(weights: &[Option<f64>]) -> Option<Fault> {
    let wrong = (weights.iter().flatten()).find(|w| !w.is_finite() || **w < 0.0);
    if let Some(weight) = wrong {
        return Some(Fault {
            needs: "weights that are finite and not negative",
            found: format!("one is {}", Shown(*weight)),
        });
    }
    let counts = |weight: &Option<f64>| weight.is_none_or(|w| w >= f32::MIN_POSITIVE.into());
    (!weights.iter().any(counts)).then(|| Fault {
        needs: "a weight above 0",
        found: "all are 0".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_those_of_the_manual() {
        let wrong = |draw, args: &[f64]| {
            let args: Vec<_> = args.iter().map(|x| Some(*x)).collect();
            fault(draw, &args).is_some()
        };
        assert!(!wrong(Draw::Uniform, &[2.0, 2.0]) && wrong(Draw::Uniform, &[3.0, 2.0]));
        assert!(wrong(Draw::Uniform, &[-3e38, 3e38]) && wrong(Draw::Uniform, &[0.0, f64::NAN]));
        assert!(!wrong(Draw::Normal, &[1.0, 0.0]) && wrong(Draw::Normal, &[1.0, -1.0]));
        assert!(wrong(Draw::Normal, &[f64::INFINITY, 1.0]) && !wrong(Draw::Normal, &[]));
        assert!(wrong(Draw::Exponential, &[0.0]) && wrong(Draw::Exponential, &[f64::NAN]));
        assert!(!wrong(Draw::Bernoulli, &[1.0]) && wrong(Draw::Bernoulli, &[1.5]));
        assert!(wrong(Draw::RandInt, &[5.0, 2.0]) && wrong(Draw::RandInt, &[2.0, 2.0]));
        assert!(!wrong(Draw::Poisson, &[MOST_MEAN]) && wrong(Draw::Poisson, &[-1.0]));
        assert!(wrong(Draw::Categorical, &[0.0, 0.0]) && wrong(Draw::Categorical, &[1.0, -1.0]));
        assert!(!wrong(Draw::Categorical, &[0.0, 1.0]));
        assert!(wrong(Draw::NormalBetween, &[0.0, 1.0, 2.0, 2.0]));
        assert!(!wrong(
            Draw::NormalBetween,
            &[0.0, 1.0, f64::NEG_INFINITY, 2.0]
        ));
        assert!(wrong(Draw::Gamma, &[0.0, 1.0]) && wrong(Draw::Beta, &[1.0, f64::NAN]));
        assert!(wrong(Draw::Binomial, &[-1.0, 0.5]) && wrong(Draw::Geometric, &[0.0]));
    }

    #[test]
    fn what_is_not_known_is_no_fault() {
        assert_eq!(fault(Draw::Uniform, &[Some(3.0), None]), None);
        assert_eq!(fault(Draw::Categorical, &[Some(0.0), None]), None);
        assert!(fault(Draw::Normal, &[None, Some(-1.0)]).is_some());
    }
}
