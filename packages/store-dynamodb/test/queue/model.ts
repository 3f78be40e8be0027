import { newOf } from '../../src/queue/completed.ts';
import type { LogPage, QueueRecord } from '../../src/queue/types.ts';
import { ackSteps } from './ack-steps.ts';
import { changed } from './changed.ts';
import { clientSteps } from './client-steps.ts';
import { frameSteps } from './frame-steps.ts';
import { framesOf, instancesOf, WORKER } from './instances.ts';
import { moveSteps, NOT_MOVING } from './move-steps.ts';
import { publishSteps } from './publish-steps.ts';
import {
  BEYOND_THE_MODEL,
  type CallerMutation,
  CONNECTIONS_END,
  type Configuration,
  type Core,
  ENTRIES_END,
  type Instance,
  type Packet,
  POSTS_END,
  type State,
  type StepKind,
  type Successor,
} from './world.ts';

/** A publisher sends a frame at most so often. */
const ATTEMPTS_MAX = 3;
const INSTANCES_MAX = 16;
const NAMES = '0123456789abcdef';

/**
 * One session, its publishers, a worker, the gateway and the client, as far as the session's record is concerned. The
 * record's own code takes its decisions; the model adds the callers, who die at every step, and the world,
 * which loses and delays.
 */
export class Model {
  readonly config: Configuration;
  readonly core: Core;
  readonly instances: readonly Instance[];
  readonly exactlyOnce: number;
  readonly attemptsMax: number;
  readonly frameCounts: readonly number[];
  readonly #mutations: ReadonlySet<CallerMutation>;
  readonly #pages = new Map<string, LogPage>();

  constructor(config: Configuration, core: Core, mutations: readonly CallerMutation[] = []) {
    this.config = config;
    this.core = core;
    this.#mutations = new Set(mutations);
    this.attemptsMax = Math.min(ATTEMPTS_MAX, config.crashes + config.lostReplies + 1);
    const frames = [...config.publishers, config.worker].map(framesOf);
    this.frameCounts = frames.map(({ length }) => length);
    this.instances = instancesOf(frames, this.attemptsMax);
    if (this.instances.length > INSTANCES_MAX) throw new Error('too many messages for the model');
    this.exactlyOnce = bitsWhere(this.instances, ({ qos }) => qos === 2);
  }

  without(mutation: CallerMutation): boolean {
    return this.#mutations.has(mutation);
  }

  start(): State {
    const { config } = this;
    const record = { ...this.core.NEW_RECORD, epoch: 1, connectionId: connectionId(1), untilMs: UNTIL_MS };
    return {
      record: { ...record, receiveMaximum: config.receiveMaximum },
      log: 0,
      deduplication: 0,
      handedOn: 0,
      client: {
        connection: 1,
        status: 'connected',
        isFrameOut: false,
        isMoreWaiting: false,
        isNudged: false,
        held: [],
        pubacks: 0,
        pubrecs: 0,
        pubcomps: 0,
        unacknowledged: 0,
        unreleased: 0,
        messages: [],
        ...NOT_MOVING,
        isGivenUp: false,
      },
      frames: Array.from({ length: CONNECTIONS_END }, () => undefined),
      acks: [undefined, undefined],
      publishHandlers: [undefined, undefined, undefined, undefined],
      publishers: config.publishers.map((frames) => ({
        frame: 0,
        attempt: 0,
        status: frames === '' ? 'done' : 'idle',
      })),
      isJobDone: config.worker === '',
      reply: undefined,
      posts: [],
      nextPosts: [],
      moves: [undefined, undefined],
      movedTo: Array.from({ length: CONNECTIONS_END }, () => 0),
      sockets: ['none', 'open', 'none', 'none', 'none', 'none', 'none'],
      tombstones: 0,
      owner: 1,
      budgets: {
        crashes: config.crashes,
        reconnects: config.reconnects,
        postsOfUnknownFate: config.postsOfUnknownFate,
        lostAnswers: config.lostAnswers,
        lostReplies: config.lostReplies,
        earlyRedeliveries: config.earlyRedeliveries,
        moves: config.moves,
      },
      sweeps: 0,
      acknowledged: 0,
      delivered: 0,
      violation: undefined,
    };
  }

  /** All that may happen next. */
  successors(state: State): Successor[] {
    const next: Successor[] = [];
    const emit = (successor: State, label: () => string, kind: StepKind = 'ordinary') => {
      next.push({ state: successor, label, kind });
    };
    clientSteps(this, state, emit);
    if (this.config.moves > 0) moveSteps(this, state, emit);
    for (let connection = 1; connection < CONNECTIONS_END; connection += 1)
      frameSteps(this, state, connection, emit);
    for (let place = 0; place < state.acks.length; place += 1) ackSteps(this, state, place, emit);
    for (let place = 0; place < state.publishHandlers.length; place += 1)
      publishSteps(this, state, place, emit);
    crashes(state, emit);
    return next;
  }

