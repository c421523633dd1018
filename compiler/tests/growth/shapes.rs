//! Shapes of texts, each of any size.

#[path = "bombs.rs"]
mod bombs;

pub use bombs::all as bombs;

/// A shape of a text.
pub struct Shape {
    /// For messages.
    pub name: &'static str,
    /// The size of the smaller text.
    pub size: usize,
    /// The text of a size.
    pub text: fn(usize) -> String,
}

/// All shapes that grow.
pub const SHAPES: &[Shape] = &[
    Shape {
        name: "unknown_names",
        size: 250,
        text: unknown_names,
    },
    Shape {
        name: "unknown_functions",
        size: 250,
        text: unknown_functions,
    },
    Shape {
        name: "unknown_types",
        size: 250,
        text: unknown_types,
    },
    Shape {
        name: "unknown_fields",
        size: 250,
        text: unknown_fields,
    },
    Shape {
        name: "unknown_variants",
        size: 250,
        text: unknown_variants,
    },
    Shape {
        name: "variants",
        size: 250,
        text: variants,
    },
    Shape {
        name: "variants_of_many_enums",
        size: 250,
        text: variants_of_many_enums,
    },
    Shape {
        name: "matches_that_lack_variants",
        size: 250,
        text: matches_that_lack_variants,
    },
    Shape {
        name: "mistakes_beside_syntax_errors",
        size: 250,
        text: mistakes_beside_syntax_errors,
    },
    Shape {
        name: "struct_chain",
        size: 250,
        text: struct_chain,
    },
    Shape {
        name: "struct_circle",
        size: 250,
        text: struct_circle,
    },
    Shape {
        name: "struct_of_structs",
        size: 250,
        text: struct_of_structs,
    },
    Shape {
        name: "fields_of_a_wide_struct",
        size: 100,
        text: fields_of_a_wide_struct,
    },
    Shape {
        name: "constant_of_a_wide_struct",
        size: 100,
        text: constant_of_a_wide_struct,
    },
    Shape {
        name: "constant_chain",
        size: 250,
        text: constant_chain,
    },
    Shape {
        name: "constant_used_often",
        size: 250,
        text: constant_used_often,
    },
    Shape {
        name: "constant_folded_often",
        size: 250,
        text: constant_folded_often,
    },
    Shape {
        name: "constant_stored_often",
        size: 250,
        text: constant_stored_often,
    },
    Shape {
        name: "constant_in_rounds",
        size: 250,
        text: constant_in_rounds,
    },
    Shape {
        name: "folds_in_a_constant",
        size: 250,
        text: folds_in_a_constant,
    },
    Shape {
        name: "match_arms",
        size: 240,
        text: match_arms,
    },
    Shape {
        name: "else_ifs",
        size: 240,
        text: else_ifs,
    },
    Shape {
        name: "statements",
        size: 250,
        text: statements,
    },
    Shape {
        name: "variables",
        size: 250,
        text: variables,
    },
    Shape {
        name: "branches",
        size: 250,
        text: branches,
    },
    Shape {
        name: "loops",
        size: 250,
        text: loops,
    },
    Shape {
        name: "function_chain",
        size: 250,
        text: function_chain,
    },
    Shape {
        name: "chain_of_drawing_functions",
        size: 250,
        text: chain_of_drawing_functions,
    },
    Shape {
        name: "function_circle",
        size: 250,
        text: function_circle,
    },
    Shape {
        name: "function_that_calls_all",
        size: 250,
        text: function_that_calls_all,
    },
    Shape {
        name: "variables_and_calls",
        size: 250,
        text: variables_and_calls,
    },
    Shape {
        name: "early_returns",
        size: 120,
        text: early_returns,
    },
    Shape {
        name: "integrals",
        size: 100,
        text: integrals,
    },
    Shape {
        name: "wide_integral",
        size: 100,
        text: wide_integral,
    },
    Shape {
        name: "declarations",
        size: 250,
        text: declarations,
    },
    Shape {
        name: "rows_of_tables",
        size: 250,
        text: rows_of_tables,
    },
    Shape {
        name: "one_name",
        size: 250,
        text: one_name,
    },
    Shape {
        name: "long_array",
        size: 250,
        text: long_array,
    },
    Shape {
        name: "long_names",
        size: 20,
        text: long_names,
    },
    Shape {
        name: "poisson_draws",
        size: 10,
        text: poisson_draws,
    },
];

