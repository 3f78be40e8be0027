import { vi } from 'vitest';
import { ShapeRegistry } from '../../../packages/store-dynamodb/src/registry.ts';
import { NEW_SHAPES, NEWCOMERS } from './directed-steps.ts';
import { ALL_INLINE, type Mutation } from './mutation.ts';

/** Who gets a message, and what a subscriber is given first. */
export const OF_MATCHING: readonly Mutation[] = [
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
    steps: NEW_SHAPES,
    finds: ['lost', 'retained'],
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
    // Whoever stands in a shard is looked for by a worker, after both, and never missed.
    inlineSubscribersMax: ALL_INLINE,
    rates: { 'store-slow': 0.3 },
    finds: ['retained', 'stale', 'lost'],
  },
];
