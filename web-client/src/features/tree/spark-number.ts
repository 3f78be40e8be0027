import type { LoggedMessage } from '../../engine/types.ts';
import { decodeValue } from '../decode/decode.ts';
import type { ValuePath } from '../decode/json-path.ts';
import { type DecodedObject, type DecodedValue, isContainer, numberOf } from '../decode/value.ts';
import { SPARK_PAYLOAD_BYTES_MAX } from './limits.ts';

/** Members with counters or times, which measure nothing. */
const NO_MEASUREMENT =
  /^(timestamp|ts|time|sent_?at|seq(uence)?(_?number)?|counter|id|_.*|version|expires?(_?at)?)$/i;

/** The payload if it is a number, or its first member that measures something. */
export function sparkNumber({ payload, topic }: LoggedMessage): number | undefined {
  return measuredIn(decodeValue(payload, SPARK_PAYLOAD_BYTES_MAX, topic) ?? plainText(payload))?.number;
}

/**
 * The number in a payload that measures something, and where it is.
 *
 * @param value a payload, decoded
 */
export function measuredIn(
  value: DecodedValue,
): { readonly number: number; readonly path: ValuePath } | undefined {
  if (!isContainer(value)) {
    const number = numberOf(value);
    return number === undefined ? undefined : { number, path: [] };
  }
  if (Array.isArray(value)) return undefined;
  for (const [name, member] of Object.entries(value as DecodedObject)) {
    if (NO_MEASUREMENT.test(name) || isContainer(member) || typeof member === 'boolean') continue;
    const number = numberOf(member);
    if (number !== undefined) return { number, path: [name] };
  }
  return undefined;
}

/** A number is a few characters long. */
const NUMBER_BYTES_MAX = 40;

const decoder = new TextDecoder();

function plainText(payload: Uint8Array): DecodedValue {
  return payload.length > NUMBER_BYTES_MAX ? undefined : decoder.decode(payload);
}