fn repeat(n: usize, part: impl Fn(usize) -> String) -> String {
    (0..n).map(part).collect()
}

fn unknown_names(n: usize) -> String {
    format!(
        "{}step {{\n{}}}\n",
        repeat(n, |i| format!("state s{i} = 0.0\n")),
        repeat(n, |i| format!("s{i} = t{i}\n"))
    )
}

fn unknown_functions(n: usize) -> String {
    format!(
        "{}state s = 0.0\nstep {{\n{}}}\n",
        repeat(n, |i| format!("fn own{i}() -> f32 {{ return 1.0 }}\n")),
        repeat(n, |i| format!("s = ownn{i}()\n"))
    )
}

fn unknown_types(n: usize) -> String {
    format!(
        "{}{}",
        repeat(n, |i| format!("struct A{i} {{ x: f32 }}\n")),
        repeat(n, |i| format!("param p{i}: B{i}\n"))
    )
}

fn unknown_fields(n: usize) -> String {
    format!(
        "struct A {{ {} }}\nfn f(a: A) -> f32 {{\n{}return 1.0 }}\nstate s = 0.0\n",
        repeat(n, |i| format!("x{i}: f32,")),
        repeat(n, |i| format!("let y{i} = a.z{i}\n"))
    )
}

fn unknown_variants(n: usize) -> String {
    format!(
        "enum E {{ {} }}\nstate s = x0\nstep {{\n{}}}\n",
        repeat(n, |i| format!("x{i},")),
        repeat(n, |i| format!("let y{i} = E.z{i}\n"))
    )
}

fn variants(n: usize) -> String {
    format!(
        "enum E {{ {} }}\nstate s = x0\nstep {{\n{}}}\noutput s\n",
        repeat(n, |i| format!("x{i},")),
        repeat(n, |i| format!("s = E.x{i}\n"))
    )
}

fn variants_of_many_enums(n: usize) -> String {
    format!(
        "{}state s = E0.v\nstep {{\n{}}}\noutput s\n",
        repeat(n, |i| format!("enum E{i} {{ v, w }}\n")),
        "s = v\n".repeat(n)
    )
}

fn matches_that_lack_variants(n: usize) -> String {
    format!(
        "enum E {{ {} }}\nstate s = x0\nstep {{\n{}}}\noutput s\n",
        repeat(n, |i| format!("x{i},")),
        "match s { x0 => s = x1 }\n".repeat(n)
    )
}

fn mistakes_beside_syntax_errors(n: usize) -> String {
    format!(
        "{}{}",
        "state = 1\n".repeat(n),
        repeat(n, |i| format!("state r{i} = 1.0 + true\n"))
    )
}

fn struct_chain(n: usize) -> String {
    format!(
        "struct S0 {{ x: f32 }}\n{}state x = 0.0\noutput x\n",
        repeat(n, |i| format!("struct S{} {{ s: S{i} }}\n", i + 1))
    )
}

fn struct_circle(n: usize) -> String {
    format!(
        "{}state x = 0.0\noutput x\n",
        repeat(n, |i| format!("struct S{i} {{ s: S{} }}\n", (i + 1) % n))
    )
}

fn struct_of_structs(n: usize) -> String {
    format!(
        "{}struct T {{ {} }}\nstate x = 0.0\noutput x\n",
        repeat(n, |i| format!("struct S{i} {{ x: f32 }}\n")),
        repeat(n, |i| format!("s{i}: S{i},"))
    )
}

