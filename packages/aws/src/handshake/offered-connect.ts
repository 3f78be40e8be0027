import { EXTENSIONS, type Extension } from '../frames/text-frame.ts';
import { offeredSubprotocols, SUBPROTOCOL_WITH_OFFER } from './subprotocol.ts';

/** CONNECT was handled, and accepted with the ordinary CONNACK (docs/text-frames.md, section 15). */
export const SUBPROTOCOL_ACCEPTED = `${SUBPROTOCOL_WITH_OFFER}-0`;

/** CONNECT was handled and accepted: the reply to the first frame brings its CONNACK. */
export const SUBPROTOCOL_HANDLED = `${SUBPROTOCOL_WITH_OFFER}-1`;

/** Characters of the whole header: API Gateway takes 10,240 for all headers, with cookies and a token. */
const HEADER_CHARACTERS_MAX = 4_096;

/**
 * The subprotocol that carries CONNECT: the secret of a ticket, the extensions, and the packet. It is offered, and
 * never chosen.
 */
const CONNECT_SUBPROTOCOL = /^mqtt-connect\.([\w-]{22})\.([a-z0-9+-]{0,128})\.([\w-]+)$/;

/** A CONNECT that came with the handshake. */
export interface OfferedConnect {
  readonly bytes: Buffer;
  /** Offered extensions that the server accepts. */
  readonly extensions: readonly Extension[];
  /** The client has chosen the secret of its ticket. */
  readonly secret: Buffer;
}

/**
 * The CONNECT in the handshake. Undefined: there is none, or it cannot be read. Then the client sends it as a frame,
 * and is told there what is wrong.
 */
export function offeredConnect(
  headers: Readonly<Record<string, string | undefined>> = {},
  known: readonly Extension[] = EXTENSIONS,
): OfferedConnect | undefined {
  const offered = offeredSubprotocols(headers);
  const answers = [SUBPROTOCOL_WITH_OFFER, SUBPROTOCOL_ACCEPTED, SUBPROTOCOL_HANDLED];
  if (!answers.every((each) => offered.includes(each))) return undefined;
  const length = offered.reduce((sum, each) => sum + each.length + 2, 0);
  const withConnect = offered.filter((each) => each.startsWith('mqtt-connect.'));
  if (length > HEADER_CHARACTERS_MAX || withConnect.length > 1) return undefined;
  const [, secret = '', names = '', connect = ''] = CONNECT_SUBPROTOCOL.exec(withConnect[0] ?? '') ?? [];
  const bytes = Buffer.from(connect, 'base64url');
  const isCanonical = bytes.length > 0 && bytes.toString('base64url') === connect;
  if (!isCanonical) return undefined;
  const listed = names.split('+');
  const extensions = known.filter((name) => listed.includes(name));
  return { bytes, extensions, secret: Buffer.from(secret, 'base64url') };
}
