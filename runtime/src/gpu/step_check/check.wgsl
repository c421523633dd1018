// Checks step counts of a model whose agents never stop: each must be `steps`, without a flag.

struct Check {
    agents: u32,
    steps: u32,
    // The complement of the first agent with another one; 0 if there is none.
    wrong: atomic<u32>,
    // Its progress word.
    word: u32,
}

const LANES = 256u;

@group(0) @binding(4) var<storage, read> progress: array<u32>;
@group(0) @binding(5) var<storage, read_write> check: Check;

@compute @workgroup_size(LANES)
fn find(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    for (var i = id.x; i < check.agents; i += groups.x * LANES) {
        if progress[i] != check.steps {
            atomicMax(&check.wrong, ~i);
            break;
        }
    }
}

@compute @workgroup_size(1)
fn look() {
    let wrong = atomicLoad(&check.wrong);
    if wrong != 0u {
        check.word = progress[~wrong];
    }
}
