//! The words of the language: one variant per kind of token, and what the later stages ask of a kind.

use logos::Logos;
use std::fmt;

/// The kind of a token. Its text is what its span covers in the source.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n]+")]
#[repr(u8)]
#[allow(missing_docs, reason = "a word or an operator is its own description")]
pub enum Token {
    /// An integer literal such as `12`, `1_000` or `0xff`.
    #[regex("[0-9]")]
    Int,
    /// An integer literal with the suffix `u`.
    Uint,
    /// A literal with a fraction or an exponent.
    #[regex(r"\.[0-9]")]
    Float,
    /// A text between quotation marks.
    #[token("\"")]
    Text,
    /// A name that is no keyword.
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Ident,
    /// Stands where the text could not be read; a diagnostic says so.
    Hole,
    /// A comment of one line; only the scanner sees it.
    #[token("//")]
    LineComment,
    /// The start of a comment that ends with `*/`; only the scanner sees it.
    #[token("/*")]
    BlockComment,

    #[token("true")]
    True,
    #[token("false")]
    False,

    #[token("agents")]
    Agents,
    #[token("steps")]
    Steps,
    #[token("const")]
    Const,
    #[token("param")]
    Param,
    #[token("data")]
    Data,
    #[token("input")]
    Input,
    #[token("state")]
    State,
    #[token("output")]
    Output,
    #[token("fn")]
    Fn,
    #[token("struct")]
    Struct,
    #[token("enum")]
    Enum,
    #[token("init")]
    Init,
    #[token("step")]
    Step,
    #[token("finish")]
    Finish,
    #[token("world")]
    World,
    #[token("observe")]
    Observe,
    #[token("record")]
    Record,
    #[token("near")]
    Near,
    #[token("spawn")]
    Spawn,
    #[token("die")]
    Die,

    #[token("let")]
    Let,
    #[token("var")]
    Var,
    #[token("if")]
    If,
    #[token("else")]
    Else,
    #[token("for")]
    For,
    #[token("in")]
    In,
    #[token("while")]
    While,
    #[token("match")]
    Match,
    #[token("return")]
    Return,
    #[token("break")]
    Break,
    #[token("continue")]
    Continue,
    #[token("stop")]
    Stop,
    #[token("integrate")]
    Integrate,
    #[token("assert")]
    Assert,
    #[token("bitcast")]
    Bitcast,

    #[token("(")]
    LeftParen,
    #[token(")")]
    RightParen,
    #[token("[")]
    LeftBracket,
    #[token("]")]
    RightBracket,
    #[token("{")]
    LeftBrace,
    #[token("}")]
    RightBrace,

    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token("->")]
    Arrow,
    #[token("=>")]
    FatArrow,
    #[token("'")]
    Prime,
    #[token("_", priority = 9)]
    Underscore,

    #[token("=")]
    Assign,
    #[token("+=")]
    PlusAssign,
    #[token("-=")]
    MinusAssign,
    #[token("*=")]
    StarAssign,
    #[token("/=")]
    SlashAssign,
    #[token("%=")]
    PercentAssign,
    #[token("&=")]
    AndAssign,
    #[token("|=")]
    OrAssign,
    #[token("^=")]
    CaretAssign,
    #[token("<<=")]
    ShiftLeftAssign,
    #[token(">>=")]
    ShiftRightAssign,

    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("**")]
    StarStar,
    #[token("==")]
    Equal,
    #[token("!=")]
    NotEqual,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEqual,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEqual,
    #[token("&&")]
    AndAnd,
    #[token("||")]
    OrOr,
    #[token("!")]
    Not,
    #[token("&")]
    And,
    #[token("|")]
    Or,
    #[token("^")]
    Caret,
    #[token("~")]
    Tilde,
    #[token("<<")]
    ShiftLeft,
    #[token(">>")]
    ShiftRight,

    /// `++`, no operator of the language; known so that the message can say what to write.
    #[token("++")]
    PlusPlus,
    /// `--`, likewise.
    #[token("--")]
    MinusMinus,
    /// `?`, likewise.
    #[token("?")]
    Question,
}

impl Token {
    /// The text of a token that is always written the same way.
    pub fn text(self) -> Option<&'static str> {
        let row = TEXTS.iter().find(|(token, _)| *token == self);
        row.map(|(_, text)| *text)
    }

    /// Whether this is `(`, `[` or `{`.
    pub fn opens(self) -> bool {
        self.closer().is_some()
    }

    /// Whether this is `)`, `]` or `}`.
    pub fn closes(self) -> bool {
        matches!(
            self,
            Token::RightParen | Token::RightBracket | Token::RightBrace
        )
    }

    /// The bracket that closes this one.
    pub fn closer(self) -> Option<Token> {
        match self {
            Token::LeftParen => Some(Token::RightParen),
            Token::LeftBracket => Some(Token::RightBracket),
            Token::LeftBrace => Some(Token::RightBrace),
            _ => None,
        }
    }

    /// The tokens that are always written the same way.
    pub fn written() -> impl Iterator<Item = Token> {
        TEXTS.iter().map(|(token, _)| *token)
    }

    /// Whether the token is spelt like a name but means something of its own.
    pub fn is_keyword(self) -> bool {
        (Token::True as u8..=Token::Bitcast as u8).contains(&(self as u8))
    }
}

