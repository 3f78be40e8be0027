import { createHash } from 'node:crypto';
import { type Message, StreamProperty } from '@apus/broker';
import { decodeMessage, encodeMessage } from '@apus/store-dynamodb';
import { decodeQueued, encodeQueued, NEWER, type Newer } from '../events/queued-text.ts';

/** Version of the layout of a job. */
const VERSION = 1;

/** The subscribers of a job: one shard of one wide filter. */
export interface Shard {
  readonly tenant: string;
  readonly topicFilter: string;
  readonly shard: number;
}

/** Messages of one frame for one shard, in their order. */
export interface FanOutJob extends Shard {
  readonly messages: readonly Message[];
}

/** The SQS message group, and the partition of a worker's progress: one shard is served by one worker at a time. */
export function groupOf({ tenant, topicFilter, shard }: Shard): string {
  const hash = createHash('sha256').update(`${tenant}\0${topicFilter}`).digest('base64url').slice(0, 32);
  return `${hash}-${shard}`;
}

/**
 * Made from the ids of the messages and not from their content: equal messages are two messages, and a repeated one is
 * one, since a QoS 2 PUBLISH that is handled again keeps its message id. If a stream has given the repetition a place
 * of its own, it is another message, for readers that came since the first.
 */
export function jobIdOf({ messages, ...shard }: FanOutJob): string {
  const hash = createHash('sha256').update(groupOf(shard));
  for (const { id, properties } of messages) hash.update(`\0${id}${placeOf(properties)}`);
  return hash.digest('base64url');
}

function placeOf({ userProperties = [] }: Message['properties']): string {
  const position = userProperties.find(([name]) => name === StreamProperty.position)?.[1];
  return position === undefined ? '' : ` ${position}`;
}

/** A message as text for a job: encoded once for the jobs of all shards. */
export function encodeForJobs(message: Message): string {
  return Buffer.from(encodeMessage(message)).toString('base64');
}

/** `messages`: texts that `encodeForJobs` has made. */
export function encodeJob({ tenant, topicFilter, shard }: Shard, messages: readonly string[]): string {
  return encodeQueued(VERSION, { tenant, topicFilter, shard, messages });
}

/** Undefined: the text is no job. A retry would not change that. */
export function decodeJob(body: string): FanOutJob | Newer | undefined {
  const fields = decodeQueued(VERSION, body);
  if (fields === NEWER || fields === undefined) return fields;
  const { tenant, topicFilter, shard } = fields;
  if (typeof tenant !== 'string' || typeof topicFilter !== 'string' || typeof shard !== 'number')
    return undefined;
  const messages = Array.isArray(fields.messages) ? fields.messages.map((each) => decode(each)) : [];
  if (messages.length === 0 || !messages.every((message) => message !== undefined)) return undefined;
  return { tenant, topicFilter, shard, messages };
}

function decode(encoded: unknown): Message | undefined {
  if (typeof encoded !== 'string') return undefined;
  try {
    return decodeMessage(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
}
