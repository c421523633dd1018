//! The grammar through its public door: what groups how, and that no text can hurt the compiler.

use sim_compiler::{
    diagnostic::render,
    syntax::{self, MAX_NESTING, Parsed},
};
use std::{
    thread,
    time::{Duration, Instant},
};

/// The tree of one constant's value, which must be without mistakes.
fn value(source: &str) -> String {
    let parsed = syntax::parse(&format!("const X = {source}"));
    assert_eq!(parsed.diagnostics, [], "{source}");
    let text = syntax::print::ast(&parsed.model);
    text.trim_end().trim_start_matches("const X = ").to_owned()
}

/// The slugs of the complaints about a text.
fn slugs(source: &str) -> Vec<&'static str> {
    let parsed = syntax::parse(source);
    parsed.diagnostics.iter().map(|d| d.slug).collect()
}

/// Reads, prints, reports and drops a text on a small stack, within a time that only linear work keeps.
fn survives(name: &'static str, source: String) -> Vec<&'static str> {
    let work = move || {
        let start = Instant::now();
        let Parsed { model, diagnostics } = syntax::parse(&source);
        let tree = syntax::print::ast(&model);
        let report = render::render("model.sim", &source, &diagnostics, render::Style::default());
        drop(model);
        let took = start.elapsed();
        assert!(took < Duration::from_secs(60), "{name}: {took:?}");
        assert!(!(tree.contains("<error>") && report.is_empty()), "{name}");
        for label in diagnostics.iter().flat_map(|d| &d.labels) {
            let range = label.span.range();
            assert!(source.get(range.clone()).is_some(), "{name}: {range:?}");
        }
        diagnostics.iter().map(|d| d.slug).collect()
    };
    let thread = thread::Builder::new().stack_size(2 << 20).spawn(work);
    thread.expect("a thread").join().expect("no panic")
}

#[test]
fn operators_group_as_documented() {
    for (source, tree) in [
        ("a + b * c", "(+ a (* b c))"),
        ("a - b - c", "(- (- a b) c)"),
        ("-x ** 2", "(- (** x 2))"),
        ("2 ** -x ** 3", "(** 2 (- (** x 3)))"),
        ("a ** b ** c", "(** a (** b c))"),
        ("a * -b ** c * d", "(* (* a (- (** b c))) d)"),
        ("!a && b || c", "(|| (&& (! a) b) c)"),
        (
            "a || b && c == d | e ^ f & g << h + i",
            "(|| a (&& b (== c (| d (^ e (& f (<< g (+ h i))))))))",
        ),
        ("a % b / c", "(/ (% a b) c)"),
        (
            "- - ~x.y[1].z",
            "(- (- (~ (field (index (field x y) 1) z))))",
        ),
        ("(a + b) * c", "(* (paren (+ a b)) c)"),
    ] {
        assert_eq!(value(source), tree, "{source}");
    }
}

#[test]
fn operands_of_every_form() {
    for (source, tree) in [
        ("0xFFu", "255u"),
        ("1_000", "1000"),
        (".5 + 1. + 1e-3 + 2.5E2", "(+ (+ (+ 0.5 1.0) 0.001) 250.0)"),
        ("[]", "[]"),
        ("[1, 2, ]", "[1 2]"),
        ("[0.0; 4]", "[0.0; 4]"),
        (
            "[for i in 0..16 if i > 2: i]",
            "[for i in 0..16 if (> i 2): i]",
        ),
        (
            "sum(for i in 0..n: w[i])",
            "(fold sum for i in 0..n: (index w i))",
        ),
        (
            "f() + step(0.5, steps)",
            "(+ (call f) (call step 0.5 steps))",
        ),
        ("bitcast<[u32; 2]>(x)", "(bitcast [u32; 2] x)"),
        ("if a { 1 } else if b { 2 } else { 3 }", "(if a 1 b 2 3)"),
        ("agents\n-\nf\n(a)\n[0]", "(- agents (index (call f a) 0))"),
    ] {
        assert_eq!(value(source), tree, "{source}");
    }
}

#[test]
fn newlines_mean_nothing() {
    let text = "agents 3 steps 4 state x = 1 step t { x = 2 ; x += t let y = x } output x";
    let spread = text.replace(' ', "\r\n");
    let (one, many) = (syntax::parse(text), syntax::parse(&spread));
    assert_eq!((one.diagnostics.len(), many.diagnostics.len()), (0, 0));
    assert_eq!(
        syntax::print::ast(&one.model),
        syntax::print::ast(&many.model)
    );
    assert_eq!(one.model.items.len(), 5);
}

/// As a word of statements `var` would end brackets that are open.
#[test]
fn a_variance_stands_on_a_line_of_its_own() {
    assert_eq!(slugs("observe m = (\n    var(x)\n)"), [""; 0]);
    let slip = "step {\n    x = (1 + 2\n    var y = 3\n}";
    assert_eq!(slugs(slip), ["unclosed_bracket"]);
}

#[test]
fn documentation_goes_to_its_declaration() {
    let source = "\u{feff}//! A model.\r\n//!\r\n//! More.\r\n/// The rate,\r\n/// per year.\r\n\
        param r = 1\r\n// no\nparam s = 2";
    let parsed = syntax::parse(source);
    assert_eq!(parsed.model.doc, "A model.\n\nMore.");
    assert_eq!(parsed.model.items[0].doc, "The rate,\nper year.");
    assert_eq!(parsed.model.items[1].doc, "");
    assert_eq!(&source[parsed.model.items[0].span.range()], "param r = 1");
}

#[test]
fn each_mistake_is_told_once_and_the_rest_is_read() {
    let source = "
        agents = 10
        steps 5
        parm rate = 0.05
        state price = 1.0
        step {
            price++
            if price = 3.0 { price = price === 2.0 }
            let mut x = 3
            for i in range(10) { let y = 010 }
            price = max(price 1.0)
        }
        spawn spread = mean(price)
        output price";
    let expected = [
        "count_with_sign",
        "not_a_declaration",
        "increment",
        "assignment_in_condition",
        "operator_spelling",
        "let_mut",
        "for_without_range",
        "leading_zero",
        "missing_comma",
        "reserved_word",
    ];
    assert_eq!(slugs(source), expected);
    assert_eq!(syntax::parse(source).model.items.len(), 7);
}

#[test]
fn an_unclosed_brace_costs_one_message() {
    let source = "step {\n    if a {\n        x = 1\n    x = 2\n}\noutput x\nparam y = 1\n";
    let parsed = syntax::parse(source);
    assert_eq!(slugs(source), ["unclosed_bracket"]);
    assert_eq!(parsed.model.items.len(), 3);
}

#[test]
fn nesting_up_to_the_limit_is_legal() {
    let nested = |depth: usize| format!("const X = {}1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(slugs(&nested(MAX_NESTING)), [""; 0]);
    assert_eq!(slugs(&nested(MAX_NESTING + 1)), ["nesting_too_deep"]);
}

#[test]
fn depth_without_end() {
    let many = 100_000;
    let around = |head: &str, open: &str, inner: &str, close: &str| {
        let (open, close) = (open.repeat(many), close.repeat(many));
        format!("{head}{open}{inner}{close}\n")
    };
    let nesting = "nesting_too_deep";
    let deep = "expression_too_deep";
    let texts = [
        (nesting, around("const X = ", "(", "1", ")")),
        (nesting, around("const X = ", "(", "1", "")),
        (nesting, around("const X = ", "[", "1", "]")),
        (nesting, around("const X = ", "f(", "1", ")")),
        (nesting, around("const X = ", "(", "1", "]")),
        (nesting, around("data x: ", "[", "f32", "; 1]")),
        (nesting, around("step ", "{", "", "}")),
        (nesting, around("step {", "match x { A => ", "stop", "}")),
        (deep, around("const X = ", "- ", "1", "")),
        (deep, around("const X = ", "!", "a", "")),
        (deep, around("const X = ", "a + ", "a", "")),
        (deep, around("const X = ", "a ** ", "a", "")),
        (deep, around("const X = ", "a ** -", "a", "")),
        (deep, around("const X = ", "", "a", ".b")),
        (deep, around("const X = ", "", "a", "[0]")),
        ("chained_comparison", around("const X = ", "a < ", "a", "")),
        (
            "nested_if_values",
            around("const X = ", "if ", "a", " { b } else { c }"),
        ),
        ("stray_bracket", around("const X = 1", "", "", ")")),
    ];
    for (slug, text) in texts {
        let head: String = text.chars().take(20).collect();
        assert!(survives("depth", text).contains(&slug), "{head}");
    }
    let chain = format!(
        "step {{ if a {{ }} {} }}",
        "else if b { x = 1 } ".repeat(many)
    );
    assert_eq!(survives("else if", chain), [""; 0]);
    let chain = "else if b { 3 } ".repeat(many);
    let chain = format!("const X = if a {{ 1 }} {chain} else {{ 2 }}");
    assert_eq!(survives("else if values", chain), [""; 0]);
}

#[test]
fn ten_megabytes() {
    let fill = |piece: &str| piece.repeat(10_000_000 / piece.len());
    let model = "/// d\nparam p = 0.3 in 0.0..1.0\nstep { x = a + b[i] * f(c, -d) ** 2 }\n";
    assert_eq!(survives("valid", fill(model)), [""; 0]);
    for (name, piece) in [
        ("zeros", "\0"),
        ("names", "x "),
        ("quotes", "' \" "),
        ("comments", "/*"),
        ("brackets", "([{}])"),
        ("strays", ") ] } "),
        ("mixed", "( ] "),
        ("keywords", "for if while match\n"),
        ("statements", "step { x y\n z = = 3 }\n"),
        ("conditions", "if a = 1 "),
        ("controls", "\u{1b}[2J\u{7f}"),
        ("letters", "ä ö "),
        ("operators", "+-*/<>=!&|"),
    ] {
        assert!(!survives(name, fill(piece)).is_empty(), "{name}");
    }
    let arms = format!("step {{ match x {{ {} }} }}", fill("A => if a = 1, "));
    assert!(!survives("arms", arms).is_empty());
    for (name, piece) in [("slashes", "/"), ("semicolons", ";"), ("docs", "/// a\n")] {
        assert_eq!(survives(name, fill(piece)), [""; 0], "{name}");
    }
}

#[test]
fn noise() {
    let words = "agents steps const param state output fn struct enum init step let var if else for in \
                 while match return ( ) [ ] { } , ; : . .. -> => = += + - * ** == < ! ' _ x y 1 2.5 0x \
                 ? ++ \" ä /* // # \u{feff}";
    let mut words: Vec<&str> = words.split_whitespace().collect();
    words.extend(["\n", "\r\n", " "]);
    let mut seed = 1u64;
    let mut next = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize
    };
    for round in 0..1_000 {
        let count = next() % 200;
        let text: Vec<&str> = (0..count).map(|_| words[next() % words.len()]).collect();
        survives("noise", text.join(if round % 2 == 0 { " " } else { "" }));
    }
    let odd = (0..1_000_000).map(|_| char::from((next() % 256) as u8));
    let odd: String = odd.collect();
    assert!(!survives("latin", odd.replace('\0', " ")).is_empty());
    assert_eq!(survives("nothing", String::new()), [""; 0]);
    assert_eq!(survives("mark", "\u{feff}".into()), [""; 0]);
}
