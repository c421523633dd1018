//! Complaints about names (E0200–E0299).

use super::{catalog, did_you_mean, meant_or_near};
use crate::{diagnostic::Diagnostic, foreign, span::Span};

catalog! {
    /// A name that nothing in scope has.
    ///
    /// ```text
    /// param sigma = 0.2
    /// state x = sigm * 2.0      // unknown name `sigm`; did you mean `sigma`?
    /// ```
    ///
    /// Declare it, or mend the spelling.
    E0201 unknown_name(name: &str, span: Span, near: Option<&str>) {
        let report = Diagnostic::new(format!("unknown name `{name}`"))
            .at(span, "nothing in scope has this name");
        match (name, near) {
            ("other", None) => report.help("name an agent: `for other in world`, or `let other = world[k]`"),
            ("self" | "this", None) => report.help("an agent's own states are read by their names"),
            _ => meant_or_near(report, foreign::value(name), near),
        }
    }

    /// A call of a function that does not exist.
    ///
    /// Functions are the model's own `fn`s, the builtins (see the reference), the conversions `f32 i32
    /// u32 bool`, the vectors `vec2 vec3 vec4` and the model's structs.
    E0202 unknown_function(name: &str, span: Span, near: Option<&str>) {
        let report = Diagnostic::new(format!("unknown function `{name}`"))
            .at(span, "no function has this name");
        meant_or_near(report, foreign::function(name), near)
    }

    /// A type that does not exist.
    ///
    /// Types are `f32 i32 u32 bool vec2 vec3 vec4`, arrays `[T; N]`, and the model's structs and enums.
    E0203 unknown_type(name: &str, span: Span, near: Option<&str>) {
        let report = Diagnostic::new(format!("unknown type `{name}`")).at(span, "no type has this name");
        if foreign::type_name(name) == Some("f32") {
            return report.help("write `f32`, the only type of floats").replace(span, "f32");
        }
        meant_or_near(report, foreign::type_name(name).map(foreign::Meant::Write), near)
    }

    /// Access to a field or component that the value does not have.
    ///
    /// Structs have the fields of their declaration; vectors have `x y z w` (or `r g b a`) and swizzles of
    /// them such as `v.xy`.
    E0204 unknown_field(ty: &str, name: &str, span: Span, near: Option<&str>) {
        did_you_mean(Diagnostic::new(format!("`{ty}` has no field `{name}`"))
            .at(span, format!("not in `{ty}`")), near)
    }

    /// An enum has no variant of this name.
    E0205 unknown_variant(owner: &str, name: &str, span: Span, near: Option<&str>) {
        did_you_mean(
            Diagnostic::new(format!("enum `{owner}` has no variant `{name}`")).at(span, "no such variant"),
            near,
        )
    }

    /// Two declarations of one name where it could mean either.
    ///
    /// `const param data input state fn struct enum` share one namespace; outputs have one of their own,
    /// so `output price = price` is legal. Inside a block a name may be declared once.
    E0206 duplicate_declaration(name: &str, span: Span, first: Span) {
        Diagnostic::new(format!("`{name}` is declared twice"))
            .at(span, "declared again here")
            .at(first, "first declared here")
            .help("rename one of them")
    }

    /// A name used before the declaration that gives it a value.
    ///
    /// Statements run in order, and so do the initial values of states: each may use the states above it.
    E0207 use_before_declaration(name: &str, span: Span, declared: Span) {
        Diagnostic::new(format!("`{name}` is used before its declaration"))
            .at(span, "has no value yet here")
            .at(declared, "declared only here")
            .help("move the declaration up, or the use down")
    }

    /// A declaration with the name of a builtin function or type.
    ///
    /// Calls of builtins must mean the same in every model, so their names cannot be declared again. The
    /// folds of `observe` are among them, such as `sd` and `histogram`; variables may have the names of
    /// functions.
    E0208 builtin_name(name: &str, span: Span) {
        Diagnostic::new(format!("`{name}` is built in"))
            .at(span, "cannot be declared again")
            .help("choose another name")
    }

    /// A variant that two enums have, without saying which.
    E0209 ambiguous_variant(name: &str, owners: &str, span: Span) {
        let report = Diagnostic::new(format!("`{name}` is a variant of several enums: {owners}"))
            .at(span, "which one?")
            .help(format!("write the enum's name before it: `Enum.{name}`"));
        owners.split(", ").fold(report, |report, owner| report.replace(span, format!("{owner}.{name}")))
    }

    /// A function that reads a state.
    ///
    /// Functions see constants, params, data and inputs, but no states: inside `integrate` the stage
    /// values are what counts, and they reach a function only through its arguments.
    E0210 state_in_function(name: &str, function: &str, span: Span, declared: Span) {
        Diagnostic::new(format!("a function sees no states, so not `{name}`"))
            .at(span, "not visible in a function")
            .at(declared, "the state")
            .help(format!(
                "make it a parameter of `{function}`, and pass it as an argument; to change it, return the \
                 new value, and assign that where it is called: `{name} = {function}(…)`"
            ))
    }

    /// A function, struct or type used as if it were a value.
    E0211 not_a_value(name: &str, what: &str, span: Span) {
        Diagnostic::new(format!("`{name}` is {what}, not a value"))
            .at(span, "a value is needed here")
            .help(format!("call it: `{name}(…)`"))
    }

    /// A value called as if it were a function.
    E0212 not_a_function(
        name: &str,
        what: &str,
        span: Span,
        declared: Option<Span>,
        element: Option<(String, Vec<(Span, String)>)>,
    ) {
        let report = Diagnostic::new(format!("`{name}` is {what}, not a function"))
            .at(span, "cannot be called");
        let report = match element {
            Some((element, edits)) => report
                .help(format!("write `{element}`: an index stands in brackets, and the first is 0"))
                .edit(format!("Write `{element}`"), edits),
            None => report,
        };
        match declared {
            Some(declared) => report.at(declared, "declared here"),
            None => report,
        }
    }

    /// A name that has a value only in certain places, used elsewhere.
    ///
    /// The step index exists only inside its `step` block; outputs are evaluated last and nothing can
    /// read them; states exist only in `state` initial values, `init`, `step`, `finish` and outputs.
    E0213 not_available_here(name: &str, what: &str, place: &str, span: Span) {
        Diagnostic::new(format!("`{name}` has no value in {place}")).at(span, what)
    }

    /// An assignment to a name that nothing declares.
    ///
    /// ```text
    /// step {
    ///     total = 0.0
    ///     for i in 0..3 { total += random() }
    /// }
    /// ```
    ///
    /// A variable of a block is declared, `var total = 0.0`; what an agent keeps from step to step is a
    /// `state` at the top level.
    E0215 undeclared_variable(name: &str, span: Span) {
        Diagnostic::new(format!("`{name}` is assigned, but not declared"))
            .at(span, "nothing in scope has this name")
            .help(format!(
                "declare it: `var {name} = …` for a variable of the block, `state {name} = …` at the top \
                 level for what lasts from step to step"
            ))
            .replace(Span { end: span.start, ..span }, "var ")
    }

    /// A module, a namespace or `self` before a name.
    ///
    /// There are no modules: builtin functions are called by their names. An agent's own states are read by
    /// theirs.
    ///
    /// ```text
    /// x = math.sqrt(y)
    /// ```
    ///
    /// Write `sqrt(y)`.
    E0214 foreign_qualifier(word: &str, name: &str, span: Span, meant: Option<(Span, &str)>) {
        let report = if matches!(word, "self" | "this") {
            Diagnostic::new(format!("there is no `{word}`")).at(span, "an agent reads its own states by name")
        } else {
            Diagnostic::new(format!("there is no module `{word}`, so no `{word}.{name}`"))
                .at(span, "builtin functions are called by their names alone")
        };
        match meant {
            Some((whole, meant)) => report.help(format!("write `{meant}`")).replace(whole, meant),
            None => meant_or_near(report, foreign::function(name), None),
        }
    }
}
