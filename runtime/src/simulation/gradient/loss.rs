//! What derivatives are taken of: one number per run.

use crate::error::Error;
use std::{fmt, str::FromStr};

/// How the values of all agents, or of all worlds, become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The sum over their number.
    Mean,
    /// The sum.
    Sum,
}

/// A number per run, such as `mean(payoff)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// How the values become one.
    pub fold: Fold,
    /// The output of agents or of worlds, or one value of it: `payoff`, `path[3]`, `place.x`.
    pub output: String,
}

impl Loss {
    /// The mean of an output over all agents, or worlds.
    pub fn mean(output: &str) -> Loss {
        let output = output.to_owned();
        Loss {
            fold: Fold::Mean,
            output,
        }
    }

    /// The sum of an output over all agents, or worlds.
    pub fn sum(output: &str) -> Loss {
        let output = output.to_owned();
        Loss {
            fold: Fold::Sum,
            output,
        }
    }
}

impl FromStr for Loss {
    type Err = Error;

    /// Reads `mean(payoff)` or `sum(payoff)`.
    fn from_str(text: &str) -> Result<Loss, Error> {
        let refused = |why: &str| Error::NotALoss {
            text: text.to_owned(),
            why: why.to_owned(),
        };
        let plain = text.trim();
        let Some((fold, rest)) = plain.split_once('(') else {
            return Err(refused(
                "it must say how the values of all agents become one number",
            ));
        };
        let fold = match fold.trim() {
            "mean" => Fold::Mean,
            "sum" => Fold::Sum,
            other => return Err(refused(&format!("`{other}` is neither `mean` nor `sum`"))),
        };
        match rest.strip_suffix(')').map(str::trim) {
            None => Err(refused("its `(` is not closed")),
            Some("") => Err(refused("it names no output")),
            Some(output) => Ok(Loss {
                fold,
                output: output.to_owned(),
            }),
        }
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fold = match self.fold {
            Fold::Mean => "mean",
            Fold::Sum => "sum",
        };
        write!(f, "{fold}({})", self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_read_and_written() {
        let loss: Loss = " mean( path[3] )".parse().expect("a loss");
        assert_eq!(loss, Loss::mean("path[3]"));
        assert_eq!(loss.to_string(), "mean(path[3])");
        assert_eq!("sum(x)".parse::<Loss>().expect("a loss"), Loss::sum("x"));
        for text in ["x", "max(x)", "mean(x", "mean()", ""] {
            let error = text.parse::<Loss>().expect_err(text);
            assert_eq!(error.code(), "E0742", "{text}");
        }
    }
}
