//! The table of builtins: its rows are complete, total and accepted by WGSL's validators.

use sim_compiler::builtin::{
    Area, Bounds, Builtin, BuiltinId, Class, Cost, Fold, Meaning, Precise, Pure, Slot, Wgsl, table,
};
use sim_compiler::ir::{Type, Value};
use sim_compiler::syntax::ast::{Expr, ExprKind, ItemKind, StmtKind};
use std::collections::HashSet;

fn pure_rows() -> impl Iterator<Item = (&'static Builtin, &'static Pure)> {
    table::rows().iter().filter_map(|row| match &row.meaning {
        Meaning::Pure(pure) => Some((row, pure)),
        Meaning::Fold(_) | Meaning::Draw(_) | Meaning::Length => None,
    })
}

const TYPES: [Type; 7] = [
    Type::F32,
    Type::I32,
    Type::U32,
    Type::Bool,
    Type::Vec2,
    Type::Vec3,
    Type::Vec4,
];

/// The types that `T` takes in a row; one that does not matter where no slot is `T`.
fn instances(pure: &Pure) -> Vec<Type> {
    if pure.params.iter().all(|&slot| slot != Slot::T) {
        return vec![Type::F32];
    }
    TYPES
        .into_iter()
        .filter(|&ty| pure.class.contains(ty))
        .collect()
}

#[test]
fn names_are_unique_and_rows_complete() {
    let mut names = HashSet::new();
    for row in table::rows() {
        let call = (row.name, row.params.len());
        assert!(names.insert(call), "{} stands twice", row.name);
        assert!(row.doc.ends_with('.'), "{}: no sentence", row.name);
        assert!(row.example.contains(row.name), "{}: example", row.name);
        if let Meaning::Draw(draw) = row.meaning {
            assert_eq!(draw.name(), row.name);
        }
    }
    for (row, pure) in pure_rows() {
        assert_eq!(row.params.len(), pure.params.len(), "{}", row.name);
    }
    for name in ["min", "max", "sum", "argmax"] {
        assert!(Fold::of(name).is_some(), "{name}");
    }
    assert_eq!(Fold::of("exp"), None);
    assert_eq!(Fold::of("no such name"), None);
}

#[test]
fn floats_have_a_derivative_per_parameter() {
    for (row, pure) in pure_rows() {
        let has_floats = instances(pure)
            .iter()
            .any(|&t| pure.result.resolve(t).is_float());
        let of_vectors = row.area() == Area::Vector && pure.result != Slot::Component;
        let expected = if has_floats && !of_vectors {
            row.params.len()
        } else {
            0
        };
        assert_eq!(pure.derivative.len(), expected, "{}", row.name);
    }
}

#[test]
fn rows_state_their_cost_and_precise_form() {
    for (row, pure) in pure_rows() {
        assert_ne!(pure.cost, Cost::UNSTATED, "`{}` states no cost", row.name);
        assert_ne!(
            pure.precise,
            Precise::Unstated,
            "`{}` does not state what computes it under --math precise",
            row.name
        );
    }
}

/// The bounds in the rows, against the reference meaning of floats.
#[test]
fn results_lie_within_their_bounds() {
    for (row, pure) in pure_rows() {
        if matches!(pure.bounds, Bounds::Any) {
            continue;
        }
        let lists: Vec<_> = pure.params.iter().map(|_| samples(Type::F32)).collect();
        combine(&lists, &mut Vec::new(), &mut |args| {
            let floats: Vec<f32> = args.iter().flat_map(|arg| arg.floats().to_vec()).collect();
            let result = (pure.eval)(args);
            let &[y] = result.floats() else {
                panic!("`{}` of floats is no float", row.name)
            };
            let holds = match (pure.bounds, &floats[..]) {
                (Bounds::Any, _) => true,
                (Bounds::Unit, &[_]) => y.is_nan() || y.abs() <= 1.0,
                (Bounds::Growing(f), &[x]) => {
                    let truth = f(f64::from(x));
                    let near = (f64::from(y) - truth).abs() <= 1e-6 * truth + 1e-37;
                    near || x.is_nan() || (y.is_infinite() && truth > f64::from(f32::MAX))
                }
                (Bounds::Magnitude, &[x]) => x.is_nan() || y == x.abs(),
                (Bounds::Least, &[a, b]) => y.is_nan() || y == a.min(b),
                (Bounds::Most, &[a, b]) => y.is_nan() || y == a.max(b),
                (Bounds::Clamped, &[a, b, c]) => y.is_nan() || y == a.max(b).min(c),
                _ => panic!("`{}` has other parameters than its bounds", row.name),
            };
            assert!(holds, "{}({floats:?}) is {y:?}", row.name);
        });
    }
}

