"""Numbers and tables as text."""

from __future__ import annotations

import html
import math


def count(number: int) -> str:
    """A whole number with commas."""
    return f"{number:,}"


def duration(seconds: float) -> str:
    """Seconds with a fitting unit."""
    if seconds >= 1:
        return f"{seconds:.3g} s"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds * 1e6:.3g} µs"


def significant(number: float | None, digits: int) -> str:
    """A number with so many digits, without zeros that say nothing."""
    if number is None:
        return "-"
    if not math.isfinite(number):
        return {True: "NaN", False: "inf" if number > 0 else "-inf"}[math.isnan(number)]
    return f"{number:.{digits}g}"


def text_table(head: list[str], rows: list[list[str]]) -> str:
    """A table for a terminal: names to the left, numbers to the right."""
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]

    def line(row: list[str]) -> str:
        first = row[0].ljust(widths[0])
        rest = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        return "  ".join([first, *rest]).rstrip()

    return "\n".join(line(row) for row in [head, *rows])


def html_table(head: list[str], rows: list[list[str]]) -> str:
    """The same for a notebook."""

    def cells(tag: str, row: list[str]) -> str:
        parts = []
        for at, cell in enumerate(row):
            align = "left" if at == 0 else "right"
            parts.append(f'<{tag} style="text-align: {align}">{html.escape(cell)}</{tag}>')
        return "<tr>" + "".join(parts) + "</tr>"

    body = "".join(cells("td", row) for row in rows)
    return f"<table><thead>{cells('th', head)}</thead><tbody>{body}</tbody></table>"
