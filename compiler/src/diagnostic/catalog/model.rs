//! Complaints about a model as a whole (E0600–E0699).

use super::catalog;
use crate::{diagnostic::Diagnostic, span::Span, value::Shown};
use std::ops::RangeInclusive;

catalog! {
    /// The default of a param outside its own range.
    E0601 default_outside_range(name: &str, value: f64, start: f64, end: f64, span: Span, range: Span) {
        Diagnostic::new(format!("the default {} of `{name}` is outside its range", Shown(value)))
            .at(span, "the default")
            .at(range, format!("allowed are {} to {}", Shown(start), Shown(end)))
    }

    /// A range whose end is not above its start.
    E0602 bad_range(start: f64, end: f64, span: Span) {
        Diagnostic::new(format!("the range {}..{} is empty", Shown(start), Shown(end)))
            .at(span, "the end must be above the start")
    }

    /// `agents` or `steps` declared twice.
    E0603 declared_twice(word: &str, span: Span, first: Span) {
        Diagnostic::new(format!("`{word}` is declared twice")).at(span, "again here").at(first, "first here")
    }

    /// A population or a number of steps that cannot be.
    ///
    /// There are 1 to 2,147,483,647 agents, since a model counts them in an `i32`, and 0 to 1,073,741,823
    /// steps, since a kernel counts them in 30 bits. `every` says how many steps lie between two samples of
    /// what is recorded or observed: at least one.
    E0604 bad_count(word: &str, value: &str, legal: RangeInclusive<u32>, span: Span) {
        Diagnostic::new(format!("`{word}` cannot be {value}"))
            .at(span, format!("must be {} to {}", legal.start(), legal.end()))
    }

    /// A file without any state, output or block: there is nothing to run.
    E0605 empty_model(span: Span) {
        Diagnostic::new("there is nothing to run").at(span, "no state, no output and no `step`")
            .help("say what an agent is, does and gives: `state x = 0.0`, `step { x += normal() }`, `output \
                x`")
    }

    /// An output without a value whose name is no state.
    E0606 output_without_state(
        word: &str,
        name: &str,
        what: &str,
        value: &str,
        span: Span,
        local: Option<Span>,
    ) {
        let report = Diagnostic::new(format!("{word} `{name}` has no value")).at(span, what);
        if let Some(local) = local {
            return report
                .at(local, "this lives only in its block")
                .help(format!(
                    "declare `state {name} = 0.0` at the top level, and assign it here: `{name} = …`"
                ));
        }
        report.help(format!("write `{word} {name} = {value}`"))
            .append(span, if value == "…" { " = 0.0".to_owned() } else { format!(" = {value}") })
    }

    /// More params than a uniform block holds.
    ///
    /// All params together may take 64 KiB, the limit of uniform buffers in WebGPU. Large tables belong
    /// into `data`.
    E0607 too_many_params(bytes: u64, span: Span) {
        Diagnostic::new(format!("the params take {bytes} bytes")).at(span, "65,536 bytes are available")
            .help("declare large tables as `data`")
    }

    /// More single values than a GPU gives an agent.
    ///
    /// States, local variables, and values of worlds and samples that are no arrays live in registers of the
    /// kernel or in its memory, of which WGSL guarantees two regions of 8,192 bytes. Arrays may be larger:
    /// those that do not fit are in storage.
    E0608 too_many_values(span: Span) {
        Diagnostic::new("the values of one agent that are no arrays take more than 16,128 bytes")
            .at(span, "no memory is left for this one").help("put values of one kind into an array")
    }

    /// A `param` range on something that has no order.
    E0609 range_on(ty: &str, span: Span) {
        Diagnostic::new(format!("a param of type `{ty}` cannot have a range"))
            .at(span, "ranges are for numbers")
    }

    /// The distribution of an input must be a random draw of numbers.
    E0610 not_a_distribution(span: Span) {
        Diagnostic::new("an input's distribution must be a draw").at(span, "not a random draw")
            .help("write `~ normal(0.0, 1.0)`, `~ uniform(a, b)`, …; a fixed default is written with `=`")
    }

    /// A value too large for what one agent may hold.
    E0611 too_large(what: &str, words: u64, span: Span) {
        Diagnostic::new(format!("{what} would take {words} words per agent"))
            .at(span, "at most 16,777,216 are possible")
    }

    /// A struct with too many fields, those of its fields included.
    E0612 too_many_fields(name: &str, fields: u64, limit: u64, span: Span) {
        Diagnostic::new(format!("struct `{name}` has {fields} fields in all"))
            .at(span, format!("at most {limit} are possible"))
            .help("use arrays for values of one kind")
    }

    /// A model that becomes too long when it is spelled out.
    ///
    /// Structs are copied field by field, `integrate` evaluates its body once per stage, and functions that
    /// draw, read inputs, or take or give arrays or structs are written out where they are called.
    E0617 too_many_operations(limit: usize, span: Span) {
        Diagnostic::new(format!("this model becomes more than {limit} operations"))
            .at(span, "from here on")
            .help("use arrays, which are copied by loops, and call functions in loops")
    }

    /// Too many values of too large enums.
    ///
    /// The manifest lists the names of the variants of each value that is an enum, for hosts to read and
    /// write.
    E0618 too_many_variants(limit: u64, span: Span) {
        Diagnostic::new(format!("the values of this model have more than {limit} variants in all"))
            .at(span, "from here on")
            .help("use `i32` for some of them")
    }

    /// Structs within structs within structs, beyond a limit that no model needs.
    E0616 structs_too_deep(name: &str, limit: u64, span: Span) {
        Diagnostic::new(format!("struct `{name}` has too many structs within one another"))
            .at(span, format!("at most {limit} levels are possible"))
            .help("put fields of inner structs into the outer ones")
    }

    /// Calls that take too much code.
    ///
    /// Functions that draw, read inputs, or take or give arrays or structs are written out where they are
    /// called. When they call one another several times, the code grows as a power of their number.
    E0613 too_much_code(name: &str, limit: u64, span: Span) {
        Diagnostic::new(format!("calls such as this one of `{name}` take too much code"))
            .at(span, format!("more than {limit} calls are written out in all"))
            .help("call it once and name its result, or call it in a loop")
    }

    /// Blocks within blocks beyond what shader compilers take.
    ///
    /// Counted after functions are inlined and what never runs is gone; the arms of an `else if` chain or a
    /// `match` count as one level, but as one each in a chain of more than 2,000.
    E0614 blocks_too_deep(levels: u32, most: u32, span: Span) {
        Diagnostic::new(format!("blocks lie {levels} levels within one another"))
            .at(span, format!("at most {most} levels are possible"))
            .help("move inner blocks into functions, or join conditions with `&&`")
    }

    /// More params than members in a uniform block.
    ///
    /// A uniform block has 1,023 members in WGSL. Every param is one, and every field of a struct, but an
    /// array is one as a whole; a few are the compiler's own.
    E0615 too_many_members(count: usize, span: Span) {
        Diagnostic::new(format!("the model has {count} params"))
            .at(span, "about 1,000 are possible")
            .help("put params that belong together into an array")
    }
}
