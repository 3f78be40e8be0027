import type { QueueRecord } from '../../src/queue/types.ts';
import { bitsOf, connectionOf, messageOf } from './model.ts';
import type { AckHandler, Client, FrameHandler, Packet, PublishHandler, State } from './world.ts';

const FRAME_STEPS = [
  'begin',
  'read',
  'delete',
  'write',
  'delete-late',
  'look',
  'read-again',
  'dequeue-again',
  'reply',
];
const ACK_STEPS = ['begin', 'note', 'read', 'delete', 'write', 'post'];
const PUBLISH_STEPS = [
  'read',
  'take',
  'look-for-own',
  'append',
  'look',
  'object',
  'nudge',
  'post',
  'end',
  'lose',
  'finish',
];
const MOVE_STEPS = ['end', 'cut', 'session', 'record', 'reply'];
const MODES = ['direct', 'backlog', 'closing'];
const PHASES = ['unsent', 'sent', 'pubrel-due', 'pubrel-sent'];
const BODIES = ['inline', 'reference', 'log', 'none'];
const SOCKETS = ['none', 'open', 'half-open', 'closed'];
const PACKETS = ['publish', 'pubrel', 'nudge'];
const CLIENTS = ['away', 'connecting', 'connected'];
const PUBLISHERS = ['idle', 'sent', 'done'];

/**
 * A state as numbers: two states are the same when these are. A record that a handler has read is a part of it only where
 * its write needs no version; otherwise only whether it still stands.
 */
export class Encoder {
  readonly numbers = new Int32Array(1_024);
  length = 0;
  readonly #keepsStale: boolean;
  readonly #records = new WeakMap<QueueRecord, readonly number[]>();

  constructor(keepsStale: boolean) {
    this.#keepsStale = keepsStale;
  }

  encode(state: State): void {
    this.length = 0;
    this.#add(state.violation === undefined ? 0 : 1);
    this.#record(state.record);
    const { client, reply, budgets } = state;
    this.#add(state.log, state.deduplication, state.handedOn, state.tombstones, state.owner, state.sweeps);
    this.#add(state.acknowledged, state.delivered, state.isJobDone ? 1 : 0);
    this.#client(client);
    for (const handler of state.frames) this.#frame(handler, state);
    for (const handler of state.acks) this.#ack(handler, state);
    for (const handler of state.publishHandlers) this.#publish(handler, state);
    for (const { frame, attempt, status } of state.publishers)
      this.#add(frame, attempt, PUBLISHERS.indexOf(status));
    this.#add(reply === undefined ? 0 : 1 + (reply.isMoreWaiting ? 2 : 0) + (reply.isConnack ? 4 : 0));
    if (reply !== undefined) {
      this.#add(reply.connection);
      this.#packets(reply.page);
    }
    this.#packets(state.posts);
    this.#packets(state.nextPosts);
    for (const move of state.moves)
      this.#add(move === undefined ? -1 : MOVE_STEPS.indexOf(move.step) * 64 + move.from * 8 + move.to);
    this.#add(...state.movedTo);
    this.#add(budgets.moves, client.movesTo, client.movesSent);
    this.#add((client.hasMoveReply ? 1 : 0) + (client.hasOldClosed ? 2 : 0) + (client.isGivenUp ? 4 : 0));
    for (const socket of state.sockets) this.#add(SOCKETS.indexOf(socket));
    this.#add(budgets.crashes, budgets.reconnects, budgets.postsOfUnknownFate, budgets.lostAnswers);
    this.#add(budgets.lostReplies, budgets.earlyRedeliveries);
  }

  #add(...values: readonly number[]): void {
    for (const value of values) this.numbers[this.length++] = value;
  }

  #packets(packets: readonly Packet[]): void {
    this.#add(packets.length);
    for (const { type, packetId, message } of packets) this.#add(PACKETS.indexOf(type), packetId, message);
  }

  #client(client: Client): void {
    const { isFrameOut, isMoreWaiting, isNudged, unreleased, unacknowledged } = client;
    const flags = (isFrameOut ? 1 : 0) + (isMoreWaiting ? 2 : 0) + (isNudged ? 4 : 0);
    this.#add(client.connection, CLIENTS.indexOf(client.status), flags);
    this.#add(client.pubacks, client.pubrecs, client.pubcomps, unacknowledged, unreleased);
    const inUse = unreleased | unacknowledged;
    client.messages.forEach((message, packetId) => {
      if ((inUse >> packetId) & 1) this.#add(packetId, message);
    });
    this.#add(-1);
    this.#packets(client.held);
  }

  #read(read: QueueRecord | undefined, { record }: State): void {
    this.#add(read === undefined ? 0 : read === record ? 1 : 2);
    if (this.#keepsStale && read !== undefined && read !== record) this.#record(read);
  }

  #frame(handler: FrameHandler | undefined, state: State) {
    if (handler === undefined) return this.#add(-1);
    const flags = (handler.does === 'connect' ? 1 : 0) + (handler.isMoreWaiting ? 2 : 0);
    this.#add(FRAME_STEPS.indexOf(handler.step), flags, handler.log, handler.deletes, handler.firstOfReply);
    this.#add(handler.pubacks, handler.pubrecs, handler.pubcomps);
    this.#packets(handler.page);
    this.#read(handler.read, state);
  }

  #ack(handler: AckHandler | undefined, state: State) {
    if (handler === undefined) return this.#add(-1);
    this.#add(
      ACK_STEPS.indexOf(handler.step),
      handler.connection,
      handler.deletes,
      handler.pubacks,
      handler.pubcomps,
    );
    this.#packets(handler.page);
    this.#read(handler.read, state);
  }

  #publish(handler: PublishHandler | undefined, state: State) {
    if (handler === undefined) return this.#add(-1);
    this.#add(PUBLISH_STEPS.indexOf(handler.step), handler.frame, handler.log, handler.batch, handler.todo);
    this.#add(handler.rest, handler.postTo, handler.connection, handler.racesLost, handler.appended);
    this.#packets(handler.post);
    this.#read(handler.read, state);
  }

  #record(record: QueueRecord): void {
    let encoded = this.#records.get(record);
    if (encoded === undefined) {
      encoded = numbersOf(record);
      this.#records.set(record, encoded);
    }
    for (const value of encoded) this.numbers[this.length++] = value;
  }
}

function numbersOf(record: QueueRecord): number[] {
  const { epoch, mode, isFetching, awaits, lastPacketId, entries, hasEnded, untilMs } = record;
  const { completed, forgottenTo } = record;
  const numbers = [epoch, connectionOf(record), MODES.indexOf(mode), isFetching ? 1 : 0, awaits, untilMs];
  numbers.push(lastPacketId, hasEnded ? 1 : 0, entries.length);
  for (const { packetId, name, kind, phase, isCounted, body } of entries)
    numbers.push(
      packetId,
      messageOf(name),
      (kind === 'push' ? 1 : 0) + (isCounted ? 2 : 0),
      PHASES.indexOf(phase),
      BODIES.indexOf(body),
    );
  numbers.push(bitsOf(completed), messageOf(forgottenTo));
  return numbers;
}
