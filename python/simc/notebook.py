"""The extension of IPython: ``%load_ext simc`` brings the cell magic ``%%sim``.

This module needs IPython.
"""

# Parts of IPython have no types.
# mypy: allow-untyped-calls

from __future__ import annotations

from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic_arguments import MagicArgumentParser

from ._model import Model, compile
from ._source import diagnostics_html, model_html
from .errors import CompileError

__all__ = ["load"]


def load(shell: Any) -> None:
    """What ``%load_ext simc`` does."""
    parser = _parser()

    def sim(line: str, cell: str) -> None:
        _compile(shell, parser.parse_argstring(line), cell)

    sim.__doc__ = parser.format_help().replace("%(prog)s", "%%sim")
    shell.register_magic_function(sim, magic_kind="cell", magic_name="sim")


def _parser() -> MagicArgumentParser:
    parser = MagicArgumentParser(
        "%%sim",
        description="Compiles the cell into a model, and gives it a name.",
    )
    parser.add_argument("name", nargs="?", default="model", help="the variable, by default `model`")
    parser.add_argument("-q", "--quiet", action="store_true", help="show mistakes only")
    parser.add_argument("--generator", default="keyed-hash", help="as in `simc.compile`")
    parser.add_argument("--math", default="fast", help="as in `simc.compile`")
    parser.add_argument("--real", default="f32", help="as in `simc.compile`")
    return parser


def _compile(shell: Any, options: Any, cell: str) -> None:
    name = options.name
    if not name.isidentifier():
        raise UsageError(f"`{name}` is no name for a variable: write `%%sim market`")
    # Lines are those of the cell, whose first one is the magic.
    source = "\n" + cell
    in_notebook = getattr(shell, "kernel", None) is not None
    try:
        model = compile(
            source,
            name=name,
            generator=options.generator,
            math=options.math,
            real=options.real,
        )
    except CompileError as error:
        # The next cells must not run with the model of before.
        if isinstance(shell.user_ns.get(name), Model):
            del shell.user_ns[name]
        count = len(error.diagnostics)
        lines = str(error).splitlines()
        if in_notebook:
            shown = diagnostics_html(source, name, error.diagnostics)
            _show(shown, str(error))
            mistakes = "1 mistake" if count == 1 else f"{count} mistakes"
            lines = [f"simc.CompileError: `{name}` has {mistakes}, shown above"]
        # IPython asks an exception how it is shown: here without the frames of this package.
        error._render_traceback_ = lambda: lines  # type: ignore[attr-defined]
        raise
    shell.user_ns[name] = model
    warnings = model.warnings()
    if warnings:
        rendered = model._native.warnings()[0].rstrip("\n")
        _show(diagnostics_html(source, name, warnings), rendered)
    if not options.quiet:
        _show(model_html(model, is_open=False), repr(model))


def _show(as_html: str, text: str) -> None:
    from IPython.display import display

    display({"text/html": as_html, "text/plain": text}, raw=True)
