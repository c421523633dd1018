"""The extension of IPython, models as HTML, and the lexer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import simc
from simc._source import diagnostics_html, highlighted, model_html

from .conftest import EXAMPLES, GBM

pytest.importorskip("pygments", reason="highlighting needs Pygments")
testing = pytest.importorskip("IPython.testing.globalipapp", reason="`%%sim` needs IPython")

WRONG = """agents 10
state x = foo
step { x += 1.0 }
"""


@pytest.fixture(scope="module")
def shell() -> Any:
    found = testing.start_ipython()
    found.run_line_magic("load_ext", "simc")
    return found


def test_a_cell_becomes_a_model(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell_magic("sim", "market", GBM)
    model = shell.user_ns["market"]
    assert isinstance(model, simc.Model)
    assert model.name == "market"
    assert model.run(agents=10)["payoff"].shape == (10,)
    assert "simc.Model market" in capsys.readouterr().out


def test_a_cell_without_a_name_is_model(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell_magic("sim", "-q --generator philox4x32-10", GBM)
    assert isinstance(shell.user_ns["model"], simc.Model)
    assert capsys.readouterr().out == ""


def test_mistakes_are_shown_without_a_traceback(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.run_cell_magic("sim", "-q wrong", GBM)
    result = shell.run_cell(f"%%sim wrong\n{WRONG}")
    assert isinstance(result.error_in_exec, simc.CompileError)
    shown = capsys.readouterr().out
    # The line as the cell counts it.
    assert "wrong:3:11" in shown
    assert "nothing in scope has this name" in shown
    assert "Traceback" not in shown
    assert "_model.py" not in shown
    # Nothing runs with the model of before.
    assert "wrong" not in shell.user_ns


def test_mistakes_are_html_in_a_notebook(
    shell: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_options: shown.append(data))
    monkeypatch.setattr(shell, "kernel", object(), raising=False)
    shell.run_cell(f"%%sim wrong\n{WRONG}")
    (data,) = shown
    assert "unknown name `foo`" in data["text/html"]
    assert "nothing in scope has this name" in data["text/plain"]
    assert "`wrong` has 1 mistake, shown above" in capsys.readouterr().out


def test_warnings_are_shown(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell_magic("sim", "-q warned", GBM + "\nparam unused = 1.0\n")
    assert "unused" in capsys.readouterr().out


def test_a_bad_name_is_an_error_of_usage(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    shell.run_cell(f"%%sim 7up\n{GBM}")
    captured = capsys.readouterr()
    assert "no name for a variable" in captured.out + captured.err
    assert "Traceback" not in captured.out + captured.err


def test_a_model_as_html(gbm: simc.Model) -> None:
    text = gbm._repr_html_()
    assert "European call by Monte Carlo" in text
    assert "= 0.2 in 0.01 .. 1" in text
    assert "What the holder gets." in text
    assert "By default 1,000 agents and 8 steps." in text
    assert '<span class="nb">normal</span>' in text
    assert "<details open>" in text
    assert "<details>" in model_html(gbm, is_open=False)


def test_types_are_those_of_the_language() -> None:
    text = """agents 1
    enum Kind { Low, High }
    param kind: Kind = High
    param on = true
    input path: [vec2; 3]
    data table: [[f32; 2]]
    output place = path[0]
    output x = kind
    """
    found = simc.compile(text)._repr_html_()
    for cell in ("[3] of vec2", "vec2", "[rows, 2] of f32", "{Low, High}", "= High", "= true"):
        assert f">{cell}</td>" in found
    assert ">required</td>" in found


def test_html_is_escaped() -> None:
    text = "//! <script>alert(1)</script>\nagents 1\n/// a < b & c\noutput x = 1.0\n"
    found = simc.compile(text, name="<img>")._repr_html_()
    assert "<script" not in found
    assert "<img>" not in found
    assert "a &lt; b &amp; c" in found


def test_mistakes_as_html() -> None:
    with pytest.raises(simc.CompileError) as caught:
        simc.compile(WRONG)
    text = diagnostics_html(WRONG, "<source>", caught.value.diagnostics)
    assert "error[E0201]" in text
    assert "&lt;source&gt;:2:11" in text
    # Three carets below `foo`.
    assert f'</span>{" " * 10}<span class="error">^^^ nothing' in text


def test_mistakes_over_lines_and_beyond_the_end() -> None:
    for text in ("agents 10\nstep {", "", "agents 1\noutput x = (1.0\n+ true)\n", "\n\n\tfoo"):
        with pytest.raises(simc.CompileError) as caught:
            simc.compile(text)
        found = diagnostics_html(text, "m", caught.value.diagnostics)
        assert "error" in found


def test_lines_stay_lines() -> None:
    text = GBM + '\n/* a\nb /* c */\n\n*/\ntest "x" { expect mean(payoff) > 0.0 }\n\n'
    assert len(highlighted(text)) == text.count("\n") + 1


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.sim")), ids=lambda path: path.stem)
def test_the_lexer_knows_every_sign_of_the_examples(path: Path) -> None:
    from pygments.token import Text

    from simc.lexer import SimLexer

    source = path.read_text()
    tokens = list(SimLexer(stripnl=False, ensurenl=False).get_tokens(source))
    assert "".join(text for _, text in tokens) == source
    assert [text for kind, text in tokens if kind is Text] == []


def kinds(source: str) -> dict[str, str]:
    from simc.lexer import SimLexer

    return {text: str(kind).removeprefix("Token.") for kind, text in SimLexer().get_tokens(source)}


def test_words_are_what_the_place_says() -> None:
    found = kinds("agents 1_000\nstate every = 0.0\noutput x = every + f32(agent)")
    assert found["agents"] == "Keyword.Declaration"
    assert found["1_000"] == "Literal.Number.Integer"
    assert found["every"] == "Name"
    assert found["f32"] == "Keyword.Type"
    assert found["agent"] == "Name.Builtin.Pseudo"
    found = kinds("observe m = mean(x) every 21\nintegrate rk4(0.1) { x' = v.step }")
    assert found["every"] == "Keyword"
    assert found["mean"] == "Name.Builtin"
    assert found["rk4"] == "Name.Builtin"
    assert found["step"] == "Name.Attribute"
    found = kinds('test "a" { seed 7\n expect mean(x) ~ 1. within 4 se\n }  for i in 0..8 {}')
    assert found["test"] == found["expect"] == "Keyword.Declaration"
    assert found["within"] == found["se"] == "Keyword"
    assert found["1."] == "Literal.Number.Float"
    assert found["0"] == found["8"] == "Literal.Number.Integer"


def test_pygments_finds_the_lexer_of_an_installed_package() -> None:
    from importlib.metadata import PackageNotFoundError, distribution

    from pygments.lexers import get_lexer_by_name

    try:
        found = distribution("simc").entry_points
    except PackageNotFoundError:
        pytest.skip("the package is not installed, so it has no entry points")
    assert "sim" in [each.name for each in found.select(group="pygments.lexers")]
    assert get_lexer_by_name("sim").name == "Sim"
