import { type Clock, steadyNow } from './model/clock.ts';
import type { Log } from './ports/index.ts';

type Fields = Readonly<Record<string, unknown>>;
type Level = 'info' | 'warn' | 'error';

/** Characters of a text: a topic, a client identifier, or a sentence with one. Clients send up to 64 KB. */
const TEXT_LENGTH_MAX = 100;

/** Characters of the field `error`: a stack trace, or the words of an AWS service. */
const ERROR_LENGTH_MAX = 4_000;

/** Entries of a list in the log. */
const LIST_LENGTH_MAX = 10;

const WINDOW_MS = 60_000;

/**
 * Lines of one kind in a window that are the broker's own: errors, and lines that name no sender. Their causes differ.
 */
const OWN_LINES_MAX = 10;

/**
 * Lines below `error` in a window for all senders without a name, who have as many addresses as they like; and as many
 * for all other senders, so that strangers cannot hide these. At some 300 bytes each that is 260 MB a day at most.
 */
export const LOG_LINES_MAX = 300;

/** Senders that are counted by themselves, some 500 bytes each. All others share one count for each kind of line. */
const SENDERS_MAX = 1_000;

/** The lines of one kind that one sender has caused since the first. */
interface Window {
  readonly level: Level;
  readonly event: string;
  readonly sender: Fields;
  readonly linesMax: number;
  readonly isOfStranger: boolean;
  readonly endsAtMs: number;
  lines: number;
  /** Lines that were left out. */
  repeated: number;
  /** The sum of their field `count`, if they have one. */
  count: number | undefined;
}

interface Budget {
  lines: number;
  leftOut: number;
}

/**
 * A log that no peer can fill. For each kind of line and each sender (an identity; without a name an address, or a
 * client identifier) it writes the first line in a minute, and the number of the others when the minute is over. It
 * writes ten of the broker's own lines. It writes `LOG_LINES_MAX` lines below `error`, and `lines-left-out` says how
 * many were left out. Texts are cut at 100 characters. A number is written with the next line of any kind, or when
 * `tell` is called: a function between two invocations has no timer. [SEC-LOG-1] [SEC-LOG-2] [SEC-LOG-3]
 */
export class SparingLog implements Log {
  readonly #log: Log;
  readonly #clock: Clock;
  /** By the time of their end. */
  readonly #windows = new Map<string, Window>();
  #minuteEndsAtMs = 0;
  #strangers: Budget = { lines: 0, leftOut: 0 };
  #others: Budget = { lines: 0, leftOut: 0 };
  /** Errors since the start, written or not. */
  errors = 0;

  constructor(log: Log, clock: Clock) {
    this.#log = log;
    this.#clock = clock;
  }

  get writesDebug(): boolean {
    return this.#log.writesDebug === true;
  }

  /** Writes every line: debug lines are off until an operator turns them on. */
  debug(event: string, fields?: Fields): void {
    this.#log.debug(event, fields && shortened(fields));
  }

  info(event: string, fields?: Fields): void {
    this.#write('info', event, fields);
  }

  warn(event: string, fields?: Fields): void {
    this.#write('warn', event, fields);
  }

  error(event: string, fields?: Fields): void {
    this.errors += 1;
    this.#write('error', event, fields);
  }

