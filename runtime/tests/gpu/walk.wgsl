// A hand-written kernel after the manifest's contract: agents walk by `drift` plus what a table says for
// the step, turn a wheel `turns` times within each step, and stop beyond 100.

struct Run {
    agents: u32,
    first_agent: u32,
    population: i32,
    steps: i32,
    first_step: i32,
    end_step: i32,
    seed: vec2<u32>,
    guard: u32,
    table_rows: i32,
    drift: f32,
    turns: i32,
    offsets: array<vec4<f32>, 1>,
}

@group(0) @binding(0) var<uniform> run: Run;
@group(0) @binding(1) var<storage, read> inputs: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> states: array<u32>;
@group(0) @binding(3) var<storage, read_write> outputs: array<u32>;
@group(0) @binding(4) var<storage, read_write> progress: array<u32>;
@group(0) @binding(5) var<storage, read> table: array<f32>;

const STOPPED = 0x80000000u;
const CUT_SHORT = 0x40000000u;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.y * groups.x * 64u + id.x;
    if i >= run.agents {
        return;
    }
    let agent = i32(run.first_agent + i);
    let start = inputs[i].x;
    var x = start + run.offsets[0].y;
    var wheel = 0u;
    var steps_run = 0u;
    if run.first_step > 0 {
        x = bitcast<f32>(states[i]);
        wheel = states[run.agents + i];
        steps_run = progress[i];
    }
    for (var t = run.first_step; t < run.end_step; t++) {
        if steps_run >= CUT_SHORT {
            break;
        }
        var j = 0;
        for (; j < run.turns; j++) {
            wheel = wheel * 1664525u + 1013904223u;
        }
        if j < run.turns {
            steps_run |= CUT_SHORT;
            break;
        }
        x += run.drift + table[2 * t + 1] + 0.001 * f32(agent);
        steps_run += 1u;
        if x > 100.0 {
            steps_run |= STOPPED;
            break;
        }
    }
    states[i] = bitcast<u32>(x);
    states[run.agents + i] = wheel;
    progress[i] = steps_run;
    if run.end_step == run.steps {
        outputs[i] = bitcast<u32>(x);
        outputs[run.agents + i] = bitcast<u32>(x);
        outputs[2u * run.agents + i] = bitcast<u32>(-x);
        outputs[3u * run.agents + i] = bitcast<u32>(start);
        outputs[4u * run.agents + i] = u32(agent) + u32(run.population) * 0u;
        outputs[5u * run.agents + i] = u32(x > 50.0);
        outputs[6u * run.agents + i] = wheel;
    }
}
