// Selection, crossover and mutation of the genetic algorithm (`crate::breeding`), with the same bits as on
// the host. The host prepends the generator of random numbers and constants to this text: RANK_LANES (the
// invocations of a workgroup of `rank`, a power of two), CHILD_LANES (those of the others), SCORE_WORDS,
// STOPPED, CUT_SHORT and those of the numbers of draws.
//
// A generation takes `rank`, which finds the best of each island; `vary`, which writes the next population
// and what its first run has drawn of inputs; for each other run `give`, which writes what that one has
// drawn; and behind each run of the model's kernel `gather`, which adds the fitness to that of the runs
// before. Populations lie one after the other in `population`, each in a slot. So do they in `scores`: sums
// of the fitness, and behind these the fingerprints, of two words each.

struct Generation {
    number: u32,
    // Slots.
    parents: u32,
    children: u32,
    migrates: u32,
    is_first_run: u32,
    // Where the sizes of its mutations begin.
    sizes: u32,
    // The number of the run among those of all generations.
    run: u32,
}

struct Settings {
    seed: vec2<u32>,
    agents: u32,
    // Words of a row of inputs.
    row: u32,
    islands: u32,
    tournament: u32,
    // Chances: the words below which they happen.
    crosses: u32,
    blends: u32,
    mutates: u32,
    keep: u32,
    migrants: u32,
    // The best that are found of each island.
    leaders: u32,
    // How far blends reach, and the whole length that they are drawn from.
    blend: f32,
    span: f32,
    // 0, which no compiler knows.
    zero: u32,
    steps: u32,
    // The word of the outputs that is the fitness.
    fitness: u32,
    // The sign bit if small values are good.
    flip: u32,
    // Words of a row that each run draws.
    drawn: u32,
    // By generation and island.
    sizes: array<f32>,
}

struct InputWord {
    // The number of the gene, or NONE.
    gene: u32,
    scale: f32,
    low: f32,
    high: f32,
    // The place in a row of the drawn word with the number of this one.
    drawn: u32,
    // The number of this one among the drawn words, or NONE.
    draws: u32,
}

const NONE = 0xffffffffu;

@group(0) @binding(0) var<uniform> generation: Generation;
@group(0) @binding(3) var<storage, read> outputs: array<u32>;
@group(0) @binding(4) var<storage, read> progress: array<u32>;
@group(0) @binding(5) var<storage, read> settings: Settings;
@group(0) @binding(6) var<storage, read> words: array<InputWord>;
// Three coefficients of each part.
@group(0) @binding(7) var<storage, read> normals: array<i32>;
@group(0) @binding(8) var<storage, read_write> population: array<u32>;
@group(0) @binding(9) var<storage, read_write> scores: array<u32>;
@group(0) @binding(10) var<storage, read_write> leaders: array<u32>;
@group(0) @binding(11) var<storage, read_write> inputs: array<u32>;
@group(0) @binding(12) var<storage, read_write> wrong: atomic<u32>;
// By run, agent and word.
@group(0) @binding(13) var<storage, read> drawn: array<u32>;

// Where the sum of the fitness of a candidate is.
fn sum_of(slot: u32, candidate: u32) -> u32 {
    return SCORE_WORDS * slot * settings.agents + candidate;
}

// Where its fingerprint is.
fn fingerprint_of(slot: u32, candidate: u32) -> u32 {
    return (SCORE_WORDS * slot + 1u) * settings.agents + 2u * candidate;
}

// Where the first of what this run has drawn for an agent is.
fn drawn_of(agent: u32) -> u32 {
    return (generation.run * settings.agents + agent) * settings.drawn;
}

// A product that no compiler contracts with the sum that it is part of.
fn rounded(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ settings.zero);
}

fn happens(chance: u32, word: u32) -> bool {
    return word < chance || chance == 0xffffffffu;
}

// The high word of the product: a number below `count`.
fn below(word: u32, count: u32) -> u32 {
    let low = (word & 0xffffu) * (count & 0xffffu);
    let middle = (word >> 16u) * (count & 0xffffu) + (low >> 16u);
    let other = (word & 0xffffu) * (count >> 16u) + (middle & 0xffffu);
    return (word >> 16u) * (count >> 16u) + (middle >> 16u) + (other >> 16u);
}

