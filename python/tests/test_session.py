"""Sessions: runs whose caller takes the steps."""

from __future__ import annotations

import os
import pickle
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

WALK = """
agents 50
steps 20
param pull = 0.1
input push = 0.0
/// Where it is.
state x = uniform(0.0, 1.0)
step t {
    x += normal(0.0, 1.0) - pull * x + push
    if abs(x) > 4.0 { stop }
}
output x
output twice = 2.0 * x
"""
COUNT = """
agents 3
steps 9
param gain = 1.0 in 0.0..100.0
input push: i32
state x = 0.0
step { x += gain * f32(push) }
output x
"""
LONG = """
agents 200_000
steps 1_000_000
state x = 0.5
step { x = sin(x * 3.0) + 0.1 }
output x
"""


@pytest.fixture(scope="module")
def walk() -> simc.Model:
    return simc.compile(WALK)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("taken", [[1] * 20, [20], [3, 0, 17]])
def test_steps_give_the_bits_of_a_run(walk: simc.Model, backend: str, taken: list[int]) -> None:
    run = walk.run(seed=7, push=0.25, backend=backend)
    session = walk.session(seed=7, push=0.25, backend=backend)
    for count in taken:
        session.step(count)
    assert (session.at, session.steps, session.agents, session.seed) == (20, 20, 50, 7)
    assert session.backend == backend
    assert session.adapter is None
    assert np.array_equal(session["x"], run["x"])
    assert np.array_equal(session.output("twice"), run["twice"])
    assert np.array_equal(session.state("x"), run.state("x"))
    assert np.array_equal(session.stopped, run.stopped)
    assert run.stopped.any()


def test_outputs_between_steps_are_those_of_a_run_that_ends_there(walk: simc.Model) -> None:
    session = walk.session(seed=7)
    for until in range(5):
        run = walk.run(seed=7, steps=until)
        x, twice = session.outputs(["x", "twice"])
        assert np.array_equal(x, run["x"])
        assert np.array_equal(twice, run["twice"])
        session.step()


def test_inputs_and_params_change_between_steps() -> None:
    session = simc.compile(COUNT).session(push=1)
    session.step(2)
    session.set_input("push", np.array([1, 2, 3]))
    session.step()
    session.set_param("gain", 10.0)
    session.step()
    assert session.state("x").tolist() == [13.0, 24.0, 35.0]
    assert session.state("x").dtype == np.float32


def test_arrays_are_their_owners(walk: simc.Model) -> None:
    session = walk.session(seed=7)
    first = session["x"]
    kept = first.copy()
    session.step(3)
    assert np.array_equal(first, kept)
    assert first.flags.writeable
    first[:] = 0.0
    assert session["x"].all()


def test_all_begin_anew(walk: simc.Model) -> None:
    session = walk.session(seed=7)
    session.step(3)
    third = session["x"]
    session.reset()
    assert session.at == 0
    session.step(3)
    assert np.array_equal(session["x"], third)
    session.reset(seed=8)
    session.step(3)
    assert np.array_equal(session["x"], walk.run(seed=8, steps=3)["x"])


