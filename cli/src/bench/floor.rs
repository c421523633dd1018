//! A lower bound of a kernel's time: a device's measured peak rates, and the time that a model's operations
//! take at those rates.

use sim_compiler::ir::cost::operations::{Cost, Operations};
use sim_runtime::Device;
use std::fmt;

/// Operations of single lanes in a second. `simc bench --rates` measures a device and prints its row.
pub(super) struct Rates<'a> {
    /// Part of the adapter's name.
    pub(super) name: &'a str,
    /// By what they were measured.
    pub(super) measured: &'a str,
    /// Fused multiplications and additions of `f32`.
    pub(super) float: f64,
    /// Reciprocals, exponentials, sines.
    pub(super) special: f64,
    /// Multiplications, additions and shifts of integers.
    pub(super) integer: f64,
    /// Instructions of any kind.
    pub(super) issue: f64,
}

/// The devices that were measured.
const KNOWN: [Rates; 2] = [H200, H100];

const H200: Rates = Rates {
    name: "NVIDIA H200",
    measured: "driver 580.159, 2026-11-21, kernels of one kind of instruction each",
    float: 31.7e12,
    special: 4.17e12,
    integer: 16.3e12,
    issue: 33.4e12,
};

/// On both, `simc bench --rates` measures the same four rates (driver 580.159, 2026-11-23).
const H100: Rates = Rates {
    name: "NVIDIA H100",
    measured: "the rates of an H200",
    ..H200
};

/// Seconds that a run of this many agents and agent-steps takes at least, or why that is not known.
pub(crate) fn seconds(
    device: &Device,
    cost: Option<Cost>,
    agents: u64,
    agent_steps: u64,
) -> Result<f64, &'static str> {
    let Device::Gpu(adapter) = device else {
        return Err("no floor is known for processors");
    };
    let rates = KNOWN
        .iter()
        .find(|rates| adapter.name.contains(rates.name))
        .ok_or("unknown device: no floor")?;
    let cost = cost.ok_or("the model's loops depend on the run: no floor")?;
    Ok(rates.seconds(cost.once * agents + cost.step * agent_steps))
}

impl Rates<'_> {
    /// The busiest unit decides.
    fn seconds(&self, work: Operations) -> f64 {
        [
            work.float as f64 / self.float,
            work.special as f64 / self.special,
            work.integer as f64 / self.integer,
            work.total() as f64 / self.issue,
        ]
        .into_iter()
        .fold(0.0, f64::max)
    }
}

impl fmt::Display for Rates<'_> {
    /// As it stands among the known devices.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Rates {{")?;
        writeln!(f, "    name: {:?},", self.name)?;
        writeln!(f, "    measured: {:?},", self.measured)?;
        for (unit, rate) in [
            ("float", self.float),
            ("special", self.special),
            ("integer", self.integer),
            ("issue", self.issue),
        ] {
            writeln!(f, "    {unit}: {rate:.3e},")?;
        }
        writeln!(f, "}},")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_runtime::{AdapterKind, AdapterSummary};

    fn gpu(name: &str) -> Device {
        Device::Gpu(AdapterSummary {
            name: name.to_owned(),
            kind: AdapterKind::Discrete,
            driver: String::new(),
            api: "vulkan",
        })
    }

    #[test]
    fn the_busiest_unit_decides() {
        let step = Operations {
            float: 100,
            special: 50,
            integer: 10,
        };
        let cost = Cost {
            once: Operations::default(),
            step,
        };
        let found = seconds(&gpu("NVIDIA H200"), Some(cost), 1, 1_000_000_000);
        // 50e9 special functions at 4.17e12 a second.
        assert!((found.expect("it is known") - 0.011_990_407).abs() < 1e-8);
        assert!(seconds(&gpu("llvmpipe"), Some(cost), 1, 1).is_err());
        assert!(seconds(&gpu("NVIDIA H200"), None, 1, 1).is_err());
    }
}
