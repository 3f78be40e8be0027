import { pathText, type ValuePath } from '../decode/json-path.ts';

/** The part of a message that makes a sample. */
export type SampleSource =
  /** A number in the payload; the empty path is the payload itself. */
  | { readonly kind: 'value'; readonly path: ValuePath }
  /** Milliseconds since the timestamp that the message carries. */
  | { readonly kind: 'latency' }
  /** Sequence numbers that were left out before it. */
  | { readonly kind: 'missing' };

/** One line of the chart. */
export interface Series {
  readonly id: string;
  readonly connectionId: string;
  /** A topic name, or a filter with wildcards. */
  readonly topicFilter: string;
  readonly source: SampleSource;
  readonly isHidden: boolean;
}

/** The same for two series that would draw the same line. */
export function seriesKey({ connectionId, topicFilter, source }: Omit<Series, 'id' | 'isHidden'>): string {
  const what = source.kind === 'value' ? pathText(source.path) : source.kind;
  return JSON.stringify([connectionId, topicFilter, what]);
}

/** Unit of the axis that it is drawn against: milliseconds and counts of messages have their own. */
export type Scale = 'value' | 'milliseconds' | 'messages';

export function scaleOf({ source }: Series): Scale {
  if (source.kind === 'latency') return 'milliseconds';
  return source.kind === 'missing' ? 'messages' : 'value';
}

/** A range of time, in milliseconds since 1970. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}