  /** The log as a Query from its start reads it. */
  logPage({ log, deduplication }: Pick<State, 'log' | 'deduplication'>, record: QueueRecord): LogPage {
    const { logItemsRead } = this.config;
    const limit = logItemsRead === undefined ? INSTANCES_MAX : logItemsRead + record.entries.length;
    const forgotten = this.forgotten(deduplication);
    const key = `${log} ${limit} ${forgotten}`;
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const messages = messagesIn(log);
    const items = messages.slice(0, limit).map((message) => ({
      name: nameOf(message),
      qos: this.instance(message).qos,
      bytes: 1,
      wasPlaced: ((forgotten >> message) & 1) === 1,
    }));
    const page = { items, isComplete: messages.length <= limit };
    this.#pages.set(key, page);
    return page;
  }

  /** Messages, as bits, that a handler finds among those that the record has forgotten. */
  forgotten(deduplication: number): number {
    return this.config.isShared || this.without('forgotten-unread') ? 0 : deduplication & this.exactlyOnce;
  }

  /** Messages, as bits, whose deduplications a handler finds: those of copies for a share group. */
  deduplications({ deduplication }: State): number {
    return this.config.isShared && !this.without('no-deduplication') ? deduplication & this.exactlyOnce : 0;
  }

  /** With the deduplications of copies for a share group, which are written with them. */
  remembering(state: State, bits: number): State {
    if (!this.config.isShared) return state;
    return changed(state, { deduplication: state.deduplication | (bits & this.exactlyOnce) });
  }

  /** The record after a write of all of it: it forgets names where it has more than it keeps. */
  written(state: State, record: QueueRecord): State {
    const { namesKept, isShared } = this.config;
    if (isShared) return withRecord(state, { ...record, completed: [] });
    const limits = { bytesMax: namesKept, bytesKept: namesKept };
    const forgot = this.core.forgetting(record, limits);
    if (forgot === undefined) return withRecord(state, record);
    const names = this.without('forgotten-unwritten') ? [] : [...forgot.page, ...forgot.late];
    return changed(withRecord(state, forgot.record), { deduplication: state.deduplication | bitsOf(names) });
  }

  instance(message: number): Instance {
    return this.instances[message] as Instance;
  }

  /** The messages of a publisher's frame. At QoS 2 a frame that is sent again has the same. */
  batch(publisher: number, frame: number, attempt: number): number {
    return bitsWhere(
      this.instances,
      (each) =>
        each.publisher === publisher &&
        each.frame === frame &&
        (each.qos === 2 || publisher === WORKER || each.attempt === attempt),
    );
  }

  /** No process has a step left, and the client has nothing to say. */
  isQuiet(state: State): boolean {
    const { client, sockets } = state;
    const isIdle = [...state.frames, ...state.acks, ...state.publishHandlers, ...state.moves].every(
      (each) => each === undefined,
    );
    const isAllPublished = state.isJobDone && state.publishers.every(({ status }) => status === 'done');
    const isClientIdle =
      client.status === 'connected' &&
      client.movesTo === 0 &&
      !client.isFrameOut &&
      (client.pubacks | client.pubrecs | client.pubcomps) === 0;
    const isNothingUnderWay = state.posts.length === 0 && state.reply === undefined;
    return (
      isIdle && isAllPublished && isClientIdle && isNothingUnderWay && sockets[client.connection] === 'open'
    );
  }

  /** A repetition in the log of a copy that was placed waits for nothing. */
  isWaiting({ log, deduplication, record }: State): boolean {
    const { items } = this.logPage({ log, deduplication }, record);
    return newOf(record, items).length > 0;
  }

  /** All is done, and nothing is left of it. */
  isFinished(state: State): boolean {
    const { client, record } = state;
    const isNothingKept = record.entries.length === 0 && !this.isWaiting(state);
    const isClientDone =
      client.held.length === 0 && !client.isMoreWaiting && !client.isNudged && client.unreleased === 0;
    return isNothingKept && isClientDone && this.isQuiet(state);
  }

  violationOf(state: State): string | undefined {
    if (state.violation !== undefined) return state.violation;
    const { client, acknowledged, delivered, sweeps } = state;
    const isMissing = (acknowledged & ~delivered) !== 0;
    if (!isMissing || !this.isQuiet(state)) return undefined;
    if (!client.isMoreWaiting && !client.isNudged && sweeps === 0)
      return 'a message that was acknowledged to its publisher waits, and no process looks for it';
    return this.isFinished(state) ? 'a message that was acknowledged to its publisher is lost' : undefined;
  }

  /** Where exploration ends for want of connections: neither a success nor a failure. */
  isAtItsEnd(state: State): boolean {
    const { client, sweeps } = state;
    return client.status === 'away' && client.connection >= this.config.connections && sweeps === 0;
  }
}

export type Emit = (state: State, label: () => string, kind?: StepKind) => void;

/** Of the moment until which a publisher may still post: see `timeFor`. */
const UNTIL_MS = 1;

/**
 * Time is an oracle: it is before `until` as long as the publisher of any entry lives, or its post is under way. A
 * publisher that has died does not post.
 */
