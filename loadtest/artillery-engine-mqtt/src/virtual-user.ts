import type { Statistics } from '@apus/client';
import type { Publisher, Recorder, Subscriber } from '@apus/loadtest/measure';
import type { MqttClient } from 'mqtt';
import type { Context, Events } from './artillery.ts';
import type { Barriers } from './barrier.ts';
import type { EngineConfig } from './config.ts';
import { UserError } from './step-error.ts';

/** The state that virtual users of one worker share. */
export interface Surroundings {
  readonly config: EngineConfig;
  readonly recorder: Recorder;
  readonly barriers: Barriers;
  readonly events: Events;
  template(value: unknown, context: Context): unknown;
  /** Registers the frame counts of a client. */
  countFrames(statistics: Readonly<Statistics>): void;
}

/** The user's number from 0 among those with the same role, and their count; a user without a role is the only one. */
export interface Place {
  readonly index: number;
  readonly of: number;
}

/** A message as `expect` sees it. */
export interface ReceivedMessage {
  readonly topic: string;
  readonly payload: Buffer;
}

/** Messages that `expect` has not taken yet; older ones are dropped. */
const UNSEEN_MAX = 1_000;

/** One virtual user: its client, and its counts of published and received messages. */
export class VirtualUser {
  readonly context: Context;
  readonly around: Surroundings;
  place: Place = { index: 0, of: 1 };
  client: MqttClient | undefined;
  /** Barriers that it has come to. */
  readonly barriers = new Set<string>();
  /** The connection is meant to end. */
  isLeaving = false;
  /** The test is being ended early: nothing more has to be done, and later failures do not matter. */
  isStopped = false;
  /** When the last message came, by `performance.now()`. */
  lastMessageAtMs = performance.now();
  #unseen: ReceivedMessage[] = [];
  #subscriber: Subscriber | undefined;
  #notify: (() => void) | undefined;
  readonly #publishers = new Map<string, Publisher>();
  readonly #filters: string[] = [];

  constructor(context: Context, around: Surroundings) {
    this.context = context;
    this.around = around;
  }

  get needClient(): MqttClient {
    if (this.client === undefined)
      throw new UserError('not_connected', 'the flow has no connect step before this one');
    return this.client;
  }

  /** Fills in `{{ variables }}`. */
  fill(value: unknown): unknown {
    return this.around.template(value, this.context);
  }

  fillText(value: string): string {
    return String(this.fill(value));
  }

  /** @throws {UserError} if the filled-in value is no number of 0 or more */
  fillNumber(value: number | string, what: string): number {
    const filled = Number(this.fill(value));
    if (Number.isFinite(filled) && filled >= 0) return filled;
    throw new UserError('bad_number', `${what} is no number: ${String(this.fill(value))}`);
  }

  /** The broker has granted a filter: matching messages have to come from now on. */
  subscribed(filters: readonly string[]): void {
    this.#filters.push(...filters);
    this.#subscriber ??= this.around.recorder.subscriber(this.#filters);
  }

  unsubscribed(filters: readonly string[]): void {
    for (const filter of filters) {
      const at = this.#filters.indexOf(filter);
      if (at >= 0) this.#filters.splice(at, 1);
    }
  }

  publisher(topic: string, qos: 0 | 1 | 2, payloadBytes: number): Publisher {
    let publisher = this.#publishers.get(`${qos} ${topic}`);
    if (publisher === undefined) {
      publisher = this.around.recorder.publisher(topic, qos, payloadBytes);
      this.#publishers.set(`${qos} ${topic}`, publisher);
    }
    return publisher;
  }

  received(topic: string, payload: Buffer): void {
    const { events } = this.around;
    this.lastMessageAtMs = performance.now();
    events.emit('counter', 'mqtt.messages_received', 1);
    events.emit('rate', 'mqtt.receive_rate');
    const micros = this.#subscriber?.take(payload);
    if (micros !== undefined) events.emit('histogram', 'mqtt.delivery_ms', micros / 1_000);
    this.#unseen.push({ topic, payload });
    if (this.#unseen.length > UNSEEN_MAX) this.#unseen.shift();
    this.#notify?.();
  }

  /** Takes the first matching message that has come or comes; undefined when the time is over. */
  async nextMessage(
    isWanted: (message: ReceivedMessage) => boolean,
    withinMs: number,
  ): Promise<ReceivedMessage | undefined> {
    const untilMs = performance.now() + withinMs;
    for (;;) {
      const at = this.#unseen.findIndex(isWanted);
      if (at >= 0) return this.#unseen.splice(at, 1)[0];
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0) return undefined;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        this.#notify = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }
}
