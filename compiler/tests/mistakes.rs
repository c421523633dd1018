//! Mistakes at the edges of what the checker computes: each has its message, and none is passed in silence.

/// The slugs of the complaints about a text.
fn slugs(text: &str) -> Vec<&'static str> {
    let found = sim_compiler::check(text);
    let surveyed = sim_compiler::survey(text).diagnostics;
    if !surveyed.is_empty() {
        assert_eq!(found, surveyed, "{text}");
    }
    found.iter().map(|complaint| complaint.slug).collect()
}

fn assert_complaint(text: &str, slug: &str) {
    assert_eq!(slugs(text), [slug], "{text}");
}

fn assert_compiles(text: &str) {
    assert_eq!(slugs(text), [""; 0], "{text}");
}

/// The limits of constants are those of the manual, and beyond them there is a message.
#[test]
fn large_repeats_are_constants_or_refused() {
    assert_compiles("const A = [0.5; 65_537]\noutput o = A[0]\n");
    assert_compiles("const A = [0.5; 1_048_576]\noutput o = A[0]\n");
    assert_compiles("const A = [[0.5; 1024]; 1024]\noutput o = A[0][0]\n");
    let slug = "constants_too_large";
    assert_complaint("const A = [0.5; 1_048_577]\noutput o = A[0]\n", slug);
    assert_complaint("const A = [[0.5; 1025]; 1024]\noutput o = A[0][0]\n", slug);
    // A param of that length is a constant like any other, but does not fit a uniform block.
    let param = "param p = [0.5; 65_537]\noutput o = p[0]\n";
    assert_complaint(param, "too_many_params");
    assert_complaint("param p = [0.5; 1_048_577]\noutput o = p[0]\n", slug);
}

/// What a constant cannot hold is said where it stands, by every path that computes one.
#[test]
fn constants_that_cannot_be_computed_are_refused() {
    let slug = "fold_in_constant";
    assert_complaint("const A = sum([1.0, 2.0])\noutput o = A\n", slug);
    assert_complaint(
        "param p = 0.5 in 0.0..max([1.0, 2.0])\noutput o = p\n",
        slug,
    );
    assert_complaint(
        "const A = [for i in 0..3: sum([1.0, 2.0])]\noutput o = A[0]\n",
        slug,
    );
    assert_complaint("const A = [1, 2] ** 2\noutput o = A[0]\n", "array_as_whole");
    assert_complaint("output o = [1, 2] ** 2\n", "array_as_whole");
    let far =
        "const A = [for i in -9223372036854775807..9223372036854775807: i]\noutput o = A[0]\n";
    assert_complaint(far, "bad_length");
}

/// Every builtin with every kind of literal: a value or a message, and no panic.
#[test]
fn builtins_take_or_refuse_every_literal() {
    use sim_compiler::builtin::{Meaning, table};
    let values = [
        "1",
        "2.5",
        "true",
        "3u",
        "vec2(1.0)",
        "[1, 2]",
        "-7",
        "99999999999",
    ];
    for row in table::rows() {
        let Meaning::Pure(pure) = row.meaning else {
            continue;
        };
        for first in values {
            for other in values {
                let mut args = vec![other; pure.params.len()];
                if let Some(slot) = args.first_mut() {
                    *slot = first;
                }
                let call = format!("{}({})", row.name, args.join(", "));
                for text in [
                    format!("output o = {call}\n"),
                    format!("const C = {call}\noutput o = C\n"),
                    format!("state s: u32 = {call}\n"),
                ] {
                    slugs(&text);
                }
            }
        }
    }
}

#[test]
fn builtins_of_integers_refuse_floats_and_vector_builtins_numbers() {
    for call in [
        "countOneBits(2.0)",
        "countLeadingZeros(2.0)",
        "countTrailingZeros(1e3)",
        "reverseBits(2.0)",
        "firstLeadingBit(0.5)",
        "firstTrailingBit(0.5)",
        "dot(1.0, 2.0)",
        "dot(1, 2)",
        "normalize(1.0)",
    ] {
        assert_complaint(&format!("output o = {call}\n"), "bad_argument");
    }
    assert_compiles("output o = countOneBits(7)\n");
    assert_compiles("state n: u32 = countOneBits(7)\n");
    assert_compiles("output o = dot(vec2(1.0, 2.0), 2.0)\n");
    assert_compiles("output o = max(1, 2.5)\n");
}

/// The width of a format is 16 bits in the standard library.
#[test]
fn long_texts_may_draw_from_poisson() {
    let text = format!(
        "// {}\nstate n = 0\nstep {{ n += poisson(3.0) }}\n",
        "x".repeat(70_000)
    );
    assert_compiles(&text);
}

/// The arms of a `match` lie within one another when it is lowered, like those of an `else if`.
#[test]
fn chains_have_a_limit() {
    let arms = |count: usize| {
        let arms: String = (0..count).map(|k| format!("{k} => x = {k}.0,\n")).collect();
        format!("state n = 0\nstate x = 0.0\nstep {{ match n {{\n{arms}_ => x = 0.5 }} }}\n")
    };
    assert_compiles(&arms(1_999));
    assert_complaint(&arms(2_001), "blocks_too_deep");
    assert_complaint(&arms(20_000), "blocks_too_deep");
}
