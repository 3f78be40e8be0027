import type { Log } from '@apus/broker';
import type { HookAnswer, HookRequest, HookSender, HookTimers } from '../../src/index.ts';

/** Timers that fire when the test says so. */
export class FakeTimers implements HookTimers {
  nowMs = Date.parse('2026-01-01T00:00:00Z');
  readonly #due = new Set<{ readonly atMs: number; readonly callback: () => void }>();

  now(): number {
    return this.nowMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { atMs: this.nowMs + delayMs, callback };
    this.#due.add(timer);
    return () => this.#due.delete(timer);
  }

  /** How many have neither fired nor been cancelled. */
  get pending(): number {
    return this.#due.size;
  }

  pass(ms: number): void {
    this.nowMs += ms;
    for (const timer of [...this.#due]) {
      if (timer.atMs > this.nowMs || !this.#due.delete(timer)) continue;
      timer.callback();
    }
  }
}

/** Lets pending promises resolve. */
export async function promisesRun(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

type Behaviour = (request: HookRequest) => HookAnswer | Promise<HookAnswer>;

/** A hook with the test's answers. */
export class FakeSender implements HookSender {
  readonly requests: HookRequest[] = [];
  behaviour: Behaviour;

  constructor(behaviour: Behaviour = () => json({ result: 'allow' })) {
    this.behaviour = behaviour;
  }

  async send(request: HookRequest, signal: AbortSignal): Promise<HookAnswer> {
    this.requests.push(request);
    const ended = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
    return await Promise.race([this.behaviour(request), ended]);
  }

  /** The bodies, read as JSON. */
  get bodies(): unknown[] {
    return this.requests.map(({ body = '' }) => JSON.parse(body));
  }
}

/** Never answers. */
export const silence = () => new Promise<HookAnswer>(() => {});

export function json(body: unknown, status = 200): HookAnswer {
  return { status, contentType: 'application/json', body: JSON.stringify(body) };
}

export interface LogLine {
  readonly event: string;
  readonly fields: Readonly<Record<string, unknown>> | undefined;
}

export function logInto(lines: LogLine[]): Log {
  const write: Log['warn'] = (event, fields) => void lines.push({ event, fields });
  return { debug: write, info: write, warn: write, error: write };
}
