import type { Copy, Decision, Effect, QueueRecord } from '../../src/queue/types.ts';
import { changed } from './changed.ts';
import { packetsOf } from './frame-steps.ts';
import {
  bitsOf,
  connectionId,
  connectionOf,
  type Emit,
  type Model,
  messageOf,
  messagesIn,
  nameOf,
  namesIn,
  publisherName,
  replaced,
  shown,
  shownNames,
  shownRecord,
  TAKEN_UNTIL_MS,
  withPosts,
  withRecord,
} from './model.ts';
import type { Publisher, PublishHandler, State, StepKind } from './world.ts';

const WORKER_PLACE = 2;
const SECOND_WORKER_PLACE = 3;
const WORKER = 2;
/** After so many lost races a publisher appends. */
const RACES_MAX = 2;

const NEW_HANDLER = {
  step: 'read',
  frame: 0,
  read: undefined,
  log: 0,
  rest: 0,
  post: [],
  appended: 0,
  postTo: 0,
  connection: 0,
  racesLost: 0,
} as const;

/** The next step of the handler of a publisher's frame, or of a worker's job. */
export function publishSteps(model: Model, state: State, place: number, emit: Emit): void {
  const handler = state.publishHandlers[place];
  if (handler === undefined) {
    if (place < WORKER_PLACE) publish(model, state, place, emit);
    else work(model, state, place, emit);
    return;
  }
  const step = { model, state, place, handler, emit };
  STEPS[handler.step](step);
}

interface Step {
  readonly model: Model;
  readonly state: State;
  readonly place: number;
  readonly handler: PublishHandler;
  readonly emit: Emit;
}

const STEPS: Readonly<Record<PublishHandler['step'], (step: Step) => void>> = {
  read,
  take,
  'look-for-own': lookForOwn,
  append,
  look,
  object,
  nudge,
  post,
  end,
  lose,
  finish,
};

function go(
  { state: before, place, handler, emit }: Step,
  to: Partial<PublishHandler> | 'ends',
  text: () => string,
  state: State = before,
  kind: StepKind = 'ordinary',
): void {
  const next = to === 'ends' ? undefined : { ...handler, ...to };
  const after = changed(state, { publishHandlers: replaced(state.publishHandlers, place, next) });
  emit(after, () => `  ${publisherName(place)} ${text()}`, kind);
}

/** A publisher whose frame is not answered sends it again. */
function publish(model: Model, state: State, place: number, emit: Emit): void {
  const publisher = state.publishers[place] as Publisher;
  const attempt = publisher.status === 'sent' ? publisher.attempt + 1 : publisher.attempt;
  if (publisher.status === 'done' || attempt >= model.attemptsMax) return;
  const { frame } = publisher;
  const batch = model.batch(place, frame, attempt);
  const handler: PublishHandler = { ...NEW_HANDLER, frame, batch, todo: batch & ~state.handedOn };
  emit(
    changed(state, {
      publishers: replaced(state.publishers, place, { frame, attempt, status: 'sent' as const }),
      publishHandlers: replaced(state.publishHandlers, place, handler),
    }),
    () => `${publisherName(place)} sends ${shownNames(batch)}, attempt ${attempt + 1}`,
  );
}

function work(model: Model, state: State, place: number, emit: Emit): void {
  const other = state.publishHandlers[place === WORKER_PLACE ? SECOND_WORKER_PLACE : WORKER_PLACE];
  const { earlyRedeliveries } = state.budgets;
  const isSecond = place === SECOND_WORKER_PLACE;
  const mayBegin = isSecond ? other !== undefined && earlyRedeliveries > 0 : other === undefined;
  if (state.isJobDone || !mayBegin) return;
  const batch = model.batch(WORKER, 0, 0);
  const handler: PublishHandler = { ...NEW_HANDLER, batch, todo: batch };
  const budgets = isSecond ? { ...state.budgets, earlyRedeliveries: earlyRedeliveries - 1 } : state.budgets;
  emit(
    changed(state, { budgets, publishHandlers: replaced(state.publishHandlers, place, handler) }),
    () => `${publisherName(place)} begins with ${shownNames(batch)}`,
    isSecond ? 'fault' : 'ordinary',
  );
}

