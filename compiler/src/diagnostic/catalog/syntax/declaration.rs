//! Complaints about declarations, types and names (in E0100–E0199).

use super::short;
use crate::{
    diagnostic::{
        Diagnostic,
        catalog::{catalog, meant_or_near},
    },
    foreign::Meant,
    span::Span,
};

catalog! {
    /// A declaration that this version of the language does not have.
    ///
    /// `near` is kept for neighbourhoods, `spawn` and `die` for populations that change. They cannot be
    /// names.
    E0108 reserved_word(word: &str, span: Span) {
        let help = match word {
            "near" => "filter what `for other in world` visits; as a name, choose another",
            "spawn" | "die" => {
                "let a state say which agents count, and filter by it; as a name, choose another"
            }
            _ => "choose another name",
        };
        Diagnostic::new(format!("`{word}` is not in this version of the language"))
            .at(span, "a reserved word")
            .help(help)
    }

    /// An input that has both a default and a distribution.
    ///
    /// ```text
    /// input s0: f32 = 100.0 ~ normal(100.0, 5.0)
    /// ```
    ///
    /// Keep one: `= e` gives every agent the same value, `~ d` draws one per agent.
    E0109 two_input_sources(default: Span, drawn: Span) {
        Diagnostic::new("an input has a default or a distribution, not both")
            .at(drawn, "a distribution")
            .at(default, "a default")
            .help("keep `= …` for the same value everywhere, or `~ …` for a draw per agent")
    }

    /// Something at the top level that is no declaration.
    ///
    /// A file is a row of declarations: `agents steps world const param data input state output record
    /// observe fn struct enum`, and the blocks `init`, `step` and `finish`.
    ///
    /// ```text
    /// def double(x: f32) -> f32 { return 2.0 * x }
    /// ```
    ///
    /// Write `fn double(x: f32) -> f32 { … }`.
    E0117 not_a_declaration(found: &str, meant: Option<Meant>, near: Option<&str>, span: Span) {
        let found = short(found);
        let diagnostic = Diagnostic::new(format!("expected a declaration, found {found}"))
            .at(span, "no declaration begins with this");
        if meant == Some(Meant::Write("fn")) {
            return diagnostic
                .help("write `fn`, with types: `fn double(x: f32) -> f32 { return 2.0 * x }`")
                .replace(span, "fn");
        }
        match meant.is_some() || near.is_some() {
            true => meant_or_near(diagnostic, meant, near),
            false => diagnostic.help(
                "a file is a row of `agents`, `steps`, `world`, `const`, `param`, `data`, `input`, `state`, \
                 `output`, `record`, `observe`, `fn`, `struct`, `enum`, `init`, `step` and `finish`",
            ),
        }
    }

    /// A statement at the top level.
    ///
    /// ```text
    /// price *= 1.01
    /// ```
    ///
    /// Statements stand in `init`, `step`, `finish` or `fn`: `step { price *= 1.01 }`.
    E0118 statement_outside_block(found: &str, span: Span) {
        Diagnostic::new("a statement stands outside of every block")
            .at(span, format!("{} begins a statement", short(found)))
            .help("put it into `init { … }`, `step { … }`, `finish { … }` or a `fn`")
    }

    /// A declaration inside a block.
    ///
    /// ```text
    /// step {
    ///     const HALF = 0.5
    /// }
    /// ```
    ///
    /// Declarations stand at the top level of the file; inside a block `let` names a value.
    E0119 declaration_in_block(word: &str, span: Span) {
        let help = match word {
            "const" => "inside a block `let` names a value; a `const` stands at the top level",
            "state" => "inside a block `var` makes a variable; a `state` stands at the top level",
            _ => "move it out of the block, to the top level of the file",
        };
        Diagnostic::new(format!("`{word}` cannot be declared inside a block"))
            .at(span, "a declaration of the top level")
            .help(help)
    }

    /// A sign between `agents` or `steps` and the number.
    ///
    /// ```text
    /// agents = 10_000
    /// ```
    ///
    /// Write `agents 10_000`.
    E0120 count_with_sign(word: &str, span: Span) {
        Diagnostic::new(format!("`{word}` takes its number without a sign"))
            .at(span, "leave this out")
            .help(format!("write `{word} 1_000`"))
            .replace(span, "")
    }

    /// A parameter or a field without a type.
    ///
    /// ```text
    /// fn double(x) -> f32 { return 2.0 * x }
    /// ```
    ///
    /// Write `x: f32`.
    E0121 missing_type(name: &str, span: Span) {
        Diagnostic::new(format!("`{name}` has no type"))
            .at(span, "needs a type")
            .help(format!("write `{name}: f32`, or another type"))
            .append(span, ": f32")
    }

    /// A type before the name instead of after it.
    ///
    /// ```text
    /// fn double(float x) -> f32 { return 2.0 * x }
    /// ```
    ///
    /// Write `x: f32`.
    E0122 type_before_name(name: &str, meant: &str, span: Span) {
        Diagnostic::new(format!("the type of {} stands before its name", short(name)))
            .at(span, "the type goes after the name and a `:`")
            .help(format!("write `{meant}`"))
            .replace(span, meant)
    }

    /// A `data` declaration without a type.
    ///
    /// The type says how the file is read; only its outermost length may be open.
    ///
    /// ```text
    /// data signals
    /// ```
    ///
    /// Write `data signals: [[f32; 36]]`.
    E0123 data_without_type(name: &str, span: Span) {
        Diagnostic::new(format!("the data `{name}` has no type"))
            .at(span, "needs a type")
            .help(format!("write `data {name}: [f32]`, or `[[f32; 36]]` for 36 columns"))
            .append(span, ": [f32]")
    }

    /// A type with arguments between `<` and `>`.
    ///
    /// ```text
    /// let v: vec3<f32> = vec3(0.0, 0.0, 0.0)
    /// ```
    ///
    /// Vectors are `vec2`, `vec3` and `vec4`, of `f32`; arrays are written `[f32; 16]`.
    E0124 type_arguments(name: &str, call: bool, span: Span, edits: Option<Vec<(Span, String)>>) {
        let help = match name {
            "array" => "write an array type as `[f32; 16]`".to_owned(),
            "vec2" | "vec3" | "vec4" => format!("write `{name}`: its components are `f32`"),
            _ => "no type takes arguments; an array type is written `[f32; 16]`".to_owned(),
        };
        let help = if call && name == "array" {
            "an array is written `[a, b, c]`, and `[0.0; 16]` has 16 equal elements".to_owned()
        } else {
            help
        };
        let what = if call { "a call" } else { "a type" };
        let report = Diagnostic::new(format!("{what} takes no arguments between `<` and `>`"))
            .at(span, "no `<` here")
            .help(help);
        match edits {
            Some(edits) if name == "array" => report.edit("Write it between brackets", edits),
            Some(edits) => report.edit(format!("Write `{name}`"), edits),
            None => report,
        }
    }

    /// A comma in an array type.
    ///
    /// ```text
    /// state held: [f32, 16] = [0.0; 16]
    /// ```
    ///
    /// Write `[f32; 16]`.
    E0125 comma_in_array_type(span: Span) {
        Diagnostic::new("the length of an array type stands after a `;`")
            .at(span, "write `;`")
            .help("write `[f32; 16]`")
            .replace(span, ";")
    }

    /// A function's result type without `->`.
    ///
    /// ```text
    /// fn double(x: f32): f32 { return 2.0 * x }
    /// ```
    ///
    /// Write `fn double(x: f32) -> f32`.
    E0126 missing_arrow(found: &str, span: Span) {
        let (place, text) = match found {
            ":" | "=>" => (span, "->"),
            _ => (Span { end: span.start, ..span }, "-> "),
        };
        Diagnostic::new(format!("expected `->` or `{{` after the parameters, found {}", short(found)))
            .at(span, "the type of the result stands after `->`")
            .help("write `fn name(x: f32) -> f32 { … }`")
            .replace(place, text)
    }

    /// A name that gets no value.
    ///
    /// ```text
    /// var total: f32
    /// ```
    ///
    /// Nothing is ever without a value: write `var total = 0.0`.
    E0127 missing_value(name: &str, zero: Option<&str>, span: Span) {
        let report = Diagnostic::new(format!("`{name}` has no value")).at(span, "needs `= …`");
        match zero {
            Some(zero) => report
                .help(format!("everything begins with a value: write `= {zero}`, or another one"))
                .append(span, format!(" = {zero}")),
            None => report.help("everything begins with a value: write `= …`"),
        }
    }

    /// A variable of a block without `let` or `var`.
    ///
    /// ```text
    /// x: f32 = 2.0
    /// ```
    ///
    /// Write `let x: f32 = 2.0`, or `var x: f32 = 2.0` for a variable that changes.
    E0156 missing_let(name: &str, span: Span) {
        let start = Span { end: span.start, ..span };
        Diagnostic::new(format!("`{name}` is declared without `let` or `var`"))
            .at(span, "a declaration in a block begins with one of them")
            .help(format!(
                "write `var {name}: …` for a variable that changes, `let {name}: …` for one that stays"
            ))
            .replace(start, "var ")
    }

    /// A name and its value without `=` between them.
    ///
    /// ```text
    /// let loss 0.5
    /// ```
    ///
    /// Write `let loss = 0.5`.
    E0157 missing_equals(word: &str, name: &str, span: Span) {
        Diagnostic::new(format!("expected `=` after `{name}`"))
            .at(span, "its value goes after an `=`")
            .help(format!("write `{word} {name} = …`"))
            .append(span, " =")
    }

    /// A number for a variant of an enum.
    ///
    /// ```text
    /// enum Health { Susceptible = 0, Infected = 1 }
    /// ```
    ///
    /// Variants are numbered from 0 in their order: write `enum Health { Susceptible, Infected }`.
    /// `i32(health)` is the number.
    E0158 numbered_variant(span: Span, numbers: Vec<Span>) {
        let edits = numbers.into_iter().map(|span| (span, String::new())).collect();
        Diagnostic::new("variants of an enum take no numbers")
            .at(span, "they are numbered from 0, in their order")
            .help("leave the numbers out; `i32(v)` is the number of a variant")
            .edit("Leave the numbers out", edits)
    }

    /// `let mut`, which is `var` here.
    ///
    /// ```text
    /// let mut total = 0.0
    /// ```
    ///
    /// Write `var total = 0.0`.
    E0128 let_mut(span: Span) {
        Diagnostic::new("a variable that changes is declared with `var`")
            .at(span, "write `var`")
            .help("write `var x = …`; `let` names a value that stays")
            .replace(span, "var")
    }

    /// A word of the language where a name belongs.
    ///
    /// ```text
    /// let state = 3
    /// ```
    ///
    /// Choose another name.
    E0129 keyword_as_name(word: &str, span: Span) {
        Diagnostic::new(format!("`{word}` is a word of the language and cannot be a name"))
            .at(span, "a name belongs here")
            .help(format!("choose another name, such as `{word}_`"))
            .replace(span, format!("{word}_"))
    }

    /// Something behind `record` or `observe` that says nothing there.
    ///
    /// ```text
    /// record price each 10
    /// ```
    ///
    /// Behind the name, its type and its value stands `every`, with the steps between two samples: `record
    /// price every 10`. Each value has a declaration of its own.
    E0148 after_series(word: &str, found: &str, help: &str, every: bool, span: Span) {
        let found = short(found);
        let report = Diagnostic::new(format!("expected `every` or the next declaration, found {found}"))
            .at(span, format!("behind a `{word}` stands `every`, or nothing"))
            .help(help);
        match every {
            true => report.replace(span, "every"),
            false => report,
        }
    }

    /// A value behind `output`, `record` or `observe` that has no name.
    ///
    /// ```text
    /// output price * 2.0
    /// ```
    ///
    /// A state can be shown by its name alone, `output price`. Any other value needs a name, which becomes
    /// the title of its column: `output double = price * 2.0`.
    E0170 value_without_name(word: &str, help: &str, span: Span, name: &str) {
        Diagnostic::new(format!("the value behind `{word}` needs a name"))
            .at(span, "more than the name of a state")
            .help(help)
            .replace(Span { start: span.start, end: span.start }, format!("{name} = "))
    }

    /// Several values behind one `output`.
    ///
    /// ```text
    /// output price, volume
    /// ```
    ///
    /// Each value has a declaration of its own: `output price` and `output volume`.
    E0171 second_value(word: &str, name: bool, span: Span) {
        let report = Diagnostic::new(format!("one `{word}` shows one value"))
            .at(span, "another value begins behind this")
            .help(format!("write one `{word}` for each value"));
        match name {
            true => report.replace(span, format!("\n{word}")),
            false => report,
        }
    }
}
