import { banOnCaller, type Identity, type LinkStore, type Log, sentenceOf } from '@apus/broker';
import { type AllowedOrigins, type FrameQuota, isAllowedOrigin } from '@apus/door';
import { type HandshakeRequest, peerHostOf } from '@apus/identity';
import type { CloudBans } from '../environment.ts';
import type { ConnectEvent, ProxyResult } from '../events/gateway.ts';
import type { ConnectDeadline } from '../handshake/connect-deadline.ts';
import type { HandshakeCheck } from '../handshake/handshake-check.ts';
import { offeredConnect } from '../handshake/offered-connect.ts';
import { chosenSubprotocol, headerOf, SUBPROTOCOL } from '../handshake/subprotocol.ts';
import { senderOf } from '../quotas/sender.ts';
import type { Offer } from './connect-in-handshake.ts';
import type { Extension } from './text-frame.ts';

/** Characters of an origin in the log: a browser's is short, but a client may send a long one. */
const LOGGED_ORIGIN_CHARACTERS_MAX = 100;

/** The sender has used up its frames: the connection would be closed with its first frame anyway. */
const TOO_MANY: ProxyResult = {
  statusCode: 429,
  body: 'This identity has sent more than its quotas allow. Come back in some seconds.',
};

export interface ConnectOptions {
  readonly links: Pick<LinkStore, 'save'>;
  /** Absent: every handshake is accepted. */
  readonly handshakes: HandshakeCheck | undefined;
  /** Web pages that may connect. @default 'any' */
  readonly allowedOrigins?: AllowedOrigins | undefined;
  /** @default there are no bans */
  readonly bans?: CloudBans | undefined;
  readonly log: Log;
  /** @default no limit on frames */
  readonly frameQuota?: FrameQuota | undefined;
  /** Cuts connections without a token that send no CONNECT. @default they wait as long as any other */
  readonly connectDeadline?: ConnectDeadline | undefined;
  /** Handles a CONNECT in the handshake. Undefined: it has to come as a frame. @default it always has to */
  readonly takeConnect?: (event: ConnectEvent, offer: Offer) => Promise<ProxyResult | undefined>;
  /** Extensions of the text frames that the server accepts. @default all */
  readonly extensions?: readonly Extension[];
  /** The tenant of clients without a token. @default 'default' */
  readonly defaultTenant?: string;
}

/**
 * `$connect`: accepts the connection if it comes from an allowed page, the client speaks text frames, and its token is
 * valid, if one is asked for. Stores only the identity of the token: the handler of CONNECT, in another process, needs
 * it.
 */
export async function handleConnect(options: ConnectOptions, event: ConnectEvent): Promise<ProxyResult> {
  const { handshakes, allowedOrigins = 'any', log } = options;
  const origin = headerOf(event.headers ?? {}, 'origin');
  if (!isAllowedOrigin(origin, allowedOrigins)) {
    log.info('origin-refused', {
      origin: origin?.slice(0, LOGGED_ORIGIN_CHARACTERS_MAX),
      connectionId: event.requestContext.connectionId,
      address: event.requestContext.identity?.sourceIp,
    });
    return {
      statusCode: 403,
      body: 'Web pages of this origin may not connect: allowedOrigins does not name it.',
    };
  }
  const subprotocol = chosenSubprotocol(event.headers);
  if (subprotocol === undefined) {
    return { statusCode: 400, body: `The client has to offer the WebSocket subprotocol "${SUBPROTOCOL}".` };
  }
  if (handshakes === undefined) {
    if (isOverdrawn(options, event)) return TOO_MANY;
    return (
      (await banRefusal(options, event)) ??
      (await connected(options, event, undefined)) ??
      accepted(subprotocol)
    );
  }
  const outcome = await handshakes.identify(requestOf(event), event.requestContext);
  if ('status' in outcome) {
    const { connectionId, identity } = event.requestContext;
    log.warn('token-refused', { ...outcome, connectionId, address: identity?.sourceIp });
    return { statusCode: outcome.status, body: outcome.reason };
  }
  if (isOverdrawn(options, event, outcome.identity)) return TOO_MANY;
  return (
    (await banRefusal(options, event, outcome.identity)) ??
    (await connected(options, event, outcome.identity)) ??
    (await accept(options, event, outcome.identity, subprotocol))
  );
}

/** Handles a CONNECT in the handshake. Undefined: there is none, or the client has to send it as a frame. */
async function connected(
  { takeConnect, extensions }: ConnectOptions,
  event: ConnectEvent,
  identity: Identity | undefined,
): Promise<ProxyResult | undefined> {
  const connect = takeConnect && offeredConnect(event.headers, extensions);
  return connect && (await takeConnect?.(event, { connect, identity }));
}

function accepted(subprotocol: string): ProxyResult {
  return { statusCode: 200, headers: { 'Sec-WebSocket-Protocol': subprotocol } };
}

function requestOf({ headers = {}, queryStringParameters, requestContext }: ConnectEvent): HandshakeRequest {
  return {
    header: (name) => headerOf(headers, name),
    query: queryStringParameters ?? {},
    address: requestContext.identity?.sourceIp ?? 'unknown',
  };
}

/** Stores, for a connection without an identity, that CONNECT has to show one. */
async function accept(
  { links, connectDeadline }: ConnectOptions,
  { requestContext }: ConnectEvent,
  identity: Identity | undefined,
  subprotocol: string,
): Promise<ProxyResult> {
  const isSaved = await links.save(requestContext.connectionId, {
    phase: 'new',
    ...(identity !== undefined && { identity }),
  });
  if (isSaved && identity === undefined) await connectDeadline?.arm(requestContext.connectionId);
  return isSaved ? accepted(subprotocol) : { statusCode: 410, body: 'The connection is over.' };
}

/** Checks bans before the client identifier is known; CONNECT checks again [SEC-BAN-1]. */
async function banRefusal(
  { bans, log }: ConnectOptions,
  { requestContext }: ConnectEvent,
  identity?: Identity,
): Promise<ProxyResult | undefined> {
  if (bans === undefined) return undefined;
  await bans.refresh?.();
  const address = requestContext.identity?.sourceIp;
  const host = peerHostOf(address);
  const ban = banOnCaller(bans, identity, host);
  if (ban === undefined) return undefined;
  log.info('banned-refused', { connectionId: requestContext.connectionId, address, name: identity?.name });
  return { statusCode: 403, body: `Refused: ${sentenceOf(ban)}.` };
}

function isOverdrawn(
  { frameQuota, defaultTenant = 'default' }: ConnectOptions,
  { requestContext: { connectionId, identity: source } }: ConnectEvent,
  identity?: Identity,
): boolean {
  if (frameQuota === undefined) return false;
  const peer = { address: source?.sourceIp ?? 'unknown', ...(identity && { identity }) };
  return frameQuota.isOverdrawn(senderOf({ phase: 'new' }, peer, defaultTenant), connectionId);
}
