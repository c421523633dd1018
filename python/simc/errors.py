"""The exceptions of the package: each has a code that ``simc explain CODE`` explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = [
    "CompileError",
    "Diagnostic",
    "FaultError",
    "Fix",
    "Label",
    "RunError",
    "SimError",
    "Span",
    "UnknownNameError",
]


class Span(NamedTuple):
    """A place in the source: ``source[span.start:span.end]``."""

    start: int
    """The first character, counted from 0."""
    end: int
    """The character after the last one."""
    line: int
    """The line of the first character, counted from 1."""
    column: int
    """Its column, counted from 1."""


class Label(NamedTuple):
    """A place in the source, and what is wrong there."""

    span: Span
    text: str


class Fix(NamedTuple):
    """A change of the source that mends a mistake."""

    title: str
    edits: tuple[tuple[Span, str], ...]
    """Texts for places of the source, in its order."""


@dataclass(frozen=True)
class Diagnostic:
    """One mistake in a model, or one warning about it."""

    code: str
    """Such as ``E0201``; ``simc explain E0201`` explains it."""
    severity: str
    """``error`` or ``warning``."""
    message: str
    """What is wrong, in one sentence."""
    labels: tuple[Label, ...]
    """Where; the first is the mistake, the others are its causes."""
    help: str | None
    """How to mend it, where that is known."""
    fixes: tuple[Fix, ...]
    """Changes that mend it, each by itself."""

    @property
    def span(self) -> Span:
        """Where the mistake stands."""
        return self.labels[0].span if self.labels else Span(0, 0, 1, 1)


def _diagnostic(
    code: str,
    severity: str,
    message: str,
    labels: list[tuple[tuple[int, int, int, int], str]],
    help: str | None,
    fixes: list[tuple[str, list[tuple[tuple[int, int, int, int], str]]]],
) -> Diagnostic:
    """A diagnostic of what the native module knows."""
    return Diagnostic(
        code,
        severity,
        message,
        tuple(Label(Span(*span), text) for span, text in labels),
        help,
        tuple(
            Fix(title, tuple((Span(*span), text) for span, text in edits)) for title, edits in fixes
        ),
    )


class SimError(Exception):
    """Any error of the package."""

    code: str
    """The code of the error; of a model with several mistakes, of the first one."""
    help: str | None
    """How to mend it, where that is known."""


class CompileError(SimError):
    """A model with mistakes. As text it is what ``simc check`` prints."""

    def __init__(self, rendered: str, diagnostics: list[Diagnostic]) -> None:
        super().__init__(rendered, diagnostics)
        self.rendered = rendered
        """All mistakes with their places in the source."""
        self.diagnostics = diagnostics
        """All mistakes, in the order of the source."""

    @property
    def code(self) -> str:  # type: ignore[override]
        """The code of the first mistake."""
        return self.diagnostics[0].code

    @property
    def help(self) -> str | None:  # type: ignore[override]
        """How to mend the first mistake."""
        return self.diagnostics[0].help

    def __str__(self) -> str:
        return self.rendered.rstrip("\n")


class RunError(SimError):
    """A run that could not be done, or a value that it could not be given."""

    def __init__(
        self,
        code: str,
        message: str,
        help: str | None = None,
        rendered: str | None = None,
        diagnostics: list[Diagnostic] | None = None,
    ) -> None:
        super().__init__(code, message, help, rendered, diagnostics)
        self.code = code
        self.message = message
        """What is wrong, in one sentence."""
        self.help = help
        self.rendered = rendered
        """The same with its place in the source, where it has one."""
        self.diagnostics = diagnostics or []
        """The place in the source, where it has one."""

    def __str__(self) -> str:
        if self.rendered is not None:
            return self.rendered.rstrip("\n")
        text = f"[{self.code}] {self.message}" if self.code else self.message
        return f"{text}\nhelp: {self.help}" if self.help else text


class UnknownNameError(RunError, KeyError, TypeError):
    """A name that the model does not declare, or a keyword that a method does not take."""


class FaultError(RunError):
    """A run with ``check=True`` found a bad index, division or number, or a false ``assert``."""


def _shown_as_of_package(*classes: type[Any]) -> None:
    for each in classes:
        each.__module__ = "simc"


_shown_as_of_package(
    SimError, CompileError, RunError, UnknownNameError, FaultError, Diagnostic, Span, Label, Fix
)
