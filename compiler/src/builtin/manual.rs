//! The manual of the builtin functions, written from their table.

use super::{Area, Builtin, Class, Draw, Fold, Meaning, Pure, Slot, Tolerance, Wgsl, table};
use std::fmt::Write;

const HEAD: &str = "\
# Builtin functions

This page is generated from the compiler's table of builtins.

A `T` is any type of the set that stands after the signature, the same one throughout a call; functions of
numbers work on vectors component by component. Every example holds. *CPU* gives the meaning: the
interpreter and constant folding compute exactly this, with the same bits on every processor. *GPU* says how
far a driver's result may be from it under `--math fast`: *exact*, in units in the last place (ulp), or as the
larger of an absolute and a relative error. That holds for arguments up to 1e30 in size where the row says
nothing else. A GPU may also flush numbers below 1.18e-38 to zero. NaN gives NaN wherever it does on the CPU;
infinite arguments may give NaN where they do not there. `--math precise` is for what lies beyond: see
[mathematics.md](mathematics.md).
";

/// The manual, as Markdown, by area.
pub fn reference() -> String {
    let mut text = HEAD.to_owned();
    let mut area = None;
    for row in table::rows() {
        if area != Some(row.area()) {
            area = Some(row.area());
            let (title, lead) = heading(row.area());
            write!(text, "\n## {title}\n\n{lead}\n").expect("a String takes all");
        }
        entry(&mut text, row).expect("a String takes all");
    }
    text
}

fn heading(area: Area) -> (&'static str, &'static str) {
    match area {
        Area::Arithmetic => ("Arithmetic", "Of numbers, component by component."),
        Area::Exponential => ("Powers and logarithms", "Component by component."),
        Area::Trigonometry => ("Trigonometry", "Angles are in radians."),
        Area::Activation => ("Activation functions", "Component by component."),
        Area::Vector => ("Vectors", "Of vectors as a whole."),
        Area::Bits => ("Bits", "Of the bits of integers."),
        Area::Fold => (
            "Arrays and comprehensions",
            "They fold an array, or a comprehension without building it; `min` and `max` of one argument \
            do, too.",
        ),
        Area::Random => (
            "Random draws",
            "A draw depends on the seed, the agent, the step and the draw's number within the step.",
        ),
    }
}

fn entry(text: &mut String, row: &Builtin) -> std::fmt::Result {
    write!(text, "\n### `{}`\n\n", signature(row))?;
    writeln!(text, "{}\n", row.doc)?;
    writeln!(text, "* Example: `{}`", row.example)?;
    match &row.meaning {
        Meaning::Pure(pure) => facts(text, row, pure),
        Meaning::Draw(draw) => writeln!(text, "* Words per draw: {}", words(*draw)),
        Meaning::Fold(fold) => writeln!(text, "* Elements: {}", elements(*fold)),
        Meaning::Length => Ok(()),
    }
}

fn facts(text: &mut String, row: &Builtin, pure: &Pure) -> std::fmt::Result {
    let spelling = match pure.wgsl {
        Wgsl::Native(name) => format!("the WGSL builtin `{name}`"),
        Wgsl::Helper { name, .. } => format!("a function `{name}` in the kernel"),
        Wgsl::Expression(template) => {
            let spelt = (row.params.iter().enumerate())
                .fold(template.to_owned(), |text, (k, name)| {
                    text.replace(&format!("{{{k}}}"), name)
                });
            format!("`{spelt}`")
        }
    };
    let tolerance = match pure.tolerance {
        Tolerance::Exact => "exact".to_owned(),
        Tolerance::Ulp { ulp, .. } => format!("{ulp} ulp"),
        Tolerance::Mixed {
            absolute, relative, ..
        } => format!("{absolute:e} absolute or {relative:e} relative"),
    };
    let range = match pure.tolerance.largest_argument() {
        Tolerance::WIDE => String::new(),
        size => format!(", for arguments up to {size:?} in size"),
    };
    writeln!(text, "* GPU: {spelling}; {tolerance}{range}")?;
    for (name, derivative) in row.params.iter().zip(pure.derivative) {
        writeln!(text, "* Derivative by `{name}`: `{derivative}`")?;
    }
    Ok(())
}

/// A builtin's name, parameters and result, such as `max(a: T, b: T) -> T, T: f32, i32, u32, vector`.
pub fn signature(row: &Builtin) -> String {
    let Meaning::Pure(pure) = &row.meaning else {
        return format!("{}({})", row.name, row.params.join(", "));
    };
    let params: Vec<String> = (row.params.iter().zip(pure.params))
        .map(|(name, slot)| format!("{name}: {}", spell(*slot)))
        .collect();
    let class = if pure.params.contains(&Slot::T) {
        match pure.class {
            Class::Float => ", T: f32, vector",
            Class::Numeric => ", T: f32, i32, u32, vector",
            Class::Signed => ", T: f32, i32, vector",
            Class::Integer => ", T: i32, u32",
            Class::Vector => ", T: vector",
            Class::Any => ", T: any",
        }
    } else {
        ""
    };
    let result = spell(pure.result);
    format!("{}({}) -> {result}{class}", row.name, params.join(", "))
}

fn spell(slot: Slot) -> &'static str {
    match slot {
        Slot::T => "T",
        Slot::Component => "f32",
        Slot::F32 => "f32",
        Slot::I32 => "i32",
        Slot::U32 => "u32",
        Slot::Bool => "bool",
        Slot::Vec3 => "vec3",
    }
}

fn words(draw: Draw) -> &'static str {
    match draw {
        Draw::Random | Draw::Uniform | Draw::Exponential => "1",
        Draw::Normal => "2; 1 with `a` and `b`",
        Draw::NormalBetween | Draw::Cauchy => "1",
        Draw::Bernoulli
        | Draw::RandInt
        | Draw::Categorical
        | Draw::LogNormal
        | Draw::StudentT
        | Draw::Laplace => "2",
        Draw::Geometric => "32, of which it computes those that it needs",
        Draw::Gamma | Draw::ChiSquared => "64, of which it computes those that it needs",
        Draw::Poisson => "96, of which it computes those that it needs",
        Draw::Beta | Draw::Binomial => "128, of which it computes those that it needs",
    }
}

fn elements(fold: Fold) -> &'static str {
    match fold {
        Fold::Sum => "numbers, vectors",
        Fold::Product | Fold::Min | Fold::Max | Fold::ArgMin | Fold::ArgMax => "numbers",
        Fold::Mean => "`f32`, vectors",
        Fold::Any | Fold::All => "`bool`",
        Fold::Count => "`bool`, or anything that a filter lets pass",
    }
}
