import type { Alarm, MonitorSample } from '@apus/api';
import { type Clock, plainText } from '@apus/broker';
import type { Fields } from './client-events.ts';

/** Alarms that are over. Those that last are as many as there are names. */
export const PAST_ALARMS_MAX = 200;

/** Names of alarms at a time: the log has no more kinds of lines. */
const ALARMS_MAX = 200;

/** An alarm of the log is over when its line has not come again for so long. */
const QUIET_MS = 600_000;

/** Characters of the error in a sentence. */
const ERROR_LENGTH_MAX = 300;

/** Of the memory, or of the places for connections. */
const NEARLY_FULL = 0.9;

/** CONNECTs with a wrong credential between two samples. */
const REFUSED_MANY = 100;

/** Warnings of the log that are an alarm, in words. Each error is one. */
const WARNINGS: Readonly<Record<string, string>> = {
  'certificate-expires': 'A certificate expires soon: clients will refuse the connection.',
  'certificate-expired': 'A certificate has expired: clients refuse the connection.',
  'disk-failed': 'The disk has failed: the broker stops.',
  'hook-unanswered': 'A hook does not answer: clients that it decides on are refused.',
  'inbound-overload': 'Clients have sent more than the broker has room for: it cuts those that hold most.',
  'keys-unavailable': 'Keys that check tokens cannot be read: clients with new tokens are refused.',
  'lines-left-out': 'There are more lines than the log takes: some were left out.',
  'listener-full': 'A listener has as many connections as it takes: clients are turned away.',
  'outbound-overload': 'Clients read too slowly: the broker cuts those that have left most unread.',
  'rule-disconnected': 'A rule has lost its target: its messages wait.',
  'rules-queue-full': 'The queue of a rule is full: publishers are refused.',
  'usage-not-saved': 'The usage of tenants cannot be written: an invoice would miss it.',
  'users-file-not-read': 'The users file is wrong.',
};

/** What the samples do not say. */
export interface Gauges {
  readonly memoryBytes: number;
  readonly memoryBytesMax: number;
  readonly connections: number;
  readonly connectionsMax: number;
  /** CONNECTs with a wrong credential, or one that is not allowed, since the start. */
  readonly refusedCredentials: number;
}

interface Kept {
  readonly name: string;
  readonly atMs: number;
  message: string;
  lastAtMs: number;
  /** How often its line came, or how many samples had its condition. */
  count: number;
  endedAtMs: number | undefined;
  /** It comes from a line of the log, so it ends when no more lines come. */
  readonly isOfLog: boolean;
}

/** What an operator should look at, in sentences. */
export class Alarms {
  readonly #clock: Clock;
  readonly #active = new Map<string, Kept>();
  #past: Kept[] = [];
  #refusedBefore = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A line of the log. */
  note(level: string, event: string, fields: Fields = {}): void {
    const words = WARNINGS[event];
    if (level !== 'error' && words === undefined) return;
    const detail = fields.error ?? fields.reason ?? fields.file;
    const [error = ''] = typeof detail === 'string' ? detail.split('\n') : [];
    const sentence = words ?? `The broker has logged an error, ${event}.`;
    const said = error === '' ? sentence : `${sentence} It says: ${error.slice(0, ERROR_LENGTH_MAX)}`;
    this.#raise(event, plainText(said), true);
  }

  /** A sample was taken. */
  look(sample: MonitorSample, gauges: Gauges): void {
    const refused = gauges.refusedCredentials - this.#refusedBefore;
    this.#refusedBefore = gauges.refusedCredentials;
    const { dropped } = sample;
    const { memoryBytes, memoryBytesMax, connections, connectionsMax } = gauges;
    this.#set(
      'memory_nearly_full',
      memoryBytes >= NEARLY_FULL * memoryBytesMax,
      `Messages and sessions take ${percent(memoryBytes, memoryBytesMax)} of the memory that they may have: at 100 % the broker refuses messages (0x97).`,
    );
    this.#set(
      'connections_nearly_full',
      connections >= NEARLY_FULL * connectionsMax,
      `${connections} of ${connectionsMax} connections are in use: beyond them clients are turned away.`,
    );
    this.#set(
      'messages_dropped',
      dropped > 0,
      `${dropped} ${dropped === 1 ? 'message has' : 'messages have'} not reached a session in the last half minute. “Slow clients” says whose and why.`,
    );
    this.#set(
      'credentials_refused',
      refused >= REFUSED_MANY,
      `${refused} clients showed a wrong credential in the last half minute: a program tries passwords, or has an old one.`,
    );
    const nowMs = this.#clock.now();
    for (const alarm of this.#active.values())
      if (alarm.isOfLog && nowMs - alarm.lastAtMs > QUIET_MS) this.#end(alarm);
  }

  /** The newest first. */
  list(isActive: boolean): readonly Omit<Alarm, 'node'>[] {
    const all = isActive ? [...this.#active.values()] : this.#past;
    return all.toReversed().map((each) => this.#lineOf(each));
  }

  clearPast(): void {
    this.#past = [];
  }

  #set(name: string, isRaised: boolean, message: string): void {
    const alarm = this.#active.get(name);
    if (isRaised) this.#raise(name, message, false);
    else if (alarm !== undefined) this.#end(alarm);
  }

  #raise(name: string, message: string, isOfLog: boolean): void {
    const nowMs = this.#clock.now();
    const alarm = this.#active.get(name);
    if (alarm !== undefined) {
      alarm.message = message;
      alarm.lastAtMs = nowMs;
      alarm.count += 1;
    } else if (this.#active.size < ALARMS_MAX)
      this.#active.set(name, {
        ...{ name, message, isOfLog, count: 1, endedAtMs: undefined },
        ...{ atMs: nowMs, lastAtMs: nowMs },
      });
  }

  #end(alarm: Kept): void {
    this.#active.delete(alarm.name);
    alarm.endedAtMs = this.#clock.now();
    this.#past.push(alarm);
    if (this.#past.length > PAST_ALARMS_MAX) this.#past.shift();
  }

  #lineOf({ name, message, atMs, endedAtMs, count }: Kept): Omit<Alarm, 'node'> {
    return {
      ...{ name, message, count },
      activate_at: new Date(atMs).toISOString(),
      deactivate_at: endedAtMs === undefined ? null : new Date(endedAtMs).toISOString(),
      duration: Math.max(0, (endedAtMs ?? this.#clock.now()) - atMs),
    };
  }
}

function percent(part: number, whole: number): string {
  return `${Math.round((100 * part) / whole)} %`;
}
