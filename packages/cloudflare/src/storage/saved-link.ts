import type { Attachment, LinkState, Peer, SavedReader } from '@apus/broker';
import type { WindowProgress } from '@apus/store-memory';
import { Packr } from 'msgpackr';
import type { UsageNote } from '../hub-usage.ts';
import type { ObjectSocket } from '../platform.ts';
import type { PassingRecord } from './records.ts';

/** A link as it outlives the memory of its object. The session in its state is a name: see `sessionOf`. */
export interface SavedLink {
  readonly id: string;
  readonly peer: Peer;
  readonly openedAtMs: number;
  readonly lastPacketAtMs: number;
  readonly state: LinkState;
  /** The attachment of its session. Undefined: it is not connected. */
  readonly attachment: Attachment | undefined;
  readonly progress: WindowProgress | undefined;
  /** Topic Aliases that its client has set. */
  readonly aliases: readonly (readonly [alias: number, topic: string])[];
  readonly readers: readonly SavedReader[];
  /** Bytes of a packet whose end has not come. */
  readonly unfinished: Uint8Array;
  /** The records of its session, which ends with it. */
  readonly records: readonly PassingRecord[];
  /** Of the hub, when the link was saved. One of the links that are saved together has it. */
  readonly usage: UsageNote | undefined;
}

/** What a socket carries: the link, or where the rows of it are. */
export interface SocketNote {
  readonly id: string;
  /** Undefined: it stands in rows. */
  readonly link?: Uint8Array;
  /** The broker has closed the connection. */
  readonly isClosed?: boolean;
}

const packr = new Packr({ useRecords: false });

/** What of a link stays as it is from one packet to the next. */
export type SavedFacts = Pick<SavedLink, 'id' | 'peer' | 'openedAtMs' | 'state' | 'attachment'>;

export function packFacts({ id, peer, openedAtMs, state, attachment }: SavedFacts): Uint8Array {
  return new Uint8Array(packr.pack({ id, peer, openedAtMs, state, attachment }));
}

/** A copy: with a view an attachment would get the whole buffer behind it, and refuse it. */
export function packLink(facts: Uint8Array, rest: Omit<SavedLink, keyof SavedFacts>): Uint8Array {
  const { lastPacketAtMs, progress, aliases, readers, unfinished, records, usage } = rest;
  // Without the names of the fields: the end of each event waits for this.
  const fields = [facts, lastPacketAtMs, progress, aliases, readers, unfinished, records, usage];
  return new Uint8Array(packr.pack(fields));
}

export function unpackLink(bytes: Uint8Array): SavedLink {
  const [facts, ...fields] = packr.unpack(bytes);
  const [lastPacketAtMs, progress, aliases, readers, unfinished, records, usage] = fields;
  const rest = { lastPacketAtMs, progress, aliases, readers, unfinished, records, usage };
  return { ...packr.unpack(facts), ...rest };
}

/** The link with the time of a further packet. */
export function touchedLink(bytes: Uint8Array, lastPacketAtMs: number): Uint8Array {
  const [facts, , ...rest] = packr.unpack(bytes);
  return new Uint8Array(packr.pack([facts, lastPacketAtMs, ...rest]));
}

/** `WebSocket.readyState` of an open socket. */
const OPEN = 1;

/** Writes the attachment of a socket. */
export function noteOn(socket: ObjectSocket, note: SocketNote): void {
  try {
    socket.serializeAttachment(note);
  } catch (error) {
    // A socket that is gone takes none, and its link ends with it.
    if (socket.readyState === OPEN) throw error;
  }
}
