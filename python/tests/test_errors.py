"""Mistakes: each is an exception that says what is wrong and how to mend it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simc


def test_mistakes_of_a_model_are_shown_in_its_source() -> None:
    source = "agents 10\nsteps 5\nstate x = 0.0\nstep { x += velocty }\n"
    source += "param velocity = 1.0\noutput x\n"
    with pytest.raises(simc.CompileError) as caught:
        simc.compile(source, name="moving.sim")
    error = caught.value
    text = str(error)
    assert "moving.sim" in text
    assert "x += velocty" in text
    assert len(error.diagnostics) == 1
    found = error.diagnostics[0]
    assert error.code == found.code == "E0201"
    assert "velocty" in found.message
    assert source[found.span.start : found.span.end] == "velocty"
    assert (found.span.line, found.span.column) == (4, 13)
    assert found.help is not None
    assert "velocity" in found.help


def test_spans_count_characters() -> None:
    source = "// α β γ\nagents 1\nsteps 1\nstate x = unknwn\noutput x\n"
    with pytest.raises(simc.CompileError) as caught:
        simc.compile(source)
    span = caught.value.diagnostics[0].span
    assert source[span.start : span.end] == "unknwn"


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({"sigm": 0.3}, "did you mean `sigma`"),
        ({"agnts": 3}, "did you mean `agents`"),
        ({"price": 3}, "`price` is an output"),
        ({"params": {"sigm": 0.3}}, "did you mean `sigma`"),
        ({"params": {"sigma": 0.3}, "sigma": 0.3}, "given twice"),
        ({"sigma": [0.3, 0.4]}, r"needs one f32, but was given \[2\] of f32"),
        ({"sigma": 7.0}, "must lie in 0.01..1"),
        ({"sigma": float("nan")}, "not a number"),
        ({"strike": 1e39}, "holds f32, and 1e39 is none"),
        ({"strike": np.float64(1e39)}, "holds f32, and 1e39 is none"),
        ({"strike": np.array(1e39)}, "holds f32, and 1e39 is none"),
        ({"strike": 2**80 + 1}, "holds f32"),
        ({"strike": True}, "holds f32, not bool"),
        ({"strike": "high"}, "holds f32, but was given text"),
        ({"strike": np.array(["a"])}, "holds f32, but was given an array of <U1"),
        ({"strike": object()}, "no array of numbers"),
        ({"agents": 0}, "agents"),
        ({"agents": -1}, "lies in 0"),
        ({"agents": 1.5}, "whole number"),
        ({"seed": -1}, "`seed` is -1"),
        ({"steps": 2**40}, "lies in 0"),
        ({"backend": "tpu"}, "there is no backend `tpu`"),
    ],
)
def test_wrong_values_are_refused(gbm: simc.Model, keywords: dict[str, Any], expected: str) -> None:
    with pytest.raises(simc.SimError, match=expected):
        gbm.run(**keywords)
    # The model is as good as before.
    assert len(gbm.run(seed=1)["price"]) == 1000


def test_an_unknown_keyword_is_a_type_error_and_an_unknown_output_a_key_error(
    gbm: simc.Model,
) -> None:
    with pytest.raises(TypeError):
        gbm.run(sigm=0.3)
    with pytest.raises(KeyError, match="did you mean `payoff`"):
        gbm.run()["payof"]


def test_a_fault_is_shown_in_the_source() -> None:
    model = simc.compile("agents 10\nsteps 5\nstate x = 1.0\nstep { x = x / (x - x) }\noutput x\n")
    assert len(model.run()["x"]) == 10
    with pytest.raises(simc.FaultError) as caught:
        model.run(check=True)
    assert caught.value.code == "E0733"
    assert "x / (x - x)" in str(caught.value)
    assert caught.value.diagnostics[0].span.line == 4


def test_files_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(simc.RunError, match="cannot read"):
        simc.load(tmp_path / "missing.sim")
    bad = tmp_path / "bad.sim"
    bad.write_bytes(b"agents \xff")
    with pytest.raises(simc.RunError, match="UTF-8"):
        simc.load(bad)
