//! Builds programs by hand, and runs them on the interpreter and on the vector machine.

use crate::cpu::{
    Control,
    reference::Agents,
    vector::{self, Isa, Values},
};
use sim_compiler::{
    ir::{
        self, BinaryOp, Expr, ExprId, Len, Owner, Program, Type, Value, Var, VarId, VarKind,
        interpret::{Interpreter, LaunchValues, Progress},
    },
    manifest::Manifest,
    random::Generator,
    span::Span,
};

/// A program under construction, with its words of states, inputs and outputs.
#[derive(Default)]
pub(super) struct Build {
    pub(super) program: Program,
    pub(super) words: [u32; 3],
}

impl Build {
    pub(super) fn var(&mut self, name: &str, ty: Type, len: Len, kind: VarKind) -> VarId {
        let id = VarId(self.program.vars.len() as u32);
        let count = match len {
            Len::Fixed(count) => count,
            Len::One | Len::Open { .. } => 1,
        };
        let row = match kind {
            VarKind::Input => Some((0, &mut self.program.inputs)),
            VarKind::State => Some((1, &mut self.program.states)),
            VarKind::Output => Some((2, &mut self.program.outputs)),
            VarKind::Constant
            | VarKind::Param
            | VarKind::Data
            | VarKind::WorldInput
            | VarKind::WorldState
            | VarKind::WorldOutput
            | VarKind::Record
            | VarKind::WorldRecord
            | VarKind::Let
            | VarKind::Local
            | VarKind::Index
            | VarKind::Argument => None,
        };
        let mut word = 0;
        if let Some((row, list)) = row {
            list.push(id);
            word = self.words[row];
            self.words[row] += count * ty.components() as u32;
        }
        self.program.add_var(Var {
            name: name.to_owned(),
            doc: String::new(),
            ty,
            len,
            kind,
            word,
            span: Span::default(),
        })
    }

    pub(super) fn one(&mut self, name: &str, ty: Type, kind: VarKind) -> VarId {
        self.var(name, ty, Len::One, kind)
    }

    pub(super) fn expr(&mut self, expr: Expr) -> ExprId {
        self.program.add(expr, Span::default())
    }

    pub(super) fn int(&mut self, x: i32) -> ExprId {
        self.expr(Expr::Literal(Value::I32(x)))
    }

    pub(super) fn read(&mut self, var: VarId) -> ExprId {
        self.expr(Expr::Read(var))
    }

    pub(super) fn launch(&mut self, number: ir::Launch) -> ExprId {
        self.expr(Expr::Launch(number))
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> ExprId {
        self.expr(Expr::Binary(op, a, b))
    }

    pub(super) fn element(&mut self, array: VarId, index: ExprId) -> ExprId {
        self.expr(Expr::Element { array, index })
    }

    pub(super) fn random(&mut self, number: u32) -> ExprId {
        let number = self.expr(Expr::Literal(Value::U32(number)));
        self.expr(Expr::RandomWord {
            owner: Owner::Agent,
            number,
            step: None,
        })
    }

    pub(super) fn manifest(&self) -> Manifest {
        Manifest {
            spill: None,
            constants: None,
            version: 1,
            doc: String::new(),
            generator: String::new(),
            agents: None,
            steps: None,
            has_step: true,
            params: Vec::new(),
            data: Vec::new(),
            inputs: Vec::new(),
            states: Vec::new(),
            outputs: Vec::new(),
            world: None,
            samplings: Vec::new(),
            series: Vec::new(),
            requirements: Vec::new(),
            uniform_words: 12,
            input_words: self.words[0].next_multiple_of(4),
            state_words: self.words[1],
            output_words: self.words[2],
            workgroup_size: 64,
            inner_iterations: None,
            step_table: None,
            real: Default::default(),
        }
    }

    pub(super) fn check(&self) {
        sim_compiler::ir::verify::verify(&self.program).expect("a valid program");
    }
}

pub(super) const fn values(steps: u32) -> LaunchValues<'static> {
    LaunchValues {
        generator: Generator::KeyedHash,
        seed: 7,
        population: 100,
        members: 1,
        steps,
        uniform: &[0; 12],
        data: &[],
    }
}

/// Runs all agents over the ranges that end where the list says.
pub(super) fn run_in_parts(build: &Build, steps: u32, ends: &[u32]) -> Agents {
    build.check();
    let manifest = build.manifest();
    let interpreter = Interpreter::new(&build.program, values(steps));
    let mut agents = Agents::zeros(&manifest, 0, 100);
    let mut start = 0;
    for &end in ends {
        agents
            .run(&interpreter, start..end, &Control::default())
            .expect("nobody cancels");
        start = end;
    }
    for isa in Isa::available() {
        for jit in [false, true] {
            let got = on_vectors(build, &manifest, steps, ends, (isa, jit));
            assert_eq!(got, agents, "on the vector machine with {isa}, jit {jit}");
        }
    }
    agents
}

/// The same on the vector machine: the states are stored and loaded between the parts.
pub(super) fn on_vectors(
    build: &Build,
    manifest: &Manifest,
    steps: u32,
    ends: &[u32],
    (isa, jit): (Isa, bool),
) -> Agents {
    let generator = Generator::default();
    let program = vector::compile::<u32>(&build.program, manifest, generator, isa, 1);
    let mut program = program.expect("a program");
    if jit {
        program.install_functions();
    }
    let values = Values {
        seed: 7,
        population: 100,
        steps,
        members: 1,
        uniform: &[0; 12],
        data: &[],
    };
    let mut agents = Agents::zeros(manifest, 0, 100);
    let control = Control::default();
    let mut start = 0;
    for &end in ends {
        let mut group = vector::Group::new(&program, &values, 1, &control);
        group.begin(0, 100);
        let [inputs, states, outputs] = program.rows();
        group.load(inputs, &agents.inputs, manifest.input_words as usize);
        let stride = manifest.state_words as usize;
        if start > 0 {
            group.load(states, &agents.states, stride);
        }
        let progress = agents.progress.iter();
        group.resume(progress.map(|&word| Progress::from_word(word)));
        group
            .run(start..end, &mut |_, _, _| {})
            .expect("nobody cancels");
        if end == steps {
            group.finish().expect("nobody cancels");
        }
        for stored in states {
            group.store(stored, &mut agents.states[stored.word as usize..], stride);
        }
        if end == steps {
            let stride = manifest.output_words as usize;
            for stored in outputs {
                let words = &mut agents.outputs[stored.word as usize..];
                group.store(stored, words, stride);
            }
        }
        for (word, progress) in agents.progress.iter_mut().zip(group.progress()) {
            *word = progress.word();
        }
        start = end;
    }
    agents
}
