import type { Part, ReadingFacts, RetainedFacts, Slice } from '@apus/api';
import type { Message, RetainedPage } from '@apus/broker';
import { sliceOf } from './paging.ts';
import type { ApiSources } from './sources.ts';

/** The messages that one read of the store returns. */
const PAGE = { messages: 1_000, bytes: Number.POSITIVE_INFINITY } as const;

/** Bytes of a page of a stream at most: payloads are in it. */
const STREAM_PAGE_BYTES = 4 * 1024 * 1024;

/** Retained messages, streams and rooms. */
export function messageFacts(sources: ApiSources): RetainedFacts & ReadingFacts {
  const { stores, broker, clock, streams } = sources;
  return {
    now: () => clock.now(),
    nextMessageId: () => broker.messageClock.next(),
    retained: stores.retained,
    retainedPart: (tenant, filter, slice) => retainedPart(sources, tenant, filter, slice),
    streams: streams && { declared: streams, store: stores.streamStore, bytesMax: STREAM_PAGE_BYTES },
    async members(tenant, room, slice) {
      const { entries, count } = sliceOf(await stores.presenceStore.members(tenant, room), slice);
      const members = entries.map(({ member, now, joinedAtMs, owners }) => ({
        ...{ member, joinedAtMs, payload: now?.payload ?? new Uint8Array() },
        clientIds: [...owners.values()].map(({ session }) => session.clientId),
      }));
      return { entries: members, count };
    },
  };
}

async function retainedPart(
  { stores, clock }: ApiSources,
  tenant: string,
  filter: string,
  { from: first, limit }: Slice,
): Promise<Part<Message>> {
  const entries: Message[] = [];
  let count = 0;
  let from: string | undefined;
  do {
    const found: RetainedPage = await stores.retained.match(tenant, filter, clock.now(), from, PAGE);
    const place = Math.max(0, first - count);
    entries.push(...found.messages.slice(place, place + limit - entries.length));
    count += found.messages.length;
    from = found.next;
  } while (from !== undefined);
  return { entries, count };
}
