//! Complaints about plots (E0983–E0986).

use super::{Problem, catalog};
use std::path::Path;

catalog! {
    /// The ending of a plot's file says no known form.
    ///
    /// `--plot` writes `.svg` and `.png` files. Without a file it draws in the terminal.
    E0983 unknown_picture_form(path: &Path) {
        Problem::new(format!("`{}` ends with no known form of picture", path.display()))
            .help("draw to a file that ends with .svg or .png, or in the terminal: `--plot` without a file")
    }

    /// `--plot` was given, but the model has nothing that can be drawn.
    ///
    /// Outputs are drawn, and what `observe`, `world observe` and `record` sample as the run goes on.
    E0984 nothing_to_draw() {
        Problem::new("the model has nothing to draw")
            .help("declare an output, such as `output price`, or `observe` a value over time")
    }

    /// `--show` names neither an output nor a series of the model.
    ///
    /// A name is that of an `output`, a `world output`, an `observe`, a `world observe` or a `record`; an
    /// element of one is written as in files of outputs, such as `position.x` or `w[0]`. States are drawn
    /// only if an output or a series has them.
    E0985 nothing_of_that_name(name: &str, known: &[&str]) {
        const MOST: usize = 12;
        let quoted = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            names.join(", ")
        };
        let near = |other: &&&str| strsim::osa_distance(name, other) <= 1 + name.len() / 4;
        let nearest = known.iter().filter(near).min_by_key(|other| strsim::osa_distance(name, other));
        let more = match known.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let all = format!("{}{more}", quoted(&known[..known.len().min(MOST)]));
        Problem::new(format!("there is no output or series `{name}` to draw")).help(match nearest {
            Some(nearest) => format!("did you mean `{nearest}`? there are {all}"),
            None => format!("there are {all}"),
        })
    }

    /// `--show` asks for values in one plot that do not belong together.
    ///
    /// `x:y` draws two single numbers, one against the other: two outputs, two world outputs, or two
    /// series of one kind. An element of an array or vector is a single number: `position.x:position.y`.
    /// `a+b` draws curves of single numbers that are observed of all agents.
    E0986 not_alike(wanted: &str, why: &str) {
        Problem::new(format!("`{wanted}` cannot be drawn in one plot: {why}"))
            .help("`x:y` takes two single numbers of one kind, `a+b` single numbers that are observed of all \
                   agents")
    }
}