/// What the derivative of a builtin by one of its parameters is, read.
fn derivative(row: &Builtin, text: &str) -> Expr {
    let source = format!("fn slope() -> f32 {{ return {text} }}");
    let parsed = sim_compiler::syntax::parse(&source);
    assert!(parsed.diagnostics.is_empty(), "{}: {text}", row.name);
    let function = parsed.model.items.into_iter().next().expect("an item");
    let ItemKind::Fn(function) = function.kind else {
        panic!("{}: {text} is more than an expression", row.name)
    };
    match &function.body.stmts[..] {
        [stmt] => match &stmt.kind {
            StmtKind::Return(Some(value)) => value.clone(),
            _ => panic!("{}: {text} is no expression", row.name),
        },
        _ => panic!("{}: {text} is more than an expression", row.name),
    }
}

/// Says what an expression names beside params and pure builtins.
fn foreign_names(row: &Builtin, expr: &Expr, found: &mut Vec<String>) {
    match &expr.kind {
        ExprKind::Float(_) | ExprKind::Int(_) => {}
        ExprKind::Name(name) if row.params.contains(&name.as_str()) => {}
        ExprKind::Name(name) => found.push(name.clone()),
        ExprKind::Paren(inner) | ExprKind::Unary(_, inner) => foreign_names(row, inner, found),
        ExprKind::Binary(_, a, b) => {
            foreign_names(row, a, found);
            foreign_names(row, b, found);
        }
        ExprKind::Call { callee, args } => {
            let meaning = BuiltinId::find(&callee.text).map(|id| id.row().meaning);
            match meaning {
                Some(Meaning::Pure(pure)) => assert_eq!(pure.params.len(), args.len()),
                Some(Meaning::Fold(_) | Meaning::Draw(_) | Meaning::Length) | None => {
                    found.push(callee.text.clone());
                }
            }
            for arg in args {
                foreign_names(row, arg, found);
            }
        }
        other => panic!("{}: gradients know no {other:?}", row.name),
    }
}

/// Gradients are built from these texts: each is an expression of the parameters and of builtins, and has the
/// type of its parameter, or `f32` where that is no float.
#[test]
fn derivatives_are_expressions_of_parameters_and_builtins() {
    for (row, pure) in pure_rows() {
        let t = *instances(pure)
            .iter()
            .find(|t| t.is_float())
            .unwrap_or(&Type::F32);
        let types: Vec<Type> = pure.params.iter().map(|slot| slot.resolve(t)).collect();
        let params: Vec<String> = (row.params.iter().zip(&types))
            .map(|(name, ty)| format!("{name}: {}", ty.name()))
            .collect();
        for (text, ty) in pure.derivative.iter().zip(&types) {
            let mut foreign = Vec::new();
            foreign_names(row, &derivative(row, text), &mut foreign);
            assert!(foreign.is_empty(), "{}: {text}: {foreign:?}", row.name);
            let result = if ty.is_float() { *ty } else { Type::F32 };
            let source = format!(
                "agents 1\noutput one = 1.0\nfn slope({}) -> {} {{ return {text} }}\n",
                params.join(", "),
                result.name()
            );
            if let Err(diagnostics) = sim_compiler::compile(&source) {
                panic!("{}: {text}: {diagnostics:#?}", row.name);
            }
        }
    }
}

/// Arguments that look for trouble, of one type.
fn samples(ty: Type) -> Vec<Value> {
    const FLOATS: [f32; 16] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.3,
        -2.5,
        1e-45,
        -1e-38,
        3e38,
        -3e38,
        1e5,
        2e9,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        100.5,
    ];
    const WORDS: [u32; 10] = [
        0,
        1,
        2,
        31,
        32,
        33,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_fffe,
        0xffff_ffff,
    ];
    match ty {
        Type::F32 => FLOATS.map(Value::F32).to_vec(),
        Type::I32 => WORDS.map(|w| Value::I32(w as i32)).to_vec(),
        Type::U32 => WORDS.map(Value::U32).to_vec(),
        Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Type::Vec2 | Type::Vec3 | Type::Vec4 => (0..FLOATS.len())
            .map(|k| {
                let parts: Vec<f32> = (0..ty.components())
                    .map(|c| FLOATS[(k + 5 * c) % FLOATS.len()])
                    .collect();
                Value::from_floats(&parts)
            })
            .collect(),
    }
}

/// Calls `visit` with every combination of samples.
fn combine(lists: &[Vec<Value>], args: &mut Vec<Value>, visit: &mut impl FnMut(&[Value])) {
    let Some((first, rest)) = lists.split_first() else {
        return visit(args);
    };
    for &value in first {
        args.push(value);
        combine(rest, args, visit);
        args.pop();
    }
}

#[test]
fn every_meaning_is_total_and_well_typed() {
    for (row, pure) in pure_rows() {
        for t in instances(pure) {
            let lists: Vec<_> = pure.params.iter().map(|s| samples(s.resolve(t))).collect();
            let types: Vec<_> = pure.params.iter().map(|s| s.resolve(t)).collect();
            combine(&lists, &mut Vec::new(), &mut |args| {
                let value = (pure.eval)(args);
                assert_eq!(value.ty(), row.result(&types), "{}({args:?})", row.name);
            });
        }
    }
}

