//! Sums over lanes that a sum adds or subtracts with the same factor become one.

use crate::{
    ir::{BinaryOp, Block, Expr, ExprId, LaneOp, Program, Stmt, Type, VarId, VarKind, VarMap},
    kernel::{
        analysis::{
            free_sums::FreeSums,
            terms::{Term, sum, terms},
        },
        relax::late_terms_last::replace,
    },
    passes::{names, rewrite::reads, shape::identical},
};
use std::collections::HashMap;

/// Joins sums over lanes, each with a name of its own in the block of its reader. So has the joined sum: all
/// lanes have to reach it.
pub(crate) fn run(program: &mut Program) -> u32 {
    let reads = reads(program);
    let mut joined = 0;
    program.each_phase(|program, block| joined += join_block(program, block, &reads));
    joined
}

fn join_block(program: &mut Program, block: &mut Block, reads: &VarMap<u32>) -> u32 {
    let sums = FreeSums::new(program, [block.as_slice()]);
    let mut values = HashMap::new();
    let mut joined = 0;
    let mut new = Vec::with_capacity(block.len());
    for stmt in std::mem::take(block) {
        for &root in stmt.roots().iter() {
            for root in sums.of(program, root) {
                if let Some(name) = join(program, root, reads, &values) {
                    new.push(name);
                    joined += 1;
                }
            }
        }
        if let Stmt::Let { var, value } = stmt {
            values.insert(var, value);
        }
        new.push(stmt);
    }
    *block = new;
    joined
}

/// A term `name * factor` of a sum, where the name is of a sum over lanes, `value` over `part`.
struct Joint {
    at: usize,
    name: ExprId,
    factor: Option<ExprId>,
    value: ExprId,
    lanes: u32,
    part: ExprId,
}

type Values = HashMap<VarId, ExprId>;

/// The sum over lanes that a name with no other reader stands for.
fn joint(
    program: &Program,
    reads: &VarMap<u32>,
    values: &Values,
    at: usize,
    name: ExprId,
    factor: Option<ExprId>,
) -> Option<Joint> {
    let mut value = name;
    while let Expr::Read(var) = program[value] {
        value = *values.get(&var).filter(|_| reads[var] == 1)?;
    }
    let Expr::AcrossLanes {
        op: LaneOp::Sum,
        lanes,
        value: part,
    } = program[value]
    else {
        return None;
    };
    (value != name && program.type_of(part) == Type::F32).then_some(Joint {
        at,
        name,
        factor,
        value,
        lanes,
        part,
    })
}

/// Joins the sums over lanes of a sum that have one factor; returns the statement that names the joined sum.
fn join(program: &mut Program, root: ExprId, reads: &VarMap<u32>, values: &Values) -> Option<Stmt> {
    let mut terms = terms(program, root);
    let mut joints: Vec<Joint> = Vec::new();
    for (at, &(term, _)) in terms.iter().enumerate() {
        let find = |name, factor| joint(program, reads, values, at, name, factor);
        joints.extend(
            if let Expr::Binary(BinaryOp::Multiply, a, b) = program[term] {
                find(a, Some(b)).or_else(|| find(b, Some(a)))
            } else {
                find(term, None)
            },
        );
    }
    let first = joints.first()?;
    let same = |other: &&Joint| match (first.factor, other.factor) {
        (Some(a), Some(b)) => identical(program, a, b),
        (None, None) => true,
        _ => false,
    };
    let group: Vec<&Joint> = joints.iter().filter(same).collect();
    let last = group.last().filter(|_| group.len() > 1)?;
    let (span, negative) = (program.span(root), terms[first.at].1);
    let mut parts: Vec<Term> = Vec::new();
    for joint in &group {
        program[joint.value] = program[joint.part].clone();
        parts.push((joint.name, terms[joint.at].1 != negative));
    }
    let part = sum(program, &parts, span);
    let value = program.add(
        Expr::AcrossLanes {
            op: LaneOp::Sum,
            lanes: last.lanes,
            value: part,
        },
        span,
    );
    let var = names::fresh(program, "total".to_owned(), Type::F32, VarKind::Let);
    let mut term = program.add(Expr::Read(var), span);
    if let Some(factor) = last.factor {
        term = program.add(Expr::Binary(BinaryOp::Multiply, term, factor), span);
    }
    terms[last.at] = (term, negative);
    let joined = &group[..group.len() - 1];
    let is_left = |at: &usize| !joined.iter().any(|joint| joint.at == *at);
    let left: Vec<Term> = (0..terms.len())
        .filter(is_left)
        .map(|at| terms[at])
        .collect();
    replace(program, root, &left);
    Some(Stmt::Let { var, value })
}
