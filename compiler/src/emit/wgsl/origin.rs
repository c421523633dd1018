//! The map of the source: the lines of the kernel that each expression of the model went to.

use crate::{
    emit::wgsl::Writer, ir::ExprId, kernel::tailor::Tailored, manifest::Manifest, options::Options,
    span::Span,
};
use std::ops::Range;

/// An expression of the source in the kernel's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Its place in the source. Text of the prelude is behind the source's end.
    pub span: Span,
    /// The bytes of the lines that it went to.
    pub lines: Range<usize>,
}

/// Where the expressions of a model went in the kernel of [`Schedule::default`], in the order of its text. An
/// expression that was copied has several entries, one that was folded away has none.
pub(crate) fn origins(
    tailored: &Tailored<'_>,
    manifest: &Manifest,
    options: &Options,
) -> Vec<Origin> {
    let mut writer = Writer::new(tailored, manifest, options);
    writer.origins = Some(Vec::new());
    writer.write();
    writer.origins.unwrap_or_default()
}

impl Writer<'_> {
    /// Records that an expression is in the current line.
    pub(super) fn begin_origin(&mut self, id: ExprId) {
        let span = self.program.span(id);
        let start = self.line_start;
        if let Some(origins) = &mut self.origins
            && span != Span::default()
        {
            origins.push(Origin {
                span,
                lines: start..start,
            });
        }
    }

    /// The current line has ended, and was broken if it was long.
    pub(super) fn end_origins(&mut self) {
        let end = self.out.len();
        if let Some(origins) = &mut self.origins {
            let open = origins.iter_mut().rev();
            for origin in open.take_while(|origin| origin.lines.is_empty()) {
                origin.lines.end = end;
            }
        }
    }
}
