// Statistics of columns of 32-bit words, in integers alone: no rounding, no dependence on the order of
// additions, no flushed subnormals. A column is a range of `values`. Three kernels process all columns at
// once:
//
// * `moments` sums magnitudes by sign and exponent, and their squares by exponent, in pieces of 16 bits.
// * `tally` and `narrow`, four times in turn, find the keys of `TARGETS` ranks by radix selection from the
//   highest 8 bits to the lowest. `tally` counts the next 8 bits of the keys that have a target's prefix;
//   `narrow` appends the 8 bits of each rank to its target.
//
// `ran` sums the step counts. Sums are accumulated in workgroup memory and then in accumulators of 64 bits,
// two words each. The host zeroes everything, and prepends the constants KIND_…, STOPPED and CUT_SHORT to
// this text.

const LANES = 256u;
// Minimum, lower quartile, median and upper quartile, each quartile with the next value, maximum.
const TARGETS = 8u;
// Histogram bins of 8 bits, per target.
const COUNTS = 2048u;
// Two pieces per sign and exponent, then four pieces of squares per exponent.
const SUMS = 2048u;
const SQUARES = 1024u;
// A prefix of no key: prefixes have at most 24 bits.
const NOTHING = 0xffffffffu;
// The exponent at which the unit is 1: a float is its 24-bit magnitude times 2 ^ (exponent - 150).
const UNIT = 150u;
// The exponent of infinities (magnitude 0 here) and NaNs (magnitude 1).
const SPECIAL = 255u;

struct Column {
    first: u32,
    count: u32,
    kind: u32,
    // Values of one workgroup, at most 65,536, so that the sums of 16-bit pieces stay below 2 ^ 32.
    share: u32,
}

struct Task {
    agents: u32,
    steps: u32,
    share: u32,
    columns: array<Column>,
}

struct Found {
    keys: array<u32, TARGETS>,
    sums: array<atomic<u32>, 4096>,
}

struct Report {
    // Step counts in 16-bit pieces.
    steps: array<atomic<u32>, 4>,
    stopped: atomic<u32>,
    // The complement of the first agent with a wrong step count; 0 if there is none.
    wrong: atomic<u32>,
    // Its progress word.
    wrong_word: u32,
    columns: array<Found>,
}

struct Search {
    // The number of digits of 8 bits that are known.
    digits: u32,
    prefixes: array<u32, TARGETS>,
    // The ranks among the keys with the prefix.
    ranks: array<u32, TARGETS>,
    // The first target with the same prefix, which counts for all of them.
    counting: array<u32, TARGETS>,
    counts: array<atomic<u32>, COUNTS>,
}

@group(0) @binding(3) var<storage, read> values: array<u32>;
@group(0) @binding(4) var<storage, read> progress: array<u32>;
@group(0) @binding(5) var<storage, read> task: Task;
@group(0) @binding(6) var<storage, read_write> report: Report;
@group(0) @binding(7) var<storage, read_write> searches: array<Search>;

// The sums, the counts or the totals of a workgroup.
var<workgroup> local: array<atomic<u32>, SUMS>;
var<workgroup> wanted: array<u32, TARGETS>;

fn clear(lane: u32) {
    for (var i = lane; i < SUMS; i += LANES) {
        atomicStore(&local[i], 0u);
    }
}

fn note(at: u32, count: u32) {
    if count != 0u {
        atomicAdd(&local[at], count);
    }
}

fn is_nan(word: u32) -> bool {
    return (word & 0x7fffffffu) > 0x7f800000u;
}

fn is_negative(word: u32) -> bool {
    return (word & 0x80000000u) != 0u;
}

// The sign in bit 8, the exponent below.
fn scale(word: u32, kind: u32) -> u32 {
    if kind == KIND_F32 {
        let biased = word >> 23u;
        return max(biased, (biased & 256u) + 1u);
    }
    return select(UNIT, UNIT + 256u, kind == KIND_I32 && is_negative(word));
}

fn magnitude(word: u32, kind: u32) -> u32 {
    if kind == KIND_F32 {
        let fraction = word & 0x7fffffu;
        let exponent = (word >> 23u) & SPECIAL;
        if exponent == SPECIAL {
            return u32(fraction != 0u);
        }
        return fraction | select(0x800000u, 0u, exponent == 0u);
    }
    if kind == KIND_I32 && is_negative(word) {
        return ~word + 1u;
    }
    return select(word, u32(word != 0u), kind == KIND_BOOL);
}

// Ordered like the value, -0 before 0; NaNs come last.
fn key(word: u32, kind: u32) -> u32 {
    if kind == KIND_F32 {
        let ordered = select(word | 0x80000000u, ~word, is_negative(word));
        return select(ordered, 0xffffffffu, is_nan(word));
    }
    if kind == KIND_I32 {
        return word ^ 0x80000000u;
    }
    return select(word, u32(word != 0u), kind == KIND_BOOL);
}