// The normal number of a word, by `Normals::value`.
fn normal(word: u32) -> f32 {
    let chance = max(word & 0x7fffffffu, 1u);
    let octave = countLeadingZeros(chance) - 1u;
    let fraction = (chance << octave) << 2u;
    let part = 3u * (octave * 8u + (fraction >> 29u));
    let step = i32((fraction >> 15u) & 0x3fffu);
    let square = (step * step) >> 14u;
    let size = normals[part] + ((normals[part + 1u] * step) >> 14u) + ((normals[part + 2u] * square) >> 14u);
    return f32(select(-size, size, word >> 31u == 0u)) * (1.0 / 1048576.0);
}

fn first_of(island: u32) -> u32 {
    return island * settings.agents / settings.islands;
}

// A word that is larger for a better sum, and 0 for none. Floats would flush subnormal numbers.
fn key_of(candidate: u32) -> u32 {
    let bits = scores[sum_of(generation.parents, candidate)] ^ settings.flip;
    let is_finite = (bits & 0x7f800000u) != 0x7f800000u;
    let key = select(bits | 0x80000000u, ~bits, bits >> 31u == 1u);
    return select(0u, key, is_finite);
}

// Whether a candidate with a key comes before another one.
fn is_before(key: u32, candidate: u32, other_key: u32, other: u32) -> bool {
    return key > other_key || (key == other_key && candidate < other);
}

@compute @workgroup_size(CHILD_LANES)
fn give(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let agent = (group.y * groups.x + group.x) * CHILD_LANES + lane;
    if agent >= settings.agents {
        return;
    }
    for (var k = 0u; k < settings.drawn; k++) {
        inputs[agent * settings.row + words[k].drawn] = drawn[drawn_of(agent) + k];
    }
}

@compute @workgroup_size(CHILD_LANES)
fn gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let agent = (group.y * groups.x + group.x) * CHILD_LANES + lane;
    if agent >= settings.agents {
        return;
    }
    let at = sum_of(generation.children, agent);
    let fitness = outputs[settings.fitness * settings.agents + agent];
    if generation.is_first_run == 1u {
        scores[at] = fitness;
    } else {
        scores[at] = bitcast<u32>(bitcast<f32>(scores[at]) + bitcast<f32>(fitness));
    }
    let ran = progress[agent] & (CUT_SHORT - 1u);
    let stopped = (progress[agent] & STOPPED) != 0u;
    if (progress[agent] & CUT_SHORT) != 0u || ran > settings.steps || (!stopped && ran != settings.steps) {
        atomicMax(&wrong, 1u);
    }
}

var<workgroup> lane_keys: array<u32, RANK_LANES>;
var<workgroup> lane_best: array<u32, RANK_LANES>;

// The best candidate of a lane that comes after another one, with its key; NONE if there is none.
fn next_of(lane: u32, island: u32, key: u32, candidate: u32) -> vec2<u32> {
    var found = vec2<u32>(0u, NONE);
    for (var own = first_of(island) + lane; own < first_of(island + 1u); own += RANK_LANES) {
        let own_key = key_of(own);
        let comes_after = candidate == NONE || is_before(key, candidate, own_key, own);
        if comes_after && (found.y == NONE || own_key > found.x) {
            found = vec2<u32>(own_key, own);
        }
    }
    return found;
}

@compute @workgroup_size(RANK_LANES)
fn rank(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let island = group.x;
    var own = next_of(lane, island, 0u, NONE);
    for (var place = 0u; place < settings.leaders; place++) {
        lane_keys[lane] = own.x;
        lane_best[lane] = own.y;
        workgroupBarrier();
        for (var half = RANK_LANES / 2u; half > 0u; half >>= 1u) {
            if lane < half {
                let other = lane + half;
                let is_better = lane_best[lane] == NONE
                    || is_before(lane_keys[other], lane_best[other], lane_keys[lane], lane_best[lane]);
                if lane_best[other] != NONE && is_better {
                    lane_keys[lane] = lane_keys[other];
                    lane_best[lane] = lane_best[other];
                }
            }
            workgroupBarrier();
        }
        let best = lane_best[0];
        if lane == 0u {
            leaders[island * settings.leaders + place] = best;
        }
        workgroupBarrier();
        if own.y == best && best != NONE {
            own = next_of(lane, island, own.x, own.y);
        }
    }
}

