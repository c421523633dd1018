//! What an agent of a program ends with, for params, inputs and tables made up from a seed.

use crate::{
    ir::{
        Len, Program, Type, Var, VarId,
        interpret::{Fault, Interpreter, LaunchValues, Progress},
    },
    random::Generator,
};

/// Rows that tables of open length get.
const ROWS: u32 = 5;
/// The agent that runs.
pub(crate) const AGENT: u32 = 3;

/// The words of states and outputs, by name: `state word 0`.
pub(crate) type Outcome = Vec<(String, u32)>;

/// The made-up words of a launch.
pub(crate) struct Sample {
    uniform: Vec<u32>,
    pub(crate) inputs: Vec<u32>,
    data: Vec<Vec<u32>>,
    seed: u32,
    steps: u32,
}

/// What an agent ends with after this many steps.
pub(crate) fn run(program: &Program, steps: u32, seed: u32) -> Outcome {
    let rows = rows(program, 1, steps, seed).expect("one lane has no faults");
    let mut outcome = Outcome::new();
    for (kind, vars, row) in kinds(program, &rows) {
        for (place, word) in vars.iter().flat_map(|&var| words(program, var, row)) {
            outcome.push((format!("{kind} word {place}"), word));
        }
    }
    outcome.sort();
    outcome
}

/// The rows by kind, with the variables in them.
pub(crate) fn kinds<'a>(
    program: &'a Program,
    [states, outputs]: &'a [Vec<u32>; 2],
) -> [(&'static str, &'a [VarId], &'a [u32]); 2] {
    [
        ("state", &program.states, states),
        ("output", &program.outputs, outputs),
    ]
}

/// The rows of states and outputs of an agent with several lanes, one lane after another.
pub(crate) fn rows(
    program: &Program,
    lanes: u32,
    steps: u32,
    seed: u32,
) -> Result<[Vec<u32>; 2], Fault> {
    let sample = Sample::new(program, steps, seed);
    let mut all = [&program.states, &program.outputs]
        .map(|vars| vec![0; lanes as usize * row_words(program, vars)]);
    let [states, outputs] = &mut all;
    sample.interpret(program, |interpreter| {
        let mut machine = interpreter.machine(lanes, || false);
        let progress = Progress::default();
        machine.run(AGENT, 0..steps, progress, &sample.inputs, states, outputs)
    })?;
    Ok(all)
}

impl Sample {
    pub(crate) fn new(program: &Program, steps: u32, seed: u32) -> Sample {
        let mut kind = 0;
        let mut made_up = |vars: &[VarId]| {
            kind += 1;
            let mut row = vec![0; row_words(program, vars)];
            for &var in vars {
                let var = &program[var];
                for word in places(var) {
                    let random = Generator::KeyedHash.draw(u64::from(seed), kind, 0, word as u32);
                    row[word] = match var.ty {
                        Type::I32 | Type::U32 | Type::Bool => random % 7,
                        Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => {
                            ((random >> 8) as f32 / 4_194_304.0 - 2.0).to_bits()
                        }
                    };
                }
            }
            row
        };
        Sample {
            uniform: made_up(&program.params),
            inputs: made_up(&program.inputs),
            data: program.data.iter().map(|&var| made_up(&[var])).collect(),
            seed,
            steps,
        }
    }

    /// Calls `act` with an interpreter of the program for the launch.
    pub(crate) fn interpret<T>(
        &self,
        program: &Program,
        act: impl FnOnce(&Interpreter<'_>) -> T,
    ) -> T {
        let data: Vec<&[u32]> = self.data.iter().map(Vec::as_slice).collect();
        act(&Interpreter::new(
            program,
            LaunchValues {
                generator: Generator::KeyedHash,
                seed: self.seed.into(),
                population: 10,
                members: 1,
                steps: self.steps,
                uniform: &self.uniform,
                data: &data,
            },
        ))
    }
}

/// The words of a variable in a row, and their places. All NaNs are one.
pub(crate) fn words(
    program: &Program,
    var: VarId,
    row: &[u32],
) -> impl Iterator<Item = (usize, u32)> {
    let var = &program[var];
    places(var).map(move |place| {
        let nan = var.ty.is_float() && f32::from_bits(row[place]).is_nan();
        let word = if nan { f32::NAN.to_bits() } else { row[place] };
        (place, word)
    })
}

/// The places of a variable in its row; a table is a row of its own.
pub(crate) fn places(var: &Var) -> std::ops::Range<usize> {
    let (first, count) = match var.len {
        Len::One => (var.word, 1),
        Len::Fixed(count) if var.kind == crate::ir::VarKind::Data => (0, count),
        Len::Fixed(count) => (var.word, count),
        Len::Open { stride } => (0, ROWS * stride),
    };
    first as usize..first as usize + count as usize * var.ty.components()
}

/// Words of a row of these variables.
pub(crate) fn row_words(program: &Program, vars: &[VarId]) -> usize {
    let ends = vars.iter().map(|&var| places(&program[var]).end);
    ends.max().unwrap_or(0)
}
