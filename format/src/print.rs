//! Tree to pieces. The tree says what belongs together; every word is taken from the script, in order, with
//! the comments before it, so that the printer cannot lose or invent any.

mod expr;
mod item;
mod stmt;
mod test;

use crate::{
    align::{Kind, Mark},
    layout::Piece,
    script::{Place, Script},
};
use sim_compiler::syntax::{Token, ast::Model};

/// The indentation of a block, and of continuation lines.
const INDENT: usize = 4;

/// The pieces of a model.
///
/// # Errors
/// Where the script does not follow the tree, which is a bug.
pub(crate) fn print<'a>(script: &'a Script<'a>, model: &Model) -> Result<Vec<Piece<'a>>, String> {
    let mut printer = Printer {
        script,
        at: 0,
        remarked: 0,
        settled: 0,
        pieces: Vec::new(),
        pending: Pending::default(),
        lost: None,
    };
    for item in &model.items {
        printer.line();
        printer.item(item);
    }
    printer.line();
    printer.remarks();
    if printer.lost.is_none() && printer.at < script.words.len() {
        printer.lose("the end");
    }
    match printer.lost {
        Some(complaint) => Err(complaint),
        None => Ok(printer.pieces),
    }
}

/// The white space that comes before the next word or comment, from weak to strong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Space {
    /// None.
    #[default]
    None,
    /// A space.
    One,
    /// A possible break, otherwise nothing.
    Soft,
    /// A possible break where the line is full, otherwise a space.
    Fill,
    /// A possible break, otherwise a space.
    Line,
    /// A line break.
    Hard,
}

/// White space that has been asked for, but not printed.
#[derive(Clone, Copy, Debug)]
struct Pending {
    space: Space,
    /// Whether an empty line of the source is kept here.
    paragraphs: bool,
    /// Whether this is the start of a block, where no empty line stands.
    first: bool,
    /// The indentation if a comment makes it a line break.
    extra: usize,
}

impl Default for Pending {
    fn default() -> Self {
        Pending {
            space: Space::None,
            paragraphs: false,
            first: false,
            extra: INDENT,
        }
    }
}

struct Printer<'a> {
    script: &'a Script<'a>,
    /// The next word.
    at: usize,
    /// The comments before this word have been printed, but for those directly before it.
    remarked: usize,
    /// Those directly before this word have been printed, too.
    settled: usize,
    pieces: Vec<Piece<'a>>,
    pending: Pending,
    /// Where the script stopped to follow the tree.
    lost: Option<String>,
}

impl<'a> Printer<'a> {
    /// The kind of the next word.
    fn peek(&self) -> Option<Token> {
        self.script.words.get(self.at).map(|word| word.token)
    }

    /// Whether a comment stands before a word.
    fn has_remark(&self, word: usize) -> bool {
        !self.script.remarks(word).is_empty()
    }

    fn lose(&mut self, wanted: &str) {
        if self.lost.is_none() {
            let found = self.script.words.get(self.at);
            let found = found.map_or("the end", |word| word.text);
            let at = self.at;
            self.lost = Some(format!("`{found}` for {wanted} at word {at}"));
        }
    }

    /// The next word, whatever it is.
    fn word(&mut self) {
        let Some(word) = self.script.words.get(self.at) else {
            return self.lose("a word");
        };
        self.settle();
        if self.glues() {
            self.pieces.push(Piece::Text(" "));
        }
        self.pieces.push(Piece::Text(word.text));
        self.at += 1;
    }

    /// The next word, which is of this kind.
    fn token(&mut self, token: Token) {
        if self.peek() == Some(token) {
            self.word();
        } else {
            self.lose(token.text().unwrap_or("another kind"));
        }
    }

    /// Whether the next word, put directly behind what was printed, would make another word with it, or be
    /// hard to tell from it: `- -x`, `1. ..2`, `0.. .5`, `1 .x`.
    fn glues(&self) -> bool {
        let visible = |piece: &&Piece<'_>| matches!(piece, Piece::Text(_) | Piece::Break { .. });
        let Some(Piece::Text(before)) = self.pieces.iter().rev().find(visible) else {
            return false;
        };
        let next = self.script.words[self.at].text;
        let number = before.starts_with(|c: char| c.is_ascii_digit());
        before.ends_with('.') && next.starts_with('.')
            || before.ends_with('-') && next.starts_with('-')
            || number && next == "."
    }

    /// A `,` or `;` of the style's own, directly behind the last word.
    fn separator(&mut self, text: &'static str) {
        self.pieces.push(Piece::Text(text));
    }

    /// Asks for white space before the next word.
    fn space(&mut self, space: Space) {
        let extra = match space {
            Space::None | Space::One => INDENT,
            Space::Soft | Space::Fill | Space::Line | Space::Hard => 0,
        };
        if space >= self.pending.space {
            self.pending = Pending {
                space,
                extra,
                ..Pending::default()
            };
        }
    }

    /// A space before the next word.
    fn one(&mut self) {
        self.space(Space::One);
    }

    /// A space before a word that goes on at the indentation of its statement, if a comment parts them.
    fn one_flush(&mut self) {
        self.space(Space::One);
        self.pending.extra = 0;
    }

    /// The next word begins a line; a paragraph may begin there.
    fn line(&mut self) {
        self.paragraph(Space::Hard);
    }

