import { isOutsideLog } from '../../src/queue/entries.ts';
import type { Decision, QueueRecord } from '../../src/queue/types.ts';
import { changed } from './changed.ts';
import { acknowledgementsOf, deletesOf, isRefused, packetsOf } from './frame-steps.ts';
import {
  connectionId,
  type Emit,
  type Model,
  replaced,
  shownNames,
  shownRecord,
  timeFor,
  withPosts,
  withRecord,
} from './model.ts';
import type { AckHandler, State, StepKind } from './world.ts';

/** The next step of the handler of a frame out of turn: it only acknowledges. */
export function ackSteps(model: Model, state: State, place: number, emit: Emit) {
  const handler = state.acks[place];
  if (handler === undefined) return;
  const { connection, deletes } = handler;
  const name = `  frame out of turn on ${connection}`;
  const go = (
    to: Partial<AckHandler> | 'ends',
    text: () => string,
    after: State = state,
    kind: StepKind = 'ordinary',
  ) => {
    const next = to === 'ends' ? undefined : { ...handler, ...to };
    emit(changed(after, { acks: replaced(after.acks, place, next) }), () => `${name} ${text()}`, kind);
  };
  switch (handler.step) {
    case 'begin': {
      if ((state.tombstones >> connection) & 1) return go('ends', () => 'ends: the connection is over');
      return go({ step: isNoted(handler) ? 'note' : 'read' }, () => 'finds its connection');
    }
    case 'note': {
      const { record } = state;
      const { lostAnswers } = state.budgets;
      const itsRecord = model.without('note-on-any-connection')
        ? { ...record, connectionId: connectionId(connection) }
        : record;
      const decision = decideFrame(model, state, itsRecord, handler);
      if (isRefused(decision)) return go('ends', () => 'cannot note: the record has another connection');
      const noted = { ...decision.record, connectionId: record.connectionId };
      const after = decision.record === itsRecord ? state : withRecord(state, noted);
      go('ends', () => `notes: ${shownRecord(after.record)}`, after);
      if (lostAnswers === 0) return;
      const budgets = { ...state.budgets, lostAnswers: lostAnswers - 1 };
      const text = () => `notes: ${shownRecord(after.record)}; ANSWER LOST`;
      return go({}, text, changed(after, { budgets }), 'fault');
    }
    case 'read': {
      const { record } = state;
      const decision = decideFrame(model, state, record, handler);
      if (isRefused(decision)) return go('ends', () => 'ends: the record has another connection');
      if (decision.record === record) return go('ends', () => 'finds nothing to do');
      const seen = { read: record, deletes: deletesOf(decision) & state.log };
      return go({ ...seen, step: seen.deletes === 0 ? 'write' : 'delete' }, () => 'reads the record');
    }
    case 'delete': {
      const after = changed(state, { log: state.log & ~deletes });
      return go({ step: 'write', deletes: 0 }, () => `deletes ${shownNames(deletes)} from the log`, after);
    }
    case 'write': {
      if (handler.read !== state.record && !model.without('no-version'))
        return go({ step: 'read', read: undefined }, () => 'cannot write: the record is another by now');
      const decision = decideFrame(model, state, handler.read as QueueRecord, handler);
      const after = model.written(state, decision.record);
      const page = packetsOf(decision);
      const to = page.length === 0 ? 'ends' : ({ step: 'post', page } as const);
      return go(to, () => `writes ${shownRecord(decision.record)}`, after);
    }
    case 'post':
      return go('ends', () => 'posts what it dequeued', withPosts(state, connection, handler.page));
  }
}

/** The only packet of its frame, and nothing has to be deleted from the log before: the record is not read. */
function isNoted({ pubacks, pubcomps }: AckHandler): boolean {
  const bits = pubacks | pubcomps;
  return (bits & (bits - 1)) === 0 && (pubacks & pubcomps) === 0 && isOutsideLog(31 - Math.clz32(bits));
}

function decideFrame(model: Model, state: State, record: QueueRecord, handler: AckHandler): Decision {
  const { connection, pubacks, pubcomps } = handler;
  const dequeue = {
    log: model.logPage(state, record),
    limit: { messages: model.config.pageMessages, bytes: 1_000 },
    nowMs: timeFor(state),
    firstOfReply: 0,
  };
  return model.core.decide(record, {
    type: 'frame',
    connectionId: connectionId(connection),
    acknowledgements: acknowledgementsOf(pubacks, 0, pubcomps),
    dequeue: model.without('dequeue-out-of-turn') ? dequeue : undefined,
  });
}
