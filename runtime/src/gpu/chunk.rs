//! Splits a population into chunks that fit the device's limits. Chunks do not change results: the draws of
//! an agent depend on its number, not on its index in a buffer.

/// One chunk of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// The first agent, counted within the run.
    pub(crate) first: u32,
    /// The number of agents.
    pub(crate) count: u32,
}

/// The size below which chunks are not reduced when an allocation fails: then something else does not fit.
pub(crate) const SMALLEST_CHUNK: u32 = 1024;

/// The agents of each chunk: as few chunks of about equal size as `most` allows, in whole workgroups, or in
/// whole worlds if these have several `members`.
pub(crate) fn chunk_agents(agents: u32, most: u32, workgroup: u32, members: u32) -> u32 {
    let most = (most / members * members).max(members);
    let workgroup = if members > 1 { members } else { workgroup };
    let chunks = agents.div_ceil(most.max(1));
    let even = agents.div_ceil(chunks.max(1));
    let whole = even.div_ceil(workgroup.max(1)) as u64 * u64::from(workgroup.max(1));
    whole.min(most.into()).min(agents.into()) as u32
}

/// The number of workgroups in x and y: one row if the limit allows it, otherwise the fewest rows. Kernels
/// number workgroups row by row.
pub(crate) fn workgroups(agents: u32, workgroup: u32, per_dimension: u32) -> (u32, u32) {
    let groups = agents.div_ceil(workgroup.max(1));
    if groups <= per_dimension {
        (groups, 1)
    } else {
        let rows = groups.div_ceil(per_dimension);
        (groups.div_ceil(rows), rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_population_in_equal_parts() {
        assert_eq!(chunk_agents(1000, 1_000_000, 64, 1), 1000);
        assert_eq!(
            chunk_agents(1000, 400, 64, 1),
            384,
            "334 in whole workgroups"
        );
        assert_eq!(chunk_agents(1000, 100, 64, 1), 100);
        assert_eq!(chunk_agents(1, 1, 64, 1), 1);
        assert_eq!(chunk_agents(990, 400, 64, 33), 330);
        assert_eq!(chunk_agents(990, 100, 64, 33), 99);
        assert_eq!(chunk_agents(990, 20, 64, 33), 33, "a world is whole");
        for (agents, most) in [(1000, 300), (1000, 999), (7, 3), (i32::MAX as u32, 1 << 25)] {
            let chunk = chunk_agents(agents, most, 64, 1);
            assert!(chunk >= 1 && chunk <= most);
            assert_eq!(agents.div_ceil(chunk), agents.div_ceil(most));
        }
    }

    #[test]
    fn large_populations_take_two_dimensions() {
        assert_eq!(workgroups(1, 64, 65_535), (1, 1));
        assert_eq!(workgroups(65_535 * 64, 64, 65_535), (65_535, 1));
        assert_eq!(workgroups(65_535 * 64 + 1, 64, 65_535), (32_768, 2));
        let (x, y) = workgroups(i32::MAX as u32, 64, 65_535);
        assert!(x <= 65_535 && y <= 65_535);
        assert!(u64::from(x) * u64::from(y) * 64 >= i32::MAX as u64);
    }
}
