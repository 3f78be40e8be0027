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
import type { AckHandler, State } from './world.ts';

/** The next step of the handler of a frame out of turn: it only acknowledges. */
export function ackSteps(model: Model, state: State, place: number, emit: Emit) {
  const handler = state.acks[place];
  if (handler === undefined) return;
  const { connection, deletes } = handler;
  const name = `  frame out of turn on ${connection}`;
  const go = (to: Partial<AckHandler> | 'ends', text: () => string, after: State = state) => {
    const next = to === 'ends' ? undefined : { ...handler, ...to };
    emit(changed(after, { acks: replaced(after.acks, place, next) }), () => `${name} ${text()}`);
  };
  switch (handler.step) {
    case 'begin': {
      if ((state.tombstones >> connection) & 1) return go('ends', () => 'ends: the connection is over');
      return go({ step: 'read' }, () => 'finds its connection');
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
      const after = withRecord(state, decision.record);
      const page = packetsOf(decision);
      const to = page.length === 0 ? 'ends' : ({ step: 'post', page } as const);
      return go(to, () => `writes ${shownRecord(decision.record)}`, after);
    }
    case 'post':
      return go('ends', () => 'posts what it dequeued', withPosts(state, connection, handler.page));
  }
}

function decideFrame(model: Model, state: State, record: QueueRecord, handler: AckHandler): Decision {
  const { connection, pubacks, pubcomps } = handler;
  const dequeue = {
    log: model.logPage(state.log, record),
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
