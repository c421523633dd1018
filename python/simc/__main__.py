"""The command line: ``python -m simc run model.sim``."""

from __future__ import annotations

import os
import signal
import sys

from ._simc import command_line


def main() -> None:
    """Runs the `simc` command with the arguments of the process, and ends the process."""
    # The command heeds signals itself; those that it does not watch for end it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.platform == "linux":
        # Without it, as in containers, the software driver complains on standard error.
        os.environ.setdefault("XDG_RUNTIME_DIR", "/tmp")
    sys.exit(command_line(["simc", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
