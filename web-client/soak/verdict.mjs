// What a soak run has shown, and whether that is good enough.

/** A frame that took longer is one that people notice as frozen. */
export const FROZEN_MS = 250;

/** Growth of memory from the first to the last third of the samples that counts as a leak. */
export const GROWTH_MAX = 0.1;

/** Growth below this is noise of the collector, however small the heap. */
export const GROWTH_MIN_BYTES = 8 * 1024 * 1024;

/** What fills before memory can be flat: the logs, and the buffers of what is drawn. */
export const WARM_UP_SECONDS = 20;

/**
 * @typedef {object} Second
 * @property {string} view
 * @property {number[]} frames how long each frame took, in milliseconds
 * @property {number[]} longTasks tasks of more than 50 ms, in milliseconds
 * @property {number | undefined} heapBytes of the page, after a forced collection
 * @property {number | undefined} residentBytes of the renderer's process, worker and buffers included
 *
 * @typedef {object} Run
 * @property {Second[]} seconds
 * @property {number} sent
 * @property {number} received
 * @property {number} skipped
 */

/** @param {Run} run @returns {{ problems: string[], rows: string[][] }} */
export function verdictOf({ seconds, sent, received, skipped }) {
  const problems = [];
  const longest = longestFrame(seconds);
  if (longest > FROZEN_MS) problems.push(`a frame took ${round(longest)} ms`);
  for (const [name, key] of [
    ['heap', 'heapBytes'],
    ['process', 'residentBytes'],
  ]) {
    const { from, to } = growthOf(seconds, key);
    if (to - from > Math.max(GROWTH_MIN_BYTES, from * GROWTH_MAX))
      problems.push(`memory of the ${name} grew from ${mebibytes(from)} to ${mebibytes(to)}`);
  }
  if (sent === 0) problems.push('nothing was sent');
  if (received !== sent) problems.push(`${sent - received} of ${sent} messages did not reach the page`);
  return { problems, rows: rowsOf({ seconds, sent, received, skipped }) };
}

function rowsOf({ seconds, sent, received, skipped }) {
  const views = [...new Set(seconds.map(({ view }) => view))];
  return [
    ['', ...views, 'all'],
    row('seconds', views, seconds, (some) => String(some.length)),
    row('frames a second, median', views, seconds, (some) =>
      String(median(some.map(({ frames }) => frames.length))),
    ),
    row('frame, 99th percentile', views, seconds, (some) => `${round(percentile(framesOf(some), 0.99))} ms`),
    row('frames over 50 ms', views, seconds, (some) => share(framesOf(some), 50)),
    row('frames over 100 ms', views, seconds, (some) => share(framesOf(some), 100)),
    row('longest frame', views, seconds, (some) => `${round(longestFrame(some))} ms`),
    row('tasks over 50 ms', views, seconds, (some) =>
      String(some.flatMap(({ longTasks }) => longTasks).length),
    ),
    row('heap after a collection, first to last', views, seconds, (some) => fromTo(some, 'heapBytes')),
    row('renderer process, first to last', views, seconds, (some) => fromTo(some, 'residentBytes')),
    ['messages sent', ...views.map(() => ''), count(sent)],
    ['messages that reached the page', ...views.map(() => ''), count(received)],
    ['messages let go because the page was busy', ...views.map(() => ''), count(skipped)],
  ];
}

function row(name, views, seconds, text) {
  return [
    name,
    ...views.map((view) => text(seconds.filter((second) => second.view === view))),
    text(seconds),
  ];
}

/** @param {Second[]} seconds @param {'heapBytes' | 'residentBytes'} key */
export function growthOf(seconds, key) {
  const samples = seconds
    .slice(WARM_UP_SECONDS)
    .map((second) => second[key])
    .filter((value) => value !== undefined);
  const third = Math.max(1, Math.floor(samples.length / 3));
  return { from: median(samples.slice(0, third)), to: median(samples.slice(-third)) };
}

/** @param {string[][]} rows */
export function markdownOf([head, ...rows]) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '--:'))), ...rows.map(line)].join(
    '\n',
  );
}

function framesOf(seconds) {
  return seconds.flatMap(({ frames }) => frames);
}

function longestFrame(seconds) {
  return seconds.reduce((longest, { frames }) => Math.max(longest, ...frames), 0);
}

function share(frames, limitMs) {
  const over = frames.filter((duration) => duration > limitMs).length;
  return `${count(over)} (${frames.length === 0 ? 0 : round((over / frames.length) * 100)} %)`;
}

function fromTo(seconds, key) {
  const values = seconds.map((second) => second[key]).filter((value) => value !== undefined);
  return values.length === 0 ? '' : `${mebibytes(values[0])} to ${mebibytes(values.at(-1))}`;
}

function percentile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function median(values) {
  return percentile(values, 0.5);
}

function round(value) {
  return Math.round(value * 10) / 10;
}

function mebibytes(bytes) {
  return `${round(bytes / 1024 / 1024)} MiB`;
}

function count(value) {
  return value.toLocaleString('en');
}