    fn paragraph(&mut self, space: Space) {
        self.space(space);
        self.pending.paragraphs = true;
    }

    /// Prints the comments before the next word, but for those that stand directly before it. A line break is
    /// due after the last.
    fn remarks(&mut self) {
        let script = self.script;
        if self.remarked > self.at {
            return;
        }
        self.remarked = self.at + 1;
        for remark in script.remarks(self.at) {
            let own_line = match remark.place {
                Place::OwnLine => true,
                Place::LineEnd => false,
                Place::Inline => return,
            };
            if own_line {
                let blank = self.starts_paragraph(remark.blank);
                let extra = self.pending.extra;
                self.pieces.push(Piece::Hard { blank, extra });
            }
            self.pieces.push(Piece::Comment {
                text: remark.text,
                own_line,
            });
            self.pending.space = Space::Hard;
            self.pending.first = false;
        }
    }

    /// Whether an empty line of the source is kept at this place.
    fn starts_paragraph(&self, blank: bool) -> bool {
        blank && self.pending.paragraphs && !self.pending.first
    }

    /// Prints what stands before the next word: comments, and the white space that was asked for.
    fn settle(&mut self) {
        self.remarks();
        let script = self.script;
        let mut inline = match self.settled > self.at {
            true => [].iter(),
            false => script.remarks(self.at).iter(),
        };
        self.settled = self.at + 1;
        let first = inline.find(|remark| remark.place == Place::Inline);
        // `f(x /* y */)`, `x /* y */: f32`
        let hugs = self.peek().is_some_and(Token::closes) && !self.pending.first
            || self.pending.space == Space::None && self.follows_a_value();
        if first.is_some() && hugs {
            self.pending.space = match self.pending.space {
                Space::None => Space::One,
                Space::Soft => Space::Line,
                wider => wider,
            };
        }
        let gap = script.gaps.get(self.at);
        let blank = match first {
            Some(remark) => remark.blank,
            None => gap.is_some_and(|gap| gap.blank),
        };
        let blank = self.starts_paragraph(blank);
        let Pending { space, extra, .. } = std::mem::take(&mut self.pending);
        self.pieces.extend(match space {
            Space::None => None,
            Space::One => Some(Piece::Text(" ")),
            Space::Soft | Space::Fill | Space::Line => Some(Piece::Break {
                space: space != Space::Soft,
                fill: space == Space::Fill,
                blank,
            }),
            Space::Hard => Some(Piece::Hard { blank, extra }),
        });
        for (index, remark) in first.into_iter().chain(inline).enumerate() {
            if index > 0 {
                self.pieces.push(Piece::Text(" "));
            }
            self.pieces.push(Piece::Text(remark.text));
        }
        if first.is_some() && !hugs {
            self.pieces.push(Piece::Text(" "));
        }
    }

    /// Whether what was printed last is a name, a number or a bracket that closes.
    fn follows_a_value(&self) -> bool {
        let ends = |text: &str| text.ends_with(|c: char| c.is_alphanumeric() || "_)]}".contains(c));
        matches!(self.pieces.last(), Some(Piece::Text(text)) if ends(text))
    }

    /// What `print` prints breaks together or not at all.
    fn group(&mut self, print: impl FnOnce(&mut Self)) {
        self.settle();
        self.pieces.push(Piece::Group);
        print(self);
        self.pieces.push(Piece::EndGroup);
    }

    /// Lines that `print` begins are indented.
    fn nest(&mut self, print: impl FnOnce(&mut Self)) {
        self.pieces.push(Piece::Nest(INDENT));
        print(self);
        self.pieces.push(Piece::EndNest);
    }

    /// Lines that `print` begins stand so much left of the next word.
    fn align(&mut self, less: usize, print: impl FnOnce(&mut Self)) {
        self.settle();
        self.pieces.push(Piece::Align(less));
        print(self);
        self.pieces.push(Piece::EndNest);
    }

    /// A bracket, what is inside, and its partner; both break or none does.
    fn bracket(&mut self, space: Space, inside: impl FnOnce(&mut Self)) {
        self.group(|p| p.within(space, inside));
    }

    /// A bracket that breaks with the group around it. `space` stands inside of both.
    fn within(&mut self, space: Space, inside: impl FnOnce(&mut Self)) {
        self.word();
        self.nest(|p| {
            if p.peek().is_some_and(Token::closes) {
                p.pending.extra = 0;
                p.pending.paragraphs = true;
                p.pending.first = true;
            } else {
                p.paragraph(space);
                p.pending.first = true;
                inside(p);
                p.paragraph(space);
            }
            p.remarks();
        });
        self.pending.paragraphs = false;
        self.word();
    }

    /// The items of a list, with `,` between them, and behind the last one if the list is broken.
    fn list<T>(&mut self, items: &[T], between: Space, each: impl Fn(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            each(self, item);
            if index + 1 < items.len() {
                self.separator(",");
                if between == Space::Fill {
                    self.space(between);
                } else {
                    self.paragraph(between);
                }
            } else {
                self.pieces.push(Piece::IfBroken(","));
            }
        }
    }

    /// Neighbouring lines of this kind align here.
    fn cell(&mut self, kind: Kind) {
        self.pieces.push(Piece::Mark(Mark::Cell(kind)));
    }

    /// The end of what has cells.
    fn end_of_cells(&mut self) {
        self.pieces.push(Piece::Mark(Mark::End));
    }
}
