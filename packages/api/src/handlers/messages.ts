import {
  type Awaitable,
  type Message,
  presenceTopic,
  type RetainedStore,
  type StreamDeclarations,
  type StreamStore,
} from '@apus/broker';
import { validateTopicFilter, validateTopicName } from '@apus/mqtt';
import { listAt, mapped, type Part, type Slice, valueAt } from '../handler.ts';
import { ApiProblem } from '../problem.ts';
import type { MemberLine, RetainedDetails, RetainedLine } from '../schemas/messages.ts';
import { listStreams } from '../streams/list.ts';
import { streamMessages } from '../streams/messages.ts';
import { fieldsOfQuery, readQuestion } from '../streams/question.ts';
import { rfc3339, timeOf } from '../time.ts';

export interface KnownMember {
  readonly member: string;
  readonly payload: Uint8Array;
  readonly joinedAtMs: number;
  readonly clientIds: readonly string[];
}

export interface KnownStreams {
  readonly declared: StreamDeclarations;
  readonly store: StreamStore;
  /** Bytes of a page at most: payloads are in it. */
  readonly bytesMax: number;
}

export interface RetainedFacts {
  now(): number;
  nextMessageId(): string;
  readonly retained: Pick<RetainedStore, 'match' | 'delete'>;
  retainedPart(tenant: string, filter: string, slice: Slice): Awaitable<Part<Message>>;
}

/** Streams, and rooms. */
export interface ReadingFacts {
  now(): number;
  /** Undefined: no streams are declared. */
  readonly streams: KnownStreams | undefined;
  /** Why there can be no such room. @default a room may have any name */
  roomProblem?(room: string): string | undefined;
  members(tenant: string, room: string, slice: Slice): Awaitable<Part<KnownMember>>;
  /** A sentence, if the caller may not read what a subscription to this filter would bring. @default it may */
  forbids?(topicFilter: string): Awaitable<string | undefined>;
}

const ONE = { messages: 1, bytes: Number.POSITIVE_INFINITY } as const;

export const retainedHandlers = {
  /** Those whose topics match the filter `?topic=`; without it all but topics that begin with `$`. */
  listRetained: listAt(
    'here',
    async (facts: RetainedFacts, { tenant, query }, slice): Promise<Part<RetainedLine>> => {
      const filter = query.get('topic') ?? '#';
      const invalid = validateTopicFilter(filter);
      if (invalid !== undefined) throw new ApiProblem('BAD_REQUEST', invalid.reason);
      return mapped(await facts.retainedPart(tenant, filter, slice), retainedLine);
    },
  ),
  getRetained: valueAt(
    'here',
    async (facts: RetainedFacts, { tenant, parameters }): Promise<RetainedDetails> => {
      const message = await retainedAt(facts, tenant, parameters.topic);
      return { ...retainedLine(message), payload: base64(message.payload) };
    },
  ),
  /** Deletes it as an empty retained message would, except that no subscriber is sent one. */
  removeRetained: valueAt('here', async (facts: RetainedFacts, { tenant, parameters }) => {
    const { topic } = await retainedAt(facts, tenant, parameters.topic);
    await facts.retained.delete(tenant, topic, facts.nextMessageId());
    return undefined;
  }),
};

/** For operators, and at the URL of `httpPublish` for backends. */
export const readingHandlers = {
  listStreams: valueAt('here', async ({ streams, forbids }: ReadingFacts, { tenant }) => {
    const all = [];
    for (const each of streams?.declared.all ?? [])
      if ((await forbids?.(each.topicFilter)) === undefined) all.push(each);
    return { data: streams === undefined ? [] : await listStreams(all, streams.store, tenant) };
  }),
  listStreamMessages: valueAt('here', async (facts: ReadingFacts, { tenant, parameters, query }) => {
    const { streams } = facts;
    const question = readQuestion(streams?.declared, parameters.name, fieldsOfQuery(query));
    await check(facts, question.topic);
    // `readQuestion` has found the stream, so there are streams.
    const { store, bytesMax } = streams as KnownStreams;
    const reading = { store, tenant, nowMs: facts.now(), bytesMax };
    const { messages: data, next } = await streamMessages(reading, question);
    return { data, meta: { next } };
  }),
  /** The present members of a room. Watchers of a large room learn of changes at its next tick. */
  listMembers: listAt(
    'here',
    async (facts: ReadingFacts, { tenant, parameters: { room = '' } }, slice): Promise<Part<MemberLine>> => {
      const problem = facts.roomProblem?.(room);
      if (problem !== undefined) throw new ApiProblem('BAD_REQUEST', problem);
      await check(facts, presenceTopic(room, '+'));
      return mapped(await facts.members(tenant, room, slice), memberLine);
    },
  ),
};

async function check({ forbids }: ReadingFacts, topicFilter: string): Promise<void> {
  const refusal = await forbids?.(topicFilter);
  if (refusal !== undefined) throw new ApiProblem('FORBIDDEN', refusal);
}

/** A name with wildcards in it would be taken for a filter. */
async function retainedAt({ retained, now }: RetainedFacts, tenant: string, topic = ''): Promise<Message> {
  const isName = validateTopicName(topic) === undefined;
  const page = isName ? await retained.match(tenant, topic, now(), undefined, ONE) : undefined;
  const message = page?.messages[0];
  if (message !== undefined) return message;
  throw new ApiProblem('NOT_FOUND', `No message is retained for "${topic}".`);
}

/** EMQX's names; only the size of the payload is an addition. */
function retainedLine({ id, topic, qos, payload, expiresAtMs }: Message): RetainedLine {
  return { msgid: id, topic, qos, payload_bytes: payload.length, expires_at: timeOf(expiresAtMs) };
}

function memberLine({ member, payload, joinedAtMs, clientIds }: KnownMember): MemberLine {
  return { member, payload: base64(payload), joined_at: rfc3339(joinedAtMs), clientids: clientIds };
}

function base64(payload: Uint8Array): string {
  return Buffer.from(payload).toString('base64');
}
