import { changed } from './changed.ts';
import { connectionId, connectionOf, type Emit, type Model, replaced, shown } from './model.ts';
import { NOT_MOVING } from './move-steps.ts';
import {
  BEYOND_THE_MODEL,
  type Client,
  CONNECTIONS_END,
  PACKET_IDS_END,
  type Packet,
  POSTS_END,
  type State,
} from './world.ts';

/** A sweep finds records that have not changed for minutes; it runs at most this often. */
const SWEEPS_MAX = 2;

/** Steps of the client, and of its connection. */
export function clientSteps(model: Model, state: State, emit: Emit): void {
  if (state.client.status === 'away') {
    connect(model, state, emit);
    return;
  }
  leave(model, state, emit);
  receiveReply(model, state, emit);
  receivePost(model, state, emit);
  // A client that is moving sends nothing until it has moved.
  if (state.client.movesTo !== 0) return;
  sendFrame(state, emit);
  sendAcknowledgements(model, state, emit);
  sweep(model, state, emit);
}

function connect({ config }: Model, state: State, emit: Emit): void {
  const { client, sweeps } = state;
  const connections = sweeps > 0 ? CONNECTIONS_END - 1 : config.connections;
  if (client.connection >= connections) return;
  const connection = client.connection + 1;
  emit(
    changed(state, {
      client: { ...client, connection, status: 'connecting', isFrameOut: true },
      sockets: replaced(state.sockets, connection, 'open'),
      frames: replaced(state.frames, connection, { ...NEW_FRAME, does: 'connect' }),
    }),
    () => `client sends CONNECT on connection ${connection}`,
  );
}

const NEW_FRAME = {
  step: 'begin',
  does: 'frame',
  read: undefined,
  log: 0,
  deletes: 0,
  pubacks: 0,
  pubrecs: 0,
  pubcomps: 0,
  page: [],
  firstOfReply: 0,
  isMoreWaiting: false,
} as const;

function leave(model: Model, state: State, emit: Emit): void {
  const { client, frames, reply, budgets, sockets } = state;
  const { connection } = client;
  if (client.isGivenUp) emit(withoutConnection(state, 'closed'), () => 'client leaves both connections');
  if (sockets[connection] === 'closed' && client.movesTo === 0)
    emit(withoutConnection(state, 'closed'), () => `client notices the end of connection ${connection}`);
  if (client.isFrameOut && frames[connection] === undefined && reply === undefined)
    emit(withoutConnection(state, 'closed'), () => `client gives its frame up, and leaves ${connection}`);
  if (budgets.reconnects === 0 || (model.config.moves > 0 && client.isGivenUp)) return;
  for (const socket of ['closed', 'half-open'] as const) {
    const left = withoutConnection(state, socket);
    const after = changed(left, { budgets: { ...budgets, reconnects: budgets.reconnects - 1 } });
    emit(after, () => `client LEAVES connection ${connection} (${socket})`, 'fault');
  }
}

/** QoS 2 ids that await their PUBREL are the client's session's; all else was the connection's. */
function withoutConnection(state: State, socket: 'closed' | 'half-open'): State {
  const { client, sockets } = state;
  const { connection, unreleased, movesTo } = client;
  const isClosedAlready = sockets[connection] === 'closed';
  const left = isClosedAlready ? sockets : replaced(sockets, connection, socket);
  return changed(state, {
    client: {
      ...client,
      ...NOT_MOVING,
      connection: Math.max(connection, movesTo),
      isGivenUp: false,
      status: 'away',
      isFrameOut: false,
      isMoreWaiting: false,
      isNudged: false,
      held: [],
      pubacks: 0,
      pubrecs: 0,
      pubcomps: 0,
      unacknowledged: 0,
      messages: client.messages.map((message, packetId) => ((unreleased >> packetId) & 1 ? message : 0)),
    },
    sockets: movesTo === 0 ? left : replaced(left, movesTo, 'closed'),
    posts: [],
    nextPosts: [],
    reply: undefined,
  });
}