/** Reads the record, and what it has to know of its messages, and decides. */
function read(step: Step) {
  const { model, state, handler } = step;
  const { record, log } = state;
  const decision = decideOffer(step, record, log, handler.todo);
  const ending = effectOf(decision, 'end-connection');
  if (ending !== undefined) return uncertain(step, Number(ending.connectionId));
  const appended = bitsOf(effectOf(decision, 'append')?.names ?? []);
  const taken = bitsOf(decision.effects.flatMap((each) => (each.type === 'publish' ? each.entry.name : [])));
  const known = { read: record, log, connection: connectionOf(record) };
  if (taken !== 0) {
    const to = { ...known, step: 'take', todo: taken, rest: appended } as const;
    return go(step, to, () => `reads: may take ${shownNames(taken)}${beside(appended)}`);
  }
  if (appended !== 0) {
    const first = model.without('look-before-appending') ? 'look' : 'append';
    return go(
      step,
      { step: first, todo: appended, read: undefined },
      () => `reads: has to append ${shownNames(appended)}`,
    );
  }
  const isInLog = effectOf(decision, 'look') !== undefined;
  go(step, { step: isInLog ? 'look' : 'finish', todo: 0, read: undefined }, () => 'finds all of it placed');
}

function beside(appended: number): string {
  return appended === 0 ? '' : `, has to append ${shownNames(appended)}`;
}

function uncertain(step: Step, connection: number) {
  const { model, state, handler } = step;
  if (!model.without('post-again-when-repeated'))
    return go(
      step,
      { step: 'end', connection },
      () => `finds its copy sent and not answered: ends ${connection}`,
    );
  const again = state.record.entries.filter(({ name }) => (handler.todo >> messageOf(name)) & 1);
  const packets = again.map(({ packetId, name }) => {
    return { type: 'publish', packetId, message: messageOf(name) } as const;
  });
  const todo = handler.todo & ~bitsOf(again.map(({ name }) => name));
  go(
    step,
    { step: 'post', post: packets, postTo: connection, todo },
    () => 'finds its copy sent: posts it again',
  );
}

function decideOffer({ model, state }: Step, record: QueueRecord, log: number, todo: number): Decision {
  const copies = messagesIn(todo).map((message): Copy => {
    const { qos } = model.instance(message);
    // A handler that finds the deduplication of a copy for a share group looks for it in the log.
    const isInLog = model.config.isShared && ((log >> message) & 1) === 1;
    const known = model.config.isShared ? model.deduplications(state) : model.forgotten(state.deduplication);
    const wasPlaced = ((known >> message) & 1) === 1;
    return { name: nameOf(message), qos, body: 'inline', bytes: 1, isInLog, wasPlaced };
  });
  return model.core.decide(record, { type: 'offer', copies, log: namesIn(log), untilMs: TAKEN_UNTIL_MS });
}

/** Writes the record; for a share group at QoS 2 in one transaction with the deduplications of the copies. */
function take(step: Step) {
  const { model, state, handler } = step;
  const { rest } = handler;
  if ((handler.todo & model.deduplications(state)) !== 0) {
    const to = { step: 'read', todo: handler.todo | rest, rest: 0 } as const;
    return go(step, to, () => 'cannot write: a copy is known');
  }
  if (handler.read !== state.record && !model.without('no-version')) return loseRace(step);
  const seen = handler.read as QueueRecord;
  const decision = decideOffer(step, seen, handler.log, handler.todo);
  const post = packetsOf(decision);
  const placed = model.written(state, decision.record);
  const after = model.remembering(placed, handler.todo);
  const to = {
    step: rest !== 0 && model.without('append-before-post') ? 'append' : 'post',
    todo: rest,
    rest: 0,
    post,
    postTo: handler.connection,
    read: undefined,
    log: 0,
  } as const;
  go(step, to, () => `takes: ${shown(post)}; ${shownRecord(decision.record)}`, after);
  if (state.budgets.lostAnswers === 0) return;
  const budgets = { ...state.budgets, lostAnswers: state.budgets.lostAnswers - 1 };
  const lost = { ...to, step: 'look-for-own' } as const;
  go(step, lost, () => `takes: ${shown(post)}; ANSWER LOST`, changed(after, { budgets }), 'fault');
}

