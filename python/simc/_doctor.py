"""What this machine has."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from ._text import duration, html_table, text_table
from .errors import RunError


class Doctor(dict[str, Any]):
    """What this machine has, as ``simc doctor --json`` says it."""

    def _rows(self) -> list[list[str]]:
        rows = [
            ["simc", str(self["simc"])],
            ["system", str(self["system"])],
            ["processor", f"{self['processor']}, {self['threads']} threads"],
            ["vectors", str(self["instruction_set"])],
        ]
        for adapter in self["adapters"]:
            rows.append(["adapter", f"{adapter['name']} ({adapter['kind']}, {adapter['api']})"])
        auto = self["auto"] or f"the CPU: {self['reason']}"
        rows.append(["auto takes", str(auto)])
        measured = self.get("measured")
        if measured:
            rows.append(["opens in", duration(measured["open_seconds"])])
        return rows

    def __repr__(self) -> str:
        return text_table(["", ""], self._rows()).strip("\n ")

    def _repr_html_(self) -> str:
        return html_table(["", ""], self._rows())


def doctor(*, measure: bool = False, adapter: str | None = None) -> Doctor:
    """Says what this machine has: processor, GPUs, what ``backend="auto"`` takes.

    ``measure=True`` measures how fast they are, which ``backend="auto"`` decides by from the next
    model on; with ``adapter`` it measures that one. It runs in a process of its own, so that a
    driver that crashes does not take yours with it.
    """
    command = [sys.executable, "-m", "simc", "doctor", "--json"]
    if adapter is not None:
        command += ["--adapter", adapter]
    elif not measure:
        command.append("--no-measure")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        message = done.stderr.strip() or f"it ended with exit code {done.returncode}"
        raise RunError("doctor", f"`simc doctor` failed: {message}")
    return Doctor(json.loads(done.stdout))
