//! The memory that this process can still allocate, given the machine, control groups and limits. Known on
//! Linux only.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// The bytes that this process can still allocate, if the system reports them: the least of the machine's
/// available memory, what its control groups (versions 1 and 2) leave, and what its limits of address space
/// and data leave.
pub fn available() -> Option<u64> {
    below(Path::new("/"))
}

/// The same, with files below a root directory.
fn below(root: &Path) -> Option<u64> {
    let groups = groups(root);
    let limits = limits(root);
    [machine(root)]
        .into_iter()
        .chain(limits)
        .chain([groups])
        .flatten()
        .min()
}

fn machine(root: &Path) -> Option<u64> {
    kibibytes(&text(&root.join("proc/meminfo"))?, "MemAvailable:")
}

/// What the tightest of the control groups of this process leaves.
fn groups(root: &Path) -> Option<u64> {
    let own = text(&root.join("proc/self/cgroup"))?;
    let left = own.lines().filter_map(|line| {
        // `4:memory:/a/b` in version 1, `0::/a/b` in version 2.
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let all = root.join("sys/fs/cgroup");
        match controllers {
            "" => least_of(&all, path, &VERSION_2),
            some if some.split(',').any(|it| it == "memory") => {
                least_of(&all.join("memory"), path, &VERSION_1)
            }
            _ => None,
        }
    });
    left.min()
}

/// The file names of a version of control groups.
struct Names {
    limit: &'static str,
    usage: &'static str,
    /// The page cache that the system reclaims first.
    files: [&'static str; 2],
}

const VERSION_1: Names = Names {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    files: ["total_inactive_file ", "total_active_file "],
};

const VERSION_2: Names = Names {
    limit: "memory.max",
    usage: "memory.current",
    files: ["inactive_file ", "active_file "],
};

/// A limit applies to all groups below it. In a container the path may not be visible.
fn least_of(all: &Path, path: &str, names: &Names) -> Option<u64> {
    let inside = Path::new(path).components();
    let inside: PathBuf = inside
        .filter(|it| matches!(it, Component::Normal(_)))
        .collect();
    let groups = inside.ancestors().map(|group| all.join(group));
    groups.filter_map(|group| left(&group, names)).min()
}

fn left(group: &Path, names: &Names) -> Option<u64> {
    // `max` does not parse as a number: there is no limit.
    let limit: u64 = number(&group.join(names.limit))?;
    let usage = number(&group.join(names.usage))?;
    let statistics = text(&group.join("memory.stat")).unwrap_or_default();
    let files = names.files.map(|name| {
        let mut lines = statistics.lines();
        let bytes = lines.find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        bytes.unwrap_or(0_u64)
    });
    let held = usage.saturating_sub(files.iter().sum());
    Some(limit.saturating_sub(held))
}

/// What `ulimit -v` and `ulimit -d` leave.
fn limits(root: &Path) -> [Option<u64>; 2] {
    let limits = text(&root.join("proc/self/limits")).unwrap_or_default();
    let status = text(&root.join("proc/self/status")).unwrap_or_default();
    let left = |limit: &str, usage: &str| {
        let mut lines = limits.lines();
        let soft = lines.find_map(|line| line.strip_prefix(limit)?.split_whitespace().next())?;
        // `unlimited` does not parse as a number.
        Some(
            soft.parse::<u64>()
                .ok()?
                .saturating_sub(kibibytes(&status, usage)?),
        )
    };
    [
        left("Max address space", "VmSize:"),
        left("Max data size", "VmData:"),
    ]
}

/// The number after a name in lines such as `MemAvailable:   1234 kB`, in bytes.
fn kibibytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

fn number(path: &Path) -> Option<u64> {
    text(path)?.trim().parse().ok()
}

fn text(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{env, process};

    /// The available memory, given these files.
    fn with(name: &str, files: &[(&str, &str)]) -> Option<u64> {
        let root = env::temp_dir().join(format!("sim-memory-{}-{name}", process::id()));
        for (path, content) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
            fs::write(path, content).expect("it can be written");
        }
        let found = below(&root);
        let _ = fs::remove_dir_all(&root);
        found
    }

    const MACHINE: (&str, &str) = ("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:   1000 kB\n");

    #[test]
    fn the_least_of_machine_groups_and_limits_counts() {
        assert_eq!(with("nothing", &[]), None);
        assert_eq!(with("machine", &[MACHINE]), Some(1_024_000));
        let limits = "Limit  Soft Limit  Hard Limit  Units\nMax data size  unlimited  unlimited  bytes\n\
                      Max address space         900000               unlimited            bytes\n";
        let limited = [
            MACHINE,
            ("proc/self/limits", limits),
            ("proc/self/status", "Name:\tsimc\nVmSize:\t     100 kB\n"),
        ];
        assert_eq!(with("limits", &limited), Some(900_000 - 102_400));
    }

    #[test]
    fn groups_of_version_2_count_with_all_above_them() {
        let group = [
            MACHINE,
            ("proc/self/cgroup", "0::/user/run\n"),
            ("sys/fs/cgroup/user/run/memory.max", "max\n"),
            ("sys/fs/cgroup/user/run/memory.current", "1\n"),
            ("sys/fs/cgroup/user/memory.max", "500000\n"),
            ("sys/fs/cgroup/user/memory.current", "300000\n"),
            (
                "sys/fs/cgroup/user/memory.stat",
                "anon 1\nfile 90000\ninactive_file 40000\nactive_file 10000\n",
            ),
        ];
        assert_eq!(with("v2", &group), Some(250_000));
        // A container sees its own group as the root, whatever its name outside.
        let container = [
            MACHINE,
            ("proc/self/cgroup", "0::/../../docker/1234\n"),
            ("sys/fs/cgroup/memory.max", "600000\n"),
            ("sys/fs/cgroup/memory.current", "100000\n"),
        ];
        assert_eq!(with("container", &container), Some(500_000));
        let full = [
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/memory.max", "5\n"),
            ("sys/fs/cgroup/memory.current", "9\n"),
        ];
        assert_eq!(with("full", &full), Some(0));
    }

    #[test]
    fn groups_of_version_1_are_found_by_their_controller() {
        let group = [
            MACHINE,
            (
                "proc/self/cgroup",
                "12:cpu,cpuacct:/x\n4:memory:/a/b\n0::/x\n",
            ),
            (
                "sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "777\n"),
            ("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "400000\n"),
            ("sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "390000\n"),
            (
                "sys/fs/cgroup/memory/a/b/memory.stat",
                "inactive_file 1\ntotal_inactive_file 20000\ntotal_active_file 5000\n",
            ),
        ];
        assert_eq!(with("v1", &group), Some(35_000));
    }
}
