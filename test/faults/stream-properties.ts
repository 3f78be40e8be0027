import type { Packet } from 'mqtt';
import type { Place } from './stream-ledger.ts';

export type UserProperties = Record<string, string | string[]>;

export function said(packet: Packet): UserProperties | undefined {
  return (packet as { properties?: { userProperties?: UserProperties } }).properties?.userProperties;
}

const POSITION = /^([0-9a-z]+)-(\d+)(?:-\d+)?(?: (.*))?$/s;

/**
 * @param value of `stream-position` or `stream-after`
 * @param topic of a place that names none
 */
export function placesIn(value: string | string[] | undefined, topic: string): [string, Place][] {
  return [value ?? []].flat().flatMap((text): [string, Place][] => {
    const [, epoch, digits, named = topic] = POSITION.exec(text) ?? [];
    return epoch === undefined ? [] : [[named, { epoch, number: Number(digits) }]];
  });
}
