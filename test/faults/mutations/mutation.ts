import { Outbox } from '@apus/aws';
import type { DynamoDbFaults } from '@apus/emulated-aws';
import type { EventStores } from '@apus/store-dynamodb';
import { type QueueRecord, Records } from '@apus/store-dynamodb/testing';
import { vi } from 'vitest';
import type { Alterations } from '../../cloud/options.ts';
import { alteredWrites, isWriteOf } from '../altered-dynamo.ts';
import type { Rates } from '../fault-plan.ts';
import type { HistoryOptions } from '../play.ts';

/** A removed protection, and the problem that a run has to find. */
export interface Mutation
  extends Pick<
    HistoryOptions,
    'alterations' | 'install' | 'steps' | 'inlineSubscribersMax' | 'store' | 'lateInvocationMsMax'
  > {
  readonly name: string;
  /** The faults against which the protection works are frequent. */
  readonly rates?: Partial<Rates>;
  /**
   * The history has a room with members and watchers.
   * @default false
   */
  readonly hasRoom?: boolean;
  /**
   * The history has rules and bridges.
   * @default false
   */
  readonly hasOutside?: boolean;
  /**
   * Some clients subscribe with `conflate-ms`.
   * @default false
   */
  readonly hasConflated?: boolean;
  /**
   * How long clients are active and faults strike.
   * @default 6 s
   */
  readonly durationMs?: number;
  /** The beginnings of the problems that count. */
  readonly finds: readonly string[];
}

/** Drops every condition that names an attribute: such a write always succeeds. */
export const unconditionally = (partition: string, sort?: string): Alterations => ({
  dynamo: alteredWrites((input) =>
    isWriteOf(input, partition, sort) ? undefined : input.ConditionExpression,
  ),
});

/** Changes the stores with which each event is handled, and those of the process. */
export function storesAs(
  change: (stores: Pick<EventStores, 'sessions' | 'retained' | 'subscriptions' | 'links'>) => void,
): NonNullable<Alterations['cloud']> {
  return ({ stores }) => {
    change(stores);
    const forEvent = stores.forEvent.bind(stores);
    stores.forEvent = (kind) => {
      const own = forEvent(kind);
      change(own);
      return own;
    };
  };
}

/** No call waits until packets have left: they count as sent before. */
export function doneAtOnce(): void {
  vi.spyOn(Outbox.prototype, 'whenLeft').mockImplementation((does) => void does());
}

/** Handlers are slow, as over a network: they run concurrently, and there are many environments. */
export const slowly = (latencyMs: number): DynamoDbFaults => ({ latencyMs });

/** No subscriber is in a shard: the handler of a PUBLISH serves all of its recipients. */
export const ALL_INLINE = 1_000;

export const KILLS: Partial<Rates> = { 'kill-at-checkpoint': 0.02, 'kill-before-post': 0.03 };
export const LOST_ANSWERS: Partial<Rates> = { 'store-answer-lost': 0.06, 'store-fails-after': 0.06 };
export const LATE: Partial<Rates> = { 'late-invocation': 0.25, 'store-slow': 0.1, cut: 0.02 };

/** A connected client stays connected: a client's return hides no fault. */
export const UNBROKEN: Partial<Rates> = {
  cut: 0,
  'no-reply': 0,
  'late-reply': 0,
  'post-410': 0,
  'post-429': 0,
  'post-500': 0,
  'post-500-after': 0,
};

/** Each record is written differently from the decision. */
export function writtenAs(change: (record: QueueRecord) => Partial<QueueRecord>): void {
  const write = Records.prototype.write;
  vi.spyOn(Records.prototype, 'write').mockImplementation(async function (
    this: Records,
    session,
    before,
    after,
    along,
  ) {
    const record = { ...after.record, ...change(after.record) };
    return await write.call(this, session, before, { ...after, record }, along);
  });
}
