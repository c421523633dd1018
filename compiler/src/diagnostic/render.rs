//! Diagnostics as text. Only this file uses ariadne.
//!
//! A report is for a person: lines that are too long to read are cropped around their labels, and characters
//! that would control a terminal are shown as `?`.

use super::{Diagnostic, Severity};
use ariadne::{CharSet, Color, Config, IndexType, Label, Report, ReportKind, Source};
use std::{borrow::Cow, ops::Range};

/// How a report looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Colours for a terminal.
    pub color: bool,
}

/// Lines of more bytes than this are cropped.
const LONG_LINE: usize = 300;
/// How many bytes of a long line stay before and after the start of a label.
const AROUND: usize = 80;
/// How many lines before a cropped one are kept as empty lines.
const MOST_EMPTY_LINES: usize = 100_000;

/// All diagnostics as one text; `name` is the file's name as the user knows it.
pub fn render(name: &str, source: &str, diagnostics: &[Diagnostic], style: Style) -> String {
    if diagnostics.is_empty() {
        return String::new();
    }
    let source = printable(source);
    let lines = Lines::of(&source);
    let mut cache = (name, Source::from(&*source));
    let mut text = Vec::new();
    for diagnostic in diagnostics {
        let spans = places(diagnostic, source.len());
        let mut order: Vec<usize> = (0..spans.len()).collect();
        order.sort_by_key(|label| lines.line(spans[*label].start));
        // Writing to memory cannot fail, and a report must not stop the others.
        let _ = if spans.iter().any(|span| lines.touch_long(span)) {
            let excerpt = lines.excerpt(&spans);
            let start = spans.first().map_or(0, |span| span.start);
            let name = format!("{name} (byte {start}, line cropped)");
            let spans = spans.iter().map(|span| excerpt.map(span)).collect();
            let source = Source::from(excerpt.text).with_display_line_offset(excerpt.first_line);
            let id = name.as_str();
            report(id, spans, &order, diagnostic, style).write((id, source), &mut text)
        } else {
            report(name, spans, &order, diagnostic, style).write(&mut cache, &mut text)
        };
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The places of the labels, all inside the text; the start of the text if there is no label.
fn places(diagnostic: &Diagnostic, len: usize) -> Vec<Range<usize>> {
    let clip = |range: Range<usize>| {
        let end = range.end.min(len);
        range.start.min(end)..end
    };
    let labels = diagnostic.labels.iter();
    labels.map(|label| clip(label.span.range())).collect()
}

/// `order` has the labels by their lines: so all are one excerpt.
fn report<'a>(
    name: &'a str,
    spans: Vec<Range<usize>>,
    order: &[usize],
    diagnostic: &'a Diagnostic,
    style: Style,
) -> Report<'a, (&'a str, Range<usize>)> {
    let config = Config::default()
        .with_color(style.color)
        .with_index_type(IndexType::Byte)
        .with_char_set(CharSet::Unicode);
    let main = spans.first().cloned().unwrap_or(0..0);
    let (kind, own_color) = match diagnostic.severity {
        Severity::Error => (ReportKind::Error, Color::Red),
        Severity::Warning => (ReportKind::Warning, Color::Yellow),
    };
    let mut report = Report::build(kind, (name, main))
        .with_config(config)
        .with_code(diagnostic.code)
        .with_message(&diagnostic.message);
    for (rank, &index) in order.iter().enumerate() {
        let color = if index == 0 { own_color } else { Color::Blue };
        let (label, span) = (&diagnostic.labels[index], spans[index].clone());
        report = report.with_label(
            Label::new((name, span))
                .with_message(&label.text)
                .with_color(color)
                .with_order(rank as i32),
        );
    }
    if let Some(help) = &diagnostic.help {
        report = report.with_help(help);
    }
    report.finish()
}

/// The text with a `?` for each byte of a control character; the places stay what they are.
fn printable(source: &str) -> Cow<'_, str> {
    let commands = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\r' | '\t')
            || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !source.contains(commands) {
        return Cow::Borrowed(source);
    }
    let mut text = String::with_capacity(source.len());
    for c in source.chars() {
        if commands(c) {
            text.extend(std::iter::repeat_n('?', c.len_utf8()));
        } else {
            text.push(c);
        }
    }
    Cow::Owned(text)
}

/// The lines of a text.
struct Lines<'a> {
    source: &'a str,
    /// The byte at which each begins.
    starts: Vec<usize>,
}

/// A part of a text whose lines are short enough to read.
struct Excerpt {
    text: String,
    /// The number of lines of the whole text that it lacks before its first.
    first_line: usize,
    /// For each kept stretch: where it was, and where it begins now.
    kept: Vec<(Range<usize>, usize)>,
}

impl<'a> Lines<'a> {
    fn of(source: &'a str) -> Self {
        let breaks = source.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1));
        Lines {
            source,
            starts: starts.collect(),
        }
    }

    /// The index of the line of a byte.
    fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at) - 1
    }

    /// A line without its break.
    fn range(&self, line: usize) -> Range<usize> {
        let next = self.starts.get(line + 1).map(|next| next - 1);
        self.starts[line]..next.unwrap_or(self.source.len())
    }

    fn touch_long(&self, span: &Range<usize>) -> bool {
        let long = |at| self.range(self.line(at)).len() > LONG_LINE;
        long(span.start) || long(span.end)
    }

    /// The lines on which a span begins or ends, cropped; those between are empty.
    fn excerpt(&self, spans: &[Range<usize>]) -> Excerpt {
        let mut ends: Vec<usize> = spans.iter().flat_map(|s| [s.start, s.end]).collect();
        ends.sort_unstable();
        let first_line = self.line(ends.first().copied().unwrap_or(0));
        // ariadne 0.6 numbers the lines of the margin without the offset, so empty lines stand for those
        // before; past the limit only the header of the report has the right number.
        let empty = if first_line <= MOST_EMPTY_LINES {
            first_line
        } else {
            0
        };
        let mut excerpt = Excerpt {
            text: "\n".repeat(empty),
            first_line: first_line - empty,
            kept: Vec::new(),
        };
        let mut line = first_line;
        let mut last = None;
        for at in ends {
            let this = self.line(at);
            if last == Some(this) {
                continue;
            }
            last = Some(this);
            excerpt.text.extend(std::iter::repeat_n('\n', this - line));
            line = this;
            excerpt.keep(self.source, self.range(this), at);
        }
        excerpt
    }
}

impl Excerpt {
    /// Appends a line, cropped around `at`.
    fn keep(&mut self, source: &str, line: Range<usize>, at: usize) {
        let mut range = line.clone();
        if line.len() > LONG_LINE {
            range.start = source.floor_char_boundary(at.saturating_sub(AROUND).max(line.start));
            range.end = source.floor_char_boundary((at + AROUND).min(line.end));
        }
        if range.start > line.start {
            self.text.push('…');
        }
        self.kept.push((range.clone(), self.text.len()));
        self.text.push_str(&source[range.clone()]);
        if range.end < line.end {
            self.text.push('…');
        }
    }

    /// Where a place of the whole text lies in the excerpt, cropped with its line.
    fn map(&self, span: &Range<usize>) -> Range<usize> {
        let place = |at: usize| {
            let index = self.kept.partition_point(|(was, _)| was.start <= at);
            let Some((was, now)) = self.kept.get(index.saturating_sub(1)) else {
                return 0;
            };
            now + at.clamp(was.start, was.end) - was.start
        };
        let start = place(span.start);
        start..place(span.end).max(start)
    }
}
