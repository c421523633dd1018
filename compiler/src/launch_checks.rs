//! What a launch must hold so that every draw has a distribution: draws that each agent reaches, with
//! arguments that follow from params and the launch's own numbers alone.

use crate::{
    builtin::{
        Draw,
        domain::{self, Fault},
    },
    ir::{Program, Value},
};

/// The checks of a model.
#[derive(Clone, Debug)]
pub struct LaunchChecks {
    /// Its `finish` computes the arguments, as outputs in this order, of as many words each
    /// as a float has; all else is empty.
    pub program: Program,
    /// The draws.
    pub draws: Vec<CheckedDraw>,
}

/// A draw whose arguments a launch decides.
#[derive(Clone, Debug)]
pub struct CheckedDraw {
    /// Which distribution.
    pub draw: Draw,
    /// The output that is each argument, if it is known at launch.
    pub args: Vec<Option<u32>>,
    /// Where it is made.
    pub phase: Phase,
    /// The params that the arguments follow from.
    pub params: Vec<String>,
    /// Byte range of the draw in the source.
    pub span: [u32; 2],
}

/// When a draw is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// When an agent begins or ends: in every run.
    #[default]
    Always,
    /// In a step: in every run that has one.
    Step,
    /// By one of the program's `input_defaults`: if the launch does not give that input.
    Input(usize),
}

impl LaunchChecks {
    /// What is wrong with a draw, by the words of the program's outputs.
    pub fn fault(&self, draw: &CheckedDraw, outputs: &[u32]) -> Option<Fault> {
        let number = |output: &Option<u32>| {
            let program = &self.program;
            let var = &program[program.outputs[(*output)? as usize]];
            let words = &outputs[var.word as usize..];
            Some(match Value::from_words_of(program.real, var.ty, words) {
                Value::I32(x) => f64::from(x),
                Value::U32(x) => f64::from(x),
                Value::Bool(x) => f64::from(u8::from(x)),
                floats => floats.floats()[0],
            })
        };
        let args: Vec<Option<f64>> = draw.args.iter().map(number).collect();
        domain::fault(draw.draw, &args)
    }
}
