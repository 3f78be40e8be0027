import { PAGE_BYTES, type RetainedFacts } from '@apus/api';
import type { ApiContext } from './context.ts';

export function retainedFacts({ retained, clock, environment }: ApiContext): Omit<RetainedFacts, 'now'> {
  return {
    nextMessageId: () => environment.messageClock.next(),
    retained,
    /** A page may have fewer messages than its limit, although another page follows. */
    async retainedPart(tenant, filter, { limit, after }) {
      const wanted = { messages: limit, bytes: PAGE_BYTES };
      const { messages, next } = await retained.match(tenant, filter, clock.now(), after, wanted);
      return { entries: messages, next };
    },
  };
}