function receiveReply(model: Model, state: State, emit: Emit): void {
  const { reply, client } = state;
  if (reply === undefined || reply.connection !== client.connection) return;
  const { page, isMoreWaiting, isConnack } = reply;
  let next: State = changed(state, {
    reply: undefined,
    client: { ...client, isFrameOut: false, status: isConnack ? 'connected' : client.status },
  });
  for (const packet of page) next = handOver(model, next, packet);
  next = changed(next, { client: { ...next.client, isMoreWaiting } });
  const isHolding = model.config.isHolding && isMoreWaiting && page.length > 0;
  if (!isHolding) next = handOverHeld(model, next);
  emit(next, () => `client receives the reply: ${shown(page)}${isMoreWaiting ? '; more waits' : ''}`);
}

function handOverHeld(model: Model, state: State): State {
  const { held } = state.client;
  let next: State = changed(state, { client: { ...state.client, held: [] } });
  for (const packet of held) next = handOver(model, next, packet);
  return next;
}

function receivePost(model: Model, state: State, emit: Emit): void {
  const [packet, ...posts] = state.posts;
  if (packet === undefined) return;
  emit(receive(model, changed(state, { posts }), packet), () => `client receives a push: ${shown([packet])}`);
}

function receive(model: Model, state: State, packet: Packet): State {
  const { client } = state;
  if (packet.type === 'nudge') return changed(state, { client: { ...client, isNudged: true } });
  const isHeld = client.status !== 'connected' || (client.isMoreWaiting && model.config.isHolding);
  if (!isHeld) return handOver(model, state, packet);
  if (client.held.length >= POSTS_END) return changed(state, { violation: BEYOND_THE_MODEL });
  return changed(state, { client: { ...client, held: [...client.held, packet] } });
}

/** The transport hands a packet to the MQTT client, which answers. */
function handOver(model: Model, state: State, packet: Packet): State {
  if (packet.type === 'nudge') return state;
  const { packetId } = packet;
  if (packetId >= PACKET_IDS_END) return changed(state, { violation: BEYOND_THE_MODEL });
  const bit = 1 << packetId;
  const { client } = state;
  if (packet.type === 'publish') return receivePublish(model, state, packet);
  return changed(state, {
    client: {
      ...client,
      unreleased: client.unreleased & ~bit,
      pubrecs: client.pubrecs & ~bit,
      pubcomps: client.pubcomps | bit,
    },
  });
}

function receivePublish(model: Model, state: State, { packetId, message }: Packet): State {
  const { client } = state;
  const bit = 1 << packetId;
  const { qos, delivery } = model.instance(message);
  const isKnown = (client.unreleased & bit) !== 0;
  const violation = violationOfPublish(model, state, packetId, message);
  const messages = client.messages.slice();
  for (let each = messages.length; each < packetId; each += 1) messages[each] = 0;
  messages[packetId] = message;
  return changed(state, {
    ...(violation !== undefined && { violation }),
    delivered: isKnown ? state.delivered : state.delivered | (1 << delivery),
    client: {
      ...client,
      messages,
      unacknowledged: client.unacknowledged | bit,
      ...(qos === 2
        ? { unreleased: client.unreleased | bit, pubrecs: client.pubrecs | bit }
        : { pubacks: client.pubacks | bit }),
    },
  });
}

function violationOfPublish(
  model: Model,
  { client, delivered }: State,
  packetId: number,
  message: number,
): string | undefined {
  const bit = 1 << packetId;
  const { qos, delivery } = model.instance(message);
  const isUnreleased = (client.unreleased & bit) !== 0;
  if ((client.unacknowledged & bit) !== 0)
    return `a second PUBLISH under packet id ${packetId}, which is not acknowledged on this connection`;
  if (isUnreleased && (qos === 1 || client.messages[packetId] !== message))
    return `another message under packet id ${packetId}, which awaits its PUBREL`;
  if (countBits(client.unacknowledged) >= model.config.receiveMaximum)
    return 'more unacknowledged messages than the Receive Maximum';
  const isFirst = (delivered & (1 << delivery)) === 0;
  if (!isUnreleased && qos === 2 && !isFirst) return 'a QoS 2 message came twice';
  if (isFirst && !isInOrder(model, delivered, message))
    return 'a message came before an older one of its publisher';
  return undefined;
}

