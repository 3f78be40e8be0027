import {
  formatPosition,
  parsePosition,
  type StreamEntry,
  type StreamStore,
  type StreamTopicTail,
} from '@apus/broker';
import type { StreamMessageLine } from '../schemas/messages.ts';
import { badSince, positionLost, type StreamQuestion } from './question.ts';

export interface StreamPage {
  readonly messages: readonly StreamMessageLine[];
  /** `since` of the next page; null at the end. */
  readonly next: string | null;
}

export interface StreamReading {
  readonly store: StreamStore;
  readonly tenant: string;
  readonly nowMs: number;
  /** Bytes of a page at most: payloads are in it. */
  readonly bytesMax: number;
}

/** The first and last messages that a topic's log holds. */
interface TopicLog extends StreamTopicTail {
  readonly firstKept: number;
}

/** @throws {ApiProblem} */
export async function streamMessages(reading: StreamReading, question: StreamQuestion): Promise<StreamPage> {
  const { store, tenant, nowMs } = reading;
  const { stream, topic, isReverse } = question;
  // `topics` reads the log without opening the topic.
  const [tail] = await store.topics(tenant, stream, topic, 1, nowMs);
  if (tail === undefined || typeof tail === 'string') return pageOf([], undefined);
  const log = { ...tail, firstKept: await store.firstKept(tenant, stream, tail, 1, nowMs) };
  const after = await afterOf(reading, question, log);
  return isReverse
    ? await backward(reading, question, log, after)
    : await forward(reading, question, log, after);
}

/**
 * Where the page begins: reading forward, the number of the message before the page; backward, the number of its newest
 * message.
 */
async function afterOf(
  { store, tenant, nowMs }: StreamReading,
  { stream, since, isReverse }: StreamQuestion,
  tail: TopicLog,
): Promise<number> {
  if (since === undefined) return isReverse ? tail.last : tail.firstKept - 1;
  const position = parsePosition(since);
  if (position !== undefined) {
    const { epoch, number } = position;
    const isKnown = epoch === tail.epoch && number <= tail.last && number + 1 >= tail.firstKept;
    if (isKnown) return isReverse ? number - 1 : number;
    const newest = formatPosition({ ...tail, number: tail.last });
    throw positionLost(
      `Messages behind ${since} are not kept, or its epoch is over. The newest is ${newest}.`,
    );
  }
  const tsMs = /^\d{1,15}$/.test(since) ? Number(since) : Date.parse(since);
  if (Number.isNaN(tsMs)) throw badSince();
  const { number } = await store.since(tenant, stream, tail, tsMs, nowMs);
  return number - 1;
}

async function forward(
  reading: StreamReading,
  { topic, limit }: StreamQuestion,
  { epoch, last }: TopicLog,
  after: number,
): Promise<StreamPage> {
  const page = await read(reading, topic, epoch, after, limit);
  const end = page.at(-1);
  return pageOf(page, end !== undefined && end.number < last ? end : undefined);
}

/** A page that is too large for its bytes is read again with half of its messages: the newest ones come first. */
async function backward(
  reading: StreamReading,
  { topic, limit }: StreamQuestion,
  { epoch, firstKept }: TopicLog,
  upTo: number,
): Promise<StreamPage> {
  for (let count = Math.min(limit, upTo - firstKept + 1); count > 0; count = Math.floor(count / 2)) {
    const page = await read(reading, topic, epoch, upTo - count, count);
    if (page.length < count) continue;
    const oldest = page[0];
    const hasOlder = oldest !== undefined && oldest.number > firstKept;
    return pageOf([...page].reverse(), hasOlder ? oldest : undefined);
  }
  return pageOf([], undefined);
}

async function read(
  { store, tenant, bytesMax: bytes }: StreamReading,
  topic: string,
  epoch: string,
  after: number,
  messages: number,
): Promise<readonly StreamEntry[]> {
  const page = await store.read(tenant, topic, epoch, after, { messages, bytes });
  if (page === 'lost') throw positionLost('These messages are not kept any more.');
  return page;
}

function pageOf(entries: readonly StreamEntry[], next: StreamEntry | undefined): StreamPage {
  return { messages: entries.map(describe), next: next === undefined ? null : formatPosition(next) };
}

function describe(entry: StreamEntry): StreamMessageLine {
  const { message, tsMs, key } = entry;
  return {
    position: formatPosition(entry),
    ts: tsMs,
    published_at: new Date(tsMs).toISOString(),
    key: key ?? null,
    topic: message.topic,
    qos: message.qos,
    payload: Buffer.from(message.payload).toString('base64'),
    content_type: message.properties.contentType ?? null,
  };
}
