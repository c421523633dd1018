//! Derivatives of outputs of worlds, as those of outputs of agents: each agent has what its world has.

use super::reverse::pruned;
use crate::{
    Artifact,
    ir::{Expr, ExprId, Len, Program, Stmt, Type, Value, VarId, VarKind},
    manifest::Field,
    passes,
    span::Span,
};
use std::collections::HashSet;

/// The model with an output of agents of the name of an output of worlds, which has its values for each agent
/// of the world, and without any output of worlds. None if there is no such output.
pub fn with_output_of_agents(artifact: &Artifact, name: &str) -> Option<Artifact> {
    let mut artifact = artifact.clone();
    let rows = &mut artifact.manifest.world.as_mut()?.rows;
    let field = rows
        .outputs
        .iter()
        .find(|field| field.name == name)?
        .clone();
    rows.outputs.clear();
    let mut program = artifact.lowered.clone();
    let of_world = super::of_word(&program, &program.world_outputs, field.word);
    // Its values are a state of the world now, which agents read.
    let others = std::mem::take(&mut program.world_outputs);
    let others: HashSet<VarId> = others.into_iter().filter(|var| *var != of_world).collect();
    for mut phase in std::mem::take(&mut program.ends) {
        phase.body = pruned(&program, phase.body, &others);
        program.ends.push(phase);
    }
    program.ends.retain(|phase| !phase.body.is_empty());
    for var in others {
        program[var].kind = VarKind::Local;
    }
    program[of_world].kind = VarKind::WorldState;
    program[of_world].word = program.row_words(&program.world_states);
    program.world_states.push(of_world);
    let zero = Value::zero(program[of_world].ty);
    let clears = whole(&mut program, of_world, |program, _| {
        program.add(Expr::Literal(zero), Span::default())
    });
    program.init.push(clears);
    let output = program.add_var(program[of_world].clone());
    program[output].kind = VarKind::Output;
    program[output].word = program.row_words(&program.outputs);
    program.outputs.push(output);
    let copies = whole(&mut program, output, |program, index| {
        let value = match index {
            None => Expr::Read(of_world),
            Some(index) => Expr::Element {
                array: of_world,
                index: program.add(Expr::Read(index), Span::default()),
            },
        };
        program.add(value, Span::default())
    });
    program.finish.push(copies);
    let manifest = &mut artifact.manifest;
    let word = program[output].word;
    manifest.outputs.push(Field {
        word,
        ..field.clone()
    });
    manifest.output_words = program.row_words(&program.outputs);
    let rows = &mut manifest.world.as_mut()?.rows;
    rows.states.push(Field {
        word: program[of_world].word,
        ..field
    });
    rows.state_words = program.row_words(&program.world_states);
    rows.output_words = 0;
    crate::ir::verify::debug_verify(&program, "world_output");
    artifact.lowered = program.clone();
    if artifact.options.optimise {
        passes::optimise(&mut program);
    }
    artifact.program = program;
    Some(artifact)
}

/// Assigns a variable, or each element of it.
fn whole(
    program: &mut Program,
    var: VarId,
    value: impl FnOnce(&mut Program, Option<VarId>) -> ExprId,
) -> Stmt {
    let Len::Fixed(count) = program[var].len else {
        let value = value(program, None);
        return Stmt::Assign { var, value };
    };
    let index = program.add_name("k", Type::I32);
    program[index].kind = VarKind::Index;
    let mut add = |expr: Expr| program.add(expr, Span::default());
    let start = add(Expr::Literal(Value::I32(0)));
    let end = add(Expr::Literal(Value::I32(count as i32)));
    let place = add(Expr::Read(index));
    let value = value(program, Some(index));
    Stmt::For {
        index,
        start,
        end,
        body: vec![Stmt::AssignElement {
            var,
            index: place,
            value,
        }],
    }
}
