import type { ConnectionId, Message, SessionRef } from '@apus/broker';
import type { Key } from '../table/keys.ts';
import { decodeMessage, encodeMessage } from '../table/message-blob.ts';
import { marshalled } from '../table/table.ts';
import { bytes, bytesOf, type Item, number, numberOf, text, textOf, VERSION } from '../table/values.ts';

/** A session that makes a member present. */
export interface MemberOwner {
  readonly incarnation: string;
  readonly clientId: string;
  /** The connection that published last. */
  readonly connectionId: ConnectionId;
}

/**
 * A member of a room. Its item has `m` the message, `o` its owners as JSON, `j` when it joined, `c` when its data
 * changed and `b` by which incarnation, `n` the nonce of the last write. Without owners there is no item.
 */
export interface Member {
  readonly message: Message;
  readonly owners: readonly MemberOwner[];
  readonly joinedAtMs: number;
  readonly changedAtMs: number;
  readonly changedBy: string;
  readonly nonce: string;
}

export function memberOf(item: Item | undefined): Member | undefined {
  const message = item && decodeMessage(bytesOf(item, 'm') ?? new Uint8Array());
  if (message === undefined) return undefined;
  return {
    message,
    owners: JSON.parse(textOf(item, 'o') ?? '[]') as MemberOwner[],
    joinedAtMs: numberOf(item, 'j') ?? 0,
    changedAtMs: numberOf(item, 'c') ?? 0,
    changedBy: textOf(item, 'b') ?? '',
    nonce: textOf(item, 'n') ?? '',
  };
}

export function memberItem(key: Key, member: Member): Item {
  return {
    ...marshalled(key),
    v: number(VERSION),
    m: bytes(encodeMessage(member.message)),
    o: text(JSON.stringify(member.owners)),
    j: number(member.joinedAtMs),
    c: number(member.changedAtMs),
    b: text(member.changedBy),
    n: text(member.nonce),
  };
}

export function ownerIn(member: Member | undefined, { incarnation }: SessionRef): MemberOwner | undefined {
  return member?.owners.find((each) => each.incarnation === incarnation);
}

/** Watchers see no difference between the two messages. */
export function isSameData(one: Message, other: Message): boolean {
  return (
    Buffer.compare(one.payload, other.payload) === 0 &&
    JSON.stringify(one.properties) === JSON.stringify(other.properties)
  );
}
