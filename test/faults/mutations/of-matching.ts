import type { DynamoDbFaults } from '@apus/emulated-aws';
import { ShapeRegistry } from '@apus/store-dynamodb/testing';
import { vi } from 'vitest';
import { NEW_SHAPES, NEWCOMERS } from './directed-steps.ts';
import { ALL_INLINE, type Mutation, slowly, storesAs } from './mutation.ts';

const RETAINING_MS = 100;

const isRetaining: DynamoDbFaults['latencyMs'] = ({ operation, key }) =>
  operation === 'PutItem' && key?.p?.S?.startsWith('R\0') === true ? RETAINING_MS : 0;

/** Mutations of the choice of recipients, and of the first messages of a subscriber. */
export const OF_MATCHING: readonly Mutation[] = [
  {
    name: 'SUBACK does not wait for the leases of the registry',
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
    steps: NEW_SHAPES,
    // One environment that serves all clients in turn would know every shape.
    store: slowly(20),
    finds: ['lost', 'retained'],
  },
  {
    name: 'a message is retained after it was matched',
    alterations: {
      cloud: storesAs(({ retained, subscriptions }) => {
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
      }),
    },
    steps: NEWCOMERS,
    durationMs: 13_000,
    // A worker looks for the subscribers of a shard, after both, and never misses one.
    inlineSubscribersMax: ALL_INLINE,
    // A subscriber connects, and gets retained messages, while a message is being retained.
    store: { latencyMs: isRetaining },
    finds: ['retained', 'stale', 'lost'],
  },
];
