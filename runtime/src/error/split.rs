//! The errors of runs on several devices, `E0750` and after.

/// Defines the errors that it is given, and those of several devices and of one device after them.
macro_rules! with_split_errors {
    ($($others:tt)*) => {
        with_device_errors! {
            $($others)*

    /// Whole runs are split among devices, by their agents or, in a batch, run by run. A session, and a run
    /// that is cut between steps and saved in a checkpoint, keeps the states of all agents on one device.
    E0750 not_on_devices NotOnDevices {
        /// What is not split.
        what: &'static str,
    }
        says("{what} is not split among several devices")
        help(Some("leave out the devices: the best one runs it".into()))
        after(KeepBackend)

    /// A device was asked for by a number that no adapter has. Adapters are numbered from 0, the best first,
    /// as `simc run --adapter list` prints them.
    E0751 no_such_device NoSuchDevice {
        /// The number.
        number: usize,
        /// All adapters, in the order of their numbers.
        found: Vec<String>,
    }
        says("there is no device {number}: {}", numbered(found))
        help(Some("`simc run --adapter list` prints all devices; `cpu` is the processor".into()))
        after(KeepBackend)

    /// More devices were asked for than there are of one kind: same name, driver and interface. Devices of
    /// unlike kinds can differ in the last bits of floats, so that they work together only if each is named.
    E0752 too_few_devices TooFewDevices {
        /// How many were asked for.
        wanted: usize,
        /// The name of the best adapter.
        kind: String,
        /// How many there are of its kind.
        found: usize,
    }
        says("{wanted} devices were asked for, and there are {found} of the kind of {kind}")
        help(Some("name each of them, such as `0,1`: devices of unlike kinds can differ in the last bits of \
            floats".into()))
        after(KeepBackend)
        }
    };
}
pub(super) use with_split_errors;
