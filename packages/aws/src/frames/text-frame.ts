import { ReasonCode, Violation } from '@apus/mqtt';

/** MQTT bytes of a client's frame: 32,764 characters of base64 and a marker (docs/text-frames.md, section 2). */
export const CLIENT_PACKET_BYTES_MAX = 24_573;

/** MQTT bytes of one frame to a client: 131,072 characters. A push takes no more than fits into one billed message. */
export const SERVER_FRAME_BYTES_MAX = 98_301;

/**
 * MQTT bytes of one reply: its frame also has room for a clock, the number of handled packets, the number of parts,
 * and the marker.
 */
export const REPLY_BYTES_MAX = 98_286;

/** The part of these bytes for a ticket and the extensions that a reply agrees to: 192 characters in base64. */
export const AGREED_BYTES_MAX = 144;

/** MQTT bytes that are packed into one frame to a client: 32 KB of text, billed as one message. */
export const PACKED_BYTES_MAX = 24_558;

/**
 * Extensions of the text frames that this server knows. It uses one only if the client has offered it with its CONNECT
 * (docs/text-frames.md, section 10).
 */
export const EXTENSIONS = ['nudge', 'move', 'resume', 'close', 'alive'] as const;

export type Extension = (typeof EXTENSIONS)[number];

/**
 * A client that has offered `close` closes its WebSocket with this code instead of sending DISCONNECT (section 14). A
 * browser may send the codes from 3000 to 4999; the transport closes a connection that it gives up with 4000.
 */
export const DISCONNECT_CODE = 4_001;

/** The route for a client's sign of life (section 16). It has no function and no answer. */
export const ALIVE_ROUTE = 'alive';

/**
 * The routes for clients' frames, and whether the result of the function is the answer. `mock`: there is no function.
 */
export const FRAME_ROUTES = {
  $default: { routeResponse: true },
  [ALIVE_ROUTE]: { routeResponse: false, mock: true },
} as const;

/** Selects that route. */
export const ALIVE_FRAME = JSON.stringify({ action: ALIVE_ROUTE });

/** The properties of a CONNACK of MQTT 5.0 that a client knows without being sent it (section 15). */
export const ORDINARY_CONNACK = {
  receiveMaximum: 1_024,
  maximumPacketSize: CLIENT_PACKET_BYTES_MAX,
} as const;

/** Among the extensions that are not accepted it stands for the CONNECT in the handshake. */
export const CONNECT_IN_HANDSHAKE = 'connect';

/** Characters of all names in an offer, with their commas. */
const OFFER_CHARACTERS_MAX = 128;

/** Tells the client to fetch: now, or after the outstanding reply. A repetition has no further effect. */
export const NUDGE = '?';

/** A frame of the client: MQTT bytes, perhaps none. */
export interface ClientFrame {
  readonly bytes: Buffer;
  readonly replyWanted: boolean;
  /** The server's clock that the client has seen last. */
  readonly clock: string | undefined;
  /** Offered extensions that the server knows. Undefined: the frame offers none. */
  readonly offered: readonly Extension[] | undefined;
  /** The session of the connection that this ticket names has to move to this connection. @default none */
  readonly ticket?: string | undefined;
  /** The client has lost that connection, and resumes its session. */
  readonly isResume?: boolean;
}

/** Characters of a ticket: a connection's id, and a secret. */
const TICKET_CHARACTERS_MAX = 128;

const MOVE_FRAME = new RegExp(`^~(!?)([A-Za-z0-9_=.-]{1,${TICKET_CHARACTERS_MAX}})$`);

const NO_BYTES = Buffer.alloc(0);

/** A sign of life that reaches a function, in a deployment without the route. */
const SIGN_OF_LIFE: ClientFrame = {
  bytes: NO_BYTES,
  replyWanted: false,
  clock: undefined,
  offered: undefined,
};

