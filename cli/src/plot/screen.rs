//! Panels as text, for a terminal: curves of braille dots, bars of blocks; plain ASCII where a terminal shows
//! nothing else.

mod canvas;

use super::{
    panel::{Mark, Page, Panel},
    scale::{Axis, Kind, Ticks},
    theme::Ink,
};
use canvas::Canvas;
use std::{
    env,
    fmt::Write,
    io::{self, IsTerminal},
};

/// Lines of a plot.
const HEIGHT: usize = 12;
/// Columns at most: longer lines are hard to read.
const MOST_WIDTH: usize = 110;
/// Columns where no terminal says how many it has.
const WIDTH: usize = 80;

/// What a terminal can show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    /// Columns.
    pub(super) width: usize,
    /// Does it show more than ASCII?
    pub(super) is_unicode: bool,
    /// Does it show colours?
    pub(super) has_colours: bool,
}

impl Screen {
    /// That of standard output.
    pub(super) fn of_standard_output() -> Screen {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty());
        let is_dumb = set("TERM").is_some_and(|term| term == "dumb");
        let is_terminal = io::stdout().is_terminal();
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        // The first that is set says it, as in C's library.
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        let names_utf8 = |locale: std::ffi::OsString| {
            let name = locale.to_string_lossy().to_lowercase();
            name.contains("utf-8") || name.contains("utf8")
        };
        Screen {
            width: width.filter(|_| is_terminal).unwrap_or(WIDTH),
            is_unicode: locale.map_or(cfg!(windows), names_utf8),
            has_colours: is_terminal && set("NO_COLOR").is_none() && !is_dumb,
        }
    }

    /// A text in an ink.
    fn inked(self, text: &str, ink: Ink) -> String {
        match self.has_colours {
            true => format!("\u{1b}[{}m{text}\u{1b}[0m", colour(ink)),
            false => text.to_owned(),
        }
    }

    fn bold(self, text: &str) -> String {
        match self.has_colours {
            true => format!("\u{1b}[1m{text}\u{1b}[0m"),
            false => text.to_owned(),
        }
    }
}

/// The parameter of a terminal's command for a colour.
fn colour(ink: Ink) -> &'static str {
    const SERIES: [&str; 7] = ["36", "33", "32", "35", "34", "31", "37"];
    /// Terminals have no more colours in such an order for certain.
    const SCALE: [&str; 4] = ["35", "34", "32", "33"];
    match ink {
        Ink::Series(number) => SERIES[number % SERIES.len()],
        Ink::Accent => "33",
        Ink::Scale(place) => SCALE[usize::from(place) * SCALE.len() / 256],
        Ink::Faint => "2",
    }
}

/// All panels of a page, one below the other.
pub(super) fn text(page: &Page, screen: Screen) -> String {
    let width = screen.width.clamp(30, MOST_WIDTH);
    let screen = Screen { width, ..screen };
    let panels = page.panels.iter().map(|panel| of_panel(panel, screen));
    let text = panels.collect::<Vec<_>>().join("\n");
    match screen.is_unicode {
        true => text,
        false => ascii(&text),
    }
}

/// What ASCII has for the letters that we use.
fn ascii(text: &str) -> String {
    const RAISED: [char; 11] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹', '⁻'];
    let mut found = String::with_capacity(text.len());
    let mut was_raised = false;
    for letter in text.chars() {
        let raised = RAISED.iter().position(|&it| it == letter);
        if raised.is_some() && !was_raised {
            found.push('^');
        }
        was_raised = raised.is_some();
        match (raised, letter) {
            (Some(10), _) | (None, '−' | '–') => found.push('-'),
            (Some(digit), _) => found.push_str(&digit.to_string()),
            (None, '×') => found.push('x'),
            (None, '·') => found.push(';'),
            (None, '±') => found.push_str("+-"),
            (None, '…') => found.push_str("..."),
            (None, letter) if letter.is_ascii() => found.push(letter),
            (None, _) => found.push('?'),
        }
    }
    found
}

fn of_panel(panel: &Panel, screen: Screen) -> String {
    let mut out = String::new();
    let mut head = screen.bold(&panel.title);
    let is_share = panel.y.kind == Kind::Shares;
    if !is_share && !panel.y.label.is_empty() && panel.y.label != panel.title {
        let _ = write!(head, "  {}", panel.y.label);
    }
    // Writing to a string does not fail.
    let _ = writeln!(out, "{head}");
    if !panel.note.is_empty() {
        for line in folded(&panel.note, screen.width) {
            let _ = writeln!(out, "{line}");
        }
    }
    if panel.is_empty() {
        return out;
    }
    let rows = panel.marks.iter().find_map(|mark| match mark {
        Mark::Rows { lengths, said, ink } => Some((lengths, said, *ink)),
        _ => None,
    });
    match rows {
        Some((lengths, said, ink)) => out.push_str(&of_rows(panel, lengths, said, ink, screen)),
        None => of_plot(panel, screen, &mut out),
    }
    out
}

