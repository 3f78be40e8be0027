import { DROPPED_FIGURES, type MonitorSample } from '@apus/api';
import type { Clock } from '@apus/broker';

/** Seconds between two samples. */
export const SAMPLE_SECONDS = 30;

/** A day of samples, some 300 bytes each. */
export const SAMPLES_MAX = 86_400 / SAMPLE_SECONDS;

/** Samples of one answer: neighbours are added up. */
export const SAMPLES_ANSWERED_MAX = 360;

type Numbers = Omit<MonitorSample, 'time_stamp'>;

/** Figures that say how many there are. All others grow, and a sample has their growth. */
const PRESENT = ['live_connections', 'connections', 'subscriptions', 'retained'] as const;

const GROWING = [
  ...(['received', 'sent', 'received_bytes', 'sent_bytes', 'connects', 'refused', 'dropped'] as const),
  ...DROPPED_FIGURES,
] as const;

/** The figures of the last day. It reads counts that stand there anyway, twice a minute. */
export class Monitor {
  readonly #clock: Clock;
  readonly #read: () => Numbers;
  #samples: MonitorSample[] = [];
  #before: Numbers;
  #nextMs: number;

  constructor(clock: Clock, read: () => Numbers) {
    this.#clock = clock;
    this.#read = read;
    this.#before = read();
    this.#nextMs = slotBehind(clock.now());
  }

  /** Takes a sample when it is time: undefined at all other times. */
  look(): MonitorSample | undefined {
    const nowMs = this.#clock.now();
    // A clock that was set back begins a new series.
    if (this.#nextMs - nowMs > SAMPLE_SECONDS * 1000) this.#nextMs = slotBehind(nowMs);
    if (nowMs < this.#nextMs) return undefined;
    const now = this.#read();
    const growth = GROWING.map((name) => [name, now[name] - this.#before[name]] as const);
    const sample = { ...now, ...Object.fromEntries(growth), time_stamp: this.#nextMs };
    this.#before = now;
    this.#nextMs = slotBehind(nowMs);
    this.#samples.push(sample);
    if (this.#samples.length > SAMPLES_MAX) this.#samples.shift();
    return sample;
  }

  /** The samples of the last seconds, in steps that are the same at all processes. */
  latest(seconds: number): readonly MonitorSample[] {
    const sinceMs = this.#clock.now() - seconds * 1000;
    const stepMs = Math.ceil(seconds / SAMPLE_SECONDS / SAMPLES_ANSWERED_MAX) * SAMPLE_SECONDS * 1000;
    const steps: MonitorSample[] = [];
    for (const sample of this.#samples) {
      if (sample.time_stamp <= sinceMs) continue;
      const endMs = Math.ceil(sample.time_stamp / stepMs) * stepMs;
      const last = steps.at(-1);
      if (last?.time_stamp === endMs) steps[steps.length - 1] = joined(last, sample);
      else steps.push({ ...sample, time_stamp: endMs });
    }
    return steps;
  }
}

/** Two samples after one another, as one. */
function joined(one: MonitorSample, next: MonitorSample): MonitorSample {
  const growth = GROWING.map((name) => [name, one[name] + next[name]] as const);
  const present = PRESENT.map((name) => [name, Math.max(one[name], next[name])] as const);
  return { ...one, ...Object.fromEntries([...growth, ...present]) };
}

function slotBehind(atMs: number): number {
  const slotMs = SAMPLE_SECONDS * 1000;
  return Math.floor(atMs / slotMs + 1) * slotMs;
}