const CLIENT_FRAME = new RegExp(
  `^(?:\\((?=[^)]{0,${OFFER_CHARACTERS_MAX}}\\))((?:[a-z0-9-]+(?:,[a-z0-9-]+)*)?)\\))?(?:@([0-9a-z]{13})(?=[.,]))?([.,]?)([A-Za-z0-9+/]*={0,2})$`,
);

/** Reads a frame; returns a violation if it is malformed. `known`: the extensions that the server accepts. */
export function parseClientFrame(
  text: string,
  known: readonly Extension[] = EXTENSIONS,
): ClientFrame | Violation {
  if (text === ALIVE_FRAME && known.includes('alive')) return SIGN_OF_LIFE;
  const [, lost, ticket] = MOVE_FRAME.exec(text) ?? [];
  if (ticket !== undefined) {
    const isResume = lost !== '';
    return { bytes: NO_BYTES, replyWanted: true, clock: undefined, offered: undefined, ticket, isResume };
  }
  const [, offer, clock, marker, base64] = CLIENT_FRAME.exec(text) ?? [];
  if (base64 === undefined) return malformed('the frame is not text of mqtt-text-v1');
  const bytes = Buffer.from(base64, 'base64');
  // Missing padding, or bits after the last byte, do not survive decoding and encoding.
  if (bytes.toString('base64') !== base64) return malformed('the base64 of the frame is not canonical');
  const replyWanted = marker !== ',';
  if (!replyWanted && bytes.length === 0) return malformed('the frame is empty and wants no reply');
  if (!replyWanted && offer !== undefined) return malformed('the frame offers extensions and wants no reply');
  return { bytes, replyWanted, clock, offered: offer === undefined ? undefined : knownOf(offer, known) };
}

function knownOf(offer: string, known: readonly Extension[]): Extension[] {
  const names = offer.split(',');
  return known.filter((name) => names.includes(name));
}

function malformed(reason: string): Violation {
  return new Violation(ReasonCode.MalformedPacket, reason);
}

export interface Reply {
  readonly bytes: Uint8Array;
  /** Messages wait: the client has to fetch. */
  readonly more: boolean;
  readonly clock?: string | undefined;
  /** How many packets of the frame were handled. Undefined: all. */
  readonly taken?: number | undefined;
  /** Parts that belong after this reply: at most `REPLY_PARTS_MAX`. @default 0 */
  readonly parts?: number | undefined;
  /** Offered extensions that the server accepts. @default the frame offered none */
  readonly extensions?: readonly Extension[] | undefined;
  /** The move field: `movableWith` or `refusedAs`. @default none */
  readonly move?: string | undefined;
}

/** Why a session is not moved. It keeps the connection that it has. */
export type MoveRefusal =
  /** Something is under way on its connection: try again. */
  | 'later'
  /** The ticket is invalid or used, or its connection has ended. */
  | 'unknown'
  /** The identity of the new connection may not have the session. */
  | 'refused';

/** The session is not moved. */
export function refusedAs(reason: MoveRefusal): string {
  return `!${reason}`;
}

/** Two digits: over 2 MB. Only a client that gets each of its own messages many times reaches this. */
export const REPLY_PARTS_MAX = 99;

export function formatReply({ bytes, more, clock, taken, parts = 0, extensions, move }: Reply): string {
  const agreed = extensions === undefined ? '' : `(${extensions.join(',')})`;
  const seen = clock === undefined ? '' : `@${clock}`;
  const handled = taken === undefined ? '' : `!${taken}`;
  const behind = parts === 0 ? '' : `*${parts}`;
  const moves = move === undefined ? '' : `~${move}`;
  return `${agreed}${seen}${handled}${behind}${moves}${more ? ';' : ':'}${toBase64(bytes)}`;
}

/** The text of a part of a reply that did not fit into its frame. */
export function formatPart(bytes: Uint8Array): string {
  return `&${toBase64(bytes)}`;
}

export function formatPush(bytes: Uint8Array): string {
  return toBase64(bytes);
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
