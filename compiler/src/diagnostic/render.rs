//! Diagnostics as text. The only place that knows ariadne.

use super::Diagnostic;
use ariadne::{CharSet, Color, Config, IndexType, Label, Report, ReportKind, Source};

/// How a report looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Colours for a terminal.
    pub color: bool,
}

/// All diagnostics as one text; `name` is the file's name as the user knows it.
pub fn render(name: &str, source: &str, diagnostics: &[Diagnostic], style: Style) -> String {
    let mut cache = (name, Source::from(source));
    let mut text = Vec::new();
    for diagnostic in diagnostics {
        // Writing to memory cannot fail, and a report must not stop the others.
        let _ = report(name, source, diagnostic, style).write(&mut cache, &mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn report<'a>(
    name: &'a str,
    source: &str,
    diagnostic: &Diagnostic,
    style: Style,
) -> Report<'a, (&'a str, std::ops::Range<usize>)> {
    let config = Config::default()
        .with_color(style.color)
        .with_index_type(IndexType::Byte)
        .with_char_set(CharSet::Unicode);
    let clip = |range: std::ops::Range<usize>| {
        let end = range.end.min(source.len());
        range.start.min(end)..end
    };
    let mut report = Report::build(ReportKind::Error, (name, clip(diagnostic.span().range())))
        .with_config(config)
        .with_code(diagnostic.code)
        .with_message(&diagnostic.message);
    for (order, label) in diagnostic.labels.iter().enumerate() {
        let color = if order == 0 { Color::Red } else { Color::Blue };
        report = report.with_label(
            Label::new((name, clip(label.span.range())))
                .with_message(&label.text)
                .with_color(color)
                .with_order(order as i32),
        );
    }
    if let Some(help) = &diagnostic.help {
        report = report.with_help(help);
    }
    report.finish()
}