fn fields_of_a_wide_struct(n: usize) -> String {
    format!(
        "struct T {{ {} }}\nparam p: T\nstate x = 0.0\nstep {{\n{}}}\noutput x\n",
        repeat(n, |i| format!("a{i}: f32,")),
        repeat(n, |i| format!("x += p.a{i}\n"))
    )
}

fn constant_of_a_wide_struct(n: usize) -> String {
    format!(
        "struct T {{ {} }}\nconst C = T({})\nparam p = C\nstate x = 0.0\nstep {{\n{}}}\noutput x\n",
        repeat(n, |i| format!("a{i}: [f32; 2],")),
        repeat(n, |i| format!("[{i}.5, 1.0],")),
        repeat(n, |i| format!("x += C.a{i}[0]\n"))
    )
}

fn constant_chain(n: usize) -> String {
    format!(
        "const c0 = 1\n{}state x = c{n}\noutput x\n",
        repeat(n, |i| format!("const c{} = c{i} + 0\n", i + 1))
    )
}

fn constant_used_often(n: usize) -> String {
    format!(
        "const A = [for i in 0..{n}: i]\nstate x = 0\nstep {{\n{}}}\noutput x\n",
        "x += A[x]\n".repeat(n)
    )
}

fn constant_folded_often(n: usize) -> String {
    format!(
        "const A = [for i in 0..{n}: i]\nstate x = 0\nstep {{\n{}}}\noutput x\n",
        "x += sum(A)\n".repeat(n)
    )
}

fn constant_stored_often(n: usize) -> String {
    format!(
        "const A = [for i in 0..{n}: 7]\nstate x = A\nstep {{\n{}}}\noutput x\n",
        "x = A\n".repeat(n)
    )
}

fn constant_in_rounds(n: usize) -> String {
    format!(
        "const A = [for i in 0..{n}: i]\nconst B = [for i in 0..{n}: A[i] + len(A)]\noutput o = B[0]\n"
    )
}

fn folds_in_a_constant(n: usize) -> String {
    format!(
        "const A = [for i in 0..{n}: i]\nconst B = [for i in 0..{n}: sum(A)]\noutput o = B[0]\n"
    )
}

fn match_arms(n: usize) -> String {
    format!(
        "state x = 0\nstate y = 0.0\nstep {{ match x {{\n{}_ => y = -1.0 }} }}\noutput y\n",
        repeat(n, |i| format!("{i} => y = {i}.0,\n"))
    )
}

fn else_ifs(n: usize) -> String {
    format!(
        "state x = 0\nstate y = 0.0\nstep {{ if x < 0 {{ y = 1.0 }}{} }}\noutput y\n",
        repeat(n, |i| format!(" else if x == {i} {{ y = {i}.0 }}\n"))
    )
}

fn statements(n: usize) -> String {
    format!(
        "state x = 0.0\nstep {{\n{}}}\noutput x\n",
        repeat(n, |i| format!("x = x * 1.5 + {i}.0\n"))
    )
}

fn variables(n: usize) -> String {
    format!(
        "state x = 0.0\nstep {{\nlet a0 = x\n{}x = a{n} }}\noutput x\n",
        repeat(n, |i| format!("let a{} = a{i} * 1.5\n", i + 1))
    )
}

fn branches(n: usize) -> String {
    format!(
        "state x = 0.0\nstep {{\n{}}}\noutput x\n",
        repeat(n, |i| format!("if x > {i}.0 {{ x = x * 1.5 + {i}.0 }}\n"))
    )
}

fn loops(n: usize) -> String {
    format!(
        "state x = 0.0\nstep {{\n{}}}\noutput x\n",
        "for i in 0..10 { x = x * 1.5 + f32(i) }\n".repeat(n)
    )
}

fn function_chain(n: usize) -> String {
    format!(
        "fn own0(x: f32) -> f32 {{ return x }}\n{}state x = 0.0\nstep {{ x = own{n}(x) }}\noutput x\n",
        repeat(n, |i| format!(
            "fn own{}(x: f32) -> f32 {{ return own{i}(x) + 1.0 }}\n",
            i + 1
        ))
    )
}