function loseRace(step: Step) {
  const { handler } = step;
  const todo = handler.todo | handler.rest;
  const to = { todo, rest: 0, read: undefined, log: 0 };
  const racesLost = handler.racesLost + 1;
  if (handler.racesLost < RACES_MAX)
    go(step, { ...to, step: 'read', racesLost }, () => 'loses the race, and reads again');
  go(step, { ...to, step: 'append' }, () => 'loses the race, and appends');
}

/** Its write may have been made: then its entries are there, on the connection that it saw. */
function lookForOwn(step: Step) {
  const { state, handler } = step;
  const { record } = state;
  const isIts = handler.post.every(({ packetId, message }) =>
    record.entries.some(
      (entry) =>
        entry.packetId === packetId &&
        entry.name === nameOf(message) &&
        entry.phase === 'sent' &&
        entry.kind === 'push',
    ),
  );
  const isMade = isIts && connectionOf(record) === handler.postTo;
  const rest = isMade ? 'post' : handler.todo === 0 ? 'finish' : 'append';
  go(
    step,
    { step: rest, post: isMade ? handler.post : [] },
    () => `looks for its entries: ${isMade ? 'there' : 'gone'}`,
  );
}

function append(step: Step) {
  const { model, state, handler } = step;
  const [message = 0] = messagesIn(handler.todo);
  const bit = 1 << message;
  if ((model.deduplications(state) & bit) !== 0)
    return go(step, { step: 'read' }, () => 'cannot append: the copy is known');
  const todo = handler.todo & ~bit;
  const waiting = changed(state, { log: state.log | bit });
  const after = model.remembering(waiting, bit);
  const next = todo !== 0 ? 'append' : model.without('look-before-appending') ? 'finish' : 'look';
  const appended = handler.appended | bit;
  go(step, { step: next, todo, appended }, () => `appends ${nameOf(message)}`, after);
}

function look(step: Step) {
  const { model, state, handler } = step;
  const decision = model.core.decide(state.record, { type: 'appended', names: namesIn(handler.appended) });
  const connection = connectionOf(state.record);
  if (effectOf(decision, 'end-connection') !== undefined)
    return go(step, { step: 'end', connection }, () => 'finds that another has taken a place for its copy');
  const next = effectOf(decision, 'object') ? 'object' : effectOf(decision, 'nudge') ? 'nudge' : 'finish';
  go(
    step,
    { step: next === 'finish' ? stepAfter(handler) : next, connection },
    () => `looks: ${shownRecord(state.record)}`,
  );
}

/** A blind write: its conditions are asked of the record as it stands. */
function object(step: Step) {
  const { model, state } = step;
  const decision = model.core.decide(state.record, { type: 'object' });
  if (effectOf(decision, 'nudge') === undefined)
    return go(step, { step: 'look' }, () => 'need not object any more');
  const connection = connectionOf(state.record);
  const after = withRecord(state, decision.record);
  go(step, { step: 'nudge', connection }, () => `objects: ${shownRecord(decision.record)}`, after);
}

function nudge(step: Step) {
  const { state, handler } = step;
  const { connection } = handler;
  if (state.sockets[connection] === 'closed') {
    const movedTo = movedFrom(step, connection);
    if (movedTo !== 0)
      return go(step, { connection: movedTo }, () => `nudges ${connection}: 410, it moved to ${movedTo}`);
    return go(step, { step: 'lose' }, () => `nudges ${connection}: 410`);
  }
  const nudged = withPosts(state, connection, [{ type: 'nudge', packetId: 0, message: 0 }]);
  go(step, { step: stepAfter(handler) }, () => `nudges ${connection}`, nudged);
}

/** A handler with messages to append goes on with them; only one that appends too early still has something to post. */
function stepAfter({ todo, post }: PublishHandler): 'append' | 'post' | 'finish' {
  if (todo !== 0) return 'append';
  return post.length > 0 ? 'post' : 'finish';
}

