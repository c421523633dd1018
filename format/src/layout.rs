//! Where lines break: a list of texts, groups and possible breaks to lines of at most `WIDTH` columns.
//!
//! A group stays on its line if it fits there with what follows it up to the next possible break; otherwise
//! its own breaks become line breaks, and the groups inside are tried in turn. A comment ends its line, so
//! the groups around it are broken. Time is linear, and there is no recursion.

use crate::align::{Line, Mark, WIDTH};

/// A piece of the text to be laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Text without line breaks.
    Text(&'a str),
    /// Nothing or a space on the line of a whole group, else a line break.
    Break {
        /// A space, if the group is whole.
        space: bool,
        /// Breaks only where the line is full, not with the group.
        fill: bool,
        /// An empty line, if it breaks.
        blank: bool,
    },
    /// A line break, whatever fits.
    Hard {
        /// An empty line as well.
        blank: bool,
        /// More indentation for the one line that follows.
        extra: usize,
    },
    /// A comment, maybe of several lines; a line break follows.
    Comment {
        /// As in the source.
        text: &'a str,
        /// Whether it has a line of its own.
        own_line: bool,
    },
    /// The start of a group.
    Group,
    /// Its end.
    EndGroup,
    /// More indentation for the lines up to `EndNest`.
    Nest(usize),
    /// The indentation up to `EndNest` is the current column less this.
    Align(usize),
    /// The end of a `Nest` or an `Align`.
    EndNest,
    /// A text that is there only if the group around it is broken.
    IfBroken(&'static str),
    /// A place that neighbouring lines align.
    Mark(Mark),
}

/// Lays the pieces out.
pub(crate) fn lay_out(pieces: &[Piece<'_>]) -> Vec<Line> {
    let mut layout = Layout {
        pieces,
        forced: forced(pieces),
        broken: vec![true],
        nests: vec![0],
        lines: Vec::new(),
        line: Line::default(),
    };
    for at in 0..pieces.len() {
        layout.piece(at);
    }
    if !layout.line.is_empty() {
        layout.end_line();
    }
    layout.lines
}

/// For each piece, whether it starts a group that contains a line break.
fn forced(pieces: &[Piece<'_>]) -> Vec<bool> {
    let mut forced = vec![false; pieces.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Group => open.push(at),
            Piece::EndGroup => {
                if let Some(inner) = open.pop()
                    && let Some(&outer) = open.last()
                {
                    forced[outer] |= forced[inner];
                }
            }
            Piece::Hard { .. } | Piece::Comment { .. } => {
                if let Some(&inner) = open.last() {
                    forced[inner] = true;
                }
            }
            _ => {}
        }
    }
    forced
}

struct Layout<'a, 'p> {
    pieces: &'p [Piece<'a>],
    forced: Vec<bool>,
    /// The open groups: whether they are broken. The file is one that is.
    broken: Vec<bool>,
    /// The indentations.
    nests: Vec<usize>,
    lines: Vec<Line>,
    line: Line,
}

impl Layout<'_, '_> {
    fn piece(&mut self, at: usize) {
        let broken = self.broken.last().copied().unwrap_or(true);
        let indent = self.nests.last().copied().unwrap_or_default();
        match self.pieces[at] {
            Piece::Text(text) => self.line.text.push_str(text),
            Piece::Break { space, fill, blank } => {
                if broken && !(fill && self.fills(at)) {
                    self.new_line(indent, blank);
                } else if space {
                    self.line.text.push(' ');
                }
            }
            Piece::Hard { blank, extra } => self.new_line(indent + extra, blank),
            Piece::Comment { text, own_line } => {
                self.line.own_comment = own_line;
                self.line.comment = Some(text.to_owned());
            }
            Piece::Group => {
                let broken = broken && (self.forced[at] || !self.fits(at));
                self.broken.push(broken);
            }
            Piece::EndGroup => {
                self.broken.pop();
            }
            Piece::Nest(more) => self.nests.push(indent + more),
            Piece::Align(less) => self.nests.push(self.line.text.len().saturating_sub(less)),
            Piece::EndNest => {
                self.nests.pop();
            }
            Piece::IfBroken(text) => {
                if broken {
                    self.line.text.push_str(text);
                }
            }
            Piece::Mark(mark) => self.line.marks.push((self.line.text.len(), mark)),
        }
    }

    /// Whether the group that starts here fits on the line, with what follows up to the next break.
    fn fits(&self, group: usize) -> bool {
        let mut width = self.line.text.len();
        let mut depth = 0usize;
        let mut inside = true;
        for piece in &self.pieces[group..] {
            match piece {
                Piece::Text(text) => width += text.len(),
                Piece::IfBroken(text) if !inside => width += text.len(),
                Piece::Break { space, .. } if inside => width += usize::from(*space),
                Piece::Break { .. } | Piece::Hard { .. } | Piece::Comment { .. } => return true,
                Piece::Group => depth += 1,
                Piece::EndGroup => {
                    depth = depth.saturating_sub(1);
                    inside &= depth > 0;
                }
                _ => {}
            }
            if width > WIDTH {
                return false;
            }
        }
        true
    }

    /// Whether what follows the break up to the next one of its list fits on the line.
    fn fills(&self, at: usize) -> bool {
        let mut width = self.line.text.len() + 1;
        for piece in &self.pieces[at + 1..] {
            match piece {
                Piece::Text(text) => width += text.len(),
                Piece::IfBroken(text) => width += text.len(),
                Piece::Break { .. } | Piece::Hard { .. } | Piece::Comment { .. } => break,
                _ => {}
            }
        }
        width <= WIDTH
    }

    fn new_line(&mut self, indent: usize, blank: bool) {
        if self.lines.is_empty() && self.line.is_empty() {
            return;
        }
        self.end_line();
        if blank {
            self.lines.push(Line::default());
        }
        self.line.text = " ".repeat(indent);
    }

    fn end_line(&mut self) {
        self.lines.push(std::mem::take(&mut self.line));
    }
}
