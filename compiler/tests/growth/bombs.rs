//! Short texts that stand for very much.

use super::repeat;

/// A struct of this many floats, a param of it, and what follows.
fn wide(fields: usize, rest: &str) -> String {
    let fields = repeat(fields, |i| format!("a{i}: f32,"));
    format!("struct T {{ {fields} }}\nparam p: T\n{rest}")
}

/// Names and texts.
pub fn all() -> Vec<(&'static str, String)> {
    [constants(), programs()].concat()
}

/// Of what is computed while a text is read.
fn constants() -> Vec<(&'static str, String)> {
    let long = "const A = [for i in 0..65536: i]\n";
    let rounds = "const B = [for i in 0..65536:";
    let ones = "1, ".repeat(2_000);
    let pyramid = repeat(9, |i| {
        format!("const A{} = [{}]\n", i + 1, format!("A{i}, ").repeat(8))
    });
    vec![
        (
            "a sum in each round",
            format!("{long}{rounds} sum(A)]\noutput o = B[0]\n"),
        ),
        (
            "an array in each round",
            format!("{long}{rounds} [A, A]]\noutput o = B[0][0][0]\n"),
        ),
        (
            "a literal in each round",
            format!("{rounds} [{ones}][0]]\noutput o = B[0]\n"),
        ),
        (
            "equal values in each round",
            format!("{rounds} [0.5; 65536]]\noutput o = B[0][0]\n"),
        ),
        (
            "rounds in rounds",
            format!("{rounds} [for j in 0..65536: i]]\noutput o = B[0][0]\n"),
        ),
        (
            "a long name in each round",
            format!(
                "const B = [for i in 0..2000: [for {name} in 0..2000: {name}]]\noutput o = B[0][0]\n",
                name = "x".repeat(70_000)
            ),
        ),
        (
            "lengths in rounds",
            format!("{rounds} len([0.5; 65536])]\noutput o = B[0]\n"),
        ),
        (
            "arrays of arrays",
            format!("{long}const A0 = A\n{pyramid}output o = A9[0]\n"),
        ),
        (
            "far ends",
            "const B = [for i in -9e18..9e18: i]\noutput o = B[0]\n".to_owned(),
        ),
        (
            "equal values",
            "const A = [[[[0.5; 4096]; 4096]; 4096]; 4096]\noutput o = 1\n".to_owned(),
        ),
    ]
}

/// Of what a program becomes.
fn programs() -> Vec<(&'static str, String)> {
    let doubling = repeat(19, |i| {
        format!(
            "fn own{}(x: f32) -> f32 {{ return own{i}(x) + own{i}(x) }}\n",
            i + 1
        )
    });
    let own = "fn own0(x: f32) -> f32 { return x + normal() }\n";
    let body = repeat(1_000, |i| format!("y += x * {i}.5\n"));
    let chain = |inner: String| {
        let arms = repeat(1_000, |i| format!(" else if x > {i}.0 {{ x = {i}.5 }}"));
        format!("if x > 0.0 {{ x = 2.0 }}{arms} else {{ {inner} }}")
    };
    let chains = (0..40).fold("x = 1.0".to_owned(), |inner, _| chain(inner));
    vec![
        ("equal values in a run", {
            let uses = "x += [0.5; 65536][i32(x)]\n".repeat(2_000);
            format!("state x = 0.0\nstep {{\n{uses}}}\noutput x\n")
        }),
        (
            "doubling calls",
            format!("{own}{doubling}state x = own19(1.0)\noutput x\n"),
        ),
        ("long functions written out", {
            let calls = "x = own(x)\n".repeat(19_000);
            let head = "fn own(x: f32) -> f32 {\nvar y = normal()\n";
            format!("{head}{body}return y }}\nstate x = 0.0\nstep {{\n{calls}}}\noutput x\n")
        }),
        (
            "wide states",
            wide(4_000, &repeat(4_000, |i| format!("state s{i} = p\n"))),
        ),
        ("wide copies", {
            let copies = "a = b\n".repeat(4_000);
            wide(
                1_000,
                &format!("state a = p\nstate b = p\nstep {{\n{copies}}}\noutput a\n"),
            )
        }),
        ("wide arguments", {
            let calls = "a = own(own(own(a)))\n".repeat(2_000);
            let rest = "fn own(t: T) -> T { return t }\nstate a = p\n";
            wide(1_000, &format!("{rest}step {{\n{calls}}}\noutput a\n"))
        }),
        ("long documentation of many fields", {
            let doc = format!("/// {}\n", "x".repeat(1 << 20));
            wide(4_000, &format!("{doc}state s = p\noutput s\n"))
        }),
        ("wide enums", {
            let variants = repeat(8_000, |i| format!("v{i},"));
            let outputs = repeat(8_000, |i| format!("output o{i} = x\n"));
            format!("enum E {{ {variants} }}\nstate x = v0\n{outputs}")
        }),
        (
            "chains in chains",
            format!("state x = 0.0\nstep {{ {chains} }}\noutput x\n"),
        ),
        ("long names", {
            let name = "x".repeat(100_000);
            format!(
                "state {name} = 1\nstep {{\n{}}}\n",
                format!("{name} = 0.5\n").repeat(20)
            )
        }),
    ]
}