function post(step: Step) {
  const { state, handler } = step;
  const { postTo, todo, post: packets } = handler;
  const next = { step: todo === 0 ? 'finish' : 'append', post: [], postTo: 0 } as const;
  const socket = state.sockets[postTo];
  if (socket === 'closed' || socket === 'none') {
    const movedTo = movedFrom(step, postTo);
    if (movedTo !== 0)
      return go(step, { postTo: movedTo }, () => `posts to ${postTo}: 410, it moved to ${movedTo}`);
    return go(step, { ...next, step: 'lose', connection: postTo }, () => `posts to ${postTo}: 410`);
  }
  const posted = withPosts(state, postTo, packets);
  go(step, next, () => `posts to ${postTo}: ${shown(packets)}`, posted);
  postOfUnknownFate(step, posted);
}

/** The connection that a session has moved to from one that is gone. 0: it has not. */
function movedFrom({ model, state }: Step, connection: number): number {
  return model.without('move-without-following') ? 0 : (state.movedTo[connection] ?? 0);
}

/** It is never repeated: the connection ends, and the client is sent the missing messages again. */
function postOfUnknownFate(step: Step, posted: State): void {
  const { model, state, handler } = step;
  const left = state.budgets.postsOfUnknownFate;
  if (left === 0) return;
  const budgets = { ...state.budgets, postsOfUnknownFate: left - 1 };
  for (const [isArrived, world] of [
    [false, state],
    [true, posted],
  ] as const) {
    const text = () =>
      `posts to ${handler.postTo}: UNKNOWN whether it arrived (${isArrived ? 'it did' : 'it did not'})`;
    const to = model.without('post-again-when-unknown')
      ? {}
      : ({ step: 'end', connection: handler.postTo, post: [], postTo: 0 } as const);
    go(step, to, text, changed(world, { budgets }), 'fault');
  }
}

function end(step: Step) {
  const { state, handler } = step;
  const { connection } = handler;
  const sockets =
    state.sockets[connection] === 'none'
      ? state.sockets
      : replaced(state.sockets, connection, 'closed' as const);
  const after = changed(state, { sockets, tombstones: state.tombstones | (1 << connection) });
  const movedTo = state.movedTo[connection] ?? 0;
  if (movedTo !== 0)
    return go(step, { connection: movedTo }, () => `ends ${connection}: it moved to ${movedTo}`, after);
  go(step, { step: 'lose' }, () => `ends connection ${connection}`, after);
}

/** A blind write: its condition is asked of the record as it stands. */
function lose(step: Step) {
  const { model, state, handler } = step;
  const { connection } = handler;
  const decision = model.core.decide(state.record, { type: 'lost', connectionId: connectionId(connection) });
  const tombstones = state.tombstones | (1 << connection);
  const after = changed(withRecord(state, decision.record), { tombstones });
  const to = { step: handler.todo === 0 ? 'finish' : 'read', post: [], postTo: 0 } as const;
  go(step, to, () => `says that ${connection} is lost`, after);
}

/** Everything is posted or in the log: PUBACK or PUBREC, or the job is done. */
function finish(step: Step) {
  const { model, state, place, handler } = step;
  const { batch } = handler;
  const handedOn = state.handedOn | (batch & model.exactlyOnce);
  const deliveries = messagesIn(batch).reduce((bits, each) => bits | (1 << model.instance(each).delivery), 0);
  const done = changed(state, { handedOn, acknowledged: state.acknowledged | deliveries });
  if (place >= WORKER_PLACE) return go(step, 'ends', () => 'is done', changed(done, { isJobDone: true }));
  const publisher = state.publishers[place] as Publisher;
  if (state.budgets.lostReplies > 0 && publisher.attempt + 1 < model.attemptsMax) {
    const budgets = { ...state.budgets, lostReplies: state.budgets.lostReplies - 1 };
    go(
      step,
      'ends',
      () => 'answers its publisher: REPLY LOST',
      changed(state, { handedOn, budgets }),
      'fault',
    );
  }
  const frame = publisher.frame + 1;
  const status = frame >= (model.frameCounts[place] ?? 0) ? 'done' : 'idle';
  const publishers = replaced(state.publishers, place, { frame, attempt: 0, status } as const);
  go(step, 'ends', () => 'acknowledges to its publisher', changed(done, { publishers }));
}

function effectOf<T extends Effect['type']>(
  { effects }: Decision,
  type: T,
): Extract<Effect, { type: T }> | undefined {
  return effects.find((effect): effect is Extract<Effect, { type: T }> => effect.type === type);
}
