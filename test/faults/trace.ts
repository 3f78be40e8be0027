/** One event of a history. */
export interface TraceEntry {
  readonly atMs: number;
  readonly what: string;
  /** The messages and clients that it concerns. */
  readonly about: readonly string[];
  /** The execution environment in which it happened. */
  readonly environmentId?: string | undefined;
}

/** Printed lines of one message's path. */
const LINES_MAX = 80;

/** All events, in order. */
export class Trace {
  readonly #now: () => number;
  readonly #entries: TraceEntry[] = [];

  readonly #onHandled: (message: string) => void;

  constructor(now: () => number, onHandled: (message: string) => void = () => {}) {
    this.#now = now;
    this.#onHandled = onHandled;
  }

  /** An environment begins with these messages. */
  handled(messages: readonly string[], environmentId: string): void {
    for (const message of messages) this.#onHandled(message);
    this.add(`handler begins: ${messages.join(', ')}`, messages, environmentId);
  }

  add(what: string, about: readonly string[] = [], environmentId?: string): void {
    this.#entries.push({ atMs: this.#now(), what, about, environmentId });
  }

  get entries(): readonly TraceEntry[] {
    return this.#entries;
  }

  /** The path of a message: where it was, and which faults struck the environments that handled it. */
  storyOf(about: string): string[] {
    const direct = this.#entries.filter((entry) => entry.about.includes(about));
    const environments = new Set(direct.flatMap(({ environmentId }) => environmentId ?? []));
    const first = direct[0]?.atMs ?? 0;
    const last = direct.at(-1)?.atMs ?? Number.POSITIVE_INFINITY;
    const story = this.#entries.filter(
      (entry) =>
        entry.about.includes(about) ||
        (entry.atMs >= first &&
          entry.atMs <= last &&
          entry.environmentId !== undefined &&
          environments.has(entry.environmentId) &&
          entry.what.startsWith('fault')),
    );
    const lines = story.map(({ atMs, what, environmentId }) => {
      const where = environmentId === undefined ? '' : ` (${environmentId})`;
      return `${(atMs / 1000).toFixed(3).padStart(9)} s  ${what}${where}`;
    });
    if (lines.length <= LINES_MAX) return lines;
    return [...lines.slice(0, LINES_MAX), `… and ${lines.length - LINES_MAX} more`];
  }
}

/** Names a message in a trace. */
export function messageName(topic: string, payload: string): string {
  return `${topic}=${payload}`;
}