impl fmt::Display for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Token::Int => "integer",
            Token::Uint => "u32",
            Token::Float => "float",
            Token::Text => "text",
            Token::Ident => "name",
            Token::Hole => "unreadable",
            Token::LineComment | Token::BlockComment => "comment",
            other => other.text().unwrap_or("token"),
        })
    }
}

/// A set of token kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TokenSet(u128);

impl TokenSet {
    /// The set of these kinds.
    pub(super) const fn of(tokens: &[Token]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < tokens.len() {
            bits |= 1 << tokens[index] as u8;
            index += 1;
        }
        TokenSet(bits)
    }

    /// The kinds that are in either.
    pub(super) const fn or(self, other: TokenSet) -> Self {
        TokenSet(self.0 | other.0)
    }

    /// The kinds that are here and not there.
    pub(super) const fn without(self, other: TokenSet) -> Self {
        TokenSet(self.0 & !other.0)
    }

    /// Whether the kind is in the set.
    pub(super) const fn has(self, token: Token) -> bool {
        self.0 & (1 << token as u8) != 0
    }

    /// Whether every kind of `other` is here.
    pub(super) const fn covers(self, other: TokenSet) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether no kind is in the set.
    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The fixed spellings of the kinds, separators first.
    pub(super) fn texts(self) -> impl Iterator<Item = &'static str> {
        let rows = TEXTS.iter().filter(move |(token, _)| self.has(*token));
        rows.map(|(_, text)| *text)
    }
}

/// The tokens that are always written the same way, in the order in which a message lists them.
const TEXTS: &[(Token, &str)] = {
    use Token::*;
    &[
        (Comma, ","),
        (Semicolon, ";"),
        (Colon, ":"),
        (RightParen, ")"),
        (RightBracket, "]"),
        (RightBrace, "}"),
        (LeftParen, "("),
        (LeftBracket, "["),
        (LeftBrace, "{"),
        (Dot, "."),
        (DotDot, ".."),
        (Arrow, "->"),
        (FatArrow, "=>"),
        (Prime, "'"),
        (Underscore, "_"),
        (Assign, "="),
        (PlusAssign, "+="),
        (MinusAssign, "-="),
        (StarAssign, "*="),
        (SlashAssign, "/="),
        (PercentAssign, "%="),
        (AndAssign, "&="),
        (OrAssign, "|="),
        (CaretAssign, "^="),
        (ShiftLeftAssign, "<<="),
        (ShiftRightAssign, ">>="),
        (Plus, "+"),
        (Minus, "-"),
        (Star, "*"),
        (Slash, "/"),
        (Percent, "%"),
        (StarStar, "**"),
        (Equal, "=="),
        (NotEqual, "!="),
        (Less, "<"),
        (LessEqual, "<="),
        (Greater, ">"),
        (GreaterEqual, ">="),
        (AndAnd, "&&"),
        (OrOr, "||"),
        (Not, "!"),
        (And, "&"),
        (Or, "|"),
        (Caret, "^"),
        (Tilde, "~"),
        (ShiftLeft, "<<"),
        (ShiftRight, ">>"),
        (PlusPlus, "++"),
        (MinusMinus, "--"),
        (Question, "?"),
        (True, "true"),
        (False, "false"),
        (Agents, "agents"),
        (Steps, "steps"),
        (Const, "const"),
        (Param, "param"),
        (Data, "data"),
        (Input, "input"),
        (State, "state"),
        (Output, "output"),
        (Fn, "fn"),
        (Struct, "struct"),
        (Enum, "enum"),
        (Init, "init"),
        (Step, "step"),
        (Finish, "finish"),
        (World, "world"),
        (Observe, "observe"),
        (Record, "record"),
        (Near, "near"),
        (Spawn, "spawn"),
        (Die, "die"),
        (Let, "let"),
        (Var, "var"),
        (If, "if"),
        (Else, "else"),
        (For, "for"),
        (In, "in"),
        (While, "while"),
        (Match, "match"),
        (Return, "return"),
        (Break, "break"),
        (Continue, "continue"),
        (Stop, "stop"),
        (Integrate, "integrate"),
        (Assert, "assert"),
        (Bitcast, "bitcast"),
    ]
};
