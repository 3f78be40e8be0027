import type { Qos } from './types.ts';

/** Reads members of untrusted values: each is undefined if it has the wrong type. */

export type Members = Readonly<Record<string, unknown>>;

/** Characters of an external text: a longer one is invalid. */
const TEXT_LENGTH_MAX = 65_535;

export function membersOf(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Members)
    : undefined;
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= TEXT_LENGTH_MAX ? value : undefined;
}

export function flag(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}

export function integer(value: unknown, least: number, most: number): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
    ? value
    : undefined;
}

export function qos(value: unknown): Qos | undefined {
  return oneOf(value, [0, 1, 2] as const);
}

export function oneOf<T>(value: unknown, allowed: readonly T[]): T | undefined {
  return allowed.find((candidate) => candidate === value);
}
