import type { MessageProperties, UserProperties } from './connection-profile.ts';

/** User properties of a SUBSCRIBE with the beginning in a stream (docs/streams.md). */
export const BEGINNINGS = ['rewind', 'stream-offset', 'stream-position'] as const;

const STREAM_PREFIX = /^\$s(?:tream)?\/[^/]*\/?/;

export function saysWhereToBegin(name: string): boolean {
  return BEGINNINGS.some((beginning) => beginning === name);
}

/** Whether a subscription reads a stream: it names a stream, or says where to begin. */
export function isReading(filter: string, userProperties: UserProperties): boolean {
  return STREAM_PREFIX.test(filter) || userProperties.some(([name]) => saysWhereToBegin(name));
}

/** `$stream/NAME/FILTER` is a subscription to FILTER. Of `$stream/NAME` only the broker knows the topics. */
export function plainFilter(filter: string): string {
  return filter.replace(/^\$s(?:tream)?\/[^/]*\/(?=.)/, '');
}

/** Why a message of a stream was not sent live. */
export const STREAM_KINDS = ['recovered', 'historical', 'snapshot'] as const;

export type StreamKind = (typeof STREAM_KINDS)[number];

/** The user properties that the broker adds to a message of a stream. */
export interface StreamFacts {
  /** `EPOCH-N`, or `EPOCH-N-F`. */
  readonly position: string;
  /** N, without its epoch; '' where the position cannot be read. */
  readonly number: string;
  /** Undefined: it was sent live. */
  readonly kind: StreamKind | undefined;
  readonly key: string | undefined;
}

/** Undefined for a message without a stream. */
export function streamFacts({ userProperties }: MessageProperties): StreamFacts | undefined {
  const find = (name: string): string | undefined => userProperties?.find(([given]) => given === name)?.[1];
  const position = find('stream-position');
  if (position === undefined) return undefined;
  const said = find('stream-kind');
  return {
    position,
    number: /^[0-9a-z]+-(\d+)/.exec(position)?.[1] ?? '',
    kind: STREAM_KINDS.find((kind) => kind === said),
    key: find('key'),
  };
}
