"""The workloads: sizes, the mean scores that are published for them, and how near a system must come.

The models are those of `benchmarks/*.sim`, whose heads and inputs define them. Tolerances come from the mathematics:
Acrobot is chaotic, so its mean moves with the last places of the arithmetic (in a small population by up to half a
step); MountainCar's cars may reach the flag a step sooner or later; sums of floats are rounded.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Workload:
    """A model at a size. `mean` is the published mean score."""

    model: str
    agents: int
    steps: int
    mean: float
    tolerance: float

    def agrees(self, mean):
        return abs(mean - self.mean) <= self.tolerance


# A GPU is mostly idle at the first size of a model and full at the second.
WORKLOADS = {
    "portfolio-10k": Workload("portfolio", 10_000, 1_500, 1.29475, 4e-4),
    "portfolio-262k": Workload("portfolio", 262_144, 1_500, 1.29454, 2e-4),
    "acrobot-4k": Workload("acrobot", 4_096, 500, -451.6, 0.6),
    "acrobot-1m": Workload("acrobot", 1_048_576, 500, -453.69, 0.1),
    "mountain_car-4k": Workload("mountain_car", 4_096, 200, -198.84397, 0.01),
    "mountain_car-1m": Workload("mountain_car", 1_048_576, 200, -198.93133, 0.002),
    "pi-4k": Workload("pi", 4_096, 100_000, 3.141627, 2e-6),
    "pi-1m": Workload("pi", 1_048_576, 400, 3.141515, 2e-6),
    "gbm-1m": Workload("gbm", 1_048_576, 252, 5.7728, 5e-4),
    "lorenz-1m": Workload("lorenz", 1_048_576, 1_000, 8.68504, 1e-4),
    "rastrigin-4k": Workload("rastrigin", 4_096, 0, -37054.69, 0.3),
}

# To see that everything works, also without a GPU. Acrobot after 50 steps is not yet chaotic.
QUICK = {
    "portfolio-quick": Workload("portfolio", 256, 50, 1.0178498, 1e-5),
    "acrobot-quick": Workload("acrobot", 256, 50, -51.845133, 2e-4),
    "mountain_car-quick": Workload("mountain_car", 256, 200, -198.9283, 8e-3),
    "lorenz-quick": Workload("lorenz", 256, 1_000, 8.6863831, 5e-5),
}