// The number of the draw of a candidate of a tournament.
fn draw_of(tournament: u32, place: u32) -> u32 {
    return tournament + (place & 0xffu) + ((place >> 8u) << 24u);
}

// The winner of a tournament.
fn winner(key: vec2<u32>, island: u32, tournament: u32) -> u32 {
    let first = first_of(island);
    let count = first_of(island + 1u) - first;
    var best = first + below(random_word(key, draw_of(tournament, 0u)), count);
    var best_key = key_of(best);
    for (var n = 1u; n < settings.tournament; n++) {
        let other = first + below(random_word(key, draw_of(tournament, n)), count);
        let other_key = key_of(other);
        if is_before(other_key, other, best_key, best) {
            best = other;
            best_key = other_key;
        }
    }
    return best;
}

// The candidate that a place of an island has unchanged, or NONE.
fn unchanged(island: u32, place: u32) -> u32 {
    if place < settings.keep {
        return leaders[island * settings.leaders + place];
    }
    let from_last = first_of(island + 1u) - first_of(island) - 1u - place;
    if generation.migrates == 0u || from_last >= settings.migrants {
        return NONE;
    }
    let before = (island + settings.islands - 1u) % settings.islands;
    return leaders[before * settings.leaders + from_last];
}

var<workgroup> lane_fingerprints: array<vec2<u32>, CHILD_LANES>;

@compute @workgroup_size(CHILD_LANES)
fn vary(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let child = group.y * groups.x + group.x;
    if child >= settings.agents {
        return;
    }
    let island = ((child + 1u) * settings.islands - 1u) / settings.agents;
    let key = step_key(agent_key(settings.seed, child), generation.number);
    var mother = unchanged(island, child - first_of(island));
    var father = mother;
    let is_bred = mother == NONE;
    var crosses = false;
    if is_bred {
        mother = winner(key, island, FIRST_TOURNAMENT);
        father = winner(key, island, SECOND_TOURNAMENT);
        crosses = happens(settings.crosses, random_word(key, CROSSES));
    }
    let blends = happens(settings.blends, random_word(key, BLENDS));
    let size = settings.sizes[generation.sizes + island];
    let parents = generation.parents * settings.agents;
    var fingerprint = vec2<u32>();
    for (var at = lane; at < settings.row; at += CHILD_LANES) {
        let word = words[at];
        var value = population[(parents + child) * settings.row + at];
        if word.gene != NONE {
            value = population[(parents + mother) * settings.row + at];
            if is_bred {
                let first = GENES + OF_GENE * word.gene;
                let pick = random_word(key, first);
                let a = bitcast<f32>(value);
                let b = bitcast<f32>(population[(parents + father) * settings.row + at]);
                var gene = a;
                if crosses && blends {
                    let unit = f32(pick >> 8u) * (1.0 / 16777216.0);
                    let place = rounded(settings.span * unit) - settings.blend;
                    gene = a + rounded((b - a) * place);
                } else if crosses {
                    gene = select(b, a, pick < 0x80000000u);
                }
                if happens(settings.mutates, random_word(key, first + 1u)) {
                    gene += rounded(size * word.scale * normal(random_word(key, first + 2u)));
                }
                gene = select(gene, 0.0, abs(gene) < 1.17549435e-38);
                gene = select(gene, word.low, gene < word.low);
                gene = select(gene, word.high, gene > word.high);
                value = bitcast<u32>(gene);
            }
            let fingerprint_key = vec2<u32>(value, word.gene);
            fingerprint += vec2<u32>(random_word(fingerprint_key, 0u), random_word(fingerprint_key, 1u));
        }
        population[(generation.children * settings.agents + child) * settings.row + at] = value;
        if word.draws != NONE {
            value = drawn[drawn_of(child) + word.draws];
        }
        inputs[child * settings.row + at] = value;
    }
    lane_fingerprints[lane] = fingerprint;
    workgroupBarrier();
    if lane == 0u {
        for (var other = 1u; other < CHILD_LANES; other++) {
            fingerprint += lane_fingerprints[other];
        }
        let place = fingerprint_of(generation.children, child);
        scores[place] = fingerprint.x;
        scores[place + 1u] = fingerprint.y;
    }
}
