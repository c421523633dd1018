// How long a thread does not answer.

/** What a task gives, its seconds, and the longest pause of this thread while it runs, in milliseconds. */
export async function longestPause(task) {
  let [longest, going] = [0, true];
  let last = performance.now();
  const started = last;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (going) setTimeout(look, 0);
  };
  setTimeout(look, 0);
  const result = await task();
  look();
  going = false;
  return { result, seconds: (performance.now() - started) / 1000, longest };
}

/**
 * The run of three with the shortest longest pause: other work on the machine can take the processor away for a
 * while, but not in each of them.
 */
export async function calmest(task) {
  let best;
  for (let k = 0; k < 3; k++) {
    const run = await longestPause(task);
    if (!(best?.longest <= run.longest)) best = run;
  }
  return best;
}
