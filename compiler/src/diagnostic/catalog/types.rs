//! Complaints about types (E0300–E0399).

use super::{catalog, did_you_mean};
use crate::{diagnostic::Diagnostic, span::Span};

catalog! {
    /// A value of one type where another is needed.
    ///
    /// Values never convert by themselves: write `f32(i)`, `i32(x)`, `u32(i)`. Literals and constants
    /// without a type adapt: `2 * price` works.
    E0301 mismatched_types(
        place: &str,
        needed: &str,
        found: &str,
        span: Span,
        cause: Option<(Span, String)>,
        literal: Option<i64>,
    ) {
        let whole = cause.is_some() || !place.starts_with("the new value");
        let mut report = Diagnostic::new(format!("{place} must be `{needed}`, but this is `{found}`"))
            .at(span, format!("this is `{found}`"));
        if let Some((span, text)) = cause {
            report = report.at(span, text);
        }
        let scalar = |name: &str| matches!(name, "f32" | "i32" | "u32");
        if scalar(needed) && (scalar(found) || found == "bool" || found == "float" || found == "integer") {
            let report = report.help(format!("convert it: `{needed}(…)`"));
            // In `x += e` the complaint is about `x + e`, which nobody wrote.
            return if whole { report.wrap(needed, span) } else { report };
        }
        match (needed, found) {
            ("bool", "integer") if let Some(value) = literal => {
                let meant = if value == 0 { "false" } else { "true" };
                report.help(format!("write `{meant}`")).replace(span, meant)
            }
            ("bool", "integer" | "float") => report.help("write `true` or `false`"),
            ("bool", "i32" | "u32") => report.help("compare it with something, such as `x != 0`")
                .append(span, " != 0"),
            ("bool", _) => report.help("compare it with something, such as `x != 0`"),
            _ => report,
        }
    }

    /// An operator between values that it cannot join.
    ///
    /// Both sides must have one type (a vector and an `f32` may be mixed in arithmetic). `&&` and `||` want
    /// `bool`s, `& | ^ << >>` integers, `< <= > >=` numbers, `== !=` scalars or enums.
    E0302 bad_operands(
        op: &str,
        left: &str,
        right: &str,
        left_span: Span,
        right_span: Span,
        help: Option<String>,
    ) {
        let report = Diagnostic::new(format!("`{op}` cannot join `{left}` and `{right}`"))
            .at(right_span, format!("this is `{right}`"))
            .at(left_span, format!("this is `{left}`"));
        let report = match (left, right) {
            ("f32" | "float", "i32" | "u32") => report.wrap("f32", right_span),
            ("i32" | "u32", "f32" | "float") => report.wrap("f32", left_span),
            ("i32", "u32") | ("u32", "i32") => report.wrap(left, right_span),
            _ => report,
        };
        match help {
            Some(help) => report.help(help),
            None => report,
        }
    }

    /// An operator before a value that it does not apply to.
    ///
    /// `-` wants `i32`, `f32` or a vector, `!` a `bool`, `~` an integer.
    E0303 bad_operand(op: &str, ty: &str, span: Span) {
        Diagnostic::new(format!("`{op}` does not apply to `{ty}`")).at(span, format!("this is `{ty}`"))
    }

    /// An argument of a type that the function does not take.
    E0304 bad_argument(function: &str, param: &str, needed: &str, found: &str, span: Span) {
        let report = Diagnostic::new(format!("`{function}` takes {needed} as `{param}`, but this is \
            `{found}`"))
            .at(span, format!("this is `{found}`"));
        if needed.starts_with("`f32`") && matches!(found, "i32" | "u32") {
            return report.help("convert it: `f32(…)`").wrap("f32", span);
        }
        report
    }

    /// More or fewer arguments than the function takes.
    E0305 wrong_argument_count(
        function: &str,
        needed: &str,
        found: usize,
        span: Span,
        declared: Option<Span>,
        signature: Option<String>,
    ) {
        let given = match found {
            1 => "one was given".to_owned(),
            _ => format!("{found} were given"),
        };
        let report = Diagnostic::new(format!("`{function}` takes {needed}, but {given}"))
            .at(span, "in this call");
        match (declared, signature) {
            (Some(declared), _) => report.at(declared, "declared here"),
            (None, Some(signature)) => report.help(format!("its signature is `{signature}`")),
            (None, None) => report,
        }
    }

    /// `a[i]` on something that is no array.
    E0306 not_an_array(ty: &str, population: bool, span: Span) {
        if population {
            return Diagnostic::new("`agents` is the number of agents, and has no elements to index")
                .at(span, "a number")
                .help("agents read those of their world: declare `world 100` and write `world[k].x`");
        }
        Diagnostic::new(format!("`{ty}` has no elements to index")).at(span, "this is not an array")
            .help("vectors have components: `v.x`, `v.y`, `v.z`, `v.w`")
    }

    /// `a.b` on something that has no fields.
    E0307 no_fields(ty: &str, span: Span) {
        Diagnostic::new(format!("`{ty}` has no fields")).at(span, format!("this is `{ty}`"))
    }

    /// An array with another number of elements than its place needs.
    E0308 wrong_array_length(place: &str, needed: u32, found: u32, span: Span, cause: Option<Span>) {
        let report = Diagnostic::new(format!("{place} must have {needed} elements, but this has {found}"))
            .at(span, format!("{found} elements"));
        match cause {
            Some(cause) => report.at(cause, format!("{needed} elements are needed")),
            None => report,
        }
    }

    /// Values of different types where one type is needed for all: the elements of an array, the branches
    /// of an `if` value.
    E0309 no_common_type(place: &str, first: &str, other: &str, first_span: Span, span: Span) {
        Diagnostic::new(format!("{place} must have one type, but there are `{first}` and `{other}`"))
            .at(span, format!("this is `{other}`"))
            .at(first_span, format!("this is `{first}`"))
    }

    /// A conversion between types that have none.
    ///
    /// `f32 i32 u32 bool` convert between one another, an enum converts to `i32` and `u32`, and these to an
    /// enum by its name: `Health(k)`.
    E0310 no_conversion(from: &str, to: &str, span: Span) {
        Diagnostic::new(format!("`{from}` cannot be converted to `{to}`"))
            .at(span, format!("this is `{from}`"))
    }

    /// A comparison of vectors, arrays or structs as a whole.
    E0311 not_comparable(ty: &str, op: &str, span: Span) {
        Diagnostic::new(format!("`{op}` compares scalars, but this is `{ty}`"))
            .at(span, format!("this is `{ty}`"))
            .help("compare components or elements, or a distance: `length(a - b) < 1e-6`")
    }

    /// `[]`: its elements have no type.
    E0312 empty_array(span: Span) {
        Diagnostic::new("an array needs at least one element").at(span, "has none")
            .help("an array keeps its length: `[0.0; 10]`; to follow a value over time write `record x` at \
                the top level")
    }

    /// An open length `[T]` outside `data`.
    ///
    /// Only a `data` table takes its outermost length from the file; everything else needs `[T; N]`.
    E0313 open_array(span: Span) {
        Diagnostic::new("an array needs its length; only `data` may leave the outermost open")
            .at(span, "needs a length")
            .help("write a length in each pair of brackets, such as `[[f32; 3]; 2]` for 2 rows of 3; a table \
                that all agents read is `data table: [[f32; 3]]`, of any number of rows")
    }

    /// A vector built from too many or too few components.
    ///
    /// `vec3(x, y, z)`, `vec3(xy, z)`, `vec3(x)` for three equal ones.
    E0314 wrong_components(ty: &str, needed: usize, found: usize, span: Span) {
        Diagnostic::new(format!("`{ty}` has {needed} components, but these are {found}"))
            .at(span, "in this call")
    }

    /// A swizzle that repeats a component on the left of `=`, or names none.
    E0315 bad_swizzle_target(span: Span) {
        Diagnostic::new("a component is assigned twice").at(span, "repeats a component")
            .help("name each component once: `v.xy = …`")
    }

    /// A struct that contains itself.
    E0316 recursive_struct(name: &str, span: Span) {
        Diagnostic::new(format!("struct `{name}` contains itself")).at(span, "would be infinitely large")
    }

    /// A type that cannot be read from a file or written to one in this place.
    E0317 missing_type(what: &str, span: Span) {
        Diagnostic::new(format!("{what} needs a type")).at(span, "nothing says its type")
            .help("write it after the name: `name: f32`")
            .append(span, ": f32")
    }

    /// A value that begins as a whole number and is used as an `f32`.
    ///
    /// The first value of a declaration without a type decides its type: `100` makes an `i32`, `100.0` an
    /// `f32`. Values never convert by themselves.
    ///
    /// ```text
    /// param spot  = 100
    /// state price = spot
    /// step { price *= exp(0.1 * normal()) }
    /// ```
    ///
    /// Write `param spot = 100.0`. A count is converted where an `f32` is needed: `f32(n)`.
    E0319 whole_number(
        declared: (&str, Span),
        literal: Option<&str>,
        value: Span,
        usage: (&str, Span),
        converts: bool,
        through: Option<(&str, Span)>,
    ) {
        let ((name, declared), (of, used)) = (declared, usage);
        let mut report = Diagnostic::new(format!("`{name}` is a whole number, but an `f32` is needed"))
            .at(value, format!("this makes `{name}` an `i32`"))
            .at(used, "needs an `f32`");
        if let Some((name, span)) = through {
            report = report.at(span, format!("so `{name}` is an `i32`, too"));
        }
        let otherwise = match converts {
            true => format!("; where `{of}` is a count, convert it: `f32({of})`"),
            false => String::new(),
        };
        let report = match literal {
            Some(literal) => report
                .help(format!("write `{literal}.0`{otherwise}"))
                .append(value, ".0"),
            None => report
                .help(format!("write its type, `{name}: f32`{otherwise}"))
                .append(declared, ": f32"),
        };
        if converts { report.wrap("f32", used) } else { report }
    }

    /// An operator or a function of numbers and vectors on a whole array.
    ///
    /// Arrays are computed element by element, in a comprehension or a loop.
    ///
    /// ```text
    /// position = position + velocity
    /// ```
    ///
    /// Write `position = [for i in 0..3: position[i] + velocity[i]]`. A sum of products is
    /// `sum(for i in 0..3: a[i] * b[i])`.
    E0320 array_as_whole(what: &str, ty: &str, instead: &str, span: Span, array: Span, fix: Option<&str>) {
        let report = Diagnostic::new(format!("`{what}` does not work on arrays as a whole"))
            .at(array, format!("this is `{ty}`"))
            .help(format!("write {instead}"));
        match fix {
            Some(fix) => report.replace(span, fix),
            None => report,
        }
    }

    /// `^` between floats, which joins the bits of integers.
    ///
    /// ```text
    /// output y = x^2
    /// ```
    ///
    /// A power is written `x ** 2`.
    E0321 power_as_xor(ty: &str, left: Span, right: Span) {
        let sign = Span { start: left.end, end: right.start };
        Diagnostic::new(format!("`^` joins the bits of integers, but this is `{ty}`"))
            .at(left, format!("this is `{ty}`"))
            .help("a power is written `**`")
            .replace(sign, " ** ")
    }

    /// A function whose parameter or place wants a name that something else has.
    E0318 unknown_method(name: &str, span: Span, near: Option<&str>) {
        did_you_mean(
            Diagnostic::new(format!("unknown integration method `{name}`"))
                .at(span, "there are `euler`, `midpoint`, `heun` and `rk4`"),
            near,
        )
    }
}
