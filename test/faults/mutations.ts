import { vi } from 'vitest';
import { Outbound } from '../../packages/client/src/outbound.ts';
import { OutgoingQueue } from '../../packages/client/src/outgoing-queue.ts';
import { QueueViews } from '../../packages/store-dynamodb/src/queue-view.ts';
import { ShapeRegistry } from '../../packages/store-dynamodb/src/registry.ts';
import type { Alterations } from '../cloud/options.ts';
import { alteredWrites, isWriteOf } from './altered-dynamo.ts';
import { DEFAULT_RATES, type Rates } from './fault-plan.ts';
import type { Step } from './steps.ts';

/** A protection that is taken away, and what a run has to find then. */
export interface Mutation {
  readonly name: string;
  /** The section of the design that demands the protection. */
  readonly section: string;
  readonly alterations?: Alterations;
  /** Mocks what has no port. */
  readonly install?: () => void;
  /** Those of the faults that the protection is against are frequent. */
  readonly rates?: Partial<Rates>;
  /** @default those of the seed */
  readonly steps?: readonly Step[];
  /** How long clients go on and faults strike. @default 6 s */
  readonly durationMs?: number;
  /** The first words of the problems that count. */
  readonly finds: readonly string[];
}

/** Wills come five seconds after their connections ended, while faults still strike. */
const MORTALS: readonly Step[] = Array.from({ length: 16 }, (_, index) => ({
  kind: 'mortal',
  atMs: 100 * index,
  qos: index % 2 === 0 ? 1 : 2,
  delaySeconds: 0,
  stayMs: 500,
  how: 'cut',
  returnsAfterMs: undefined,
}));

/** Subscribers that come while messages are being retained, in a shape that every process knows by then. */
const NEWCOMERS: readonly Step[] = [
  { kind: 'probe', atMs: 0, filter: 'state/+/a/b', stayMs: 0 },
  ...Array.from({ length: 60 }, (_, index): Step[] => [
    { kind: 'publish', atMs: 9_000 + 50 * index, publisher: index % 3, topic: 'state', qos: 1 },
    { kind: 'probe', atMs: 9_020 + 50 * index, filter: 'state/+/a/b', stayMs: 0 },
  ]).flat(),
];

/** Without a condition that names an attribute, a write always succeeds. */
const unconditionally = (partition: string, sort?: string): Alterations => ({
  dynamo: alteredWrites((input) =>
    isWriteOf(input, partition, sort) ? undefined : input.ConditionExpression,
  ),
});

