import type { MessageLog } from '../../engine/types.ts';
import { decodeValue } from '../decode/decode.ts';
import type { ValuePath } from '../decode/json-path.ts';
import { type DecodedObject, type DecodedValue, isContainer, numberOf } from '../decode/value.ts';
import { PAYLOAD_BYTES_MAX } from './limits.ts';

/** Messages that are looked at, from the newest. */
const MESSAGES_MAX = 200;

const SUGGESTIONS_MAX = 6;

interface Suggestion {
  readonly topic: string;
  readonly path: ValuePath;
}

/** What could be charted: of each topic the number that measures something, for the topics of the newest messages. */
export function suggestions(log: MessageLog): readonly Suggestion[] {
  const seen = new Set<string>();
  const found: Suggestion[] = [];
  const oldest = Math.max(log.firstSequence, log.endSequence - MESSAGES_MAX);
  for (let sequence = log.endSequence - 1; sequence >= oldest; sequence -= 1) {
    const message = log.at(sequence);
    if (message === undefined || message.direction !== 'received' || seen.has(message.topic)) continue;
    seen.add(message.topic);
    const path = measuredIn(decodeValue(message.payload, PAYLOAD_BYTES_MAX, message.topic));
    if (path !== undefined) found.push({ topic: message.topic, path });
    if (found.length === SUGGESTIONS_MAX) break;
  }
  return found.sort((one, other) => one.topic.localeCompare(other.topic));
}

/** Members with counters or times, which measure nothing. */
const NO_MEASUREMENT =
  /^(timestamp|ts|time|sent_?at|seq(uence)?(_?number)?|counter|id|_.*|version|expires?(_?at)?)$/i;

/** The path to the payload if it is a number, or to its first member that measures something. */
function measuredIn(value: DecodedValue): ValuePath | undefined {
  if (!isContainer(value)) return numberOf(value) === undefined ? undefined : [];
  if (Array.isArray(value)) return undefined;
  const found = Object.entries(value as DecodedObject).find(
    ([name, member]) =>
      !NO_MEASUREMENT.test(name) &&
      !isContainer(member) &&
      typeof member !== 'boolean' &&
      numberOf(member) !== undefined,
  );
  return found && [found[0]];
}
