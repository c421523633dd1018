"""The bar of a long run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .errors import RunError

Progress = Callable[[int, int], object]


@contextmanager
def bar(progress: bool | Progress) -> Iterator[Progress]:
    """What a run reports its progress to: a function, or the bar of tqdm."""
    if callable(progress):
        yield progress
        return
    try:
        with warnings.catch_warnings():
            # In a notebook without ipywidgets it warns, and shows its bar as text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm
    except ImportError as error:
        raise RunError(
            "progress",
            "`progress=True` shows the bar of tqdm, which is not installed",
            "pip install tqdm, or give a function of two numbers",
        ) from error
    with tqdm(unit="agent-step", unit_scale=True, leave=False) as shown:

        def update(done: int, total: int) -> None:
            if total:
                shown.total = total
                shown.update(done - shown.n)

        yield update
