//! The same model in another text: random white space, line breaks, empty lines, comments and semicolons
//! between the words of a source.

use crate::generate::Dice;
use sim_compiler::syntax::{self, Token};
use std::fmt::Write;

/// Words that only begin a declaration or a statement: a `;` may stand before them.
const STARTS: [Token; 21] = [
    Token::Const,
    Token::Param,
    Token::Data,
    Token::Input,
    Token::State,
    Token::Output,
    Token::Fn,
    Token::Struct,
    Token::Enum,
    Token::Init,
    Token::Finish,
    Token::Let,
    Token::Var,
    Token::While,
    Token::Match,
    Token::Return,
    Token::Break,
    Token::Continue,
    Token::Stop,
    Token::Integrate,
    Token::RightBrace,
];

/// The context of braces, as far as their words show.
#[derive(Clone, Copy, PartialEq)]
enum Inside {
    Unknown,
    Statements,
    Arms,
}

/// A source with other gaps between its words, by a seed. Its own comments go. Without comments of ours all
/// gaps are spaces and single line breaks.
pub fn disturbed(source: &str, seed: u64, comments: bool) -> String {
    let mut disturber = Disturber {
        dice: Dice::new(seed),
        text: String::new(),
        comments: 0,
    };
    // Some texts have a comment in every other gap, some hardly any.
    let percent = if comments {
        1 + disturber.dice.below(40)
    } else {
        0
    };
    let tokens = syntax::tokens(source);
    let mut end = 0;
    let mut before = None;
    let mut braces = Vec::new();
    for (token, span) in tokens {
        let touched = end == span.start as usize;
        let starts = STARTS.contains(&token)
            && !matches!(
                before,
                Some(Token::FatArrow | Token::World | Token::Assign) | None
            );
        // Braces also close values, lists and arms, where no `;` may stand.
        let statement = token != Token::RightBrace || braces.last() == Some(&Inside::Statements);
        if starts && statement && disturber.dice.chance(10) && is_end(before) {
            disturber.gap(percent, false);
            disturber.text.push(';');
        }
        disturber.gap(percent, touched || starts && disturber.text.ends_with(';'));
        disturber.text.push_str(&source[span.range()]);
        match token {
            Token::LeftBrace => braces.push(Inside::Unknown),
            Token::RightBrace => {
                braces.pop();
            }
            Token::FatArrow => {
                if let Some(last) = braces.last_mut() {
                    *last = Inside::Arms;
                }
            }
            Token::Let | Token::Var | Token::Assign => {
                if let Some(last @ Inside::Unknown) = braces.last_mut() {
                    *last = Inside::Statements;
                }
            }
            _ => {}
        }
        end = span.end as usize;
        before = Some(token);
    }
    disturber.gap(percent, true);
    disturber.text
}

/// Whether a statement or a declaration, or the start of a block, may end in this token. What follows `world`
/// in front of a declaration belongs to it.
fn is_end(before: Option<Token>) -> bool {
    !matches!(
        before,
        Some(Token::Comma | Token::FatArrow | Token::World) | None
    )
}

struct Disturber {
    dice: Dice,
    text: String,
    /// How many comments have been written; each has its number.
    comments: usize,
}

impl Disturber {
    /// A gap with a comment in this many of a hundred; it may be empty if the words stand apart without one.
    fn gap(&mut self, percent: usize, may_be_empty: bool) {
        if self.dice.chance(percent) {
            for _ in 0..1 + self.dice.below(3) {
                self.comment();
            }
            return;
        }
        let spaced = percent > 0;
        let space = match self.dice.below(if spaced { 12 } else { 8 }) {
            0..=2 if may_be_empty => "",
            0..=4 => " ",
            5 => "\n",
            6 => " \t  ",
            7 => "  \n \t ",
            8 => "\n\n",
            9 => "\r\n",
            10 => " \n \n\n\n",
            _ => "   ",
        };
        self.text.push_str(space);
    }

    fn comment(&mut self) {
        self.comments += 1;
        let before = ["", " ", "\n", "\n\n", " \n \n\n\t"][self.dice.below(5)];
        let mark = ["//", "// ", "///", "/// ", "//! ", "////", "// // "][self.dice.below(7)];
        let after = ["", " ", "\r", " ;,)\t "][self.dice.below(4)];
        let lines = ["\n", "\n\n", "\n\t\n\n", "\n    "][self.dice.below(4)];
        // A `/` would make a comment of an operator before it.
        let before = if self.text.ends_with('/') {
            "\n"
        } else {
            before
        };
        let _ = write!(
            self.text,
            "{before}{mark}note {}{after}{lines}",
            self.comments
        );
    }
}