/// A text in lines no longer than a width.
fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A bar a line, the last of the axis first.
fn of_rows(panel: &Panel, lengths: &[f64], said: &[String], ink: Ink, screen: Screen) -> String {
    let names = panel.y.ticks(2).labels;
    let longest = |texts: &[String]| texts.iter().map(|it| it.chars().count()).max().unwrap_or(0);
    let left = longest(&names).min(screen.width / 3);
    let most = screen.width.saturating_sub(left + longest(said) + 4).max(5);
    let mut out = String::new();
    for ((name, length), said) in names.iter().zip(lengths).zip(said).rev() {
        let name: String = name.chars().take(left).collect();
        let eighths = (panel.x.place(*length) * most as f64 * 8.0).round() as usize;
        let bar = match screen.is_unicode {
            true => canvas::level(eighths),
            false => "#".repeat(eighths.div_ceil(8)),
        };
        let bar = screen.inked(&bar, ink);
        let _ = writeln!(out, "{name:>left$} {bar} {said}");
    }
    out
}

fn of_plot(panel: &Panel, screen: Screen, out: &mut String) {
    let ticks = panel.y.ticks(5);
    let left = ticks
        .labels
        .iter()
        .map(|it| it.chars().count())
        .max()
        .unwrap_or(0);
    let wide = screen.width.saturating_sub(left + 2).max(10);
    let mut canvas = Canvas::new([wide, HEIGHT], screen, panel.key.len() > 1);
    canvas.draw(panel);
    for (number, (ink, name)) in panel.key.iter().enumerate() {
        let sign = screen.inked(&canvas.sign(number), *ink);
        let gap = if number == 0 { "" } else { "   " };
        let _ = write!(out, "{gap}{sign} {name}");
    }
    if !panel.key.is_empty() {
        out.push('\n');
    }
    for mark in &panel.marks {
        if let Mark::Mass { said, .. } = mark {
            let bar = if screen.is_unicode { "█" } else { "#" };
            let _ = writeln!(out, "{} {said}", screen.inked(bar, Ink::Accent));
        }
    }
    let is_map = |mark: &Mark| matches!(mark, Mark::Cells { .. });
    let is_map = panel.marks.iter().any(is_map);
    if let Some(colours) = panel.colours.as_ref().filter(|_| is_map) {
        let ends = colours.range.map(super::scale::short);
        let _ = writeln!(out, "{} to {}: {}", ends[0], ends[1], canvas.shades());
    }
    let power = panel.y.label_with(&ticks);
    if ticks.power != 0 {
        let _ = writeln!(out, "{power}");
    }
    let [side, tick, corner, foot] = match screen.is_unicode {
        true => ["│", "┤", "└", "─"],
        false => ["|", "+", "+", "-"],
    };
    for row in 0..HEIGHT {
        let is_here = |value: &f64| line_of(&panel.y, *value) == row;
        let found = ticks.at.iter().position(is_here);
        let (label, border) = match found {
            Some(found) => (ticks.labels[found].as_str(), tick),
            None => ("", side),
        };
        let line = format!("{label:>left$} {border}{}", canvas.line(row));
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let _ = writeln!(out, "{:>left$} {corner}{}", "", foot.repeat(wide));
    let (below, ticks) = below(&panel.x, wide);
    let _ = writeln!(out, "{:>left$}  {}", "", below.trim_end());
    let label = panel.x.label_with(&ticks);
    if !label.is_empty() {
        let middle = (wide + label.chars().count().min(wide)) / 2;
        let _ = writeln!(out, "{:>left$}  {label:>middle$}", "");
    }
}

/// The line of a plot that a value lies in, from above.
fn line_of(axis: &Axis, value: f64) -> usize {
    let down = (1.0 - axis.place(value)) * HEIGHT as f64;
    (down as usize).min(HEIGHT - 1)
}

/// The values below a plot, as many as fit.
fn below(axis: &Axis, wide: usize) -> (String, Ticks) {
    let ticks = axis.ticks((wide / 10).clamp(2, 8));
    let mut line = vec![' '; wide];
    let mut free = 0;
    for (&value, label) in ticks.at.iter().zip(&ticks.labels) {
        let length = label.chars().count();
        let middle = (axis.place(value) * wide as f64) as usize;
        let from = middle
            .saturating_sub(length / 2)
            .min(wide.saturating_sub(length));
        if from < free || length > wide {
            continue;
        }
        for (place, letter) in line[from..].iter_mut().zip(label.chars()) {
            *place = letter;
        }
        free = from + length + 2;
    }
    (line.into_iter().collect(), ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_has_a_spelling_for_all_that_we_write() {
        assert_eq!(ascii("−1.5×10⁻⁷ · a ± b…"), "-1.5x10^-7 ; a +- b...");
        assert_eq!(ascii("Größe [m/s²]"), "Gr??e [m/s^2]");
    }

    #[test]
    fn notes_are_folded_between_words() {
        assert_eq!(folded("one two three", 8), ["one two", "three"]);
    }
}