@compute @workgroup_size(256)
fn moments(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    clear(lane);
    workgroupBarrier();
    let column = task.columns[group.y];
    let start = group.x * column.share;
    let end = min(start + column.share, column.count);
    for (var i = start + lane; i < end; i += LANES) {
        let word = values[column.first + i];
        let at = scale(word, column.kind);
        let whole = magnitude(word, column.kind);
        let low = whole & 0xffffu;
        let high = whole >> 16u;
        note(2u * at, low);
        note(2u * at + 1u, high);
        // (low + 2^16 high)^2 = low^2 + 2^17 low high + 2^32 high^2, as two words.
        let square = low * low;
        let cross = low * high;
        let lower = square + (cross << 17u);
        let upper = high * high + (cross >> 15u) + u32(lower < square);
        let squares = SQUARES + 4u * (at & SPECIAL);
        note(squares, lower & 0xffffu);
        note(squares + 1u, lower >> 16u);
        note(squares + 2u, upper & 0xffffu);
        note(squares + 3u, upper >> 16u);
    }
    workgroupBarrier();
    for (var i = lane; i < SUMS; i += LANES) {
        let sum = atomicLoad(&local[i]);
        if sum != 0u {
            let before = atomicAdd(&report.columns[group.y].sums[2u * i], sum);
            atomicAdd(&report.columns[group.y].sums[2u * i + 1u], u32(before + sum < sum));
        }
    }
}

@compute @workgroup_size(256)
fn tally(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    clear(lane);
    if lane < TARGETS {
        let counts = searches[group.y].counting[lane] == lane;
        wanted[lane] = select(NOTHING, searches[group.y].prefixes[lane], counts);
    }
    workgroupBarrier();
    let column = task.columns[group.y];
    let shift = 24u - 8u * searches[group.y].digits;
    let start = group.x * column.share;
    let end = min(start + column.share, column.count);
    for (var i = start + lane; i < end; i += LANES) {
        let bits = key(values[column.first + i], column.kind);
        // In two shifts, since a shift by 32 is not allowed.
        let prefix = (bits >> 8u) >> shift;
        let counter = ((bits >> shift) & 255u) * TARGETS;
        for (var at = 0u; at < TARGETS; at++) {
            if wanted[at] == prefix {
                atomicAdd(&local[counter + at], 1u);
                break;
            }
        }
    }
    workgroupBarrier();
    for (var i = lane; i < COUNTS; i += LANES) {
        let count = atomicLoad(&local[i]);
        if count != 0u {
            atomicAdd(&searches[group.y].counts[i], count);
        }
    }
}

// The rank of a target among `numbers` numbers, counted from 0: quantile p is at position (n - 1) p.
fn first_rank(at: u32, numbers: u32) -> u32 {
    let last = max(numbers, 1u) - 1u;
    if at == 0u || at == TARGETS - 1u {
        return select(0u, last, at > 0u);
    }
    let quarter = (at + 1u) / 2u;
    let below = (last / 4u) * quarter + ((last % 4u) * quarter) / 4u;
    return min(below + 1u - (at % 2u), last);
}

// A target's prefix with the next 8 bits.
fn narrowed(column: u32, at: u32) -> u32 {
    var rank = searches[column].ranks[at];
    if searches[column].digits == 0u {
        let nans = atomicLoad(&report.columns[column].sums[4u * SPECIAL])
            + atomicLoad(&report.columns[column].sums[4u * (SPECIAL + 256u)]);
        rank = first_rank(at, task.columns[column].count - nans);
    }
    let counting = searches[column].counting[at];
    var before = 0u;
    var upto = 0u;
    var digit = 0u;
    for (var bits = 0u; bits < 255u; bits++) {
        upto += atomicLoad(&local[bits * TARGETS + counting]);
        if upto <= rank {
            before = upto;
            digit = bits + 1u;
        }
    }
    searches[column].ranks[at] = rank - before;
    return (searches[column].prefixes[at] << 8u) | digit;
}

@compute @workgroup_size(256)
fn narrow(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let column = group.x;
    for (var i = lane; i < COUNTS; i += LANES) {
        atomicStore(&local[i], atomicExchange(&searches[column].counts[i], 0u));
    }
    workgroupBarrier();
    if lane < TARGETS {
        wanted[lane] = narrowed(column, lane);
    }
    workgroupBarrier();
    if lane < TARGETS {
        var counting = 0u;
        while wanted[counting] != wanted[lane] {
            counting++;
        }
        searches[column].counting[lane] = counting;
        searches[column].prefixes[lane] = wanted[lane];
        report.columns[column].keys[lane] = wanted[lane];
    }
    if lane == 0u {
        searches[column].digits++;
        let wrong = atomicLoad(&report.wrong);
        if column == 0u && wrong != 0u {
            report.wrong_word = progress[~wrong];
        }
    }
}

@compute @workgroup_size(256)
fn ran(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    clear(lane);
    workgroupBarrier();
    let start = group.x * task.share;
    let end = min(start + task.share, task.agents);
    var low = 0u;
    var high = 0u;
    var stopped = 0u;
    for (var i = start + lane; i < end; i += LANES) {
        let word = progress[i];
        let steps = word & (CUT_SHORT - 1u);
        let has_stopped = (word & STOPPED) != 0u;
        low += steps & 0xffffu;
        high += steps >> 16u;
        stopped += u32(has_stopped);
        if (word & CUT_SHORT) != 0u || steps > task.steps || (!has_stopped && steps != task.steps) {
            atomicMax(&local[3], ~i);
        }
    }
    note(0u, low);
    note(1u, high);
    note(2u, stopped);
    workgroupBarrier();
    if lane < 2u {
        let sum = atomicLoad(&local[lane]);
        let before = atomicAdd(&report.steps[2u * lane], sum);
        atomicAdd(&report.steps[2u * lane + 1u], u32(before + sum < sum));
    }
    if lane == 2u {
        atomicAdd(&report.stopped, atomicLoad(&local[2]));
        atomicMax(&report.wrong, atomicLoad(&local[3]));
    }
}
