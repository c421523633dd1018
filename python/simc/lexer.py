"""A lexer of Sim for Pygments: ``pygmentize model.sim``, Sphinx, and models in notebooks.

This module needs Pygments.
"""

# mypy: allow-subclassing-any

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
)

from . import _words

__all__ = ["SimLexer"]

_NAME = r"[A-Za-z_]\w*"
_AFTER_VALUE = r"(?<=[\])}\w.]\s)"
"""Words that are names elsewhere stand after a value."""


def _words_of(*lists: list[str], suffix: str = r"\b") -> Any:
    return words([each for one in lists for each in one], prefix=r"\b", suffix=suffix)


class SimLexer(RegexLexer):
    """For Sim models."""

    name = "Sim"
    aliases = ("sim",)
    filenames = ("*.sim",)
    mimetypes = ("text/x-sim",)
    url = ""

    tokens: ClassVar[dict[str, list[Any]]] = {
        "root": [
            (
                r"(?m)^([^\S\n]*)(agents|steps|world|seed|expect)\b(?=\s+[\w.(!\-])",
                bygroups(Whitespace, Keyword.Declaration),
            ),
            (r"\n", Whitespace),
            (r"[^\S\n]+", Whitespace),
            (r"(//!|///(?!/))[^\n]*", String.Doc),
            (r"//[^\n]*", Comment.Single),
            (r"/\*", Comment.Multiline, "comment"),
            (r'"(\\.|[^"\\\n])*"', String),
            # Numbers: `1.` is a float, the point of `1..n` is none of it.
            (r"0[xX][0-9a-fA-F_]+u?\b", Number.Hex),
            (r"\d[\d_]*\.?[eE][+-]?\d[\d_]*", Number.Float),
            (r"(\d[\d_]*)?\.\d[\d_]*([eE][+-]?\d[\d_]*)?", Number.Float),
            (r"\d[\d_]*\.(?![.A-Za-z_])", Number.Float),
            (r"\d[\d_]*u?\b", Number.Integer),
            # Declarations.
            (rf"(fn)(\s+)({_NAME})", bygroups(Keyword.Declaration, Whitespace, Name.Function)),
            (
                rf"(struct|enum)(\s+)({_NAME})",
                bygroups(Keyword.Declaration, Whitespace, Name.Class),
            ),
            (rf"(const)(\s+)({_NAME})", bygroups(Keyword.Declaration, Whitespace, Name.Constant)),
            (
                rf"\b(param|data|input|state|output|record|observe)\b(\s+)({_NAME})",
                bygroups(Keyword.Declaration, Whitespace, Name.Variable),
            ),
            (
                r"\bworld\b(?=\s+(input|state|output|observe|step)\b)",
                Keyword.Declaration,
            ),
            (
                r"(\{)(\s*)(agents|steps|world|seed|expect)\b(?=\s+[\w.(!\-])",
                bygroups(Punctuation, Whitespace, Keyword.Declaration),
            ),
            (r'\b(test|from)\b(?=\s*")', Keyword.Declaration),
            (rf"{_AFTER_VALUE}(within|every|limit)\b(?=\s+[\w.(])", Keyword),
            (rf"{_AFTER_VALUE}(se)\b(?=\s*($|\n|\}}|//))", Keyword),
            (_words_of(_words.PHASES, suffix=r"\b(?!\s*\()"), Keyword),
            (
                rf"(integrate)(\s+)({'|'.join(_words.METHODS)})\b",
                bygroups(Keyword, Whitespace, Name.Builtin),
            ),
            # A field may have any name.
            (rf"(\.)(\s*)({_NAME})", bygroups(Punctuation, Whitespace, Name.Attribute)),
            (_words_of(_words.BOOLEANS), Keyword.Constant),
            (_words_of(_words.RESERVED), Keyword.Reserved),
            (_words_of(_words.TYPES), Keyword.Type),
            (_words_of(_words.DRAWS, suffix=r"\b(?=\s*\()"), Name.Builtin),
            (_words_of(_words.FUNCTIONS, suffix=r"\b(?=\s*\()"), Name.Builtin),
            (_words_of(_words.VALUES), Name.Builtin.Pseudo),
            (
                _words_of([each for each in _words.KEYWORDS if each not in ("every", "limit")]),
                Keyword,
            ),
            # Names by custom.
            (r"[A-Z][A-Z0-9_]*\b", Name.Constant),
            (r"[A-Z]\w*", Name.Class),
            (rf"{_NAME}(?=\s*\()", Name.Function),
            (_NAME, Name),
            (r"\.\.=?", Operator),
            (r"->|=>|'", Operator),
            (words(_words.OPERATORS), Operator),
            (r"[\][(){},;:.@?]", Punctuation),
            (r".", Text),
        ],
        "comment": [
            (r"[^*/]+", Comment.Multiline),
            (r"/\*", Comment.Multiline, "#push"),
            (r"\*/", Comment.Multiline, "#pop"),
            (r"[*/]", Comment.Multiline),
        ],
    }
