import type { MonitorSample } from '@apus/api';
import { DROP_REASONS } from './observing-api.ts';
import { observingWords } from './observing-strings.ts';
import type { RatePoint } from './rates.ts';
import { adminWords } from './strings.ts';

/** Seconds of each range of the graph. */
export const RANGES = { live: 900, hour: 3_600, quarter: 21_600, day: 86_400 } as const;

export type Range = keyof typeof RANGES;

export const LOOKS = ['messages', 'drops', 'clients'] as const;

export type Look = (typeof LOOKS)[number];

type LineName = keyof typeof observingWords.history.labels | `dropped.${(typeof DROP_REASONS)[number]}`;

const LINES: Readonly<Record<Look, readonly LineName[]>> = {
  messages: ['received', 'sent', 'dropped'],
  drops: DROP_REASONS.map((reason) => `dropped.${reason}` as const),
  clients: ['live_connections', 'connects', 'refused'],
};

/** Figures of the broker that say how many there are. */
const PRESENT: readonly LineName[] = ['live_connections'];

/** The broker takes a sample in so many seconds, and gives so many samples. */
const SAMPLE_SECONDS = 30;
const SAMPLES_MAX = 360;

export interface GraphData {
  /** In milliseconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly { readonly label: string; readonly values: readonly (number | null)[] }[];
}

/** Lines of the samples of a time: what was added, for each second or minute. */
export function linesOf(samples: readonly MonitorSample[], look: Look, seconds: number): GraphData {
  const stepSeconds = Math.ceil(seconds / SAMPLE_SECONDS / SAMPLES_MAX) * SAMPLE_SECONDS;
  const perStep = look === 'clients' ? stepSeconds / 60 : stepSeconds;
  const figureOf = (sample: MonitorSample, name: LineName): number =>
    (sample[name] ?? 0) / (PRESENT.includes(name) ? 1 : perStep);
  return {
    times: samples.map((sample) => sample.time_stamp ?? 0),
    lines: LINES[look].map((name) => ({
      label: labelOf(name),
      values: samples.map((sample) => figureOf(sample, name)),
    })),
  };
}

function labelOf(name: LineName): string {
  const reason = DROP_REASONS.find((each) => name === `dropped.${each}`);
  if (reason !== undefined) return adminWords.client.reasons[reason];
  return observingWords.history.labels[name as keyof typeof observingWords.history.labels];
}

/** The points of this page behind the samples from before it was opened. */
export function withLive({ times, lines }: GraphData, live: readonly RatePoint[]): GraphData {
  const [first] = live;
  const before = first === undefined ? times.length : times.filter((atMs) => atMs < first.atMs).length;
  const names = ['received', 'sent', 'dropped'] as const;
  return {
    times: [...times.slice(0, before), ...live.map(({ atMs }) => atMs)],
    lines: lines.map(({ label, values }, index) => ({
      label,
      values: [...values.slice(0, before), ...live.map((point) => point[names[index] ?? 'received'])],
    })),
  };
}
