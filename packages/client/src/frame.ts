import { decodeBase64, encodeBase64 } from './base64.ts';
import { FRAME_CHARACTERS_MAX } from './limits.ts';
import { concat } from './packet.ts';

/** Parses and writes frames: docs/text-frames.md, section 2. */

/** A frame that the server sent. */
export type ServerFrame =
  | {
      readonly kind: 'reply';
      readonly clock: string | undefined;
      /** How many packets of the frame the server has handled; `undefined`: all of them. */
      readonly taken: number | undefined;
      /** The number of further frames that belong to the reply. */
      readonly parts: number;
      /** Extensions that the server takes, with commas (10). `undefined`: the frame had no offer, or met an old server. */
      readonly extensions: string | undefined;
      /**
       * A ticket, the seconds after which the gateway cuts the connection, and the seconds for which the client may
       * resume a lost one; or `!` and the reason why the session is not moved (12, 13).
       */
      readonly move: string | undefined;
      /** More messages wait: the client has to fetch them. */
      readonly more: boolean;
      readonly bytes: Uint8Array<ArrayBuffer>;
    }
  /** One part of the reply to the outstanding frame. */
  | { readonly kind: 'part'; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'push'; readonly bytes: Uint8Array<ArrayBuffer> }
  /** The gateway itself reports that it could not run the handler. */
  | { readonly kind: 'error'; readonly text: string }
  /** Messages wait: the client has to fetch them. */
  | { readonly kind: 'nudge' }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'unreadable'; readonly why: string };

/** Header, then body. The header of a push is empty, so text without `:` or `;` matches as a push. */
const REPLY =
  /^(?:\(([a-z0-9,-]*)\))?(?:@([0-9a-z]{13}))?(?:!(\d{1,4}))?(?:\*([1-9]\d?))?(?:~([\w=.-]+,\d{1,6}(?:,\d{1,4}(?:,g)?)?|![a-z]+))?([:;])/;
const PART = '&';
const NUDGE = '?';

/** Reads a frame of the server, for tools that show the wire. Never throws: a malformed frame gives `unreadable`. */
export function decodeServerFrame(text: string): ServerFrame {
  if (text === '') return { kind: 'nothing' };
  if (text === NUDGE) return { kind: 'nudge' };
  if (text.startsWith('{')) return { kind: 'error', text };
  const header = REPLY.exec(text);
  const isPart = text.startsWith(PART);
  const bytes = decodeBase64(text, isPart ? PART.length : header?.[0].length);
  if (bytes === undefined || (isPart && bytes.length === 0)) {
    return {
      kind: 'unreadable',
      why: `neither a header nor base64: "${text.slice(0, 40)}"`,
    };
  }
  if (header === null) return { kind: isPart ? 'part' : 'push', bytes };
  const [, extensions, clock, taken, parts = '0', move, marker] = header;
  return {
    kind: 'reply',
    extensions,
    clock,
    taken: taken === undefined ? undefined : Number(taken),
    parts: Number(parts),
    move,
    more: marker === ';',
    bytes,
  };
}

/**
 * Writes a frame for the server. A frame without packets is a fetch.
 *
 * @param offer the names of extensions, in parentheses; empty: the frame offers none
 */
export function encodeClientFrame(
  packets: readonly Uint8Array[],
  replyWanted: boolean,
  clock: string | undefined,
  offer = '',
): string {
  const base64 = encodeBase64(concat(packets));
  const marker = replyWanted ? '.' : ',';
  const plain = replyWanted && base64 !== '' ? base64 : marker + base64;
  const whole = offer + (clock === undefined ? plain : `@${clock}${marker}${base64}`);
  return whole.length <= FRAME_CHARACTERS_MAX ? whole : plain;
}
