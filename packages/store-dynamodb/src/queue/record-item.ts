import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type Attachment, type ConnectionId, PACKET_SIZE_UNLIMITED } from '@apus/broker';
import type { PacketId, ProtocolVersion } from '@apus/mqtt';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { bytes, bytesOf, type Item, number, numberOf, text, textOf, VERSION } from '../table/values.ts';
import type { Acknowledgement, Body, Entry, Mode, Phase, QueueRecord } from './types.ts';

/*
 * The item of a record. The version is `y`, a nonce of the last write; `yw` is the nonce of the last write of the
 * whole item. `e` epoch, `c` connection (absent while the client is away), `ca` how to send to it, `rm` Receive
 * Maximum, `q` mode, `f` 1 while the client fetches, `aw` the packet id that closing waits for, `un` until when a
 * publisher may still post, `z` 1 when the incarnation is over, `id` the packet id that was assigned last, `l` the
 * entries (deflated JSON), `mc` their messages that are not in the log, `cp` names of completed exchanges (deflated
 * JSON), `fo` the newest forgotten name, `ak` the acknowledgements noted since the last write of the whole item, `rn`
 * and `rb` how many messages and bytes have left the log, `mv` when the item was written, `n` tenant, incarnation and
 * client identifier if the key could not hold them whole. A conditional update changes `c`, `ca`, `q`, `f`, `aw` and
 * `z` by themselves, so each of them is an attribute of its own.
 */

const LETTER_OF_MODE: Readonly<Record<Mode, string>> = { direct: 'D', backlog: 'B', closing: 'C' };
const LETTER_OF_PHASE: Readonly<Record<Phase, string>> = {
  unsent: 'u',
  sent: 's',
  'pubrel-due': 'd',
  'pubrel-sent': 'r',
};
const LETTER_OF_BODY: Readonly<Record<Body, string>> = { inline: 'i', reference: 'b', log: 'l', none: 'n' };

const LETTER_OF_PACKET: Readonly<Record<Acknowledgement['packet'], string>> = {
  puback: 'a',
  pubrec: 'r',
  pubcomp: 'c',
};

const MODE_OF = inverse(LETTER_OF_MODE);
const PHASE_OF = inverse(LETTER_OF_PHASE);
const BODY_OF = inverse(LETTER_OF_BODY);
const PACKET_OF = inverse(LETTER_OF_PACKET);

/** The attributes of a record. `nonce`: of the write that makes them so. */
export function recordFields(record: QueueRecord, nonce: string): Item {
  const { connectionId, mode, isFetching, awaits, hasEnded, entries, completed, forgottenTo } = record;
  return {
    v: number(VERSION),
    y: text(nonce),
    e: number(record.epoch),
    ...(connectionId !== undefined && { c: text(connectionId) }),
    rm: number(record.receiveMaximum),
    q: modeField(mode),
    ...(isFetching && { f: number(1) }),
    ...(awaits !== 0 && { aw: number(awaits) }),
    un: number(record.untilMs),
    ...(hasEnded && { z: number(1) }),
    id: number(record.lastPacketId),
    ...(entries.length > 0 && { l: deflated(entries.map(packed)) }),
    ...(completed.length > 0 && { cp: deflated(completed) }),
    ...(forgottenTo !== '' && { fo: text(forgottenTo) }),
  };
}

/** The record of these attributes, and the nonce of its last write. */
export function recordOfItem(item: Item): { readonly record: QueueRecord; readonly nonce: string } {
  return {
    nonce: textOf(item, 'y') ?? '',
    record: {
      epoch: numberOf(item, 'e') ?? 0,
      connectionId: textOf(item, 'c'),
      receiveMaximum: numberOf(item, 'rm') ?? 0,
      // Backlog is safe if the mode is unknown: no publisher posts.
      mode: MODE_OF[textOf(item, 'q') ?? ''] ?? 'backlog',
      isFetching: numberOf(item, 'f') === 1,
      awaits: numberOf(item, 'aw') ?? 0,
      untilMs: numberOf(item, 'un') ?? 0,
      hasEnded: numberOf(item, 'z') === 1,
      lastPacketId: numberOf(item, 'id') ?? 0,
      entries: inflated<Packed>(item, 'l').map(unpacked),
      completed: inflated<string>(item, 'cp'),
      forgottenTo: textOf(item, 'fo') ?? '',
    },
  };
}

export function modeField(mode: Mode): AttributeValue {
  return text(LETTER_OF_MODE[mode]);
}