  /** Writes the numbers of minutes that are over. While none is, this costs one comparison. */
  tell(): void {
    const nowMs = steadyNow(this.#clock);
    if (this.#minuteEndsAtMs <= nowMs) this.#beginMinute(nowMs);
    for (const [key, window] of this.#windows) {
      if (window.endsAtMs > nowMs) return;
      this.#windows.delete(key);
      this.#tellOf(window);
    }
  }

  /** Writes all numbers, before the process ends. */
  end(): void {
    for (const window of this.#windows.values()) this.#tellOf(window);
    this.#windows.clear();
    this.#beginMinute(steadyNow(this.#clock));
  }

  #beginMinute(nowMs: number): void {
    this.#minuteEndsAtMs = nowMs + WINDOW_MS;
    const [strangers, others] = [this.#strangers.leftOut, this.#others.leftOut];
    this.#strangers = { lines: 0, leftOut: 0 };
    this.#others = { lines: 0, leftOut: 0 };
    if (strangers + others === 0) return;
    const limit = { linesMax: LOG_LINES_MAX, withinSeconds: WINDOW_MS / 1000 };
    this.#log.warn('lines-left-out', { count: strangers + others, strangers, others, ...limit });
  }

  /** @param count events that the line stands for */
  #writeLine({ level, event, isOfStranger }: Window, fields: Fields, count: number): void {
    const budget = isOfStranger ? this.#strangers : this.#others;
    if (level !== 'error' && budget.lines >= LOG_LINES_MAX) {
      budget.leftOut += count;
      return;
    }
    budget.lines++;
    this.#log[level](event, fields);
  }

  #write(level: Level, event: string, fields: Fields = {}): void {
    this.tell();
    const window = this.#windowOf(level, event, fields);
    if (window.lines < window.linesMax) {
      window.lines++;
      this.#writeLine(window, shortened(fields), 1);
      return;
    }
    window.repeated++;
    if (typeof fields.count === 'number') window.count = (window.count ?? 0) + fields.count;
  }

  #windowOf(level: Level, event: string, fields: Fields): Window {
    const kind = `${event} ${fields.reasonCode ?? fields.status ?? ''}`;
    const sender = senderOf(fields).slice(0, TEXT_LENGTH_MAX);
    const key = `${kind} ${sender}`;
    const linesMax = level === 'error' || sender === '' ? OWN_LINES_MAX : 1;
    const known = this.#windows.get(key);
    if (known !== undefined) return known;
    const isOfStranger = sender !== '' && !isNamed(fields);
    const begun = { level, event, linesMax, isOfStranger };
    return this.#windows.size < SENDERS_MAX
      ? this.#begin(key, begun, fields)
      : (this.#windows.get(kind) ?? this.#begin(kind, begun, { name: 'others' }));
  }

  #begin(
    key: string,
    kind: Pick<Window, 'level' | 'event' | 'linesMax' | 'isOfStranger'>,
    fields: Fields,
  ): Window {
    const { tenant, name, address, clientId, reasonCode, status } = fields;
    const window: Window = {
      ...kind,
      sender: shortened({ tenant, name, address, clientId, reasonCode, status }),
      endsAtMs: steadyNow(this.#clock) + WINDOW_MS,
      lines: 0,
      repeated: 0,
      count: undefined,
    };
    this.#windows.set(key, window);
    return window;
  }

  #tellOf(window: Window): void {
    const { sender, repeated, count } = window;
    if (repeated === 0) return;
    const numbers = { repeated, count, withinSeconds: WINDOW_MS / 1000 };
    this.#writeLine(window, { ...sender, ...numbers }, repeated);
  }
}

/** The address without its port, which differs with each connection. */
function senderOf(fields: Fields): string {
  const { tenant, name, address, clientId } = fields;
  if (isNamed(fields)) return `${tenant} ${name}`;
  if (typeof address === 'string') return address.replace(/:\d+$/, '');
  return typeof clientId === 'string' ? clientId : '';
}

function isNamed({ name }: Fields): boolean {
  return typeof name === 'string' && name !== '';
}

/** The fields as they are, unless something in them is too long. */
export function shortened(fields: Fields): Fields {
  let short: Record<string, unknown> | undefined;
  for (const name in fields) {
    const value = fields[name];
    const lengthMax = name === 'error' ? ERROR_LENGTH_MAX : TEXT_LENGTH_MAX;
    const shorter = shortenedValue(value, lengthMax);
    if (shorter === value) continue;
    short ??= { ...fields };
    short[name] = shorter;
  }
  return short ?? fields;
}

function shortenedValue(value: unknown, lengthMax: number): unknown {
  if (typeof value === 'string') return shortText(value, lengthMax);
  if (Array.isArray(value))
    return value.slice(0, LIST_LENGTH_MAX).map((entry) => shortenedValue(entry, lengthMax));
  if (typeof value === 'object' && value !== null) return shortened(value as Fields);
  return value;
}

/** The text, or its beginning as a copy: a slice would hold the whole text in memory. */
export function shortText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return `${Buffer.from(text.slice(0, lengthMax)).toString()}… (${text.length} characters)`;
}