export function timeFor(state: State): number {
  const isPostAwaited = state.record.entries.some((entry) => {
    if (entry.kind !== 'push' || entry.phase !== 'sent') return false;
    const bit = 1 << messageOf(entry.name);
    const isUnderWay = ({ type, packetId }: Packet) => type === 'publish' && packetId === entry.packetId;
    return (
      state.publishHandlers.some((handler) => handler !== undefined && (handler.batch & bit) !== 0) ||
      state.posts.some(isUnderWay) ||
      state.nextPosts.some(isUnderWay) ||
      state.client.held.some(isUnderWay)
    );
  });
  return isPostAwaited ? UNTIL_MS - 1 : UNTIL_MS;
}

export const TAKEN_UNTIL_MS = UNTIL_MS;

function crashes(state: State, emit: Emit): void {
  if (state.budgets.crashes === 0) return;
  const budgets = { ...state.budgets, crashes: state.budgets.crashes - 1 };
  state.frames.forEach((handler, connection) => {
    if (handler === undefined) return;
    const frames = replaced(state.frames, connection, undefined);
    emit(
      changed(state, { budgets, frames }),
      () => `CRASH of the frame's handler on connection ${connection}`,
      'fault',
    );
  });
  state.acks.forEach((handler, place) => {
    if (handler === undefined) return;
    const acks = replaced(state.acks, place, undefined);
    emit(changed(state, { budgets, acks }), () => 'CRASH of the handler of a frame out of turn', 'fault');
  });
  state.moves.forEach((handler, place) => {
    if (handler === undefined) return;
    const moves = replaced(state.moves, place, undefined);
    emit(changed(state, { budgets, moves }), () => `CRASH of the move to ${handler.to}`, 'fault');
  });
  state.publishHandlers.forEach((handler, place) => {
    if (handler === undefined) return;
    const publishHandlers = replaced(state.publishHandlers, place, undefined);
    emit(changed(state, { budgets, publishHandlers }), () => `CRASH of ${publisherName(place)}`, 'fault');
  });
}

function bitsWhere<T>(list: readonly T[], isWanted: (each: T) => boolean): number {
  return list.reduce((bits, each, place) => (isWanted(each) ? bits | (1 << place) : bits), 0);
}

export function messagesIn(bits: number): number[] {
  const messages: number[] = [];
  for (let message = 0; message < INSTANCES_MAX; message += 1)
    if ((bits & (1 << message)) !== 0) messages.push(message);
  return messages;
}

export const nameOf = (message: number): string => NAMES[message] ?? '';
export const messageOf = (name: string): number => NAMES.indexOf(name);
export const namesIn = (bits: number): string[] => messagesIn(bits).map(nameOf);
export const bitsOf = (names: readonly string[]): number =>
  names.reduce((bits, name) => bits | (1 << messageOf(name)), 0);

export const connectionId = (connection: number): string => String(connection);
export const connectionOf = (record: QueueRecord): number => Number(record.connectionId ?? 0);

export function publisherName(place: number): string {
  return place < WORKER ? `publisher ${place + 1}` : place === WORKER ? 'the worker' : 'the second worker';
}

export function replaced<T>(list: readonly T[], place: number, by: T): T[] {
  const copy = list.slice();
  copy[place] = by;
  return copy;
}

/** The record as one write leaves it. Where nothing changes nothing is written. */
export function withRecord(state: State, record: QueueRecord): State {
  if (record.entries.length > ENTRIES_END) return changed(state, { violation: BEYOND_THE_MODEL });
  return changed(state, { record });
}

/** A post to a connection. It reaches the client where its socket is open. */
export function withPosts(state: State, connection: number, packets: readonly Packet[]): State {
  if (state.sockets[connection] !== 'open') return state;
  if (state.client.movesTo === connection && connection !== 0)
    return changed(state, { nextPosts: [...state.nextPosts, ...packets] });
  if (state.client.connection !== connection) return state;
  const posts = [...state.posts, ...packets];
  return posts.length > POSTS_END
    ? changed(state, { violation: BEYOND_THE_MODEL })
    : changed(state, { posts });
}

export function shown(packets: readonly Packet[]): string {
  const texts = packets.map(({ type, packetId, message }) => {
    if (type === 'nudge') return 'nudge';
    return type === 'publish' ? `PUBLISH ${nameOf(message)} as ${packetId}` : `PUBREL ${packetId}`;
  });
  return texts.length === 0 ? 'nothing' : texts.join(', ');
}

export function shownRecord({
  mode,
  isFetching,
  awaits,
  connectionId: connection,
  entries,
}: QueueRecord): string {
  const fetching = isFetching ? ', fetching' : '';
  const awaited = awaits === 0 ? '' : `, awaits ${awaits}`;
  const texts = entries.map(({ packetId, name, kind, phase }) => `${name} as ${packetId} ${kind}/${phase}`);
  const where = connection === undefined ? 'no connection' : `connection ${connection}`;
  return `record: ${where}, ${mode}${fetching}${awaited}, [${texts.join('; ')}]`;
}

export function shownNames(bits: number): string {
  return `{${namesIn(bits).join(' ')}}`;
}
