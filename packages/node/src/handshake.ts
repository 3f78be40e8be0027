import type { Duplex } from 'node:stream';
import type { Log } from '@apus/broker';
import { type AllowedOrigins, isAllowedOrigin } from '@apus/door';
import type { HandshakeRequest } from '@apus/identity';
import type { PeerAddresses, Sourced } from './peer-address.ts';
import type { HandshakeHead } from './web-socket/read-handshake.ts';
import { upgradeRefusal } from './web-socket/upgrade.ts';

export const MQTT_PATH = '/mqtt';

/** In the order of preference. Clients of MQTT 3.1 ask for the second one. */
const SUBPROTOCOLS = ['mqtt', 'mqttv3.1'] as const;

/** Why a handshake is refused: an HTTP status and a sentence for the body. */
export interface HandshakeRefusal {
  readonly status: number;
  readonly reason: string;
  /** Further header lines, each with its end. @default none */
  readonly headers?: string;
  /** @default false */
  readonly isOfToken?: boolean;
}

/** The refusal of a wrong WebSocket request, or undefined. */
export function refusalOf(
  request: HandshakeHead,
  allowedOrigins: AllowedOrigins,
): HandshakeRefusal | undefined {
  if (pathOf(request) !== MQTT_PATH) {
    return { status: 404, reason: `MQTT over WebSocket is at ${MQTT_PATH}, not at ${pathOf(request)}.` };
  }
  const ofOrigin = originRefusal(request, allowedOrigins);
  if (ofOrigin !== undefined) return ofOrigin;
  if (subprotocolOf(request) === undefined) {
    // [MQTT-6.0.0-3]
    return { status: 400, reason: 'The client has to offer the WebSocket subprotocol "mqtt".' };
  }
  return upgradeRefusal(request);
}

/** The refusal of a web page that is not allowed [SEC-ORIGIN-1]. */
export function originRefusal(
  { headers: { origin } }: Pick<HandshakeHead, 'headers'>,
  allowedOrigins: AllowedOrigins,
): HandshakeRefusal | undefined {
  if (isAllowedOrigin(origin, allowedOrigins)) return undefined;
  const reason = `Web pages of ${origin} may not connect. Allow them with --allow-origin ${origin}`;
  return { status: 403, reason };
}

/**
 * The refusal, at both doors, of a request from elsewhere where clients need no credentials: it comes through a proxy
 * on this machine [SEC-LOCAL-1].
 */
export function foreignRefusal(
  request: Sourced,
  options: { readonly isOpenToThisMachineOnly: boolean; readonly addresses: PeerAddresses },
): HandshakeRefusal | undefined {
  if (!options.isOpenToThisMachineOnly || options.addresses.isLocal(request)) return undefined;
  return FOREIGN_REFUSAL;
}

/** The IP address from which a handshake at the gateway door comes, or why it is refused; both are logged. */
export function gatewaySource(
  request: Sourced,
  options: Parameters<typeof foreignRefusal>[1],
  log: Log,
): string | HandshakeRefusal {
  const { address, host = '' } = options.addresses.of(request);
  const refusal = foreignRefusal(request, options);
  if (refusal !== undefined) log.info('handshake-refused', { address, ...refusal });
  else options.addresses.noteForwardedInVain(request, address, log);
  return refusal ?? host;
}

/** A line of the log has 100 characters of it. */
export const FOREIGN_REFUSAL: HandshakeRefusal = {
  status: 403,
  reason: 'Without --users FILE only this machine connects, and no proxy that --trusted-proxy does not name.',
};

/** The places of a token. If a parameter comes twice the last one counts, as at API Gateway. */
export function identifiableRequest(request: HandshakeHead, address: string): HandshakeRequest {
  const { searchParams } = new URL(request.url ?? '', 'ws://localhost');
  return {
    header: (name) => request.headers[name]?.toString(),
    query: Object.fromEntries(searchParams),
    address,
  };
}

/** The subprotocol in the answer to the handshake [MQTT-6.0.0-4]. */
export function subprotocolOf({ headers }: HandshakeHead): string | undefined {
  const header = headers['sec-websocket-protocol'] ?? '';
  if (header === SUBPROTOCOLS[0]) return header;
  const offered = header.split(',').map((name) => name.trim());
  return SUBPROTOCOLS.find((subprotocol) => offered.includes(subprotocol));
}

export function pathOf(request: HandshakeHead): string {
  return (request.url ?? '').split('?', 1)[0] ?? '';
}

/** Without its question mark. */
export function queryOf(request: HandshakeHead): string {
  return (request.url ?? '').slice(pathOf(request).length + 1);
}

/** Answers in HTTP on a socket that was to become a WebSocket, and closes it. */
export function refuseHandshake(socket: Duplex, { status, reason, headers = '' }: HandshakeRefusal): void {
  const body = `${reason}\n`;
  socket.on('error', () => socket.destroy());
  socket.once('finish', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_TEXTS[status] ?? 'Refused'}\r\n` +
      `Connection: close\r\n${headers}Content-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  426: 'Upgrade Required',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};
