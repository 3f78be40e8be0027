import type { Fields } from '@apus/identity';
import type { QoS } from '@apus/mqtt';

export function countOf(
  fields: Fields,
  name: string,
  minimum: number,
  maximum: number,
  other: number,
): number {
  const value = fields.raw(name);
  if (value === undefined) return other;
  if (Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum) return Number(value);
  return fields.fail(name, `has to be a whole number from ${minimum} to ${maximum}.`);
}

export function qosOf(fields: Fields, other: QoS): QoS {
  return countOf(fields, 'qos', 0, 2, other) as QoS;
}