fn chain_of_drawing_functions(n: usize) -> String {
    format!(
        "{}fn own{n}(x: f32) -> f32 {{ return x + normal() }}\nstate x = 0.0\nstep {{ x = own0(x) }}\n\
        output x\n",
        repeat(n, |i| format!(
            "fn own{i}(x: f32) -> f32 {{ return own{}(x) + 1.0 }}\n",
            i + 1
        ))
    )
}

fn function_circle(n: usize) -> String {
    format!(
        "{}state x = 0.0\nstep {{ x = own0(x) }}\noutput x\n",
        repeat(n, |i| format!(
            "fn own{i}(x: f32) -> f32 {{ return own{}(x) + own0(x) }}\n",
            (i + 1) % n
        ))
    )
}

fn function_that_calls_all(n: usize) -> String {
    format!(
        "{}fn all_of(x: f32) -> f32 {{\nvar y = x\n{}return y }}\nstate x = 0.0\nstep {{ x = all_of(x) }}\n\
        output x\n",
        repeat(n, |i| format!(
            "fn own{i}(x: f32) -> f32 {{ return x + normal() }}\n"
        )),
        repeat(n, |i| format!("y = own{i}(y)\n"))
    )
}

fn variables_and_calls(n: usize) -> String {
    format!(
        "fn own(x: f32) -> f32 {{ return x + normal() }}\nstate x = 0.0\nstep {{\n{}}}\noutput x\n",
        repeat(n, |i| format!("let a{i} = own(x)\n"))
    )
}

fn early_returns(n: usize) -> String {
    format!(
        "fn own(x: f32) -> f32 {{\n{}return 0.0 }}\nstate x = 0.0\nstep {{ x = own(x) }}\noutput x\n",
        repeat(n, |i| format!(
            "if x > {i}.0 {{ return {i}.5 + normal() }}\n"
        ))
    )
}

fn integrals(n: usize) -> String {
    format!(
        "state x = 0.0\nstep {{\n{}}}\noutput x\n",
        "integrate rk4(0.1) { x' = -x }\n".repeat(n)
    )
}

fn wide_integral(n: usize) -> String {
    format!(
        "{}step {{ integrate rk4(0.1) {{\n{}}} }}\noutput x0\n",
        repeat(n, |i| format!("state x{i} = 0.0\n")),
        repeat(n, |i| format!("x{i}' = x{} - x{i}\n", (i + 1) % n))
    )
}

fn declarations(n: usize) -> String {
    format!(
        "{}{}{}state x = 0.0\noutput x\n",
        repeat(n, |i| format!("input i{i} ~ normal(0.0, 1.0)\n")),
        repeat(n, |i| format!("state s{i} = i{i}\noutput s{i}\n")),
        repeat(n, |i| format!("data d{i}: [f32]\n"))
    )
}

fn rows_of_tables(n: usize) -> String {
    format!(
        "{}state x = 0.0\nstep t {{\n{}}}\noutput x\n",
        repeat(n, |i| format!("data d{i}: [f32]\n")),
        repeat(n, |i| format!("x += d{i}[t]\n"))
    )
}

fn one_name(n: usize) -> String {
    "state x = 0.0\n".repeat(n)
}

fn long_array(n: usize) -> String {
    format!(
        "state x = [{}]\noutput x\n",
        repeat(n, |i| format!("{i}.5, "))
    )
}

fn long_names(n: usize) -> String {
    let fields = repeat(50, |i| format!("{}{i}: f32,", "a".repeat(250)));
    let copies = "a = b\n".repeat(n);
    let states = "param p: T\nstate a = p\nstate b = p\n";
    format!("struct T {{ {fields} }}\n{states}step {{\n{copies}}}\noutput a\n")
}

fn poisson_draws(n: usize) -> String {
    format!(
        "// {}\nstate x = 0\nstep {{\n{}}}\noutput x\n",
        "x".repeat(10_000 * n),
        "x += poisson(3.0)\n".repeat(n)
    )
}
