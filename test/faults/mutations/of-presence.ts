import { vi } from 'vitest';
import { DynamoPresence } from '../../../packages/store-dynamodb/src/presence/presence.ts';
import { alteredWrites, isWriteOf } from '../altered-dynamo.ts';
import { inRoom } from './directed-steps.ts';
import { KILLS, LATE, type Mutation, slowly } from './mutation.ts';

const room = { hasRoom: true, durationMs: 8_000, steps: inRoom(8_000) } as const;

/** Members of a room, and what its watchers take for it. */
export const OF_PRESENCE: readonly Mutation[] = [
  {
    ...room,
    name: 'a member comes although its session has lost its connection',
    alterations: {
      dynamo: alteredWrites((input) => {
        const isPlace = isWriteOf(input, 'S') && input.UpdateExpression === 'ADD rm :places';
        return isPlace ? 'attribute_exists(p)' : input.ConditionExpression;
      }),
    },
    store: slowly(30),
    rates: LATE,
    finds: ['ghost'],
  },
  {
    ...room,
    name: 'a process that tells watchers does not look again',
    alterations: {
      cloud: ({ presence }) => {
        if (presence !== undefined) Object.assign(presence, { look: undefined });
      },
    },
    store: slowly(30),
    rates: LATE,
    finds: ['ghost', 'absent', 'stale'],
  },
  {
    ...room,
    name: 'a session forgets its rooms before watchers have been told that it left',
    install: () => {
      const { remove } = DynamoPresence.prototype;
      vi.spyOn(DynamoPresence.prototype, 'remove').mockImplementation(async function (
        this: DynamoPresence,
        ...call
      ) {
        const changed = await remove.apply(this, call);
        await this.release(...call);
        return changed;
      });
    },
    rates: KILLS,
    finds: ['ghost'],
  },
  {
    ...room,
    name: 'data that come again are not told again',
    install: () => {
      const { put } = DynamoPresence.prototype;
      vi.spyOn(DynamoPresence.prototype, 'put').mockImplementation(async function (
        this: DynamoPresence,
        ...call
      ) {
        const changed = await put.apply(this, call);
        const isAgain = typeof changed === 'object' && changed.change === 'changed' && !changed.told?.before;
        return isAgain ? { change: 'same' } : changed;
      });
    },
    rates: KILLS,
    finds: ['absent', 'stale'],
  },
];
