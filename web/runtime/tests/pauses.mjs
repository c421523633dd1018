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
