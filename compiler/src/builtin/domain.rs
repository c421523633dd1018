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
    let arg = |k: usize| args.get(k).copied().flatten();
    let one = |name: &str, needs, legal: fn(f64) -> bool| {
        let position = usize::from(name == "deviation");
        let wrong = arg(position).filter(|value| !legal(*value))?;
        let found = format!("`{name}` is {}", Shown(wrong));
        Some(Fault { needs, found })
    };
    let two = |needs, legal: fn(f64, f64) -> bool| {
        let (a, b) = arg(0).zip(arg(1)).filter(|(a, b)| !legal(*a, *b))?;
        let found = format!("`a` is {} and `b` is {}", Shown(a), Shown(b));
        Some(Fault { needs, found })
    };
    match draw {
        Draw::Random => None,
        Draw::Uniform => {
            let ends = arg(0).into_iter().chain(arg(1));
            let infinite = ends.into_iter().find(|end| !end.is_finite());
            let infinite = infinite.map(|end| Fault {
                needs: "ends that are finite",
                found: format!("one is {}", Shown(end)),
            });
            let wide = |a: f64, b: f64| !(b as f32 - a as f32).is_infinite();
            (infinite.or_else(|| two("`a` not above `b`", |a, b| a <= b)))
                .or_else(|| two("a width that an `f32` holds", wide))
        }
        Draw::Normal => one("mean", "a mean that is finite", f64::is_finite).or_else(|| {
            let needs = "a standard deviation that is finite and not negative";
            one("deviation", needs, |x| x.is_finite() && x >= 0.0)
        }),
        Draw::Exponential => one("rate", "a rate that is finite and above 0", |x| {
            x.is_finite() && x > 0.0
        }),
        Draw::Bernoulli => one("p", "a chance from 0 to 1", |p| (0.0..=1.0).contains(&p)),
        Draw::RandInt => two("`a` below `b`", |a, b| a < b),
        Draw::Poisson => one("mean", "a mean from 0 to 2^30", |mean| {
            (0.0..=MOST_MEAN).contains(&mean)
        }),
        Draw::Categorical => {
            let wrong = args.iter().flatten().find(|w| !w.is_finite() || **w < 0.0);
            if let Some(weight) = wrong {
                return Some(Fault {
                    needs: "weights that are finite and not negative",
                    found: format!("one is {}", Shown(*weight)),
                });
            }
            let counts =
                |weight: &Option<f64>| weight.is_none_or(|w| w >= f32::MIN_POSITIVE.into());
            (!args.iter().any(counts)).then(|| Fault {
                needs: "a weight above 0",
                found: "all are 0".to_owned(),
            })
        }
    }
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
    }

    #[test]
    fn what_is_not_known_is_no_fault() {
        assert_eq!(fault(Draw::Uniform, &[Some(3.0), None]), None);
        assert_eq!(fault(Draw::Categorical, &[Some(0.0), None]), None);
        assert!(fault(Draw::Normal, &[None, Some(-1.0)]).is_some());
    }
}
