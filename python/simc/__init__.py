"""Sim models from Python.

>>> import simc
>>> model = simc.load("gbm.sim")                              # or simc.compile(source)
>>> run = model.run(agents=1_000_000, seed=7, sigma=0.3)
>>> run["payoff"]                                             # a NumPy array, a row per agent
"""

from typing import Any

from ._doctor import Doctor, doctor
from ._manifest import Data, Field, Input, Param, SeriesField
from ._model import Model, compile, load
from ._report import DeviceShare, Report, Telemetry
from ._results import Derivatives, Elite, Estimate, Fit, Found, Gradient, Slope
from ._run import Run, Series, Statistics, Summary
from ._session import Session
from ._simc import __version__
from ._sweep import Sweep, SweptStatistics
from .errors import (
    CompileError,
    Diagnostic,
    FaultError,
    Fix,
    Label,
    RunError,
    SimError,
    Span,
    UnknownNameError,
)

__all__ = [
    "CompileError",
    "Data",
    "Derivatives",
    "DeviceShare",
    "Diagnostic",
    "Doctor",
    "Elite",
    "Estimate",
    "FaultError",
    "Field",
    "Fit",
    "Fix",
    "Found",
    "Gradient",
    "Input",
    "Label",
    "Model",
    "Param",
    "Report",
    "Run",
    "RunError",
    "Series",
    "SeriesField",
    "Session",
    "SimError",
    "Slope",
    "Span",
    "Statistics",
    "Summary",
    "Sweep",
    "SweptStatistics",
    "Telemetry",
    "UnknownNameError",
    "__version__",
    "compile",
    "doctor",
    "load",
]


def load_ipython_extension(shell: Any) -> None:
    """What ``%load_ext simc`` does: see `simc.notebook`."""
    from .notebook import load

    load(shell)
