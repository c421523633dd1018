//! Every builtin has a meaning in `f64`, which is that in `f32` with more digits.

use super::*;
use crate::builtin::{BuiltinId, Meaning};
