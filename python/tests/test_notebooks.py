"""The notebooks: what is stored in them, and with ``SIMC_NOTEBOOKS=1`` that they run."""

from __future__ import annotations

import base64
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

MISTAKE = "raises-exception"
"""The tag of a cell that shows a mistake."""


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "cartpole_policies",
        "epidemic",
        "flock",
        "option_pricing",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_was_executed_from_top_to_bottom(path: Path) -> None:
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        errors = [each for each in cell["outputs"] if each["output_type"] == "error"]
        assert bool(errors) == (MISTAKE in cell["metadata"].get("tags", [])), cell["source"]
        assert not any(each.get("name") == "stderr" for each in cell["outputs"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_small_and_names_no_machine(path: Path) -> None:
    assert path.stat().st_size < 600_000
    pictures = [
        base64.b64decode(each["data"]["image/png"])
        for cell in code_cells(path)
        for each in cell["outputs"]
        if "image/png" in each.get("data", {})
    ]
    assert pictures
    assert max(map(len, pictures)) < 150_000
    text = json.dumps(code_cells(path))
    without_pictures = re.sub(r'"image/png": "[^"]*"', "", text)
    assert not re.search(r"/tmp/|/home/|/root/|/Users/|site-packages", without_pictures)


@pytest.mark.skipif(
    "SIMC_NOTEBOOKS" not in os.environ, reason="slow (a minute): SIMC_NOTEBOOKS=1 runs notebooks"
)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="running notebooks needs jupyter")
    nbclient = pytest.importorskip("nbclient", reason="running notebooks needs jupyter")
    pytest.importorskip("ipykernel", reason="running notebooks needs jupyter")
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": FOLDER}}
    )
    client.execute()


def code_cells(path: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(path.read_text())["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]
