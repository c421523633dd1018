//! What each of several devices computed, for reports.

use super::duration;
use crate::number::grouped;
use serde::Serialize;
use sim_runtime::{Device, DeviceShare};

/// The shares of one run, or of many runs together.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Shares(Vec<Share>);

/// What one device computed.
#[derive(Clone, Debug, Serialize)]
struct Share {
    /// As the command line calls it.
    name: String,
    device: String,
    agents: u64,
    seconds: f64,
    /// Why it computed no more, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    #[serde(skip)]
    kind: Device,
}

impl Shares {
    /// Those of a run; none if it ran on one device.
    pub(crate) fn of(devices: &[DeviceShare]) -> Shares {
        let mut shares = Shares::default();
        shares.add(devices);
        shares
    }

    /// Adds those of another run.
    pub(crate) fn add(&mut self, devices: &[DeviceShare]) {
        for device in devices {
            match self.0.iter_mut().find(|known| known.name == device.name) {
                Some(known) => {
                    known.agents += u64::from(device.agents);
                    known.seconds += device.seconds;
                    known.failure.clone_from(&device.failure);
                }
                None => self.0.push(Share {
                    name: device.name.clone(),
                    device: spelled(&device.device),
                    agents: device.agents.into(),
                    seconds: device.seconds,
                    failure: device.failure.clone(),
                    kind: device.device.clone(),
                }),
            }
        }
    }

    /// Are there none?
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Are all devices of one kind, so that floats have the bits of one of them?
    pub(crate) fn are_alike(&self) -> bool {
        self.0.windows(2).all(|pair| pair[0].kind == pair[1].kind)
    }

    /// Lines for people: a device each, and what is to be known of them together.
    pub(crate) fn lines(&self) -> Vec<String> {
        let line = |share: &Share| {
            let Share {
                name,
                device,
                agents,
                seconds,
                failure,
                ..
            } = share;
            let agents = grouped(*agents);
            match failure {
                Some(why) => format!(
                    "{name}: {device}, {agents} agents, then FAILED: {why}; others took its share"
                ),
                None => format!(
                    "{name}: {device}, {agents} agents in {}",
                    duration(*seconds)
                ),
            }
        };
        let mut lines: Vec<String> = self.0.iter().map(line).collect();
        if !self.are_alike() {
            let note = "of unlike kinds: floats can differ in their last bits from those of one";
            lines.push(note.to_owned());
        }
        lines
    }
}

fn spelled(device: &Device) -> String {
    match device {
        Device::Cpu(isa) => format!("processor with {isa}"),
        Device::Reference => "reference interpreter".to_owned(),
        Device::Gpu(adapter) => adapter.name.clone(),
    }
}