def test_some_begin_anew(walk: simc.Model) -> None:
    def anew(mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        session = walk.session(seed=7)
        session.step(9)
        before = session["x"]
        session.reset(mask=mask)
        assert session.at == 9
        return before, session["x"]

    some = np.arange(50) % 3 == 0
    before, after = anew(some)
    _, all_anew = anew(np.ones(50, bool))
    assert np.array_equal(after[~some], before[~some])
    assert np.array_equal(after[some], all_anew[some])
    assert (after[some] != before[some]).all()
    _, listed = anew(some.tolist())
    assert np.array_equal(listed, after)


@pytest.mark.parametrize(
    "mask", [np.ones(49, bool), np.ones(50), np.ones((50, 1), bool), [0, 1], True]
)
def test_a_wrong_mask_is_refused(walk: simc.Model, mask: object) -> None:
    session = walk.session()
    session.step()
    with pytest.raises(simc.RunError, match="50 agents") as found:
        session.reset(mask=mask)
    assert found.value.code == "E0728"


def test_a_seed_with_a_mask_is_refused(walk: simc.Model) -> None:
    with pytest.raises(simc.RunError, match="seed is for all agents"):
        walk.session().reset(seed=3, mask=np.ones(50, bool))


def test_mistakes_name_what_was_meant(walk: simc.Model) -> None:
    session = walk.session()
    with pytest.raises(simc.UnknownNameError, match="did you mean `push`"):
        session.set_input("pusch", 1.0)
    with pytest.raises(simc.UnknownNameError, match="did you mean `pull`"):
        session.set_param("pul", 1.0)
    with pytest.raises(simc.UnknownNameError, match="no output `y`"):
        session["y"]
    with pytest.raises(simc.UnknownNameError, match="no state `twice`"):
        session.state("twice")
    with pytest.raises(simc.UnknownNameError, match="did you mean `push`"):
        walk.session(pusch=1.0)
    with pytest.raises(simc.UnknownNameError, match="no input `pull`"):
        session.set_input("pull", 1.0)
    with pytest.raises(simc.RunError, match="50") as found:
        session.set_input("push", np.zeros(49, np.float32))
    assert found.value.code == "E0704"
    with pytest.raises(simc.RunError, match="f32") as found:
        session.set_input("push", np.array([1e300] * 50))
    assert found.value.code == "E0703"
    with pytest.raises(simc.RunError, match="whole number"):
        session.step(1.5)  # type: ignore[arg-type]
    with pytest.raises(simc.RunError):
        session.step(-1)
    bounded = simc.compile(COUNT).session(push=0)
    with pytest.raises(simc.RunError, match="gain"):
        bounded.set_param("gain", 101.0)
    with pytest.raises(simc.RunError, match="push"):
        simc.compile(COUNT).session()


def test_it_says_when_it_is_over(walk: simc.Model) -> None:
    session = walk.session()
    session.step(19)
    before = session["x"]
    with pytest.raises(simc.RunError) as found:
        session.step(2)
    assert found.value.code == "E0727"
    assert session.at == 19
    assert np.array_equal(session["x"], before)
    session.step()
    with pytest.raises(simc.RunError):
        walk.session(steps=0)
    assert walk.session(steps=2**30 - 1).steps == 2**30 - 1


def test_a_closed_session_says_so(walk: simc.Model) -> None:
    with walk.session() as session:
        session.step()
        assert not session.closed
        assert "1 of 20 steps" in repr(session)
    assert session.closed
    assert "closed" in repr(session)
    session.close()
    for call in (
        lambda: session.step(),
        lambda: session.state("x"),
        lambda: session.output("x"),
        lambda: session.set_input("push", 1.0),
        lambda: session.set_param("pull", 1.0),
        lambda: session.reset(),
        lambda: session.reset(mask=np.ones(50, bool)),
        lambda: session.stopped,
        lambda: session.at,
        lambda: session.backend,
    ):
        with pytest.raises(simc.RunError, match="the session is closed") as found:
            call()
        assert found.value.code == "closed"
        assert "model.session()" in str(found.value.help)


def test_checks_find_the_step_and_leave_the_session_before_it() -> None:
    source = 'agents 4 steps 9 state n = 0 step { n += 1 assert n < 3, "three" } output n'
    session = simc.compile(source).session(check=True)
    session.step(2)
    with pytest.raises(simc.FaultError, match="three"):
        session.step()
    assert session.at == 2
    assert session["n"].tolist() == [2] * 4


def test_ctrl_c_ends_the_steps() -> None:
    session = simc.compile(LONG).session(backend="cpu")
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    started = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        session.step(1_000_000)
    assert time.perf_counter() - started < 5
    assert session.at == 0
    session.step(2)
    assert session.at == 2


def test_other_threads_go_on_during_a_step() -> None:
    session = simc.compile(LONG).session(backend="cpu")
    counted, over = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not over.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    session.step(1_000)
    during = counted
    over.set()
    thread.join()
    assert during > 5


def test_ten_threads_share_a_session(walk: simc.Model) -> None:
    model = simc.compile(COUNT)
    session = model.session(steps=1_000, push=1)
    with ThreadPoolExecutor(10) as pool:
        list(pool.map(lambda _: session.step(), range(1_000)))
    assert session.at == 1_000
    assert session["x"].tolist() == [1_000.0] * 3
    with ThreadPoolExecutor(10) as pool:
        sessions = [walk.session(seed=k) for k in range(10)]
        list(pool.map(lambda each: each.step(20), sessions))
    for k, each in enumerate(sessions):
        assert np.array_equal(each["x"], walk.run(seed=k)["x"])


def test_runs_and_sessions_of_a_model_do_not_disturb_each_other(walk: simc.Model) -> None:
    expected = walk.run(seed=3)["x"]
    first = walk.session(seed=3, agents=7)
    assert np.array_equal(walk.run(seed=3)["x"], expected)
    second = walk.session(seed=4)
    first.step(20)
    assert np.array_equal(first["x"], walk.run(seed=3, agents=7)["x"])
    assert second.at == 0


def test_it_cannot_be_pickled(walk: simc.Model) -> None:
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(walk.session())


def test_its_keywords_are_those_of_the_model(walk: simc.Model) -> None:
    import inspect

    keywords = inspect.signature(walk.session).parameters
    assert keywords["pull"].default == 0.1
    assert "push" in keywords


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_fork_is_refused_and_does_not_hang() -> None:
    code = textwrap.dedent(
        """
        import os, sys, simc
        session = simc.compile(sys.argv[1]).session()
        session.step()
        child = os.fork()
        if child == 0:
            try:
                session.step()
            except simc.RunError as error:
                print(error)
                sys.stdout.flush()
                os._exit(3)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 3
        session.step()
        print(session.at)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code, WALK], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "forked" in done.stdout
    assert done.stdout.endswith("2\n")
