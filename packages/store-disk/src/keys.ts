import { createHash } from 'node:crypto';
import type { BanName, FilterName, PresencePlace } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';

/**
 * The first letter of a key names the kind of its record. Long names become numbers or digests, so keys are short.
 */
export const Kind = {
  Format: 'v',
  Owner: 'o',
  SharedMessage: 'b',
  Session: 's',
  Subscription: 'f',
  Queued: 'q',
  Inflight: 'i',
  Receipt: 'r',
  CompletedCopy: 'c',
  Retained: 't',
  OwedWill: 'w',
  Ban: 'x',
  StreamTopic: 'p',
  StreamEntry: 'e',
  StreamIndex: 'g',
  StreamMark: 'm',
  Member: 'n',
} as const;

export type Kind = (typeof Kind)[keyof typeof Kind];

/** Twelve digits: more than a disk outlives. Keys sort like their numbers. */
const NUMBER_DIGITS = 12;
const PACKET_ID_DIGITS = 4;

/** Sessions that end with their connection have numbers from here on, where a store keeps them apart from the others. */
const PASSING_NUMBER_MIN = 2 ** (NUMBER_DIGITS * 4 - 1);

export function passingNumber(number: number): number {
  return PASSING_NUMBER_MIN + number;
}

export function isPassingNumber(number: number): boolean {
  return number >= PASSING_NUMBER_MIN;
}

/** The number without its mark. */
export function plainNumber(number: number): number {
  return isPassingNumber(number) ? number - PASSING_NUMBER_MIN : number;
}

const KINDS_OF_SESSIONS: ReadonlySet<string> = new Set([
  ...[Kind.Session, Kind.Subscription, Kind.Queued, Kind.Inflight, Kind.Receipt, Kind.CompletedCopy],
]);

/** The number of the session that ends with its connection and has this record. Undefined: it is another record. */
export function passingSessionOf(key: string): number | undefined {
  // The first of its digits has the mark.
  if ((key[1] ?? '') < '8' || !KINDS_OF_SESSIONS.has(key[0] ?? '')) return undefined;
  return firstNumberOf(key);
}

export const FORMAT_KEY: string = Kind.Format;

/** See `Ownership`. */
export function ownerKey(number: number): string {
  return Kind.Owner + hex(number, NUMBER_DIGITS);
}

export function sessionRecordKey(session: number): string {
  return Kind.Session + hex(session, NUMBER_DIGITS);
}

export function subscriptionKey(session: number, { topicFilter, shareGroup }: FilterName): string {
  const name = shareGroup === undefined ? topicFilter : `$share/${shareGroup}/${topicFilter}`;
  return Kind.Subscription + hex(session, NUMBER_DIGITS) + digest(name);
}

export function queuedKey(session: number, number: number): string {
  return Kind.Queued + hex(session, NUMBER_DIGITS) + hex(number, NUMBER_DIGITS);
}

export function inflightKey(session: number, number: number): string {
  return Kind.Inflight + hex(session, NUMBER_DIGITS) + hex(number, NUMBER_DIGITS);
}

/** Of a message that was at this place in the session's queue: see `RepeatableFanOuts`. */
export function completedCopyKey(session: number, number: number): string {
  return Kind.CompletedCopy + hex(session, NUMBER_DIGITS) + hex(number, NUMBER_DIGITS);
}

export function receiptKey(session: number, packetId: PacketId): string {
  return Kind.Receipt + hex(session, NUMBER_DIGITS) + hex(packetId, PACKET_ID_DIGITS);
}

export function sharedMessageKey(number: number): string {
  return Kind.SharedMessage + hex(number, NUMBER_DIGITS);
}

export function owedWillKey(number: number): string {
  return Kind.OwedWill + hex(number, NUMBER_DIGITS);
}

export function retainedKey(tenant: string, topic: string): string {
  return Kind.Retained + digest(`${tenant}\0${topic}`);
}

export function banKey({ as, who, tenant }: BanName): string {
  return Kind.Ban + digest(`${as}\0${tenant}\0${who}`);
}

export function memberKey({ tenant, room, member }: PresencePlace): string {
  return Kind.Member + digest(`${tenant}\0${room}\0${member}`);
}

export function streamTopicKey(topic: number): string {
  return Kind.StreamTopic + hex(topic, NUMBER_DIGITS);
}

export function streamEntryKey(topic: number, number: number): string {
  return Kind.StreamEntry + hex(topic, NUMBER_DIGITS) + hex(number, NUMBER_DIGITS);
}

/** The index of entries from a number on. */
export function streamIndexKey(topic: number, number: number): string {
  return Kind.StreamIndex + hex(topic, NUMBER_DIGITS) + hex(number, NUMBER_DIGITS);
}

/** See `DiskStreams`. */
export const STREAMS_CLOSED_KEY: string = `${Kind.StreamMark}c`;
export const STREAMS_SINCE_KEY: string = `${Kind.StreamMark}s`;

/** The number of the session, or of the shared message, in a key. */
export function firstNumberOf(key: string): number {
  return Number.parseInt(key.slice(1, 1 + NUMBER_DIGITS), 16);
}

/** The second number in a key: the place of a message in its session, or the packet id of a receipt. */
export function secondNumberOf(key: string): number {
  return Number.parseInt(key.slice(1 + NUMBER_DIGITS), 16);
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0');
}

/** 128 bits of SHA-256: to find two names with the same digest takes some 2^64 attempts. */
function digest(name: string): string {
  return createHash('sha256').update(name).digest('base64url').slice(0, 22);
}
