"""Ten million agents arrive without a copy."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

MIB = 1 << 20


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's count of memory is Linux's")
def test_outputs_of_ten_million_agents_are_not_copied() -> None:
    """A run needs its outputs and a word of progress per agent. A copy would be 38 MiB more for
    each output, and is looked for where the arrays are made and read."""
    code = textwrap.dedent(
        """
        import re, resource, time, simc

        def peak():
            # Of this program alone; `ru_maxrss` has also what the process was before it.
            with open("/proc/self/status") as file:
                return 1024 * int(re.search("VmHWM:\\s+(\\d+)", file.read()).group(1))

        def now():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * resource.getpagesize()

        model = simc.compile("output x = f32(agent)\\noutput y = f32(agent) * 2.0\\n")
        model.run(agents=1000, backend="cpu", keep_states=False)
        before = now()
        started = time.perf_counter()
        run = model.run(agents=10_000_000, backend="cpu", keep_states=False)
        seconds = time.perf_counter() - started
        inside = run.report.telemetry.total_seconds
        after = now()
        assert run["x"][-1] == 9_999_999 and run["y"][1] == 2
        print(after - before, now() - after, peak() - before, seconds - inside)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    held, of_reading, peak, outside = map(float, done.stdout.split())
    # Two outputs, and a word of progress, of 4 bytes for each agent.
    needed = 3 * 4 * 10_000_000
    print(done.stdout)
    assert held < needed + 20 * MIB
    assert of_reading < MIB
    assert peak < needed + 40 * MIB
    # Copying an output takes some milliseconds; a hand-over takes microseconds.
    assert outside < 0.05
