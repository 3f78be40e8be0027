import type { Emit } from './posters.ts';
import type { Without } from './store.ts';
import {
  CLOSE,
  type Client,
  CONNECTIONS,
  type Configuration,
  type Handler,
  NONE,
  placeOf,
  publisherOf,
  type State,
  WIDE,
} from './world.ts';

/** The most frames of a move that the client sends. */
const SENT_MAX = 2;
const HANDLERS_MAX = 2;

/** The client's transport (`packages/client/src/mover.ts`), and what happens to its sockets. */
export function clientSteps(config: Configuration, without: Without, state: State, emit: Emit) {
  const { client } = state;
  if (client.phase === 'lost') return;
  if (config.moves && client.phase === 'connected' && client.current === 0 && client.hasTicket)
    startMove(config, state, emit);
  if (client.phase === 'moving') moving(config, state, emit);
  if (client.phase === 'resuming') resuming(config, state, emit);
  replies(config, without, state, emit);
  sockets(config, without, state, emit);
  if (state.losses > 0) losses(config, state, emit);
}

/** The client's connections: a rival has the last one. */
const socketsOf = ({ hasRival }: Configuration): number => CONNECTIONS - (hasRival ? 1 : 0);

const newHandler = (does: Handler['does'], to: number, from: number): Handler => {
  return { does, to, shown: from, from, chain: 1 << from, step: 0, kept: [], hasGap: false, hasEnded: false };
};

function startMove(config: Configuration, { client, handlers }: State, emit: Emit) {
  if (client.opened >= socketsOf(config) || handlers.length >= HANDLERS_MAX) return;
  const to = client.opened;
  emit(`the client opens ${to}, and asks to be moved there`, (next) => {
    next.sockets[to] = 'open';
    Object.assign(next.client, { phase: 'moving', target: to, opened: to + 1, sent: 1, hasOldClosed: false });
    next.handlers.push(newHandler('move', to, next.client.current));
  });
}

function moving(config: Configuration, { client, handlers, replies, sockets }: State, emit: Emit) {
  const { target, current, sent } = client;
  const hasRoom = handlers.length < HANDLERS_MAX && sockets[target] === 'open';
  if (replies[target] !== undefined) return;
  if (hasRoom && sent < SENT_MAX)
    emit('the client asks again', (next) => {
      next.client.sent += 1;
      next.handlers.push(newHandler('move', target, current));
    });
  const isHandled = handlers.some(({ to }) => to === target);
  if (sent === SENT_MAX && (!isHandled || config.isImpatient))
    emit('the client waits no more for the move', (next) => lose(next, false));
}

function resuming(config: Configuration, { client, handlers, replies }: State, emit: Emit) {
  const { target } = client;
  if (target === NONE) {
    if (client.opened >= socketsOf(config) || handlers.length >= HANDLERS_MAX) {
      if (handlers.length === 0) emit('the client gives the session up', giveUp);
      return;
    }
    const to = client.opened;
    return emit(`the client opens ${to}, and resumes`, (next) => {
      next.sockets[to] = 'open';
      Object.assign(next.client, { target: to, opened: to + 1 });
      next.handlers.push(newHandler('resume', to, next.client.current));
    });
  }
  const isHandled = handlers.some(({ to }) => to === target);
  if (
    replies[target] === undefined &&
    client.opened < socketsOf(config) &&
    (!isHandled || config.isImpatient)
  )
    emit(`the client waits no more for a reply on ${target}`, tryAgain);
  else if (replies[target] === undefined && !isHandled) emit('the client gives the session up', giveUp);
}

function tryAgain(next: State) {
  abandon(next, next.client.target);
  next.client.target = NONE;
}

/** Its library is told, and sends CONNECT. */
function giveUp(next: State) {
  next.client.phase = 'lost';
  abandon(next, next.client.current);
  abandon(next, next.client.target);
}

/** The client closes a socket: nothing more comes from it. */
function abandon(next: State, connection: number) {
  if (connection === NONE) return;
  if (next.sockets[connection] === 'open') {
    next.sockets[connection] = 'closed';
    next.disconnects[connection] = 'due';
  }
  next.queues[connection] = [];
  next.replies[connection] = undefined;
}

/** The connection is lost: the client resumes its session over another. */
function lose(next: State, isInOrder: boolean) {
  const { client } = next;
  const { current, target, sent, phase } = client;
  if (phase === 'resuming' || client.resumes > 1 || !client.hasTicket) return giveUp(next);
  abandon(next, current);
  abandon(next, target);
  const wasInOrder = isInOrder && sent === 0;
  Object.assign(client, {
    phase: 'resuming',
    target: NONE,
    sent: 0,
    wasInOrder,
    resumes: client.resumes + 1,
  });
}

