import { VARIABLE_BYTE_INTEGER_MAX } from './limits.ts';

/** How many bytes the value takes, in the shortest form, which is the only allowed one [MQTT-1.5.5-1]. */
export function variableByteIntegerLength(value: number): 1 | 2 | 3 | 4 {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  if (value <= VARIABLE_BYTE_INTEGER_MAX) return 4;
  throw new RangeError(`A Variable Byte Integer holds at most ${VARIABLE_BYTE_INTEGER_MAX}, not ${value}`);
}

/** Writes the value at `offset` and returns the offset behind it. */
export function writeVariableByteInteger(bytes: Uint8Array, offset: number, value: number): number {
  let rest = value;
  let position = offset;
  while (rest >= 0x80) {
    bytes[position] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
    position += 1;
  }
  bytes[position] = rest;
  return position + 1;
}
