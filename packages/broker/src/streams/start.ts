import { containsWildcard, type UserProperties } from '@apus/mqtt';
import { parsePosition, type StreamPosition, StreamProperty } from './position.ts';

/** Where a reader of a stream begins. */
export type StartFrom =
  | { readonly at: 'latest' }
  | { readonly at: 'earliest' }
  /** This many messages of each topic. */
  | { readonly at: 'count'; readonly count: number }
  | { readonly at: 'time'; readonly tsMs: number };

export interface StreamStart {
  /** For topics without a position. Undefined: the client has not said. */
  readonly positions: ReadonlyMap<string, StreamPosition>;
  /** For topics without a position. Undefined: the client has not said. */
  readonly from: StartFrom | undefined;
}

/** Positions in one SUBSCRIBE: a packet with more has another purpose. */
const POSITIONS_MAX = 1000;

const MS_OF_UNIT: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * A number with fifteen digits or more is in microseconds, as EMQX has it; as milliseconds it would be the year 5138.
 */
const MICROSECONDS_FROM = 1e14;

const ASKING: ReadonlySet<string> = new Set([
  StreamProperty.offset,
  StreamProperty.rewind,
  StreamProperty.position,
]);

/** Whether the user properties of a SUBSCRIBE ask for past messages. */
export function asksForPast(userProperties: UserProperties | undefined): boolean {
  return userProperties?.some(([name]) => ASKING.has(name)) === true;
}

/** A sentence if they cannot be read. */
export function parseStart(
  userProperties: UserProperties | undefined,
  topicFilter: string,
  nowMs: number,
): StreamStart | string {
  const positions = new Map<string, StreamPosition>();
  let from: StartFrom | undefined;
  for (const [name, value] of userProperties ?? []) {
    if (name === StreamProperty.position) {
      const problem = addPosition(positions, value, topicFilter);
      if (problem !== undefined) return problem;
    } else if (name === StreamProperty.offset || name === StreamProperty.rewind) {
      if (from !== undefined) return 'stream-offset and rewind are given once, and exclude each other';
      from = name === StreamProperty.rewind ? parseRewind(value, nowMs) : parseOffset(value);
      if (from === undefined) return problemOf(name, value);
    }
  }
  return { positions, from };
}

function addPosition(
  positions: Map<string, StreamPosition>,
  value: string,
  topicFilter: string,
): string | undefined {
  const space = value.indexOf(' ');
  const position = parsePosition(space === -1 ? value : value.slice(0, space));
  if (position === undefined) return problemOf(StreamProperty.position, value);
  if (space === -1 && containsWildcard(topicFilter))
    return 'a position covers one topic: for a filter with wildcards it is "EPOCH-N TOPIC", once for each';
  if (positions.size >= POSITIONS_MAX) return `at most ${POSITIONS_MAX} positions`;
  positions.set(space === -1 ? topicFilter : value.slice(space + 1), position);
  return undefined;
}

/** Ably's values: `50`, or `10s`, `5m`. */
function parseRewind(value: string, nowMs: number): StartFrom | undefined {
  const [, digits, unit] = /^(\d{1,9})([smhd]?)$/.exec(value) ?? [];
  if (digits === undefined || Number(digits) === 0) return undefined;
  const msOfUnit = MS_OF_UNIT[unit ?? ''];
  if (msOfUnit === undefined) return { at: 'count', count: Number(digits) };
  return { at: 'time', tsMs: nowMs - Number(digits) * msOfUnit };
}

/** EMQX's values: `earliest`, `latest`, or a time. */
function parseOffset(value: string): StartFrom | undefined {
  if (value === 'earliest' || value === 'latest') return { at: value };
  if (/^\d{1,17}$/.test(value)) {
    const number = Number(value);
    return { at: 'time', tsMs: number >= MICROSECONDS_FROM ? Math.floor(number / 1000) : number };
  }
  const tsMs = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(tsMs) ? undefined : { at: 'time', tsMs };
}

function problemOf(name: string, value: string): string {
  const wanted = {
    [StreamProperty.offset]: 'earliest, latest, milliseconds since 1970, or a time as 2026-11-24T12:00:00Z',
    [StreamProperty.rewind]: 'a number of messages as 50, or a time as 10s, 5m, 2h or 1d',
    [StreamProperty.position]: 'what stream-position of a message said',
  }[name];
  return `${name} takes ${wanted}, not ${JSON.stringify(value.slice(0, 50))}`;
}
