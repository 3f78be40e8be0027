import { type PresenceChange, type PresencePlace, presenceTopic } from '@apus/broker';
import { DynamoPresence } from '@apus/store-dynamodb/testing';
import { vi } from 'vitest';
import { type Mutation, storesAs } from './mutation.ts';

/** Changes the store's answer about a member that a session no longer makes present. */
function removedAs(change: (changed: PresenceChange, place: PresencePlace) => PresenceChange): () => void {
  return () => {
    const { remove } = DynamoPresence.prototype;
    vi.spyOn(DynamoPresence.prototype, 'remove').mockImplementation(async function (
      this: DynamoPresence,
      ...call
    ) {
      return change(await remove.apply(this, call), call[0]);
    });
  };
}

/** Members of rooms: how they come and go, and how watchers are told. */
export const OF_ROOMS: readonly Mutation[] = [
  {
    name: 'a leave from a room is done twice',
    install: () => {
      const { ownedBy } = DynamoPresence.prototype;
      vi.spyOn(DynamoPresence.prototype, 'ownedBy').mockImplementation(async function (
        this: DynamoPresence,
        session,
      ) {
        const places = await ownedBy.call(this, session);
        return [...places, ...places];
      });
    },
    hasRoom: true,
    finds: ['leave'],
  },
  {
    name: 'a leave from a room is not told',
    install: removedAs((changed) => (changed.change === 'left' ? { change: 'still-there' } : changed)),
    hasRoom: true,
    finds: ['ghost', 'leave'],
  },
  {
    name: 'the end of a connection does not leave its rooms',
    alterations: {
      cloud: storesAs(({ sessions }) => {
        const detach = sessions.detach.bind(sessions);
        sessions.detach = async (request) => {
          const record = await detach(request);
          return record && { ...record, hasRooms: false };
        };
      }),
    },
    hasRoom: true,
    finds: ['ghost', 'leave'],
  },
  {
    name: 'a member leaves although another session makes it present',
    install: removedAs((changed, { room, member }) => {
      const told = { topic: presenceTopic(room, member), message: undefined, before: undefined };
      return changed.change === 'still-there' ? { change: 'left', told } : changed;
    }),
    hasRoom: true,
    finds: ['false leave'],
  },
  {
    name: 'a join is not told',
    install: () => {
      const { put } = DynamoPresence.prototype;
      vi.spyOn(DynamoPresence.prototype, 'put').mockImplementation(async function (
        this: DynamoPresence,
        ...call
      ) {
        const changed = await put.apply(this, call);
        return typeof changed !== 'string' && changed.change === 'joined' ? { change: 'same' } : changed;
      });
    },
    hasRoom: true,
    finds: ['absent', 'stale'],
  },
];
