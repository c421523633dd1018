//! Which devices of the host run a simulation together.

use std::{fmt, str::FromStr};

/// The devices that run a simulation together.
///
/// One run is split by agents, and a batch of many runs by runs; each device gets a share that fits its
/// measured speed. A device that fails hands what it has left to the others. Devices of one kind give the
/// bits of one of them, whatever their number. Devices of unlike kinds, and GPUs beside the CPU, can differ
/// in the last bits of floats, so that they work together only if they are named.
///
/// As text: `all`, a number of devices such as `2`, or a list such as `0,1`, `0,cpu` or `H100,H200`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Devices {
    /// All adapters of the kind of the best one.
    All,
    /// So many of them.
    Count(usize),
    /// These. A device that is named twice is opened twice.
    Named(Vec<DeviceName>),
}

/// The name of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceName {
    /// All cores of the processor.
    Cpu,
    /// The adapter with this number in [`crate::adapters`], counted from 0.
    Number(usize),
    /// The first adapter whose name is this, or else contains it (case-insensitive).
    Adapter(String),
}

impl fmt::Display for Devices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Devices::All => f.write_str("all"),
            Devices::Count(count) => count.fmt(f),
            Devices::Named(names) => {
                let names: Vec<_> = names.iter().map(ToString::to_string).collect();
                let alone_number =
                    matches!(self, Devices::Named(it) if matches!(it[..], [DeviceName::Number(_)]));
                write!(
                    f,
                    "{}{}",
                    names.join(","),
                    if alone_number { "," } else { "" }
                )
            }
        }
    }
}

impl fmt::Display for DeviceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceName::Cpu => f.write_str("cpu"),
            DeviceName::Number(number) => number.fmt(f),
            DeviceName::Adapter(name) => f.write_str(name),
        }
    }
}

impl FromStr for Devices {
    type Err = String;

    fn from_str(text: &str) -> Result<Devices, String> {
        let text = text.trim();
        if text == "all" {
            return Ok(Devices::All);
        }
        match text.parse() {
            Ok(0) => {
                return Err(
                    "one number is how many devices: write `0,` for the device 0 alone, or `0,1` \
                     for two"
                        .to_owned(),
                );
            }
            Ok(count) => return Ok(Devices::Count(count)),
            Err(_) => {}
        }
        let names = text.strip_suffix(',').unwrap_or(text).split(',');
        let names = names.map(str::trim).map(|name| match name {
            "" => Err("there is nothing before or after a comma".to_owned()),
            "all" => Err("`all` stands alone".to_owned()),
            "cpu" => Ok(DeviceName::Cpu),
            name => Ok(match name.parse() {
                Ok(number) => DeviceName::Number(number),
                Err(_) => DeviceName::Adapter(name.to_owned()),
            }),
        });
        names.collect::<Result<_, _>>().map(Devices::Named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_as_they_are_written() {
        use DeviceName::{Adapter, Cpu, Number};
        for (text, devices) in [
            ("all", Devices::All),
            ("2", Devices::Count(2)),
            ("0,1", Devices::Named(vec![Number(0), Number(1)])),
            ("3,", Devices::Named(vec![Number(3)])),
            ("0,cpu", Devices::Named(vec![Number(0), Cpu])),
            ("cpu", Devices::Named(vec![Cpu])),
            (
                "llvmpipe,llvmpipe",
                Devices::Named(vec![Adapter("llvmpipe".into()), Adapter("llvmpipe".into())]),
            ),
        ] {
            assert_eq!(text.parse(), Ok(devices.clone()));
            assert_eq!(devices.to_string(), text);
        }
        assert_eq!(
            " 1 , CPU".parse(),
            Ok(Devices::Named(vec![Number(1), Adapter("CPU".into())]))
        );
        for wrong in ["", "0", ",", "0,,1", "0,all"] {
            assert!(wrong.parse::<Devices>().is_err(), "{wrong}");
        }
    }
}
