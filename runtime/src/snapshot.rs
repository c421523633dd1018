//! A run that was cut between two steps, as a value that a caller can keep: with what it is bound to, and as
//! bytes (`file`).

mod file;

use crate::{
    bind::{Launch, numbers},
    cut::Saved,
    error::Error,
    run::Device,
};
use serde::{Deserialize, Serialize};
use sim_compiler::{
    artifact::Artifact,
    ir::print::print,
    manifest::{Param, RealType, Scalar},
    value::Shown,
};
use std::{collections::BTreeMap, sync::Arc};

/// A run that was cut between two steps: the states of all agents and worlds, hidden ones included, step
/// counts, and all samples that were taken. [`Simulation::begin`](crate::Simulation::begin) makes one,
/// [`Simulation::advance`](crate::Simulation::advance) takes it further, and
/// [`Simulation::finish`](crate::Simulation::finish) to the results, which have the same bits as those of
/// [`Simulation::run`](crate::Simulation::run), wherever the run was cut.
///
/// It goes on only where it belongs: with the same model, values, numbers of agents and steps, and seed, and
/// on the same device. The CPU backend and the reference interpreter count as one; a GPU also needs the same
/// kernel, since others may round otherwise.
#[derive(Clone, Debug)]
pub struct Snapshot {
    identity: Arc<Identity>,
    pub(crate) saved: Saved,
    /// The device that computed it, once any has.
    device: Option<String>,
    pub(crate) spent: Spent,
}

/// What the computation of a snapshot took.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Spent {
    pub(crate) seconds: f64,
    pub(crate) dispatches: u64,
}

/// What a snapshot is bound to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// A hash of the program and its interface.
    model: String,
    /// How it was compiled.
    options: String,
    agents: u32,
    first_agent: u32,
    population: u32,
    steps: u32,
    /// The size of a world, or of a unit.
    members: u32,
    seed: u64,
    /// The words of each param.
    params: BTreeMap<String, Vec<u32>>,
    /// A hash of each table.
    data: BTreeMap<String, String>,
    /// A hash of all inputs that were given.
    inputs: String,
}

impl Snapshot {
    /// The run before its first step.
    pub(crate) fn begin(identity: Arc<Identity>) -> Snapshot {
        Snapshot {
            identity,
            saved: Saved::default(),
            device: None,
            spent: Spent::default(),
        }
    }

    /// The number of steps that are done.
    pub fn step(&self) -> u32 {
        self.saved.step
    }

    /// The number of steps of the whole run.
    pub fn steps(&self) -> u32 {
        self.identity.steps
    }

    /// The number of agents.
    pub fn agents(&self) -> u32 {
        self.identity.agents
    }

    /// The number of the first agent.
    pub fn first_agent(&self) -> u32 {
        self.identity.first_agent
    }

    /// The value of `agents` in the model.
    pub fn population(&self) -> u32 {
        self.identity.population
    }

    /// The number of agents in a world; without meaning where the model has no worlds.
    pub fn members(&self) -> u32 {
        self.identity.members
    }

    /// The seed of every draw.
    pub fn seed(&self) -> u64 {
        self.identity.seed
    }

    /// The seconds that its computation took, in all processes together.
    pub fn seconds(&self) -> f64 {
        self.spent.seconds
    }

    /// The device that computed it: an adapter's name, or `the CPU`; `None` before the first step.
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// The words of a param.
    pub(crate) fn param(&self, name: &str) -> Option<&[u32]> {
        self.identity.params.get(name).map(Vec::as_slice)
    }

    /// Checks that it belongs to a model.
    ///
    /// # Errors
    /// [`Error::SnapshotModel`], [`Error::SnapshotDiffers`]
    pub(crate) fn check_model(&self, artifact: &Artifact) -> Result<(), Error> {
        self.identity.check_model(&Model::of(artifact))
    }

    /// Checks that it belongs to a model and a launch of it, whose identity is given.
    ///
    /// # Errors
    /// [`Error::SnapshotModel`], [`Error::SnapshotDiffers`], [`Error::SnapshotBroken`]
    pub(crate) fn check(
        &self,
        artifact: &Artifact,
        launch: &Launch,
        here: &Arc<Identity>,
    ) -> Result<(), Error> {
        if !Arc::ptr_eq(here, &self.identity) && **here != *self.identity {
            return Err(self.identity.difference(here, &artifact.manifest.params));
        }
        match self.saved.step == 0 || self.saved.fits(&artifact.manifest, launch) {
            true => Ok(()),
            false => Err(Error::SnapshotBroken {
                why: "its arrays have other lengths than its numbers say".to_owned(),
            }),
        }
    }

    /// Checks that a device may go on with it.
    ///
    /// # Errors
    /// [`Error::SnapshotDevice`]
    pub(crate) fn check_device(&self, device: &Device) -> Result<(), Error> {
        let here = name_of(device);
        match &self.device {
            Some(there) if *there != here => Err(Error::SnapshotDevice {
                there: there.clone(),
                here,
            }),
            Some(_) | None => Ok(()),
        }
    }

    /// Takes what a part of the run left, and the samples that it took.
    pub(crate) fn take(&mut self, mut saved: Saved, taken: Vec<Vec<u32>>, device: &Device) {
        let before = match self.saved.step {
            0 => Vec::new(),
            _ => std::mem::take(&mut self.saved.series),
        };
        saved.series = joined(before, taken);
        self.saved = saved;
        self.device = Some(name_of(device));
    }
}

