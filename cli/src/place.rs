//! `--backend`, `--adapter` and `--devices`: where models run.

use crate::{
    columns::{Flush, table},
    failure::Failure,
    problem, standard_output, terminal, usage,
};
use sim_runtime::{AdapterSummary, DeviceName, Devices, Simulation};

/// Arguments that say where to run.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Place {
    /// Where to run.
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) backend: Backend,
    /// GPU or software adapter to run on, by a part of its name; `list` prints all, and runs nothing.
    #[arg(long, value_name = "NAME|list")]
    adapter: Option<String>,
    /// Devices that run together, each a share: `all` GPUs of the best kind, how many of them, or a list of
    /// numbers of `--adapter list`, parts of names and `cpu`, such as 0,1.
    #[arg(long, value_name = "all|N|LIST", conflicts_with_all = ["backend", "adapter"])]
    devices: Option<Devices>,
}

/// `--backend`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Backend {
    /// A real GPU where there is one, otherwise the CPU; the CPU for short runs.
    Auto,
    /// The best GPU adapter, a software one if there is no other.
    Gpu,
    /// The processor's cores.
    Cpu,
    /// The reference interpreter, which is slow: the meaning of the language.
    Reference,
}

impl Backend {
    /// As it is written.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Backend::Auto => "auto",
            Backend::Gpu => "gpu",
            Backend::Cpu => "cpu",
            Backend::Reference => "reference",
        }
    }
}

impl From<Backend> for sim_runtime::Backend {
    fn from(backend: Backend) -> Self {
        match backend {
            Backend::Auto => sim_runtime::Backend::Auto,
            Backend::Gpu => sim_runtime::Backend::Gpu,
            Backend::Cpu => sim_runtime::Backend::Cpu,
            Backend::Reference => sim_runtime::Backend::Reference,
        }
    }
}

/// Where models run, once the adapter is known.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    backend: Backend,
    adapter: Option<String>,
    devices: Option<Devices>,
}

impl Place {
    /// The place where something ran before: the backend, and on a GPU the adapter of this name.
    pub(crate) fn of(backend: Backend, adapter: Option<String>) -> Place {
        Place {
            backend,
            adapter,
            devices: None,
        }
    }

    /// Is the list of adapters asked for, instead of a run?
    pub(crate) fn is_list(&self) -> bool {
        self.adapter.as_deref() == Some("list")
    }

    /// The whole name of the one adapter that has this part.
    ///
    /// # Errors
    /// If there is none of that name, or several.
    pub(crate) fn adapter_named(part: &str) -> Result<String, Failure> {
        one_of(part, &sim_runtime::adapters())
    }

    /// Is a GPU or a software adapter certain to be opened?
    pub(crate) fn opens_adapter(&self) -> bool {
        matches!(self.backend, Backend::Gpu) || self.adapter.is_some() || self.devices.is_some()
    }

    /// The same, on the device of a run that goes on, unless another one is asked for.
    pub(crate) fn or_on(&self, device: Option<&str>) -> Place {
        match (device, self.backend, &self.adapter) {
            _ if self.devices.is_some() => self.clone(),
            (Some("the CPU"), Backend::Auto, None) => Place::of(Backend::Cpu, None),
            (Some(name), Backend::Auto, None) => Place::of(Backend::Gpu, Some(name.to_owned())),
            _ => self.clone(),
        }
    }

    /// Finds the adapter.
    ///
    /// # Errors
    /// If there is none of that name, or several.
    pub(crate) fn resolve(&self) -> Result<Placed, Failure> {
        let Some(wanted) = &self.adapter else {
            return Ok(Placed {
                backend: self.backend,
                adapter: None,
                devices: self.devices.clone(),
            });
        };
        if let Backend::Cpu | Backend::Reference = self.backend {
            return Err(usage::refused(
                "`--adapter` is for runs on a GPU, and `--backend` asks for none",
                "leave out one of the two",
            ));
        }
        Ok(Placed {
            backend: Backend::Gpu,
            adapter: Some(Place::adapter_named(wanted)?),
            devices: None,
        })
    }
}

