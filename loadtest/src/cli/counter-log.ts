import type { CountedRun } from '../report/bill-of-run.ts';
import type { BrokerUse } from '../report/report.ts';
import type { CounterSource, Counters } from './counters.ts';

type Moment = 'before' | 'connected' | 'drained' | 'after';

/** `$disconnect` comes a little after the connection is closed. */
const SETTLING_MS_MAX = 3_000;
const LOOK_MS = 50;

/** The broker's counters at several moments of a run, if it has any. */
export class CounterLog {
  readonly #source: CounterSource | undefined;
  readonly #notes = new Map<Moment, Counters>();

  constructor(source: CounterSource | undefined) {
    this.#source = source;
  }

  async note(moment: Moment): Promise<void> {
    if (this.#source !== undefined) this.#notes.set(moment, await this.#source.read());
  }

  /** Waits until as few connections are open as before, and their ends have been handled. */
  async noteAfter(): Promise<void> {
    const source = this.#source;
    const before = this.#notes.get('before');
    if (source === undefined || before === undefined) return;
    const untilMs = performance.now() + SETTLING_MS_MAX;
    let last = await source.read();
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      const now = await source.read();
      const isQuiet = openIn(now) <= openIn(before) && invocationsIn(now) === invocationsIn(last);
      last = now;
      if (isQuiet || performance.now() > untilMs) break;
    }
    this.#notes.set('after', last);
  }

  get counted(): CountedRun | undefined {
    const [before, connected, drained, after] = (['before', 'connected', 'drained', 'after'] as const).map(
      (moment) => this.#notes.get(moment)?.gateway?.counters,
    );
    if (before === undefined || after === undefined) return undefined;
    return { before, after, ...(connected && { connected }), ...(drained && { drained }) };
  }

  /** CPU time while messages were in flight, if that is known; otherwise of the whole run. */
  get brokerUse(): BrokerUse | undefined {
    const from = this.#notes.get('connected') ?? this.#notes.get('before');
    const to = this.#notes.get('drained') ?? this.#notes.get('after');
    if (from === undefined || to === undefined) return undefined;
    return {
      cpuSeconds: (to.process.cpuMicroseconds - from.process.cpuMicroseconds) / 1_000_000,
      residentBytes: to.process.residentBytes,
    };
  }
}

function openIn({ gateway }: Counters): number {
  return gateway?.counters.connections.open ?? 0;
}

function invocationsIn({ gateway }: Counters): number {
  return gateway?.counters.lambda.invocations ?? 0;
}
