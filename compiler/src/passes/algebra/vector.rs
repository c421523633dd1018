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
    if let Expr::Compose(parts) = &program[vector] {
        let mut chosen: Vec<ExprId> = Vec::with_capacity(components.len());
        for &component in components {
            let part = parts[usize::from(component)];
            // A node has one user only.
            if chosen.contains(&part) {
                return None;
            }
            chosen.push(part);
        }
        return Some(match chosen[..] {
            [one] => Rewrite::Same(one),
            _ => Rewrite::Into(Expr::Compose(chosen)),
        });
    }
    if let Expr::Splat { value, .. } = program[vector] {
        return Some(match components.len() {
            1 => Rewrite::Same(value),
            several => Rewrite::Into(Expr::Splat {
                ty: Type::float(several),
                value,
            }),
        });
    }
    let Expr::Swizzle {
        vector,
        components: inner,
    } = &program[vector]
    else {
        return None;
    };
    let chosen = components.iter().map(|&k| inner[usize::from(k)]);
    Some(Rewrite::Into(Expr::Swizzle {
        vector: *vector,
        components: chosen.collect(),
    }))
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