export function deflated(list: readonly unknown[]): AttributeValue {
  return bytes(deflateRawSync(JSON.stringify(list)));
}

/** The list in a deflated attribute; empty if the item has no such attribute. */
export function inflated<T>(item: Item, name: string): readonly T[] {
  const blob = bytesOf(item, name);
  return blob === undefined ? [] : (JSON.parse(inflateRawSync(blob).toString()) as T[]);
}

/** An acknowledgement as an element of `ak`. */
export function notedAs({ packet, packetId }: Acknowledgement): AttributeValue {
  return text(LETTER_OF_PACKET[packet] + packetId);
}

/** The noted acknowledgements, in the order in which they came. */
export function notedIn(item: Item): readonly Acknowledgement[] {
  return (item.ak?.L ?? []).flatMap(({ S: noted = '' }) => {
    const packet = PACKET_OF[noted[0] ?? ''];
    return packet === undefined ? [] : { packet, packetId: Number(noted.slice(1)) };
  });
}

const KEEPS_NOTHING = 1;
const TAKES_NUDGES = 2;

/** The attachment of the record's connection, beside its id and Receive Maximum. */
type PackedAttachment = [
  protocolVersion: ProtocolVersion,
  /** 0: unlimited. */
  maximumPacketSize: number,
  /** 1: keeps nothing; 2: takes nudges. */
  flags: number,
  expiresAtMs?: number | null,
  holder?: string | null,
  readsOn?: ConnectionId,
];

export function attachmentFields(attachment: Attachment): AttributeValue {
  const { protocolVersion, maximumPacketSize, keepsNothing, takesNudges } = attachment;
  const size = maximumPacketSize === PACKET_SIZE_UNLIMITED ? 0 : maximumPacketSize;
  const flags = (keepsNothing ? KEEPS_NOTHING : 0) + (takesNudges === true ? TAKES_NUDGES : 0);
  return text(JSON.stringify([protocolVersion, size, flags, ...optionalFields(attachment)]));
}

/** Fields that are absent at the end are left out. */
function optionalFields({ expiresAtMs, holder, readsOn }: Attachment): readonly (number | string | null)[] {
  const fields = [expiresAtMs, holder, readsOn];
  const last = fields.findLastIndex((field) => field !== undefined);
  return fields.slice(0, last + 1).map((field) => field ?? null);
}

/** Undefined while the client is away. */
export function attachmentOfItem(item: Item): Attachment | undefined {
  const [connectionId, json] = [textOf(item, 'c'), textOf(item, 'ca')];
  if (connectionId === undefined || json === undefined) return undefined;
  const [protocolVersion, size, flags, expiresAtMs, holder, readsOn] = JSON.parse(json) as PackedAttachment;
  return {
    connectionId,
    protocolVersion,
    receiveMaximum: numberOf(item, 'rm') ?? 1,
    maximumPacketSize: size === 0 ? PACKET_SIZE_UNLIMITED : size,
    keepsNothing: (flags & KEEPS_NOTHING) !== 0,
    ...((flags & TAKES_NUDGES) !== 0 && { takesNudges: true }),
    ...(typeof expiresAtMs === 'number' && { expiresAtMs }),
    ...(typeof holder === 'string' && { holder }),
    ...(readsOn !== undefined && { readsOn }),
  };
}

/** Letters: QoS, kind, phase, whether it is counted, where the body is. */
type Packed = [packetId: PacketId, name: string, letters: string, bytes: number];

function packed({ packetId, name, qos, kind, phase, isCounted, body, bytes: size }: Entry): Packed {
  const letters = [qos, kind === 'push' ? 'p' : 'g', LETTER_OF_PHASE[phase], isCounted ? 1 : 0];
  return [packetId, name, letters.join('') + LETTER_OF_BODY[body], size];
}

function unpacked([packetId, name, letters, size]: Packed): Entry {
  const [qos, kind, phase = '', isCounted, body = ''] = letters;
  return {
    packetId,
    name,
    qos: qos === '2' ? 2 : 1,
    kind: kind === 'p' ? 'push' : 'page',
    phase: PHASE_OF[phase] ?? 'unsent',
    isCounted: isCounted === '1',
    body: BODY_OF[body] ?? 'none',
    bytes: size,
  };
}

function inverse<T extends string>(letters: Readonly<Record<T, string>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(letters).map(([name, letter]) => [letter, name])) as Record<
    string,
    T
  >;
}
