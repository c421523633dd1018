"""How a run was done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._text import count, duration


@dataclass(frozen=True)
class Telemetry:
    """Counts and times of a run in detail. What opening a device costs is 0 after the first run."""

    submissions: int
    dispatches: int
    bytes_up: int
    bytes_down: int
    pipeline_cache: str | None
    """``hit`` or ``miss``; ``None`` if no pipeline was built or no cache is used."""
    instance_seconds: float
    adapter_seconds: float
    device_seconds: float
    kernel_seconds: float
    module_seconds: float
    pipeline_seconds: float
    cache_seconds: float
    record_seconds: float
    gpu_seconds: float | None
    """By the device's own clock; ``None`` without timestamps."""
    wait_seconds: float
    total_seconds: float


@dataclass(frozen=True)
class DeviceShare:
    """What one of several devices computed."""

    name: str
    """As ``devices`` called it."""
    device: str
    """The name of the GPU, or ``cpu``."""
    agents: int
    seconds: float
    failure: str | None
    """Why it computed no more, if it failed: other devices took over."""


@dataclass(frozen=True)
class Report:
    """How a run was done."""

    backend: str
    """``cpu``, ``gpu`` or ``reference``."""
    instruction_set: str | None
    """The vector instructions of the CPU backend."""
    adapter: str | None
    """The name of the GPU."""
    adapter_kind: str | None
    driver: str | None
    reason: str
    """Why this backend was chosen."""
    agents: int
    first_agent: int
    population: int
    """The value of ``agents`` in the model."""
    steps: int
    worlds: int
    seed: int
    compile_seconds: float
    setup_seconds: float
    """For checking the launch, opening the device and building the kernel."""
    run_seconds: float
    statistics_seconds: float
    dispatches: int
    chunks: int
    reduced: bool
    """Whether statistics were computed without holding all outputs."""
    passes: int
    explain: tuple[str, ...]
    """What was decided for the kernel, with reasons; empty on the CPU."""
    devices: tuple[DeviceShare, ...]
    """What each of several devices computed; empty without ``devices``."""
    telemetry: Telemetry
    agent_steps: int
    """Steps of all agents together."""
    stopped_agents: int
    """How many agents executed ``stop``."""

    @property
    def seconds(self) -> float:
        """Seconds for the run, transfers included."""
        return self.run_seconds

    @property
    def agent_steps_per_second(self) -> float:
        """The speed of the run."""
        return self.agent_steps / self.run_seconds if self.run_seconds > 0 else 0.0

    def __str__(self) -> str:
        lines = [("backend", f"{self.backend}: {self.reason}")]
        if self.instruction_set is not None:
            lines.append(("vectors", self.instruction_set))
        if self.adapter is not None:
            lines.append(("adapter", f"{self.adapter} ({self.adapter_kind}, {self.driver})"))
        for share in self.devices:
            ended = f", then failed: {share.failure}" if share.failure else ""
            agents = f"{count(share.agents)} agents in {duration(share.seconds)}"
            lines.append(("device", f"{share.name}: {agents} on {share.device}{ended}"))
        lines += [
            ("agents", count(self.agents)),
            ("steps", count(self.steps)),
            ("seed", str(self.seed)),
            ("time", f"setup {duration(self.setup_seconds)}, run {duration(self.run_seconds)}"),
        ]
        if self.agent_steps:
            lines.append(("speed", f"{self.agent_steps_per_second:.3g} agent-steps/s"))
        return "\n".join(f"{name:<8}  {value}" for name, value in lines)


def report_of(given: dict[str, Any], totals: tuple[int, int]) -> Report:
    """The report that the native module gives as a dictionary."""
    telemetry = Telemetry(**given.pop("telemetry"))
    explain = tuple(given.pop("explain"))
    devices = tuple(DeviceShare(*each) for each in given.pop("devices"))
    steps, stopped = totals
    return Report(
        **given,
        explain=explain,
        devices=devices,
        telemetry=telemetry,
        agent_steps=steps,
        stopped_agents=stopped,
    )
