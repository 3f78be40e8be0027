import type { LinkStore, Log } from '@apus/broker';
import type { ConnectEvent, ProxyResult } from './events.ts';
import { offeredSubprotocols, SUBPROTOCOL } from './subprotocol.ts';
import type { TokenVerifier } from './tokens/token-verifier.ts';

/** The query parameter that holds the token: a browser can set no header (docs/text-frames.md). */
const TOKEN_PARAMETER = 'token';

const ACCEPTED: ProxyResult = { statusCode: 200, headers: { 'Sec-WebSocket-Protocol': SUBPROTOCOL } };

export interface ConnectOptions {
  readonly links: LinkStore;
  readonly tokens: TokenVerifier | undefined;
  readonly log: Log;
}

/**
 * `$connect`: takes the connection when the client speaks the text frames and has a valid token where one is asked
 * for. Nothing is stored but who the token says it is, which CONNECT's handler, another process, has to know.
 */
export async function handleConnect(
  { links, tokens, log }: ConnectOptions,
  event: ConnectEvent,
): Promise<ProxyResult> {
  if (!offeredSubprotocols(event.headers).includes(SUBPROTOCOL)) {
    return { statusCode: 400, body: `The client has to offer the WebSocket subprotocol "${SUBPROTOCOL}".` };
  }
  if (tokens === undefined) return ACCEPTED;
  const identity = await tokens.verify(event.queryStringParameters?.[TOKEN_PARAMETER]);
  if ('refused' in identity) {
    log.warn('token-refused', {
      ...identity,
      connectionId: event.requestContext.connectionId,
      address: event.requestContext.identity?.sourceIp,
    });
    return { statusCode: identity.refused === 'missing' ? 401 : 403, body: identity.reason };
  }
  const isSaved = await links.save(event.requestContext.connectionId, { phase: 'new', identity });
  return isSaved ? ACCEPTED : { statusCode: 410, body: 'The connection is over.' };
}
