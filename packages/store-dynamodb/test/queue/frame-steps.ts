import type { Acknowledgement, Decision, Dequeue, QueueRecord } from '../../src/queue/types.ts';
import { changed } from './changed.ts';
import {
  bitsOf,
  connectionId,
  connectionOf,
  type Emit,
  type Model,
  messageOf,
  replaced,
  shown,
  shownNames,
  shownRecord,
  timeFor,
} from './model.ts';
import { type FrameHandler, PACKET_IDS_END, type Packet, type State } from './world.ts';

/** The next step of the handler of CONNECT, or of a frame that wants a reply. */
export function frameSteps(model: Model, state: State, connection: number, emit: Emit) {
  const handler = state.frames[connection];
  if (handler === undefined) return;
  const step = { model, state, connection, handler, emit };
  switch (handler.step) {
    case 'begin':
      return begin(step);
    case 'read':
      return read(step);
    case 'delete':
      return remove(step, handler.read === undefined ? 'read-again' : 'write');
    case 'write':
      return write(step);
    case 'delete-late':
      return remove(step, 'reply');
    case 'look':
      return look(step);
    case 'read-again':
      return readAgain(step);
    case 'dequeue-again':
      return dequeueAgain(step);
    case 'reply':
      return reply(step);
  }
}

interface Step {
  readonly model: Model;
  readonly state: State;
  readonly connection: number;
  readonly handler: FrameHandler;
  readonly emit: Emit;
}

function go(step: Step, to: Partial<FrameHandler>, text: () => string, state: State = step.state): void {
  const { connection, handler, emit } = step;
  const frames = replaced(state.frames, connection, { ...handler, ...to });
  const what = handler.does === 'connect' ? 'CONNECT' : 'frame';
  emit(changed(state, { frames }), () => `  ${what} on ${connection} ${text()}`);
}

/** The handler ends the connection: the frame is not answered. */
function give({ state, connection, handler, emit }: Step, why: string) {
  emit(
    changed(state, {
      frames: replaced(state.frames, connection, undefined),
      sockets: replaced(state.sockets, connection, 'closed'),
      tombstones: state.tombstones | (1 << connection),
    }),
    () => `  ${handler.does === 'connect' ? 'CONNECT' : 'frame'} on ${connection} ends: ${why}`,
  );
}

function begin(step: Step) {
  const { state, connection, handler } = step;
  if (handler.does === 'frame') {
    if ((state.tombstones >> connection) & 1) return give(step, 'the connection is over');
    return go(step, { step: 'read' }, () => 'finds its connection');
  }
  if (state.owner > connection) return give(step, 'another connection has the session');
  const sockets = state.sockets.map((socket, each) => {
    return each > 0 && each < connection && socket !== 'none' ? 'closed' : socket;
  });
  const tombstones = state.tombstones | ((1 << connection) - 2);
  go(
    step,
    { step: 'read' },
    () => 'has the session',
    changed(state, { owner: connection, sockets, tombstones }),
  );
}

function read(step: Step) {
  const { model, state, handler } = step;
  const { record, log } = state;
  const seen = { read: record, log };
  if (handler.does === 'connect') {
    const connected = decideConnect({ ...step, handler: { ...handler, log } }, record);
    if (isRefused(connected)) return give(step, 'a later CONNECT has written');
    const repeated = deletesOf(connected) & log;
    const to = { ...seen, deletes: repeated, step: repeated === 0 ? 'write' : 'delete' } as const;
    return go(step, to, () => `reads the record and the log ${shownNames(log)}`);
  }
  const decision = decideFrame(step, record, log);
  if (isRefused(decision)) return give(step, 'the record has another connection');
  if (decision.record === record) {
    const { isMoreWaiting } = outcomeOf(decision, handler);
    return go(step, { step: 'reply', isMoreWaiting }, () => 'finds nothing to do');
  }
  const deletes = deletesOf(decision) & log;
  const isDeletedFirst = deletes !== 0 && !model.without('delete-late');
  const next = isDeletedFirst ? 'delete' : 'write';
  go(step, { ...seen, deletes, step: next }, () => `reads the record and the log ${shownNames(log)}`);
}

/** A delete knows nothing of the record: it is made also where that has changed. */
function remove(step: Step, next: 'write' | 'reply' | 'read-again') {
  const { state, handler } = step;
  const { deletes } = handler;
  const after = changed(state, { log: state.log & ~deletes });
  go(step, { step: next, deletes: 0 }, () => `deletes ${shownNames(deletes)} from the log`, after);
}

function write(step: Step) {
  const { model, state, handler } = step;
  if (handler.read !== state.record && !model.without('no-version'))
    return go(step, { step: 'read', read: undefined }, () => 'cannot write: the record is another by now');
  const seen = handler.read as QueueRecord;
  const decision =
    handler.does === 'connect' ? decideConnect(step, seen) : decideFrame(step, seen, handler.log);
  written(step, decision, state);
}

/** Goes on as the decision says, whose record is being written. */
function written(step: Step, decision: Decision, state: State) {
  const { model, handler } = step;
  const outcome = outcomeOf(decision, handler);
  const after = model.written(state, decision.record);
  const { isLookingAgain } = outcome;
  const isDeleteOwed = handler.deletes !== 0 && model.without('delete-late');
  go(
    step,
    {
      ...outcome.sent,
      step: isDeleteOwed ? 'delete-late' : isLookingAgain ? 'look' : 'reply',
      isMoreWaiting: outcome.isMoreWaiting,
      pubacks: 0,
      pubrecs: 0,
      pubcomps: 0,
      read: undefined,
    },
    () => `writes ${shownRecord(after.record)}`,
    after,
  );
}

