"""Sim models from Python.

>>> import simc
>>> model = simc.load("gbm.sim")                              # or simc.compile(source)
>>> run = model.run(agents=1_000_000, seed=7, sigma=0.3)
>>> run["payoff"]                                             # a NumPy array, a row per agent
"""

from ._manifest import Data, Field, Input, Param, SeriesField
from ._model import Model, compile, load
from ._report import Report, Telemetry
from ._run import Run, Series, Statistics, Summary
from ._session import Session
from ._simc import __version__
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
    "Diagnostic",
    "FaultError",
    "Field",
    "Fix",
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
    "Span",
    "Statistics",
    "Summary",
    "Telemetry",
    "UnknownNameError",
    "__version__",
    "compile",
    "load",
]
