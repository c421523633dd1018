//! Arrays whose elements are all set behind their declaration, as those of `[for k in 0..n: …]` are: they
//! need not be cleared there.

use sim_compiler::ir::{
    Block, Expr, Len, Program, Stmt, Value, VarId, any_statement, each_statement,
};

/// Whether the statements behind the declaration of an array set each element before they read any.
pub(super) fn is_filled(program: &Program, array: VarId, behind: &[Stmt]) -> bool {
    let first =
        (behind.iter()).find(|stmt| mentions(program, std::slice::from_ref(stmt), array) > 0);
    let Some(Stmt::For {
        index,
        start,
        end,
        body,
    }) = first
    else {
        return false;
    };
    let Len::Fixed(len) = program[array].len else {
        return false;
    };
    let sets_all = program[*start] == Expr::Literal(Value::I32(0))
        && program[*end] == Expr::Literal(Value::I32(len as i32));
    let sets = body.iter().any(|stmt| {
        matches!(stmt, Stmt::AssignElement { var, index: place, .. }
            if *var == array && program[*place] == Expr::Read(*index))
    });
    sets_all && sets && mentions(program, body, array) == 1 && !jumps(body)
}

/// How often statements read an array or set an element.
fn mentions(program: &Program, block: &[Stmt], array: VarId) -> usize {
    let mut count = 0;
    each_statement(block, &mut |stmt| {
        count += usize::from(stmt.target() == Some(array));
        let nodes = program.nodes_of(stmt);
        count += nodes
            .filter(|id| program[*id].variable() == Some(array))
            .count();
    });
    count
}

/// Whether iterations may end early.
fn jumps(body: &Block) -> bool {
    any_statement(body, &|stmt| {
        matches!(
            stmt,
            Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODEL: &str = "agents 1\nsteps 1\nstate x = 0.0\n\
        step {\n    let a = [for k in 0..9: x + f32(k)]\n    x = a[i32(x)]\n}\noutput x\n";

    /// The model as no pass has changed it, its array, and what stands behind the declaration.
    fn declared() -> (Program, VarId, Block) {
        let program = sim_compiler::compile(MODEL).expect("it compiles").lowered;
        let body = program.phases[0].body.clone();
        let declaration = body
            .iter()
            .enumerate()
            .find_map(|(place, stmt)| match stmt {
                Stmt::Var { var, .. } if program[*var].len != Len::One => Some((place, *var)),
                _ => None,
            });
        let (place, array) = declaration.expect("it declares an array");
        (program, array, body[place + 1..].to_vec())
    }

    #[test]
    fn a_comprehension_sets_all_elements() {
        let (program, array, behind) = declared();
        assert!(is_filled(&program, array, &behind));
    }

    #[test]
    fn elements_that_may_be_read_before_are_zeros() {
        let (mut program, array, mut behind) = declared();
        let read_first: Block = behind.iter().rev().cloned().collect();
        assert!(!is_filled(&program, array, &read_first));
        for stmt in &mut behind {
            if let Stmt::For { body, .. } = stmt {
                body.push(Stmt::Break);
            }
        }
        assert!(!is_filled(&program, array, &behind), "iterations end early");
        let (_, _, behind) = declared();
        program[array].len = Len::Fixed(10);
        assert!(
            !is_filled(&program, array, &behind),
            "one element is left out"
        );
    }
}