function look(step: Step) {
  const { state, connection } = step;
  const { record, log } = state;
  const named = bitsOf(record.entries.filter(({ body }) => body === 'log').map(({ name }) => name));
  const isFound = (log & ~named) !== 0 && connectionOf(record) === connection;
  go(step, { step: isFound ? 'read-again' : 'reply' }, () => `looks again: the log is ${shownNames(log)}`);
}

function readAgain(step: Step) {
  const { state, connection } = step;
  const { record, log } = state;
  if (connectionOf(record) !== connection) return give(step, 'the record has another connection');
  const again = decideAgain(step, record, log);
  const repeated = deletesOf(again) & log;
  const text = () => `reads again: the log is ${shownNames(log)}`;
  // It reads what is left once more.
  if (repeated !== 0) return go(step, { step: 'delete', read: undefined, deletes: repeated }, text);
  go(step, { step: 'dequeue-again', read: record, log }, text);
}

function dequeueAgain(step: Step) {
  const { state, handler } = step;
  if (handler.read !== state.record)
    return go(
      step,
      { step: 'read-again', read: undefined },
      () => 'cannot write: the record is another by now',
    );
  written(step, decideAgain(step, state.record, handler.log), state);
}

function decideAgain(step: Step, record: QueueRecord, log: number): Decision {
  const dequeue = dequeueOf(step, record, log);
  const event = { type: 'dequeue-again', connectionId: connectionId(step.connection), dequeue } as const;
  return step.model.core.decide(record, event);
}

function reply(step: Step) {
  const { state, connection, handler, emit } = step;
  const { page, isMoreWaiting } = handler;
  const isHeard = state.client.connection === connection && state.sockets[connection] === 'open';
  emit(
    changed(state, {
      frames: replaced(state.frames, connection, undefined),
      reply: isHeard
        ? { connection, page, isMoreWaiting, isConnack: handler.does === 'connect' }
        : state.reply,
    }),
    () => `  frame on ${connection} replies: ${shown(page)}${isMoreWaiting ? '; more waits' : ''}`,
  );
}

function decideConnect(step: Step, record: QueueRecord): Decision {
  const { model, connection, handler } = step;
  return model.core.decide(record, {
    type: 'connect',
    epoch: connection,
    connectionId: connectionId(connection),
    receiveMaximum: model.config.receiveMaximum,
    dequeue: dequeueOf(step, record, handler.log),
  });
}

function decideFrame(step: Step, record: QueueRecord, log: number): Decision {
  const { model, connection, handler } = step;
  const { pubacks, pubrecs, pubcomps } = handler;
  return model.core.decide(record, {
    type: 'frame',
    connectionId: connectionId(connection),
    acknowledgements: acknowledgementsOf(pubacks, pubrecs, pubcomps),
    dequeue: dequeueOf(step, record, log),
  });
}

function dequeueOf({ model, state, handler }: Step, record: QueueRecord, log: number): Dequeue {
  return {
    log: model.logPage({ log, deduplication: state.deduplication }, record),
    limit: { messages: Math.max(0, model.config.pageMessages - handler.page.length), bytes: 1_000 },
    nowMs: timeFor(state),
    firstOfReply: handler.firstOfReply,
  };
}

export function acknowledgementsOf(pubacks: number, pubrecs: number, pubcomps: number): Acknowledgement[] {
  const acknowledgements: Acknowledgement[] = [];
  for (let packetId = 1; packetId < PACKET_IDS_END; packetId += 1) {
    const bit = 1 << packetId;
    if (pubacks & bit) acknowledgements.push({ packet: 'puback', packetId });
    if (pubrecs & bit) acknowledgements.push({ packet: 'pubrec', packetId });
    if (pubcomps & bit) acknowledgements.push({ packet: 'pubcomp', packetId });
  }
  return acknowledgements;
}

export function isRefused({ effects }: Decision): boolean {
  return effects.some(({ type }) => type === 'refuse');
}

export function deletesOf({ effects }: Decision): number {
  return bitsOf(effects.flatMap((effect) => (effect.type === 'delete' ? effect.name : [])));
}

/** Packets that leave with a decision, in their order. */
export function packetsOf({ effects }: Decision): Packet[] {
  return effects.flatMap((effect): Packet[] => {
    if (effect.type === 'pubrel') return [{ type: 'pubrel', packetId: effect.packetId, message: 0 }];
    if (effect.type !== 'publish') return [];
    const { packetId, name } = effect.entry;
    return [{ type: 'publish', packetId, message: messageOf(name) }];
  });
}

function outcomeOf(decision: Decision, handler: FrameHandler) {
  const packets = packetsOf(decision);
  const released = new Set(packets.map(({ type, packetId }) => (type === 'pubrel' ? packetId : 0)));
  // The broker answers a PUBREC whose packet id it does not know as well: 0x92.
  const unknown = acknowledgementsOf(0, handler.pubrecs, 0)
    .filter(({ packetId }) => !released.has(packetId))
    .map(({ packetId }): Packet => ({ type: 'pubrel', packetId, message: 0 }));
  const page = [...handler.page, ...unknown, ...packets];
  const first = page.find(({ type }) => type === 'publish')?.packetId ?? 0;
  return {
    sent: { page, firstOfReply: first },
    isLookingAgain: decision.effects.some(({ type }) => type === 'look-again'),
    isMoreWaiting: decision.effects.some((each) => each.type === 'reply' && each.isMoreWaiting),
  };
}
