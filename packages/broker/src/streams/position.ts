import type { UserProperties } from '@apus/mqtt';
import type { Message } from '../model/message.ts';
import type { StreamDeclaration } from '../model/stream-declaration.ts';
import type { StreamEntry } from '../ports/streams.ts';

/** User properties of streams in SUBSCRIBE, SUBACK and PUBLISH. */
export const StreamProperty = {
  offset: 'stream-offset',
  rewind: 'rewind',
  position: 'stream-position',
  /** In SUBACK: the messages that follow come after this position. */
  after: 'stream-after',
  recovered: 'stream-recovered',
  kind: 'stream-kind',
  time: 'ts',
  key: 'key',
} as const;

/** Why a message is sent that is not live. */
export type StreamKind = 'recovered' | 'historical' | 'snapshot';

/** Properties that the broker sets on each message of a stream: it removes a publisher's. */
const SET_BY_BROKER: ReadonlySet<string> = new Set([
  StreamProperty.position,
  StreamProperty.kind,
  StreamProperty.time,
  StreamProperty.key,
]);

/**
 * If several handlers publish side by side, a message is stable this long after it was appended: it has left for its
 * subscribers, or its publisher has had no answer. Twice the time that a handler may live.
 */
export const STABLE_AFTER_MS = 10_000;

/** A position in the log of one topic: after the message with this number. */
export interface StreamPosition {
  readonly epoch: string;
  readonly number: number;
  /** A reader of the message has also seen all messages up to this number (`StreamEntry.stable`). @default number */
  readonly stable?: number | undefined;
}

/** `EPOCH-N`, or `EPOCH-N-F` where messages up to F had become stable before the message was appended. */
const POSITION = /^([0-9a-z]{1,32})-(\d{1,15})(?:-(\d{1,15}))?$/;

export function formatPosition({ epoch, number, stable = number }: StreamPosition): string {
  const isInOrder = stable >= number - 1;
  return isInOrder ? `${epoch}-${number}` : `${epoch}-${number}-${stable}`;
}

export function parsePosition(text: string): StreamPosition | undefined {
  const [, epoch, digits, stable] = POSITION.exec(text) ?? [];
  if (epoch === undefined) return undefined;
  const number = Number(digits);
  return { epoch, number, ...(stable !== undefined && { stable: Math.min(number, Number(stable)) }) };
}

/** The message with its position, as readers are sent it. */
export function placedMessage(entry: StreamEntry, kind?: StreamKind): Message {
  const { message, tsMs, key } = entry;
  const own = (message.properties.userProperties ?? []).filter(([name]) => !SET_BY_BROKER.has(name));
  const userProperties: UserProperties = [
    ...own,
    [StreamProperty.time, String(tsMs)],
    ...(key === undefined ? [] : [[StreamProperty.key, key] as const]),
    [StreamProperty.position, formatPosition(entry)],
    ...(kind === undefined ? [] : [[StreamProperty.kind, kind] as const]),
  ];
  return { ...message, properties: { ...message.properties, userProperties } };
}

/** The message without what `placedMessage` adds, as conditions see it. */
export function unplacedMessage(message: Message, { key }: StreamDeclaration): Message {
  const { userProperties } = message.properties;
  const isOwn = ([name]: readonly [string, string]) =>
    !SET_BY_BROKER.has(name) || (name === StreamProperty.key && name === key);
  if (userProperties === undefined || userProperties.every(isOwn)) return message;
  return { ...message, properties: { ...message.properties, userProperties: userProperties.filter(isOwn) } };
}

/** The entry of a message that another process has handed over. Undefined: the message has no position. */
export function placedEntry(message: Message, stream: StreamDeclaration): StreamEntry | undefined {
  const told = new Map(message.properties.userProperties);
  const position = parsePosition(told.get(StreamProperty.position) ?? '');
  if (position === undefined) return undefined;
  return {
    ...position,
    tsMs: Number(told.get(StreamProperty.time)),
    key: told.get(StreamProperty.key),
    message: unplacedMessage(message, stream),
  };
}

/** The key of a message: the first user property of the name that the stream declares. */
export function keyOf({ properties }: Message, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  return properties.userProperties?.find(([each]) => each === name)?.[1];
}
