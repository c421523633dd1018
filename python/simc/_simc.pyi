from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import Diagnostic

__version__: str

_Row = tuple[
    int,
    int,
    float | None,
    float | None,
    float | None,
    tuple[float, float, float, float, float] | None,
]

class Native:
    def __new__(cls, name: str, text: str, generator: str, math: str, checks: bool) -> Native: ...
    def manifest(self) -> str: ...
    def warnings(self) -> tuple[str, list[Diagnostic]]: ...
    def run(
        self,
        settings: dict[str, Any],
        seed: int,
        values: dict[str, Any],
        handles_signals: bool,
        progress: Callable[[int, int], object] | None,
    ) -> NativeRun: ...
    def sweep(
        self,
        settings: dict[str, Any],
        seeds: list[int],
        values: dict[str, Any],
        points: dict[str, NDArray[Any]],
        handles_signals: bool,
        progress: Callable[[int, int], object] | None,
    ) -> dict[str, Any]: ...
    def time_sweep(
        self,
        settings: dict[str, Any],
        seeds: list[int],
        values: dict[str, Any],
        points: dict[str, NDArray[Any]],
    ) -> float: ...

class NativeRun:
    @property
    def outputs(self) -> dict[str, NDArray[Any]]: ...
    @property
    def states(self) -> dict[str, NDArray[Any]]: ...
    @property
    def world_outputs(self) -> dict[str, NDArray[Any]]: ...
    @property
    def world_states(self) -> dict[str, NDArray[Any]]: ...
    @property
    def series(self) -> list[tuple[str, str, NDArray[np.uint32], NDArray[Any]]]: ...
    def statistics(self, name: str) -> list[_Row]: ...
    def quantiles(self, name: str, probabilities: list[float]) -> list[list[float]]: ...
    def steps(self) -> NDArray[np.uint32]: ...
    def stopped(self) -> NDArray[np.bool_]: ...
    def keeps_outputs(self) -> bool: ...
    def totals(self) -> tuple[int, int]: ...
    def report(self) -> dict[str, Any]: ...
