//! The errors of checked runs.

use super::Error;
use crate::fault::Fault;
use sim_compiler::ir::checks::CheckKind;

impl Error {
    /// The error of a checked run with a fault.
    pub(crate) fn of_fault(fault: Fault) -> Error {
        let fault = Box::new(fault);
        match fault.kind {
            CheckKind::Assertion { .. } => Error::AssertionFailed { fault },
            CheckKind::Index => Error::IndexOutside { fault },
            CheckKind::Division => Error::IntegerDivision { fault },
            CheckKind::NotFinite => Error::NotFinite { fault },
            CheckKind::Limit => Error::LimitMet { fault },
        }
    }

    /// What a checked run found; none for other errors.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Error::AssertionFailed { fault }
            | Error::IndexOutside { fault }
            | Error::IntegerDivision { fault }
            | Error::NotFinite { fault }
            | Error::LimitMet { fault } => Some(fault),
            _ => None,
        }
    }
}
