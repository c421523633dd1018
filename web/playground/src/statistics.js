// Numbers about columns of results for plots: histograms and bands.

/** The value at fraction `p` of sorted values, with linear interpolation, as `simc run` has it. */
export function quantile(sorted, p) {
    if (sorted.length === 0) return NaN;
    const at = p * (sorted.length - 1);
    const low = Math.floor(at);
    const high = Math.min(low + 1, sorted.length - 1);
    // Two infinities have no difference.
    return sorted[low] === sorted[high]
        ? sorted[low]
        : sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

/** Bins of finite values: few whole numbers get a bin each, all else 60 of equal width. */
export function histogram(values, whole) {
    let [least, most] = [Infinity, -Infinity];
    for (const value of values) {
        if (!Number.isFinite(value)) continue;
        if (value < least) least = value;
        if (value > most) most = value;
    }
    if (least > most) return undefined;
    if (least === most)
        return { centers: [least], counts: [values.length], width: Math.max(Math.abs(least), 1) * 0.1 };
    const each = whole && most - least < 60;
    const bins = each ? most - least + 1 : 60;
    const width = each ? 1 : (most - least) / bins;
    const start = each ? least - 0.5 : least;
    const counts = new Array(bins).fill(0);
    for (const value of values) {
        if (Number.isFinite(value)) counts[Math.min(Math.floor((value - start) / width), bins - 1)] += 1;
    }
    return { centers: counts.map((_, k) => start + (k + 0.5) * width), counts, width };
}

/** What a record shows: quantiles over agents at each sample, and the paths of a few agents. */
export function bands(values, agents, samples, at) {
    const levels = [0.05, 0.25, 0.5, 0.75, 0.95];
    const found = levels.map(() => new Array(samples));
    const row = new Float64Array(agents);
    for (let sample = 0; sample < samples; sample += 1) {
        for (let agent = 0; agent < agents; agent += 1) row[agent] = values[at(agent, sample)];
        const sorted = row.filter((value) => !Number.isNaN(value)).sort();
        for (const [k, p] of levels.entries())
            found[k][sample] = sorted.length > 0 ? quantile(sorted, p) : null;
    }
    const shown = Math.min(agents, 5);
    const paths = Array.from({ length: shown }, (_, agent) =>
        Array.from({ length: samples }, (_, sample) => values[at(agent, sample)]),
    );
    return { levels, bands: found, paths };
}
