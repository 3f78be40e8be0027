import { ReasonCode, Violation } from '@apus/mqtt';

/** MQTT bytes of a client's frame: 32,764 characters of base64 and a marker (docs/text-frames.md, section 2). */
export const CLIENT_PACKET_BYTES_MAX = 24_573;

/** MQTT bytes of one frame to a client: 131,072 characters. A push takes no more than fits into what is billed as one. */
export const SERVER_FRAME_BYTES_MAX = 98_301;

/** MQTT bytes of one reply: beside them its frame holds a clock, what was taken, how many parts, and the marker. */
export const REPLY_BYTES_MAX = 98_286;

/** MQTT bytes that are gathered for one frame to a client: 32 KB of text, billed as one message. */
export const PACKED_BYTES_MAX = 24_558;

/** Tells the client to fetch, now or after the outstanding reply. It says nothing twice. */
export const NUDGE = '?';

/** A frame of the client: MQTT bytes, perhaps none. */
export interface ClientFrame {
  readonly bytes: Buffer;
  readonly replyWanted: boolean;
  /** The server's clock that the client has seen. */
  readonly clock: string | undefined;
}

const CLIENT_FRAME = /^(?:@([0-9a-z]{13})(?=[.,]))?([.,]?)([A-Za-z0-9+/]*={0,2})$/;

/** Reads a frame, or says what is wrong with it. */
export function parseClientFrame(text: string): ClientFrame | Violation {
  const [, clock, marker, base64] = CLIENT_FRAME.exec(text) ?? [];
  if (base64 === undefined) return malformed('the frame is not text of mqtt-text-v1');
  const bytes = Buffer.from(base64, 'base64');
  // Padding that lacks, or bits beyond the last byte, do not come back.
  if (bytes.toString('base64') !== base64) return malformed('the base64 of the frame is not canonical');
  const replyWanted = marker !== ',';
  if (!replyWanted && bytes.length === 0) return malformed('the frame is empty and wants no reply');
  return { bytes, replyWanted, clock };
}

function malformed(reason: string): Violation {
  return new Violation(ReasonCode.MalformedPacket, reason);
}

export interface Reply {
  readonly bytes: Uint8Array;
  /** More is waiting: the client is to fetch it. */
  readonly more: boolean;
  readonly clock?: string | undefined;
  /** Packets of the frame that were handled; undefined: all of them. */
  readonly taken?: number | undefined;
  /** Frames of their own that belong behind it: at most `REPLY_PARTS_MAX`. @default 0 */
  readonly parts?: number | undefined;
}

/** Two digits: over 2 MB, which only somebody causes who is sent each of his own messages many times over. */
export const REPLY_PARTS_MAX = 99;

export function formatReply({ bytes, more, clock, taken, parts = 0 }: Reply): string {
  const seen = clock === undefined ? '' : `@${clock}`;
  const handled = taken === undefined ? '' : `!${taken}`;
  const behind = parts === 0 ? '' : `*${parts}`;
  return `${seen}${handled}${behind}${more ? ';' : ':'}${toBase64(bytes)}`;
}

/** What of a reply did not fit into its frame, or not all of it. */
export function formatPart(bytes: Uint8Array): string {
  return `&${toBase64(bytes)}`;
}

export function formatPush(bytes: Uint8Array): string {
  return toBase64(bytes);
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