/** On its first receipt all that its publisher sent earlier has been received. */
function isInOrder(model: Model, delivered: number, message: number): boolean {
  const { publisher, sequence } = model.instance(message);
  return model.instances.every(
    (each) =>
      each.publisher !== publisher || each.sequence >= sequence || (delivered & (1 << each.delivery)) !== 0,
  );
}

function countBits(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/** PUBACK and PUBCOMP alone go out of turn, so a frame in turn has a PUBREC, or asks for waiting messages. */
function sendFrame(state: State, emit: Emit): void {
  const { client, frames } = state;
  const { connection, pubacks, pubrecs, pubcomps } = client;
  const isWanted = pubrecs !== 0 || client.isNudged || client.isMoreWaiting;
  if (!isWanted || client.status !== 'connected' || client.isFrameOut || frames[connection] !== undefined)
    return;
  emit(
    changed(state, {
      frames: replaced(frames, connection, { ...NEW_FRAME, pubacks, pubrecs, pubcomps }),
      client: { ...answered(client), pubrecs: 0, isNudged: false, isFrameOut: true },
    }),
    () => `client sends a frame${shownAcks(pubacks, pubrecs, pubcomps)}`,
  );
}

function answered(client: Client): Client {
  const { unacknowledged, pubacks, pubcomps } = client;
  return { ...client, unacknowledged: unacknowledged & ~(pubacks | pubcomps), pubacks: 0, pubcomps: 0 };
}

function sendAcknowledgements({ config }: Model, state: State, emit: Emit): void {
  const { client, acks } = state;
  const { connection, pubacks, pubcomps } = client;
  if (client.status !== 'connected' || (pubacks | pubcomps) === 0) return;
  const place = acks.findIndex((each, index) => each === undefined && index < config.framesOutOfTurn);
  if (place < 0) return;
  const handler = {
    step: 'begin',
    connection,
    read: undefined,
    deletes: 0,
    pubacks,
    pubcomps,
    page: [],
  } as const;
  emit(
    changed(state, { acks: replaced(acks, place, handler), client: answered(client) }),
    () => `client sends a frame out of turn${shownAcks(pubacks, 0, pubcomps)}`,
  );
}

function shownAcks(pubacks: number, pubrecs: number, pubcomps: number): string {
  const each = (name: string, bits: number) =>
    Array.from({ length: PACKET_IDS_END }, (_, packetId) => packetId)
      .filter((packetId) => (bits >> packetId) & 1)
      .map((packetId) => `${name} ${packetId}`);
  const all = [...each('PUBACK', pubacks), ...each('PUBREC', pubrecs), ...each('PUBCOMP', pubcomps)];
  return all.length === 0 ? '' : `: ${all.join(', ')}`;
}

/** The sweep cuts a connection on which nothing moves, and the gateway each after two hours. */
function sweep(model: Model, state: State, emit: Emit): void {
  const { client, record, sweeps } = state;
  if (sweeps >= SWEEPS_MAX || !model.isQuiet(state)) return;
  const { connection } = client;
  const isWindowFull = record.entries.filter(({ isCounted }) => isCounted).length >= record.receiveMaximum;
  const isWaiting = client.isMoreWaiting || client.isNudged;
  const isStill = client.isMoreWaiting ? isWindowFull : !isWaiting && !model.isFinished(state);
  if (!isStill) return;
  const isIts = connectionOf(record) === connection;
  const lost = model.core.decide(record, { type: 'lost', connectionId: connectionId(connection) }).record;
  emit(
    changed(state, {
      sweeps: sweeps + 1,
      sockets: replaced(state.sockets, connection, 'closed'),
      tombstones: state.tombstones | (1 << connection),
      record: isIts ? lost : record,
    }),
    () => `SWEEP cuts connection ${connection}`,
    'sweep',
  );
}