function replies(config: Configuration, without: Without, state: State, emit: Emit) {
  const { client } = state;
  const reply = state.replies[client.target];
  if (reply === undefined || client.phase === 'connected') return;
  if (reply.kind === 'refused')
    return emit('the client is refused', (next) => {
      if (client.phase === 'resuming') return giveUp(next);
      if (client.hasOldClosed && !without('stay-where-refused')) return lose(next, false);
      abandon(next, client.target);
      Object.assign(next.client, { phase: 'connected', target: NONE, sent: 0, hasTicket: false });
    });
  if (reply.kind === 'moved' && without('client-closes-old') && !client.hasOldClosed)
    return emit('the client has its reply, and closes the old connection', (next) => {
      abandon(next, client.current);
      arrive(next);
    });
  if (reply.kind === 'moved' && !client.hasOldClosed && !without('no-hold')) return;
  emit(`the client has its reply: ${reply.kind} with [${reply.packets.join(' ')}]`, (next) => {
    for (const message of reply.packets) receive(config, next, message);
    if (client.phase === 'resuming' && (reply.hasGap || !client.wasInOrder))
      next.client.excused |= next.begun;
    arrive(next);
  });
}

function arrive(next: State) {
  const { client } = next;
  next.replies[client.target] = undefined;
  Object.assign(client, {
    phase: 'connected',
    current: client.target,
    target: NONE,
    sent: 0,
    hasOldClosed: false,
  });
  client.wasInOrder = false;
}

function sockets(config: Configuration, without: Without, state: State, emit: Emit) {
  const { client, queues } = state;
  for (const [connection, [first]] of queues.entries()) {
    if (first === undefined) continue;
    const isTarget = connection === client.target;
    const isHeld = isTarget && first !== CLOSE && !without('pushes-before-reply');
    if (isHeld || (!isTarget && connection !== client.current && !without('no-hold'))) continue;
    emit(
      `the client takes ${first === CLOSE ? 'the close' : `message ${first}`} from ${connection}`,
      (next) => {
        next.queues[connection]?.shift();
        if (first === CLOSE) closed(config, next, connection, true);
        else receive(config, next, first);
      },
    );
  }
  // A close ends the connection even while the client holds messages that came before it.
  const held = queues[client.target];
  if (held?.includes(CLOSE) && held[0] !== CLOSE)
    emit(`the client takes the close from ${client.target}, with what it holds`, (next) =>
      closed(config, next, client.target, true),
    );
}

function closed(config: Configuration, next: State, connection: number, isInOrder: boolean) {
  const { client } = next;
  if (connection === client.target && client.phase === 'resuming') return tryAgain(next);
  if (connection === client.current && client.phase === 'moving' && isInOrder) {
    client.hasOldClosed = true;
    return;
  }
  if (connection !== client.current && connection !== client.target) return;
  if (config.staysAway) return giveUp(next);
  lose(next, isInOrder && connection === client.current);
}

function losses(config: Configuration, state: State, emit: Emit) {
  const { client, sockets: all } = state;
  for (const [connection, socket] of all.entries()) {
    if (socket !== 'open' || (connection !== client.current && connection !== client.target)) continue;
    for (const kind of config.lossKinds)
      emit(
        `connection ${connection} IS LOST (${kind})`,
        (next) => {
          next.losses -= 1;
          next.sockets[connection] = kind === 'half-open' ? 'half-open' : 'closed';
          if (kind !== 'half-open' && config.hasDisconnects) next.disconnects[connection] = 'due';
          next.replies[connection] = undefined;
          if (kind === 'close-frame') next.queues[connection]?.push(CLOSE);
          else {
            next.queues[connection] = [];
            closed(config, next, connection, false);
          }
        },
        true,
      );
  }
}

function receive(config: Configuration, next: State, message: number) {
  const { client } = next;
  const later = laterOf(config, message, client);
  if ((client.received >> message) & 1) next.violation ??= `message ${message} came twice`;
  if (later !== undefined) next.violation ??= `message ${message} came after ${later} of its publisher`;
  client.received |= 1 << message;
}

/** A later message of the publisher that has come, also by another filter; but a worker's may come after a publisher's. */
function laterOf(
  { publishers, cutsLast }: Configuration,
  message: number,
  { received }: Client,
): number | undefined {
  const filters = publishers[publisherOf(message)] ?? '';
  const filterOf = (each: number) => Number(filters[placeOf(each)]);
  for (let later = message + 1; publisherOf(later) === publisherOf(message); later += 1) {
    const isSameFilter = filterOf(later) === filterOf(message);
    const isSameWay = cutsLast ? isSameFilter : (filterOf(later) === WIDE) === (filterOf(message) === WIDE);
    if ((received >> later) & 1 && isSameWay) return later;
  }
  return undefined;
}
