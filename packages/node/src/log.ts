import { type Clock, type Log, plainText } from '@apus/broker';

/** In ascending order: a level writes its own lines and those of later levels. */
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

/** The text of an exception for the field `error` of a line. */
export function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

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

  get writesDebug(): boolean {
    return this.#threshold === 0;
  }

  #write(level: LogLevel, event: string, fields: Fields = {}): void {
    if (LOG_LEVELS.indexOf(level) < this.#threshold) return;
    this.#sink({ level, timeMs: this.#clock.now(), event, fields });
  }
}

/** Characters of a line. `SparingLog` cuts texts of clients long before: this is for lines with many fields. */
const LINE_LENGTH_MAX = 8_192;

/** Fields that name the client of a line: a line that is too long keeps them. */
const NAMES = ['tenant', 'name', 'clientId', 'connectionId', 'address', 'reasonCode'] as const;

/** Characters of each of them there. */
const NAME_LENGTH_MAX = 200;

/** For machines: one JSON object a line. */
export function jsonLine({ level, timeMs, event, fields }: LogEntry): string {
  const head = { time: new Date(timeMs).toISOString(), level, event };
  // A field never takes the place of these.
  const line = JSON.stringify({ ...head, ...fields, ...head });
  if (line.length <= LINE_LENGTH_MAX) return plainText(line);
  const names = NAMES.map((name) => [name, cut(fields[name])] as const);
  return plainText(JSON.stringify({ ...head, ...Object.fromEntries(names), leftOutCharacters: line.length }));
}

function cut(value: unknown): unknown {
  return typeof value === 'string' ? value.slice(0, NAME_LENGTH_MAX) : value;
}

const COLOURS: Record<LogLevel, number> = { debug: 90, info: 36, warn: 33, error: 31, silent: 0 };

/** For people: the time of day, the event, and its fields as words; with colours where a terminal shows them. */
export function prettyLine({ level, timeMs, event, fields }: LogEntry, hasColours: boolean): string {
  const time = new Date(timeMs).toISOString().slice(11, 23);
  const words = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${wordOf(value)}`);
  const all = plainText(words.join(' '));
  const told = all.length <= LINE_LENGTH_MAX ? all : `${all.slice(0, LINE_LENGTH_MAX)}…`;
  const line = `${coloured(time, 90, hasColours)} ${coloured(event, COLOURS[level], hasColours)} ${told}`;
  return line.trimEnd();
}

function coloured(text: string, colour: number, hasColours: boolean): string {
  return hasColours ? `\u001b[${colour}m${text}\u001b[0m` : text;
}

/** A plain word if possible. */
function wordOf(value: unknown): string {
  return typeof value === 'string' && /^[\w.:/+#$@-]+$/.test(value) ? value : JSON.stringify(value);
}

/** How lines are written: `json` for machines, `text` for people. */
export const LOG_FORMATS = ['json', 'text'] as const;

export type LogFormat = (typeof LOG_FORMATS)[number];

/** Standard error: standard output is for the output of commands. @param format text on a terminal, if none is given */
export function stderrSink(format: LogFormat = process.stderr.isTTY ? 'text' : 'json'): LogSink {
  const hasColours = process.stderr.isTTY;
  const lineOf = format === 'json' ? jsonLine : (entry: LogEntry) => prettyLine(entry, hasColours);
  return (entry) => {
    process.stderr.write(`${lineOf(entry)}\n`);
  };
}
