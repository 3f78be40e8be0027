import type { Peer } from '@apus/broker';
import { type AllowedOrigins, isAllowedOrigin } from '@apus/door';
import type { Handshakes } from '@apus/identity';

export const MQTT_PATH = '/mqtt';

/** Clients of MQTT 3.1 ask for the second one. In the order of preference. */
const SUBPROTOCOLS = ['mqtt', 'mqttv3.1'] as const;

/** Outside of Cloudflare's network nothing says where a client is. */
const UNKNOWN = 'unknown';

export interface HandshakeOptions {
  readonly allowedOrigins: AllowedOrigins;
  /** Absent: no token is checked. */
  readonly handshakes: Handshakes | undefined;
}

/** The client of a request for a WebSocket, or the answer that refuses it. */
export async function admit(request: Request, options: HandshakeOptions): Promise<Peer | Response> {
  const { allowedOrigins, handshakes } = options;
  const { headers } = request;
  const origin = headers.get('origin') ?? undefined;
  // [SEC-ORIGIN-1]
  if (!isAllowedOrigin(origin, allowedOrigins))
    return refusal(403, `Web pages of ${origin} may not connect.`);
  // [MQTT-6.0.0-3]
  if (subprotocolOf(request) === undefined)
    return refusal(400, 'The client has to offer the WebSocket subprotocol "mqtt".');
  if (headers.get('upgrade')?.toLowerCase() !== 'websocket')
    return refusal(426, `MQTT over WebSocket is at ${MQTT_PATH}.`);
  const host = headers.get('cf-connecting-ip') ?? undefined;
  const address = host ?? UNKNOWN;
  const query = Object.fromEntries(new URL(request.url).searchParams);
  const header = (name: string) => headers.get(name) ?? undefined;
  const outcome = await handshakes?.identify({ header, query, address });
  if (outcome !== undefined && 'status' in outcome) return refusal(outcome.status, outcome.reason);
  const identity = outcome?.identity;
  return { address, ...(host !== undefined && { host }), ...(identity !== undefined && { identity }) };
}

/** The subprotocol in the answer to the handshake [MQTT-6.0.0-4]. */
export function subprotocolOf({ headers }: Request): string | undefined {
  const offered = (headers.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim());
  return SUBPROTOCOLS.find((subprotocol) => offered.includes(subprotocol));
}

function refusal(status: number, reason: string): Response {
  return new Response(`${reason}\n`, { status });
}
