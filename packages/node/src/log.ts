import type { Clock, Log } from '@apus/broker';

/** In ascending order; a level takes itself and those behind it. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

type Fields = Readonly<Record<string, unknown>>;

/** One thing that happened. */
export interface LogEntry {
  readonly level: LogLevel;
  readonly timeMs: number;
  readonly event: string;
  readonly fields: Fields;
}

export type LogSink = (entry: LogEntry) => void;

/**
 * Written here rather than taken from a library: four levels to one stream need forty lines and no dependency.
 */
export class NodeLog implements Log {
  readonly #threshold: number;
  readonly #sink: LogSink;
  readonly #clock: Clock;

  constructor(level: LogLevel, sink: LogSink, clock: Clock) {
    this.#threshold = LOG_LEVELS.indexOf(level);
    this.#sink = sink;
    this.#clock = clock;
  }

  debug(event: string, fields?: Fields): void {
    this.#write('debug', event, fields);
  }

  info(event: string, fields?: Fields): void {
    this.#write('info', event, fields);
  }

  warn(event: string, fields?: Fields): void {
    this.#write('warn', event, fields);
  }

  error(event: string, fields?: Fields): void {
    this.#write('error', event, fields);
  }

  #write(level: LogLevel, event: string, fields: Fields = {}): void {
    if (LOG_LEVELS.indexOf(level) < this.#threshold) return;
    this.#sink({ level, timeMs: this.#clock.now(), event, fields });
  }
}

/** For machines: one JSON object a line. */
export function jsonLine({ level, timeMs, event, fields }: LogEntry): string {
  return JSON.stringify({ time: new Date(timeMs).toISOString(), level, event, ...fields });
}

const COLOURS: Record<LogLevel, number> = { debug: 90, info: 36, warn: 33, error: 31, silent: 0 };

/** For people: the time of day, the event, and its fields as words. */
export function prettyLine({ level, timeMs, event, fields }: LogEntry): string {
  const time = new Date(timeMs).toISOString().slice(11, 23);
  const words = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${wordOf(value)}`);
  return `\u001b[90m${time}\u001b[0m \u001b[${COLOURS[level]}m${event}\u001b[0m ${words.join(' ')}`.trimEnd();
}

/** Plain where it can be. A client's text may hold anything, and a terminal obeys control characters. */
function wordOf(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/+#$@-]+$/.test(value) ? value : JSON.stringify(value);
}

/** Standard error: standard output is for the output of commands. */
export const stderrSink: LogSink = (entry) => {
  process.stderr.write(`${process.stderr.isTTY ? prettyLine(entry) : jsonLine(entry)}\n`);
};