/// Series with the samples that were taken before, and after.
pub(crate) fn joined(mut before: Vec<Vec<u32>>, after: Vec<Vec<u32>>) -> Vec<Vec<u32>> {
    if before.is_empty() {
        return after;
    }
    for (before, after) in before.iter_mut().zip(after) {
        before.extend(after);
    }
    before
}

/// The name of a device in a snapshot.
fn name_of(device: &Device) -> String {
    match device {
        Device::Cpu(_) | Device::Reference => "the CPU".to_owned(),
        Device::Gpu(adapter) => adapter.name.clone(),
    }
}

/// A model as a snapshot knows it.
struct Model {
    hash: String,
    options: String,
}

impl Model {
    fn of(artifact: &Artifact) -> Model {
        let mut hasher = blake3::Hasher::new();
        let mut interface =
            serde_json::to_value(&artifact.manifest).expect("a manifest is a value of JSON");
        without_docs(&mut interface);
        for part in [
            env!("CARGO_PKG_VERSION"),
            &print(&artifact.program),
            &interface.to_string(),
            artifact.own_kernel.as_deref().unwrap_or_default(),
        ] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        let options = &artifact.options;
        Model {
            hash: hasher.finalize().to_hex().to_string(),
            options: format!(
                "generator {:?}, math {:?}, checks {}{}",
                options.generator,
                options.math,
                options.checks,
                match options.real {
                    RealType::F32 => "",
                    RealType::F64 => ", real f64",
                }
            ),
        }
    }
}

/// Removes documentation, which changes no result.
fn without_docs(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.retain(|name, _| name != "doc");
            fields.values_mut().for_each(without_docs);
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(without_docs),
        _ => {}
    }
}

impl Identity {
    /// That of a launch. It reads all tables and inputs.
    pub(crate) fn of(artifact: &Artifact, launch: &Launch) -> Identity {
        let manifest = &artifact.manifest;
        let params = manifest.params.iter().map(|param| {
            let first = param.field.word as usize;
            let words = &launch.uniform[first..first + param.field.words() as usize];
            (param.field.name.clone(), words.to_vec())
        });
        let tables = manifest.data.iter().zip(&launch.data);
        let given: Vec<u32> = launch.given.iter().map(|&given| given.into()).collect();
        let model = Model::of(artifact);
        Identity {
            model: model.hash,
            options: model.options,
            agents: launch.agents,
            first_agent: launch.first_agent,
            population: launch.population,
            steps: launch.steps,
            members: launch.members,
            seed: launch.seed,
            params: params.collect(),
            data: tables
                .map(|(table, words)| (table.field.name.clone(), hash(&[words])))
                .collect(),
            inputs: hash(&[&given, &launch.inputs, &launch.world_inputs]),
        }
    }

    fn check_model(&self, here: &Model) -> Result<(), Error> {
        if self.options != here.options {
            return Err(differs(
                "how the model is compiled",
                Some([&here.options, &self.options]),
            ));
        }
        match self.model == here.hash {
            true => Ok(()),
            false => Err(Error::SnapshotModel),
        }
    }

    /// What is different here.
    pub(crate) fn difference(&self, here: &Identity, params: &[Param]) -> Error {
        let model = Model {
            hash: here.model.clone(),
            options: here.options.clone(),
        };
        if let Err(error) = self.check_model(&model) {
            return error;
        }
        let counts = [
            ("the number of agents", self.agents, here.agents),
            (
                "the number of the first agent",
                self.first_agent,
                here.first_agent,
            ),
            ("the population", self.population, here.population),
            ("the number of steps", self.steps, here.steps),
            (
                "the number of agents in a world",
                self.members,
                here.members,
            ),
        ];
        if let Some((what, there, here)) = counts.iter().find(|(_, there, here)| there != here) {
            return differs(what, Some([&here.to_string(), &there.to_string()]));
        }
        if self.seed != here.seed {
            let values = [here.seed, self.seed].map(|seed| seed.to_string());
            return differs("the seed", Some([&values[0], &values[1]]));
        }
        for param in params {
            let name = &param.field.name;
            let (there, here) = (&self.params[name], &here.params[name]);
            if there != here {
                let values = shown(param.field.scalar, here).zip(shown(param.field.scalar, there));
                let values = values.as_ref().map(|(here, there)| [&here[..], &there[..]]);
                return differs(&format!("param `{name}`"), values);
            }
        }
        match self
            .data
            .iter()
            .find(|(name, hash)| here.data.get(*name) != Some(*hash))
        {
            Some((name, _)) => differs(&format!("data `{name}`"), None),
            None => differs("an input", None),
        }
    }
}

/// The error for something that is another here; `values` are those here and in the snapshot.
pub(crate) fn differs(what: &str, values: Option<[&str; 2]>) -> Error {
    Error::SnapshotDiffers {
        what: what.to_owned(),
        values: values.map(|values| values.map(str::to_owned)),
    }
}

/// A value that is one number.
fn shown(scalar: Scalar, words: &[u32]) -> Option<String> {
    let [value] = *numbers(scalar, words) else {
        return None;
    };
    Some(match scalar {
        Scalar::Bool => (value != 0.0).to_string(),
        Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::U32 => Shown(value).to_string(),
    })
}

/// A hash of lists of words.
fn hash(lists: &[&[u32]]) -> String {
    let mut hasher = blake3::Hasher::new();
    for words in lists {
        hasher.update(&(words.len() as u64).to_le_bytes());
        file::bytes_of(words, |bytes| {
            hasher.update(bytes);
        });
    }
    hasher.finalize().to_hex().to_string()
}
