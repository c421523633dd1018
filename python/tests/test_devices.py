"""Runs on several devices of one machine. Here these are the processor, several times."""

from __future__ import annotations

import numpy as np
import pytest

import simc

from .conftest import same_bits

TWO = ["cpu", "cpu"]


def test_several_have_the_bits_of_one(gbm: simc.Model) -> None:
    one = gbm.run(agents=5_000, steps=30, seed=7, backend="cpu")
    several = gbm.run(agents=5_000, steps=30, seed=7, devices=TWO)
    assert list(one) == list(several)
    for name in one:
        assert same_bits(one[name], several[name]), name
    shares = several.report.devices
    assert [share.name for share in shares] == ["cpu", "cpu#2"]
    assert sum(share.agents for share in shares) == 5_000
    assert all(share.failure is None for share in shares)
    assert "agents in" in str(several.report)
    assert one.report.devices == ()


def test_sweeps_gradients_and_fits_have_them_too(gbm: simc.Model) -> None:
    axis = np.linspace(0.1, 0.5, 9)
    swept = gbm.sweep(sigma=axis, agents=300, steps=10, backend="cpu")
    shared = gbm.sweep(sigma=axis, agents=300, steps=10, devices=TWO)
    assert same_bits(swept["payoff"].mean, shared["payoff"].mean)
    of, agents = "mean(payoff)", 2_000
    slope = gbm.gradient(of, "sigma", agents=agents, steps=10, backend="cpu")["sigma"]
    assert slope != 0.0
    for devices in (TWO, "cpu,cpu"):
        again = gbm.gradient(of, "sigma", agents=agents, steps=10, devices=devices)
        assert again["sigma"] == slope


def test_mistakes_say_what_to_do(gbm: simc.Model) -> None:
    with pytest.raises(simc.RunError, match="in place of `backend`"):
        gbm.run(agents=10, devices="all", backend="cpu")
    for wrong in (0, "0", "", "cpu,,cpu"):
        with pytest.raises(simc.RunError, match="`devices` is"):
            gbm.run(agents=10, devices=wrong)
    with pytest.raises(simc.RunError) as unknown:
        gbm.run(agents=10, devices=["no such device"])
    assert unknown.value.code.startswith("E08")
