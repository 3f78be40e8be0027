import type { TraceLine, TraceLog, TraceQuestion, TraceStatus } from '@apus/api';
import { type Clock, shortened, steadyNow } from '@apus/broker';
import { ipOf } from '@apus/identity';
import { matches } from '@apus/mqtt';
import { TENANT } from '../auth/anonymous.ts';
import type { Fields } from './client-events.ts';

/** Traces at a time, ended ones included: each looks at every line of the log. */
export const TRACES_MAX = 5;

/** Lines of a trace that are kept for its reader, some kilobyte each. */
export const TRACE_LINES_MAX = 1_000;

/** Lines that a trace keeps in a second; it counts the others. */
export const TRACE_LINES_PER_SECOND_MAX = 100;

/** An ended trace can be read for so long. */
const KEPT_MS = 600_000;

interface Trace extends TraceQuestion {
  readonly tenant: string;
  readonly startedAtMs: number;
  /** By the steady clock, like the two below. */
  endsAtMs: number;
  secondEndsAtMs: number;
  linesOfSecond: number;
  /** The number of the line that comes next. */
  position: number;
  lines: TraceLine[];
  leftOut: number;
}

/** Lines of the log by client, topic or address, for a minute. While a trace runs, the broker writes debug lines. */
export class LogTraces {
  readonly #clock: Clock;
  readonly #traces = new Map<string, Trace>();
  #running = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A trace runs. */
  get isRunning(): boolean {
    return this.#running > 0;
  }

  /** False: there are as many as there may be, or one of this name. */
  start(tenant: string, question: TraceQuestion): boolean {
    this.look();
    const key = keyOf(tenant, question.name);
    if (this.#traces.size >= TRACES_MAX || this.#traces.has(key)) return false;
    const nowMs = steadyNow(this.#clock);
    this.#traces.set(key, {
      ...question,
      tenant,
      startedAtMs: this.#clock.now(),
      endsAtMs: nowMs + question.seconds * 1000,
      secondEndsAtMs: nowMs + 1000,
      linesOfSecond: 0,
      position: 0,
      lines: [],
      leftOut: 0,
    });
    this.look();
    return true;
  }

  /** False: there is none of this name. */
  remove(tenant: string, name: string): boolean {
    const isRemoved = this.#traces.delete(keyOf(tenant, name));
    this.look();
    return isRemoved;
  }

  list(tenant: string): readonly TraceStatus[] {
    this.look();
    return [...this.#traces.values()]
      .filter((each) => each.tenant === tenant)
      .map((each) => this.#statusOf(each));
  }

  /** The lines behind a position. Undefined: there is no such trace. */
  read(tenant: string, name: string, position: number): TraceLog | undefined {
    const trace = this.#traces.get(keyOf(tenant, name));
    if (trace === undefined) return undefined;
    const first = trace.position - trace.lines.length;
    return {
      ...this.#statusOf(trace),
      lines: trace.lines.slice(Math.max(0, position - first)),
      position: trace.position,
      left_out: trace.leftOut + Math.max(0, first - position),
    };
  }

  /** A line of the log. */
  note(level: string, event: string, fields: Fields = {}): void {
    const nowMs = steadyNow(this.#clock);
    for (const trace of this.#traces.values())
      if (trace.endsAtMs > nowMs && concerns(trace, fields))
        this.#keep(trace, nowMs, { level, event, fields });
  }

  /** Ends traces that are over: at each look of the sweep. */
  look(): void {
    const nowMs = steadyNow(this.#clock);
    this.#running = 0;
    for (const [key, { endsAtMs }] of this.#traces) {
      if (endsAtMs > nowMs) this.#running += 1;
      else if (endsAtMs + KEPT_MS <= nowMs) this.#traces.delete(key);
    }
  }

  #keep(trace: Trace, nowMs: number, line: Omit<TraceLine, 'at'>): void {
    if (nowMs >= trace.secondEndsAtMs) {
      trace.secondEndsAtMs = nowMs + 1000;
      trace.linesOfSecond = 0;
    }
    trace.linesOfSecond += 1;
    if (trace.linesOfSecond > TRACE_LINES_PER_SECOND_MAX) {
      trace.leftOut += 1;
      return;
    }
    const at = new Date(this.#clock.now()).toISOString();
    trace.position += 1;
    trace.lines.push({ ...line, at, fields: shortened(line.fields) });
    if (trace.lines.length > TRACE_LINES_MAX) trace.lines.shift();
  }

  #statusOf({ name, type, value, seconds, startedAtMs, endsAtMs }: Trace): TraceStatus {
    const leftMs = endsAtMs - steadyNow(this.#clock);
    const start = new Date(startedAtMs).toISOString();
    return { name, type, value, seconds, start_at: start, status: leftMs > 0 ? 'running' : 'stopped' };
  }
}

/**
 * Whether a trace wants a line. A line that names no tenant is about a client that has not shown who it is: it belongs to
 * the tenant `default`, and to no topic.
 */
function concerns({ tenant, type, value }: Trace, fields: Fields): boolean {
  if (type === 'topic') return fields.tenant === tenant && isAbout(value, fields);
  if ((fields.tenant ?? TENANT) !== tenant) return false;
  if (type === 'clientid') return fields.clientId === value;
  return typeof fields.address === 'string' && ipOf(fields.address) === value;
}

function isAbout(filter: string, { topic, topicFilter, topicFilters }: Fields): boolean {
  const named = [topic, topicFilter, ...(Array.isArray(topicFilters) ? topicFilters : [])];
  return named.some((each) => typeof each === 'string' && (each === filter || matches(filter, each)));
}

function keyOf(tenant: string, name: string): string {
  return `${tenant} ${name}`;
}