impl Placed {
    /// The simulation, there.
    pub(crate) fn on(&self, simulation: Simulation) -> Simulation {
        let simulation = simulation.backend(self.backend.into());
        match (&self.devices, &self.adapter) {
            (Some(devices), _) => simulation.devices(devices.clone()),
            (None, Some(name)) => simulation.adapter(name),
            (None, None) => simulation,
        }
    }

    /// The place that is the first of several devices alone; none if one was asked for.
    pub(crate) fn alone(&self) -> Option<Placed> {
        let first = match self.devices.as_ref()? {
            Devices::All | Devices::Count(_) => DeviceName::Number(0),
            Devices::Named(names) => names.first()?.clone(),
        };
        Some(Placed {
            devices: Some(Devices::Named(vec![first])),
            ..self.clone()
        })
    }
}

/// The name of the one adapter that is meant. Several of the same name are one: the first of them.
fn one_of(wanted: &str, all: &[AdapterSummary]) -> Result<String, Failure> {
    let lower = wanted.to_lowercase();
    let mut names: Vec<&str> = (all.iter().map(|adapter| adapter.name.as_str()))
        .filter(|name| name.to_lowercase().contains(&lower))
        .collect();
    names.sort_unstable();
    names.dedup();
    let whole = names.iter().find(|name| name.to_lowercase() == lower);
    match (whole, names.as_slice()) {
        (Some(name), _) | (None, [name]) => Ok((*name).to_owned()),
        (None, []) => Err(sim_runtime::Error::NoAdapter {
            wanted: Some(wanted.to_owned()),
            found: all.iter().map(ToString::to_string).collect(),
        }
        .into()),
        (None, several) => Err(problem::ambiguous_adapter(wanted, several).into()),
    }
}

/// Prints all adapters, the best first.
pub(crate) fn list() -> Result<(), Failure> {
    let all = sim_runtime::adapters();
    if all.is_empty() {
        terminal::note("there is no adapter: models run on the CPU\n");
        return Ok(());
    }
    standard_output::print(listed(&all))
}

fn listed(all: &[AdapterSummary]) -> String {
    let mut lines = vec![
        ["number", "adapter", "backend", "driver", "type"]
            .map(str::to_owned)
            .to_vec(),
    ];
    lines.extend(all.iter().enumerate().map(|(number, adapter)| {
        let driver = match adapter.driver.as_str() {
            "" => "-",
            driver => driver,
        };
        vec![
            number.to_string(),
            adapter.name.clone(),
            adapter.api.to_owned(),
            driver.to_owned(),
            adapter.kind.to_string(),
        ]
    }));
    let text = table(&lines, Flush::Left);
    text.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_runtime::AdapterKind;

    fn adapters(names: &[&str]) -> Vec<AdapterSummary> {
        let adapter = |name: &&str| AdapterSummary {
            name: (*name).to_owned(),
            kind: AdapterKind::Discrete,
            driver: "driver 1.2".to_owned(),
            api: "vulkan",
        };
        names.iter().map(adapter).collect()
    }

    #[test]
    fn an_adapter_is_found_by_a_part_of_its_name() {
        let all = adapters(&["Alpha 30", "Alpha 300", "beta", "beta"]);
        let found = |wanted: &str| one_of(wanted, &all).ok();
        assert_eq!(found("BET").as_deref(), Some("beta"));
        assert_eq!(found("alpha 30").as_deref(), Some("Alpha 30"));
        assert_eq!(found("300").as_deref(), Some("Alpha 300"));
        assert_eq!((found("alpha"), found("gamma")), (None, None));
    }

    #[test]
    fn the_list_has_a_line_each() {
        let expected = "\
number  adapter  backend  driver      type
0       Alpha    vulkan   driver 1.2  discrete GPU
";
        assert_eq!(listed(&adapters(&["Alpha"])), expected);
    }
}
