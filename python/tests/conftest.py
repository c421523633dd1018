"""What the tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

import simc

EXAMPLES = Path(__file__).resolve().parents[2] / "lang-examples"

GBM = """
//! European call by Monte Carlo.
agents 1_000
steps 8
const DT = 1.0 / 252.0
/// Risk-free rate per year.
param rate = 0.05 in 0.0..0.2
/// Volatility.
param sigma = 0.2 in 0.01..1.0
param strike = 105.0
state price = 100.0
step {
    price *= exp((rate - 0.5 * sigma * sigma) * DT + sigma * sqrt(DT) * normal())
}
/// What the holder gets.
output payoff = exp(-rate) * max(price - strike, 0.0)
output price
"""


@pytest.fixture(scope="session")
def gbm() -> simc.Model:
    return simc.compile(GBM)
