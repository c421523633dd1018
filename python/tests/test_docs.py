"""The code of the page runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .conftest import EXAMPLES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_the_code_of_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    monkeypatch.chdir(EXAMPLES)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    assert len(blocks) >= 5
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert names["gradient"]["sigma"] > 0  # type: ignore[index]
    assert names["run"]["total"].tolist() == [1, 2, 3, 4]  # type: ignore[index]
