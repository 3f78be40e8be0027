import { MESSAGES_MAX, PACKETS_MAX } from '../../src/engine/limits.ts';
import { pauseText } from './pause.ts';
import { countOver, highest, median, percentile } from './statistics.ts';
import type { Run, Second } from './verdict.ts';
import { count, mebibytes, milliseconds } from './words.ts';

/** A run in rows: a column for each view, and one for all. */
export function rowsOf(run: Run): string[][] {
  const views = [...new Set(run.seconds.map(({ view }) => view))];
  const row = (name: string, text: (seconds: readonly Second[]) => string): string[] => [
    name,
    ...views.map((view) => text(run.seconds.filter((second) => second.view === view))),
    text(run.seconds),
  ];
  return [
    ['', ...views, 'all'],
    row('seconds', (seconds) => count(Math.round(sum(seconds, 'elapsedMs') / 1_000))),
    row("processor time of the page's thread", (seconds) => {
      const share = sum(seconds, 'threadMs') / sum(seconds, 'elapsedMs');
      return `${Math.round(share * 100)} %`;
    }),
    row('frames a second', (seconds) =>
      String(Math.round((framesOf(seconds).length * 1_000) / sum(seconds, 'elapsedMs'))),
    ),
    row('frame, median', (seconds) => milliseconds(median(framesOf(seconds)))),
    row('frame, 99th percentile', (seconds) => milliseconds(percentile(framesOf(seconds), 0.99))),
    row('longest frame', (seconds) => milliseconds(highest(framesOf(seconds)))),
    ...[50, 100, 200].map((limitMs) =>
      row(`tasks over ${limitMs} ms`, (seconds) => count(countOver(tasksOf(seconds), limitMs))),
    ),
    row('publisher to page, median', (seconds) => milliseconds(median(latenciesOf(seconds)))),
    row('publisher to page, 99th percentile', (seconds) =>
      milliseconds(percentile(latenciesOf(seconds), 0.99)),
    ),
    row('heap after a collection, first to last', (seconds) => fromTo(seconds, 'heapBytes')),
    row('renderer process, first to last', (seconds) => fromTo(seconds, 'residentBytes')),
  ];
}

/** The facts of the run as a whole. */
export function factsOf(run: Run): string[] {
  const { sent, sendingMs, received, skipped, openingMs, pause, messagesKept, packetsKept } = run;
  const rate = sendingMs === 0 ? 0 : Math.round((sent * 1_000) / sendingMs);
  return [
    `Published: ${count(sent)} messages, ${count(rate)} a second. Reached the page: ${count(received)}; let go by the worker: ${count(skipped)}.`,
    `Kept at the end: ${count(messagesKept)} of at most ${count(MESSAGES_MAX)} messages, ${count(packetsKept)} of at most ${count(PACKETS_MAX)} packets.`,
    `Opening a view took a frame of at most ${milliseconds(openingMs)}.`,
    ...(pause === undefined ? [] : [`Paused: the messages ${pauseText(pause)}.`]),
  ];
}

function sum(seconds: readonly Second[], key: 'elapsedMs' | 'threadMs'): number {
  return seconds.reduce((total, second) => total + second[key], 0);
}

function framesOf(seconds: readonly Second[]): number[] {
  return seconds.flatMap(({ frames }) => frames);
}

function tasksOf(seconds: readonly Second[]): number[] {
  return seconds.flatMap(({ longTasks }) => longTasks);
}

function latenciesOf(seconds: readonly Second[]): number[] {
  return seconds.flatMap(({ latencies }) => latencies);
}

function fromTo(seconds: readonly Second[], key: 'heapBytes' | 'residentBytes'): string {
  const values = seconds.map((second) => second[key]).filter((value) => value !== undefined);
  const [first] = values;
  const last = values.at(-1);
  return first === undefined || last === undefined ? '' : `${mebibytes(first)} to ${mebibytes(last)}`;
}
