//! Components of vectors that are constructed in place; no arithmetic.

use super::Rewrite;
use crate::ir::{Expr, ExprId, Program, Type};
use crate::passes::shape::identical;

/// `vec2(a, b).x` is `a`, `v.zyx.x` is `v.z`, `v.xyz` of a `vec3` is `v`.
pub(super) fn swizzle(program: &Program, vector: ExprId, components: &[u8]) -> Option<Rewrite> {
    let width = program.type_of(vector).components();
    if components.len() == width
        && (0..)
            .zip(components)
            .all(|(at, &component)| at == component)
    {
        return Some(Rewrite::Same(vector));
    }
    match &program[vector] {
        Expr::Compose(parts) => {
            let mut chosen: Vec<ExprId> = Vec::with_capacity(components.len());
            for &component in components {
                let part = parts[usize::from(component)];
                // A node has one user only.
                if chosen.contains(&part) {
                    return None;
                }
                chosen.push(part);
            }
            match chosen[..] {
                [one] => Some(Rewrite::Same(one)),
                _ => Some(Rewrite::Into(Expr::Compose(chosen))),
            }
        }
        Expr::Splat { value, .. } => Some(match components.len() {
            1 => Rewrite::Same(*value),
            several => Rewrite::Into(Expr::Splat {
                ty: Type::float(several),
                value: *value,
            }),
        }),
        Expr::Swizzle {
            vector: inner,
            components: chosen,
        } => Some(Rewrite::Into(Expr::Swizzle {
            vector: *inner,
            components: components
                .iter()
                .map(|&component| chosen[usize::from(component)])
                .collect(),
        })),
        Expr::Literal(_)
        | Expr::Launch(_)
        | Expr::Rows(_)
        | Expr::Read(_)
        | Expr::Element { .. }
        | Expr::Unary(..)
        | Expr::Binary(..)
        | Expr::Select { .. }
        | Expr::Convert { .. }
        | Expr::Bitcast { .. }
        | Expr::Builtin(..)
        | Expr::Call(..)
        | Expr::RandomWord { .. }
        | Expr::AcrossLanes { .. }
        | Expr::AcrossWorld { .. }
        | Expr::Other { .. } => None,
    }
}

/// `vec2(v.x, v.y)` is `v`.
pub(super) fn compose(program: &Program, parts: &[ExprId]) -> Option<Rewrite> {
    let mut whole = None;
    for (at, &part) in parts.iter().enumerate() {
        let Expr::Swizzle { vector, components } = &program[part] else {
            return None;
        };
        if components[..] != [at as u8] {
            return None;
        }
        match whole {
            None => whole = Some(*vector),
            Some(first) if identical(program, first, *vector) => {}
            Some(_) => return None,
        }
    }
    let whole = whole?;
    (program.type_of(whole).components() == parts.len()).then_some(Rewrite::Same(whole))
}