const KILLS: Partial<Rates> = { 'kill-at-checkpoint': 0.02, 'kill-before-post': 0.03 };
const LOST_ANSWERS: Partial<Rates> = { 'store-answer-lost': 0.06, 'store-fails-after': 0.06 };
const LATE: Partial<Rates> = { 'late-invocation': 0.25, 'store-slow': 0.1, cut: 0.02 };

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'take-over is not conditional on whose session it is',
    section: '§5 Take-over',
    alterations: unconditionally('S', 'session'),
    rates: LOST_ANSWERS,
    finds: ['lost', 'doubled', 'order', 'session', 'stuck', 'will'],
  },
  {
    name: 'the end of a connection leaves no tombstone',
    section: '§5 Loss',
    alterations: {
      cloud: ({ stores }) => {
        const { links } = stores;
        links.end = async (connectionId) => {
          const state = await links.load(connectionId);
          return state?.phase === 'closed' ? undefined : state;
        };
      },
    },
    rates: LATE,
    finds: ['lost', 'doubled', 'order', 'session', 'stuck', 'will'],
  },
  {
    name: 'a slice is served without being claimed',
    section: '§4.6',
    alterations: {
      cloud: ({ stores }) => {
        stores.fanOutProgress.begin = async () => ({ outcome: 'begun' });
        stores.fanOutProgress.advance = async () => true;
      },
    },
    rates: { 'queue-redelivers-early': 0.3, 'queue-slow': 0.3, 'kill-at-checkpoint': 0.02 },
    finds: ['order', 'doubled', 'lost'],
  },
  {
    name: 'SUBACK does not wait for the leases of the registry',
    section: '§4.2',
    install: () => {
      const enter = ShapeRegistry.prototype.enter;
      vi.spyOn(ShapeRegistry.prototype, 'enter').mockImplementation(async function (
        this: ShapeRegistry,
        ...call
      ) {
        const waitMs = await enter.apply(this, call);
        return waitMs === undefined ? undefined : 0;
      });
    },
    finds: ['lost', 'retained'],
  },
  {
    name: 'whoever appends to a queue does not look again',
    section: '§5 Return',
    install: () => {
      const read = QueueViews.prototype.read;
      vi.spyOn(QueueViews.prototype, 'read').mockImplementation(async function (this: QueueViews, sessions) {
        const isSecondLook =
          sessions.length > 0 && sessions.every((each) => 'standing' in each && each.standing);
        return isSecondLook ? await this.of(sessions) : await read.call(this, sessions);
      });
    },
    rates: { 'store-slow': 0.15 },
    finds: ['lost', 'order', 'doubled'],
  },
  {
    name: 'a message is retained after it was matched',
    section: '§4.1',
    alterations: {
      cloud: ({ stores }) => {
        const { retained, subscriptions } = stores;
        const put = retained.put.bind(retained);
        const match = subscriptions.match.bind(subscriptions);
        const waiting: (() => Promise<unknown>)[] = [];
        retained.put = async (...call) => {
          waiting.push(async () => await put(...call));
          return true;
        };
        subscriptions.match = async (...call) => {
          const matched = await match(...call);
          for (const each of waiting.splice(0)) await each();
          return matched;
        };
      },
    },
    steps: NEWCOMERS,
    durationMs: 13_000,
    rates: { 'store-slow': 0.3 },
    finds: ['retained', 'stale', 'lost'],
  },
  {
    name: 'pushes are not held behind SUBACK',
    section: '§3',
    install: () => {
      vi.spyOn(Outbound.prototype, 'isOutstanding').mockReturnValue(false);
    },
    rates: { 'late-reply': 0.5 },
    finds: ['order'],
  },
  {
    name: 'publishing goes on at once after a frame of unknown fate',
    section: '§3',
    install: () => {
      const takeFrame = OutgoingQueue.prototype.takeFrame;
      vi.spyOn(OutgoingQueue.prototype, 'takeFrame').mockImplementation(function (this: OutgoingQueue) {
        return takeFrame.call(this, false);
      });
    },
    rates: { ...LATE, 'store-slow': 0.2, cut: 0.05 },
    finds: ['order', 'doubled', 'lost', 'stale', 'retained'],
  },
  {
    name: 'a QoS 2 message that is pending counts as handed on',
    section: '§5 QoS 2',
    alterations: {
      cloud: ({ stores: { received } }) => {
        const begin = received.begin.bind(received);
        received.begin = async (...call) => {
          const receipt = await begin(...call);
          return receipt.state === 'pending' ? { ...receipt, state: 'settled' } : receipt;
        };
      },
    },
    rates: KILLS,
    finds: ['lost'],
  },
  {
    name: 'a QoS 2 message counts as handed on before it has left',
    section: '§5 QoS 2',
    alterations: {
      cloud: ({ stores: { received }, environment: { doneAfterFlush } }) => {
        const [afterFlush] = doneAfterFlush;
        Object.assign(afterFlush ?? {}, { settle: received.settle.bind(received) });
      },
    },
    rates: { 'kill-at-checkpoint': 0.03, 'kill-before-post': 0.1, 'queue-fails': 0.1 },
    finds: ['lost'],
  },
  {
    name: 'every incarnation of a session has the same name',
    section: '§5 Persistent',
    alterations: {
      dynamo: (client) => {
        const send = async (command: { input: object }, ...others: unknown[]) => {
          const { ExpressionAttributeValues: values } = command.input as {
            ExpressionAttributeValues?: Record<string, unknown>;
          };
          if (values?.[':incarnation'] !== undefined && values[':nonce'] !== undefined)
            values[':incarnation'] = { S: 'one' };
          return await (client.send as (...all: unknown[]) => Promise<unknown>)(command, ...others);
        };
        return { send: send as typeof client.send };
      },
    },
    finds: ['leaked', 'session', 'lost', 'doubled', 'order'],
  },
  {
    name: 'a will counts as published before it has left',
    section: '§5 Wills',
    alterations: {
      cloud: ({ stores: { sessions }, environment: { doneAfterFlush } }) => {
        const [, afterFlush] = doneAfterFlush;
        Object.assign(afterFlush ?? {}, { doneWill: sessions.doneWill.bind(sessions) });
      },
    },
    steps: MORTALS,
    durationMs: 12_000,
    rates: { 'kill-at-checkpoint': 0.03, 'kill-before-post': 0.2, 'kill-after-post': 0.05 },
    finds: ['will'],
  },
  {
    name: 'PUBACK goes out before the queue of a wide filter has the message',
    section: '§4.7',
    alterations: {
      cloud: ({ environment: { fanOut } }) => {
        if (fanOut === undefined) return;
        const flush = fanOut.flush.bind(fanOut);
        fanOut.flush = async () => void setTimeout(() => flush().catch(() => {}), 1);
      },
    },
    rates: KILLS,
    finds: ['lost'],
  },
  {
    name: 'a packet identifier is drawn though it is in use',
    section: '§5 Persistent',
    alterations: unconditionally('I', 'sent'),
    finds: ['lost', 'limit', 'doubled', 'stuck', 'order'],
  },
];

export const ratesOf = ({ rates }: Mutation): Rates => ({ ...DEFAULT_RATES, ...rates });
