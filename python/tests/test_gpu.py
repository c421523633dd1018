"""Runs on a GPU, which may be a software one."""

from __future__ import annotations

import os

import numpy as np
import pytest

import simc


@pytest.fixture(scope="module")
def on_gpu(gbm: simc.Model) -> simc.Run:
    try:
        return gbm.run(seed=3, backend="gpu")
    except simc.RunError as error:
        if error.code != "E0801" or os.environ.get("SIM_REQUIRE_GPU"):
            raise
        pytest.skip("this machine has no adapter")


def test_a_gpu_computes_what_the_cpu_does(gbm: simc.Model, on_gpu: simc.Run) -> None:
    on_cpu = gbm.run(seed=3, backend="cpu")
    np.testing.assert_allclose(on_gpu["price"], on_cpu["price"], rtol=1e-5)
    report = on_gpu.report
    assert report.backend == "gpu"
    assert report.adapter
    assert report.explain
    assert report.dispatches >= 1
    assert report.telemetry.bytes_down > 0
    assert report.adapter in str(report)


def test_models_go_from_one_backend_to_another(gbm: simc.Model, on_gpu: simc.Run) -> None:
    assert on_gpu.report.adapter is not None
    again = gbm.run(seed=3, adapter=on_gpu.report.adapter[:4])
    assert np.array_equal(again["price"], on_gpu["price"])
    assert gbm.run(seed=3, backend="reference").report.backend == "reference"
    assert gbm.run(seed=3, backend="cpu").report.adapter is None
    sweep = gbm.sweep(sigma=[0.1, 0.2], seed=3, backend="gpu")
    assert sweep.report.backend == "gpu"
    with pytest.raises(simc.RunError) as caught:
        gbm.run(adapter="no such adapter")
    assert caught.value.code == "E0801"
