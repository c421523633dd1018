"""Threads, processes and signals."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import simc

LONG = """
agents 200_000
steps 1_000_000
state x = 0.5
step { x = sin(x * 3.0) + 0.1 }
output x
"""


SHORT = "agents 100_000\nsteps 5\nstate x = 0.0\nstep { x += 1.0 }\noutput x\n"


def test_ten_threads_at_once(gbm: simc.Model) -> None:
    expected = [gbm.run(seed=k, sigma=0.1 + k / 100)["price"] for k in range(10)]
    with ThreadPoolExecutor(10) as pool:
        work = [pool.submit(gbm.run, seed=k % 10, sigma=0.1 + k % 10 / 100) for k in range(100)]
        for k, each in enumerate(work):
            assert np.array_equal(each.result()["price"], expected[k % 10])


def test_other_threads_go_on_during_a_run() -> None:
    model = simc.compile(LONG)
    counted = 0
    over = threading.Event()

    def count() -> None:
        nonlocal counted
        while not over.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    started = time.perf_counter()
    model.run(agents=100_000, steps=20_000, backend="cpu")
    seconds = time.perf_counter() - started
    during = counted
    over.set()
    thread.join()
    assert seconds > 0.05
    assert during > 5


def test_ctrl_c_ends_a_run() -> None:
    model = simc.compile(LONG)
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        model.run(backend="cpu")
    assert time.perf_counter() - started < 5
    assert len(model.run(agents=10, steps=2)["x"]) == 10


def test_progress_is_reported_and_may_stop_a_run() -> None:
    model = simc.compile(LONG)
    seen: list[tuple[int, int]] = []

    def look(done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == 3:
            raise ValueError("enough")

    with pytest.raises(ValueError, match="enough"):
        model.run(backend="cpu", progress=look)
    assert len(seen) == 3
    assert all(0 <= done <= 200_000 * 1_000_000 for done, _ in seen)


def test_a_bar_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    simc.compile(LONG).run(agents=100_000, steps=20_000, backend="cpu", progress=True)
    assert "agent-step" in capsys.readouterr().err


def test_a_callback_may_run_the_model() -> None:
    model = simc.compile(LONG)
    runs: list[simc.Run] = []

    def look(done: int, total: int) -> None:
        if not runs:
            runs.append(model.run(agents=3, steps=1))

    model.run(agents=100_000, steps=20_000, backend="cpu", progress=look)
    assert len(runs) == 1
    assert len(runs[0]["x"]) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_fork_after_a_run_is_refused_and_does_not_hang() -> None:
    code = textwrap.dedent(
        """
        import os, sys, simc
        model = simc.compile(sys.argv[1])
        run = model.run()
        child = os.fork()
        if child == 0:
            try:
                model.run()
            except simc.RunError as error:
                print(error)
                sys.stdout.flush()
                os._exit(3)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 3
        print(len(model.run()["x"]))
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code, SHORT], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "forked" in done.stdout
    assert "spawn" in done.stdout
    assert done.stdout.endswith("100000\n")