/// A kernel that calls one row with arguments that no compiler can know.
fn kernel(row: &Builtin, pure: &Pure, t: Type) -> String {
    let mut text = String::new();
    if let Wgsl::Helper {
        text: own, needs, ..
    } = pure.wgsl
    {
        for need in needs {
            let other = table::rows()
                .iter()
                .find(|r| r.name == *need)
                .expect("a row");
            if let Wgsl::Helper { text: helper, .. } = other.pure().wgsl {
                text += helper;
                text += "\n\n";
            }
        }
        text += own;
        text += "\n\n";
    }
    let read = |k: usize, ty: Type| {
        let word = |c: usize| format!("words[{}u]", 4 * k + c);
        match ty {
            Type::F32 => format!("bitcast<f32>({})", word(0)),
            Type::I32 => format!("bitcast<i32>({})", word(0)),
            Type::U32 => word(0),
            Type::Bool => format!("({} != 0u)", word(0)),
            Type::Vec2 | Type::Vec3 | Type::Vec4 => {
                let parts: Vec<_> = (0..ty.components())
                    .map(|c| format!("bitcast<f32>({})", word(c)))
                    .collect();
                format!("vec{}<f32>({})", ty.components(), parts.join(", "))
            }
        }
    };
    let args: Vec<String> = (pure.params.iter().enumerate())
        .map(|(k, slot)| read(k, slot.resolve(t)))
        .collect();
    let call = match pure.wgsl {
        Wgsl::Native(name) | Wgsl::Helper { name, .. } => format!("{name}({})", args.join(", ")),
        Wgsl::Expression(template) => (args.iter().enumerate())
            .fold(template.to_owned(), |text, (k, arg)| {
                text.replace(&format!("{{{k}}}"), arg)
            }),
    };
    let mut body = format!("    let value = {call};\n");
    let result = pure.result.resolve(t);
    for c in 0..result.components() {
        let part = if result.is_vector() {
            format!("value[{c}]")
        } else {
            "value".to_owned()
        };
        let word = if result == Type::Bool {
            format!("u32({part})")
        } else {
            format!("bitcast<u32>({part})")
        };
        body += &format!("    words[{c}u] = {word};\n");
    }
    format!(
        "@group(0) @binding(0) var<storage, read_write> words: array<u32>;\n\n{text}\
         @compute @workgroup_size(1)\nfn main() {{\n{body}}}\n// {}\n",
        row.name
    )
}

/// Every kernel of the table; helpers only for the scalar that their text is for.
fn kernels() -> Vec<(String, String)> {
    let mut kernels = Vec::new();
    for (row, pure) in pure_rows() {
        let scalar_only = matches!(pure.wgsl, Wgsl::Helper { .. });
        for t in instances(pure) {
            if !(scalar_only && t.is_vector()) {
                let label = format!("{} of {}", row.name, t.name());
                kernels.push((label, kernel(row, pure, t)));
            }
        }
    }
    kernels
}

#[test]
fn naga_accepts_every_spelling() {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    for (label, text) in kernels() {
        let module = naga::front::wgsl::parse_str(&text)
            .unwrap_or_else(|error| panic!("{label}: {}\n{text}", error.emit_to_string(&text)));
        Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|error| panic!("{label}: {error:?}\n{text}"));
    }
}

#[test]
fn tint_accepts_every_spelling_where_it_is_installed() {
    use std::process::Command;
    if Command::new("tint").arg("--help").output().is_err() {
        return;
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (label, text) in kernels() {
        let path = folder.join("builtin.wgsl");
        std::fs::write(&path, &text).expect("a file in the target folder");
        let output = Command::new("tint")
            .args(["--format", "wgsl"])
            .arg(&path)
            .output()
            .expect("tint runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{label}: {message}\n{text}");
    }
}

#[test]
fn helpers_are_only_of_floats_or_of_one_type() {
    for (row, pure) in pure_rows() {
        if let Wgsl::Helper { name, text, needs } = pure.wgsl {
            let one_type = pure.params.iter().all(|&slot| slot != Slot::T);
            assert!(pure.class == Class::Float || one_type, "{}", row.name);
            assert!(text.starts_with(&format!("fn {name}(")), "{}", row.name);
            for need in needs {
                let other = table::rows()
                    .iter()
                    .find(|r| r.name == *need)
                    .expect("a row");
                let Wgsl::Helper { needs, .. } = other.pure().wgsl else {
                    panic!("{}: {need} is no helper", row.name);
                };
                assert!(
                    needs.is_empty(),
                    "{need}: only one level of needs is expected"
                );
            }
        }
    }
}

#[test]
fn the_manual_is_current() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/builtins.md");
    let text = sim_compiler::builtin::manual::reference();
    if std::env::var_os("SIM_UPDATE").is_some() {
        std::fs::write(&path, &text).expect("docs/ is writable");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == text,
        "docs/builtins.md is out of date: run the tests with SIM_UPDATE=1"
    );
}
