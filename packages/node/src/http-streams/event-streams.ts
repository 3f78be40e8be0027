import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { API_PATH, OPERATIONS, type ProblemCode } from '@apus/api';
import type { Log, Peer, StreamDeclarations } from '@apus/broker';
import {
  type AllowedOrigins,
  type ApiAnswer,
  type DropMeter,
  isAllowedOrigin,
  refusalFor,
  type Scheduler,
} from '@apus/door';
import { write } from '../api/router.ts';
import { type HandshakeRefusal, pathOf, queryOf } from '../handshake.ts';
import type { Listener } from '../listener.ts';
import { stackOf } from '../log.ts';
import { readEventRequest } from './event-request.ts';
import { EventStream } from './event-stream.ts';
import { refusalForNow } from './event-text.ts';

const EVENTS_PATH = `${API_PATH}${OPERATIONS.streamEvents.path}`;

export interface EventStreamsOptions {
  readonly streams: StreamDeclarations | undefined;
  readonly drops: Pick<DropMeter, 'of'>;
  readonly limits: { readonly topicLevelsMax: number; readonly closeTimeoutSeconds: number };
  readonly clock: Scheduler;
  readonly log: Log;
}

type EventDoor = Pick<Listener, 'admit' | 'serveRequest' | 'allowedOrigins'>;

/**
 * Answers `GET /api/v5/events` with a stream of messages (docs/streams.md). Its caller is a client as after a handshake,
 * and no operator: a link of this process serves it, with the rules, quotas and bans of any other [SEC-WAY-3].
 */
export function withEventStreams(
  handler: RequestListener,
  listener: EventDoor,
  options: EventStreamsOptions,
): RequestListener {
  return (request, response) => {
    if (request.method !== 'GET' || pathOf(request) !== EVENTS_PATH) return handler(request, response);
    const headers = headersFor(request, listener.allowedOrigins);
    const refuse = (answer: ApiAnswer) =>
      write(response, { ...answer, headers: { ...headers, ...answer.headers } });
    open(request, response, headers, listener, options)
      .catch(refusalFor)
      .then(
        (refused) => refused && refuse(refused),
        (error: unknown) => {
          options.log.error('api-failed', { path: EVENTS_PATH, error: stackOf(error) });
          refuse(refusalForNow('INTERNAL_ERROR', 'This should not have happened: see the log.'));
        },
      );
  };
}

/** The answer to a request that gets no stream. */
async function open(
  request: IncomingMessage,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  listener: EventDoor,
  { streams, drops, limits, clock }: EventStreamsOptions,
): Promise<ApiAnswer | undefined> {
  const peer = await listener.admit(request);
  if ('status' in peer) return refusalForNow(codeOf(peer), peer.reason);
  if (response.destroyed) return undefined;
  const lastEventId = request.headers['last-event-id']?.toString();
  const stream = new EventStream({
    request: readEventRequest(queryOf(request), lastEventId, { streams, ...limits }),
    login: loginOf(request, peer),
    response,
    headers,
    scheduler: clock,
    closeTimeoutMs: limits.closeTimeoutSeconds * 1000,
    hasDropped: () => {
      if ('status' in link || link.state.phase !== 'connected') return false;
      return drops.of(link.state.connection.session)['slow-consumer'] !== undefined;
    },
  });
  const link = listener.serveRequest(peer, stream, request.socket);
  if ('status' in link) stream.destroy();
  else stream.begin();
  return undefined;
}

/** Each answer ends its connection, whose place is the stream's. */
function headersFor(
  { headers: { origin } }: IncomingMessage,
  allowed: AllowedOrigins,
): Readonly<Record<string, string>> {
  return {
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    // nginx passes events on at once.
    'X-Accel-Buffering': 'no',
    Connection: 'close',
    ...(origin !== undefined && isAllowedOrigin(origin, allowed) && pageHeaders(origin, allowed)),
  };
}

/**
 * A page that may connect may read the answer; one of any site not with what its browser adds by itself: cookies, and a
 * password that its user has typed [SEC-ORIGIN-1].
 */
function pageHeaders(origin: string, allowed: AllowedOrigins): Readonly<Record<string, string>> {
  if (allowed === 'any') return { 'Access-Control-Allow-Origin': '*' };
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Credentials': 'true',
    Vary: 'Origin',
  };
}

function codeOf({ status, isOfToken }: HandshakeRefusal): ProblemCode {
  if (isOfToken && (status === 401 || status === 403)) return 'BAD_TOKEN';
  if (status === 500) return 'INTERNAL_ERROR';
  if (status === 429) return 'TOO_MANY_REQUESTS';
  return status === 403 ? 'FORBIDDEN' : 'SERVICE_UNAVAILABLE';
}

/** The user name and the password of `Authorization: Basic`, for CONNECT. A token comes before them. */
function loginOf({ headers }: IncomingMessage, { identity }: Peer) {
  const [, encoded] = /^basic +([\w+/=-]+) *$/i.exec(headers.authorization ?? '') ?? [];
  if (encoded === undefined || identity !== undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64');
  const colon = decoded.indexOf(':');
  if (colon === -1) return undefined;
  return { username: decoded.subarray(0, colon).toString(), password: decoded.subarray(colon + 1) };
}
