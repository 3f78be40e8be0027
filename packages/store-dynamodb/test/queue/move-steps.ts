import { changed } from './changed.ts';
import { packetsOf } from './frame-steps.ts';
import {
  connectionId,
  connectionOf,
  type Emit,
  type Model,
  replaced,
  shown,
  timeFor,
  withRecord,
} from './model.ts';
import type { MoveHandler, State } from './world.ts';

/** The frame of a move is sent at most so often. */
const SENT_MAX = 2;

/**
 * A move to a second connection (docs/text-frames.md, section 12), as far as the record is concerned: the handler's steps,
 * and the client's. A resume after a loss is a CONNECT to the record.
 */
export function moveSteps(model: Model, state: State, emit: Emit) {
  askToMove(model, state, emit);
  state.moves.forEach((handler, place) => {
    if (handler !== undefined) handle(model, state, place, handler, emit);
  });
  closeOld(state, emit);
  goOn(model, state, emit);
  giveUp(state, emit);
}

/** No handler of the client's frames runs, and the last reply said that nothing more waits. */
function mayMove({ client, acks, frames }: State): boolean {
  const isAnswered = !client.isFrameOut && frames[client.connection] === undefined;
  const isDelivered = acks.every((each) => each === undefined);
  return (
    client.status === 'connected' &&
    !client.isMoreWaiting &&
    client.held.length === 0 &&
    isAnswered &&
    isDelivered
  );
}

function askToMove(model: Model, state: State, emit: Emit) {
  const { client, budgets, moves, sockets } = state;
  const isFirst = client.movesTo === 0;
  const place = moves.indexOf(undefined);
  if (place < 0 || client.status !== 'connected') return;
  if (isFirst && (budgets.moves === 0 || !mayMove(state) || client.connection >= model.config.connections))
    return;
  if (!isFirst && (client.movesSent >= SENT_MAX || client.hasMoveReply)) return;
  const to = isFirst ? client.connection + 1 : client.movesTo;
  emit(
    changed(state, {
      budgets: isFirst ? { ...budgets, moves: budgets.moves - 1 } : budgets,
      client: { ...client, movesTo: to, movesSent: client.movesSent + 1 },
      sockets: isFirst ? replaced(sockets, to, 'open') : sockets,
      moves: replaced(moves, place, { step: 'end', from: client.connection, to }),
    }),
    () => `client asks to be moved from ${client.connection} to ${to}`,
  );
}

function handle(model: Model, state: State, place: number, handler: MoveHandler, emit: Emit) {
  const { from, to, step } = handler;
  const go = (next: MoveHandler['step'] | 'ends', text: string, after: State = state) => {
    const moves = replaced(after.moves, place, next === 'ends' ? undefined : { ...handler, step: next });
    emit(changed(after, { moves }), () => `  move of ${from} to ${to} ${text}`);
  };
  const { tombstones, sockets, record } = state;
  switch (step) {
    case 'end': {
      if ((tombstones >> from) & 1 && state.movedTo[from] !== to)
        return go('ends', 'finds the connection over');
      const movedTo = replaced(state.movedTo, from, to);
      return go('cut', 'ends the old one', changed(state, { movedTo, tombstones: tombstones | (1 << from) }));
    }
    case 'cut':
      return go(
        'session',
        'cuts the old one',
        changed(state, { sockets: replaced(sockets, from, 'closed') }),
      );
    case 'session': {
      if (state.owner !== from && state.owner !== to)
        return go(
          'ends',
          'finds another connection there',
          changed(state, { tombstones: tombstones | (1 << to), sockets: replaced(sockets, to, 'closed') }),
        );
      return go('record', 'takes the session', changed(state, { owner: to }));
    }
    case 'record': {
      if (connectionOf(record) !== from) return go('reply', 'finds the record moved');
      if (model.without('move-rewinds')) return go('reply', 'rewinds the record', rewound(model, state, to));
      const moved = { ...record, connectionId: connectionId(to) };
      return go('reply', 'takes the record', withRecord(state, moved));
    }
    case 'reply': {
      const { client } = state;
      // A connection that has ended meanwhile is told to be lost.
      if ((tombstones >> to) & 1) {
        const lost = model.core.decide(record, { type: 'lost', connectionId: connectionId(to) }).record;
        return go('ends', 'finds the new one over', withRecord(state, lost));
      }
      const isHeard = client.movesTo === to && sockets[to] === 'open';
      return go(
        'ends',
        'replies',
        isHeard ? changed(state, { client: { ...client, hasMoveReply: true } }) : state,
      );
    }
  }
}

/** As CONNECT does: what has not been acknowledged leaves with the reply. */
function rewound(model: Model, state: State, to: number): State {
  const decision = model.core.decide(state.record, {
    type: 'connect',
    epoch: to,
    connectionId: connectionId(to),
    receiveMaximum: model.config.receiveMaximum,
    dequeue: {
      log: model.logPage(state, state.record),
      limit: { messages: model.config.pageMessages, bytes: 1_000 },
      nowMs: timeFor(state),
      firstOfReply: 0,
    },
  });
  const after = withRecord(state, decision.record);
  return changed(after, { nextPosts: [...packetsOf(decision), ...after.nextPosts] });
}

/** The client receives the posts to its old connection before it sees that connection close. */
function closeOld(state: State, emit: Emit) {
  const { client, sockets, posts } = state;
  if (client.movesTo === 0 || client.hasOldClosed || posts.length > 0) return;
  if (sockets[client.connection] !== 'closed') return;
  emit(
    changed(state, { client: { ...client, hasOldClosed: true } }),
    () => 'client sees the old connection close',
  );
}

function goOn(model: Model, state: State, emit: Emit) {
  const { client, nextPosts } = state;
  if (!client.hasMoveReply || !(client.hasOldClosed || model.without('move-without-hold'))) return;
  emit(
    changed(state, {
      posts: model.without('move-without-hold') ? [...nextPosts, ...state.posts] : nextPosts,
      nextPosts: [],
      client: { ...client, connection: client.movesTo, ...NOT_MOVING },
    }),
    () => `client goes on over ${client.movesTo}, with ${shown(nextPosts)}`,
  );
}

export const NOT_MOVING = { movesTo: 0, movesSent: 0, hasMoveReply: false, hasOldClosed: false } as const;

/** No reply comes: both connections end, and the client's library sends CONNECT. */
function giveUp(state: State, emit: Emit) {
  const { client, moves, sockets } = state;
  const { movesTo, movesSent, hasMoveReply } = client;
  if (movesTo === 0 || hasMoveReply) return;
  const isGone = sockets[movesTo] === 'closed';
  if (!isGone && (movesSent < SENT_MAX || moves.some((each) => each !== undefined))) return;
  emit(changed(state, { client: { ...client, isGivenUp: true } }), () => 'client gives the move up');
}
