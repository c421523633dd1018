"""Models and their mistakes as HTML, for notebooks."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ._manifest import Field, Input, Param, SeriesField
from ._text import count
from .errors import Diagnostic

if TYPE_CHECKING:
    from ._model import Model

_MOST_LINES = 400
"""Lines of a source that are shown."""
_MOST_DIAGNOSTICS = 20

_LEFT = 'style="text-align: left"'

# The colours of the notebook's theme, light or dark; elsewhere ones that are legible on both.
_COLOURS = {
    "k kd kr kc": ("keyword", "#9250d6"),
    "kt nc": ("def", "#3a7fc4"),
    "nb bp": ("builtin", "#2a9461"),
    "nf nv": ("def", "#3a7fc4"),
    "no": ("variable-2", "#a8741a"),
    "m mf mi mh": ("number", "#2a9461"),
    "s": ("string", "#c0504d"),
    "c c1 cm sd": ("comment", "#808a8a"),
    "o": ("operator", "#9250d6"),
}


def _style() -> str:
    rules = [
        ".simc pre { font-family: var(--jp-code-font-family, ui-monospace, Menlo, monospace);"
        " line-height: 1.35; overflow-x: auto; margin: 0.3em 0; white-space: pre; }",
        ".simc .sd, .simc .c, .simc .c1, .simc .cm { font-style: italic; }",
        ".simc .number { opacity: 0.55; user-select: none; }",
        ".simc .error { color: var(--jp-error-color0, #d33a2c); }",
        ".simc .warning { color: var(--jp-warn-color0, #b7791f); }",
    ]
    for names, (role, fallback) in _COLOURS.items():
        chosen = ", ".join(f".simc .{name}" for name in names.split())
        rules.append(f"{chosen} {{ color: var(--jp-mirror-editor-{role}-color, {fallback}); }}")
    return "<style>" + "\n".join(rules) + "</style>"


def highlighted(source: str) -> list[str]:
    """The lines of a source as HTML; plain where Pygments is not installed."""
    try:
        from pygments import highlight
        from pygments.formatters import HtmlFormatter

        from .lexer import SimLexer
    except ImportError:
        return [html.escape(line) for line in source.split("\n")]
    lexer = SimLexer(stripnl=False, ensurenl=False)
    found: str = highlight(source, lexer, HtmlFormatter(nowrap=True))
    lines = found.split("\n")
    count = source.count("\n") + 1
    return (lines + [""] * count)[:count]


def model_html(model: Model, is_open: bool = True) -> str:
    """What a model takes and gives, and its source, which may be folded."""
    parts = [_style(), '<div class="simc">', f"<div><b>{html.escape(model.name)}</b></div>"]
    if model.doc:
        paragraph = model.doc.strip().split("\n\n")[0]
        parts.append(f"<div>{html.escape(paragraph)}</div>")
    counts = [
        f"{count(value)} {name}"
        for name, value in (("agents", model.agents), ("steps", model.steps))
        if value is not None
    ]
    if counts:
        parts.append(f"<div>By default {' and '.join(counts)}.</div>")
    parts.append(_table(model))
    source = model.source.strip("\n")
    lines = highlighted(source)
    state = " open" if is_open else ""
    parts.append(f"<details{state}><summary>source, {count(len(lines))} lines</summary><pre>")
    parts.append("\n".join(lines[:_MOST_LINES]))
    if len(lines) > _MOST_LINES:
        parts.append(f"\n… {count(len(lines) - _MOST_LINES)} more lines, in `model.source`")
    parts.append("</pre></details></div>")
    return "".join(parts)


def _table(model: Model) -> str:
    groups: list[tuple[str, Sequence[Field]]] = [
        ("param", list(model.params.values())),
        ("input", list(model.inputs.values())),
        ("data", list(model.data.values())),
        ("output", list(model.outputs.values())),
        ("series", model.series),
    ]
    rows = []
    for kind, fields in groups:
        for field in fields:
            cells = [
                _kind(kind, field),
                field.name,
                _type(field),
                _details(field),
                field.doc.strip(),
            ]
            rows.append(
                "<tr>"
                + "".join(f"<td {_LEFT}>{html.escape(each)}</td>" for each in cells)
                + "</tr>"
            )
    if not rows:
        return ""
    titles = ("", "name", "type", "values", "")
    head = "".join(f"<th {_LEFT}>{title}</th>" for title in titles)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _kind(kind: str, field: Field) -> str:
    if isinstance(field, SeriesField):
        kind = "record" if field.of == "agents" else "observe"
        return f"world {kind}" if field.of == "worlds" else kind
    return f"world {kind}" if field.of_world else kind


def _type(field: Field) -> str:
    """As a model writes it, also of vectors."""
    if not field.is_vector:
        return field.type
    dims = ", ".join("rows" if length == 0 else str(length) for length in field.shape[:-1])
    vector = f"vec{field.shape[-1]}"
    return f"[{dims}] of {vector}" if dims else vector


def _details(field: Field) -> str:
    if isinstance(field, Param):
        text = "required" if field.default is None else f"= {_default(field)}"
        if field.range is not None:
            text += f" in {field.range[0]:g} .. {field.range[1]:g}"
        return text
    if isinstance(field, Input):
        known: Mapping[str, str] = {
            "required": "required",
            "default": "has a default",
            "drawn": "drawn where not given",
        }
        return known[field.source]
    if isinstance(field, SeriesField):
        every = "each step" if field.every == 1 else f"every {count(field.every)} steps"
        return f"{field.fold}, {every}" if field.fold else every
    return ""


def _default(param: Param) -> str:
    if param.variants and not param.shape:
        return param.variants[int(param.default)]
    if param.scalar == "bool" and not param.shape:
        return "true" if param.default else "false"
    text = str(param.default)
    return text if len(text) <= 60 else text[:59] + "…"


def diagnostics_html(source: str, name: str, diagnostics: Sequence[Diagnostic]) -> str:
    """Mistakes, each with its lines of the source."""
    lines = highlighted(source)
    plain = source.split("\n")
    parts = [_style(), '<div class="simc">']
    for each in diagnostics[:_MOST_DIAGNOSTICS]:
        kind = "warning" if each.severity == "warning" else "error"
        code = f"[{html.escape(each.code)}]" if each.code else ""
        parts.append(
            f'<div><b class="{kind}">{kind}{code}</b> <b>{html.escape(each.message)}</b></div>'
        )
        parts.append(_excerpt(lines, plain, name, each, kind))
        if each.help:
            parts.append(f"<div><b>help:</b> {html.escape(each.help)}</div>")
    left_out = len(diagnostics) - _MOST_DIAGNOSTICS
    if left_out > 0:
        parts.append(f"<div>and {count(left_out)} more</div>")
    return "".join([*parts, "</div>"])


def _excerpt(
    lines: Sequence[str], plain: Sequence[str], name: str, diagnostic: Diagnostic, kind: str
) -> str:
    """The lines that a diagnostic is about, with carets below what it is about."""
    if not diagnostic.labels:
        return ""
    width = len(str(max(label.span.line for label in diagnostic.labels)))
    first = diagnostic.span
    place = f'<span class="number">{html.escape(name)}:{first.line}:{first.column}</span>\n'
    parts = []
    shown = None
    for label in sorted(diagnostic.labels, key=lambda each: (each.span.line, each.span.column)):
        span = label.span
        if not 1 <= span.line <= len(plain):
            continue
        text = plain[span.line - 1]
        if span.line != shown:
            parts.append(
                f'<span class="number">{span.line:>{width}} │ </span>{lines[span.line - 1]}'
            )
            shown = span.line
        # A label over several lines is marked to the end of its first one.
        length = max(min(span.end - span.start, len(text) - span.column + 1), 1)
        before = "".join(letter if letter == "\t" else " " for letter in text[: span.column - 1])
        is_mistake = label is diagnostic.labels[0]
        sign = "^" if is_mistake else "-"
        css = kind if is_mistake else "number"
        parts.append(
            f'<span class="number">{"":>{width}} │ </span>{before}'
            f'<span class="{css}">{sign * length} {html.escape(label.text)}</span>'
        )
    return "<pre>" + place + "\n".join(parts) + "</pre>"
