import { ApiProblem, PAGE_BYTES, type ReadingFacts } from '@apus/api';
import type { Clock, Streams } from '@apus/broker';
import { containsWildcard, validateTopicName } from '@apus/mqtt';
import type { DynamoPresence } from '@apus/store-dynamodb';

export interface ReadingSources {
  readonly clock: Clock;
  readonly streams?: Streams | undefined;
  readonly presence?: DynamoPresence | undefined;
}

const NO_PRESENCE = 'This deployment keeps no presence: deploy it with --presence.';

export function readingFacts({ clock, streams, presence }: ReadingSources): ReadingFacts {
  return {
    now: () => clock.now(),
    streams: streams && { ...streams, bytesMax: PAGE_BYTES },
    async members(tenant, room, { limit, after }) {
      if (presence === undefined) throw new ApiProblem('NOT_SUPPORTED', NO_PRESENCE);
      const { members, next } = await presence.members(tenant, room, after, limit);
      const entries = members.map(({ message, ...member }) => ({ ...member, payload: message.payload }));
      return { entries, next };
    },
    roomProblem: (room) =>
      room.includes('/') || containsWildcard(room) || validateTopicName(room) !== undefined
        ? 'A room is one level of a topic.'
        : undefined,
  };
}
