import type { UserProperties } from '@apus/mqtt';
import type { Message } from '../message.ts';
import type { StreamEntry } from '../ports/streams.ts';

/** User properties of streams: what a client asks for in SUBSCRIBE, and what SUBACK and PUBLISH tell it. */
export const StreamProperty = {
  offset: 'stream-offset',
  rewind: 'rewind',
  position: 'stream-position',
  recovered: 'stream-recovered',
  kind: 'stream-kind',
  time: 'ts',
  key: 'key',
} as const;

/** Why a message is sent that is not live. */
export type StreamKind = 'recovered' | 'historical' | 'snapshot';

/** The broker sets these on each message of a stream: a publisher cannot. */
const SET_BY_BROKER: ReadonlySet<string> = new Set([
  StreamProperty.position,
  StreamProperty.kind,
  StreamProperty.time,
  StreamProperty.key,
]);

/** A place in the log of one topic: behind the message with this number. */
export interface StreamPosition {
  readonly epoch: string;
  readonly number: number;
}

/** `EPOCH-N`, or `EPOCH-N-F` as a gateway door says it, whose last part only that door needs. */
const POSITION = /^([0-9a-z]{1,32})-(\d{1,15})(?:-\d{1,15})?$/;

export function formatPosition({ epoch, number }: StreamPosition): string {
  return `${epoch}-${number}`;
}

export function parsePosition(text: string): StreamPosition | undefined {
  const [, epoch, number] = POSITION.exec(text) ?? [];
  return epoch === undefined ? undefined : { epoch, number: Number(number) };
}

/** The message as a reader is sent it: with its place. */
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

/** The key of a message: the first user property of the name that the stream declares. */
export function keyOf({ properties }: Message, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  return properties.userProperties?.find(([each]) => each === name)?.[1];
}
