"""``python -m simc`` is the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import simc


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "simc", *arguments], capture_output=True, text=True, check=False
    )


def test_versions_and_exit_codes(tmp_path: Path) -> None:
    assert command("--version").stdout.strip() == f"simc {simc.__version__}"
    good = tmp_path / "good.sim"
    good.write_text("agents 10\noutput x = 1.0\n")
    assert command("check", str(good)).returncode == 0
    unknown = command("runn", str(good))
    assert unknown.returncode == 2
    assert "there is no command `runn`" in unknown.stderr
    assert command("run", str(tmp_path / "missing.sim")).returncode == 1


def test_mistakes_are_exceptions_that_print_as_the_command_does(tmp_path: Path) -> None:
    bad = tmp_path / "bad.sim"
    bad.write_text("agents 10\nparam speed = 1.0\noutput x = sped + 1\noutput y = speed +\n")
    printed = command("check", str(bad))
    assert printed.returncode == 1
    with pytest.raises(simc.CompileError) as caught:
        simc.load(bad)
    for line in str(caught.value).splitlines():
        assert line in printed.stderr, line


def test_the_doctor_knows_this_machine() -> None:
    found = simc.doctor()
    assert found["threads"] >= 1
    assert found["simc"] == simc.__version__
    assert "processor" in repr(found)
