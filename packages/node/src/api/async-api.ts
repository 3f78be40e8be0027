import type { IncomingMessage, RequestListener } from 'node:http';
import { API_PATH } from '@apus/api';
import {
  type Authorizer,
  type Ban,
  type Bans,
  banOnCaller,
  type Identity,
  type Log,
  type StreamDeclarations,
  sentenceOf,
  withHost,
} from '@apus/broker';
import { type ApiAnswer, refusal, TENANT_HEADER } from '@apus/door';
import { type Handshakes, isTenant } from '@apus/identity';
import { TENANT } from '../auth/anonymous.ts';
import { identifiableRequest, MQTT_PATH, pathOf } from '../handshake.ts';
import type { PeerAddresses } from '../peer-address.ts';
import type { DocumentedServer, DocumentReader, NodeTopics } from '../topics.ts';
import { type ApiAccess, refusalOf } from './access.ts';
import { write } from './router.ts';

const DOCUMENT_PATH = `${API_PATH}/asyncapi.json`;

export interface AsyncApiOptions {
  readonly topics: NodeTopics;
  readonly streams: StreamDeclarations | undefined;
  readonly access: ApiAccess;
  /** Checks tokens. Absent: no token is checked. */
  readonly handshakes: Handshakes | undefined;
  readonly authorizer: Authorizer;
  readonly bans: Bans;
  readonly addresses: PeerAddresses;
  /** The URL of the gateway door. */
  readonly gatewayUrl: string | undefined;
  /** Clients connect without a token. */
  readonly isOpen: boolean;
  readonly log: Log;
}

/**
 * Answers the document for developers. It is open to callers of the API, and to holders of a token with which a client
 * may connect: these see the topics of their own tenant [SEC-TENANT-4], as far as their rules reach [SEC-WAY-1].
 */
export function withAsyncApi(handler: RequestListener, options: AsyncApiOptions): RequestListener {
  return (request, response) => {
    if (request.method !== 'GET' || pathOf(request) !== DOCUMENT_PATH) return handler(request, response);
    answer(request, options).then(
      (given) => write(response, given),
      (error: unknown) => {
        options.log.error('api-failed', { path: DOCUMENT_PATH, error: String(error) });
        write(response, refusal('INTERNAL_ERROR', 'This should not have happened: see the log.'));
      },
    );
  };
}

async function answer(request: IncomingMessage, options: AsyncApiOptions): Promise<ApiAnswer> {
  const caller = await callerOf(request, options);
  if ('status' in caller) return withTokenHelp(caller, options.topics);
  const context = {
    tenant: caller.tenant,
    servers: serversOf(request, options),
    streams: options.streams?.all ?? [],
  };
  const { topics, authorizer } = options;
  const body =
    'name' in caller
      ? await topics.asyncApiFor(readerOf(authorizer, caller), context)
      : topics.asyncApi(context);
  return { status: 200, body };
}

/** A developer without a token reads how to get one. */
function withTokenHelp(refused: ApiAnswer, { tokenHelp }: NodeTopics): ApiAnswer {
  if (refused.status !== 401 || tokenHelp === undefined) return refused;
  return { ...refused, body: { ...refused.body, 'x-apus-token': tokenHelp } };
}

/** The identity of a token, or the tenant of a caller who may use the whole API. */
async function callerOf(
  request: IncomingMessage,
  { access, handshakes, addresses, authorizer, bans, log }: AsyncApiOptions,
): Promise<Identity | { readonly tenant: string } | ApiAnswer> {
  const refused = refusalOf(request, access, log);
  if (refused === undefined) {
    const tenant = request.headers[TENANT_HEADER] ?? TENANT;
    if (isTenant(tenant)) return { tenant };
    return refusal('BAD_REQUEST', `${TENANT_HEADER} has up to 64 letters, digits, ".", "_" and "-".`);
  }
  const peer = addresses.of(request);
  const ban = banOnCaller(bans, undefined, peer.host);
  if (ban !== undefined) return banned(ban);
  const found = await handshakes?.identify(identifiableRequest(request, peer.address));
  if (found === undefined) return refused;
  if ('status' in found || found.identity === undefined) return TOKEN_WANTED;
  const banOnIdentity = banOnCaller(bans, found.identity, peer.host);
  if (banOnIdentity !== undefined) return banned(banOnIdentity);
  return withHost({ ports: { authorizer } }, found.identity, peer);
}

function banned(ban: Ban): ApiAnswer {
  return refusal('FORBIDDEN', `Refused: ${sentenceOf(ban)}.`);
}

/** What a client may do that has the identity and its name as identifier. */
function readerOf(authorizer: Authorizer, identity: Identity): DocumentReader {
  const maySubscribe = (filter: string, qos: 0 | undefined) =>
    authorizer.maySubscribe(identity, identity.name, filter, { qos, shareGroup: undefined });
  return {
    mayReach: (filter, action) =>
      authorizer.mayReach?.(identity, identity.name, filter, action) ??
      (action === 'subscribe' && maySubscribe(filter, 0)),
    mayReceive: (topicName) => maySubscribe(topicName, undefined),
  };
}

const TOKEN_WANTED = refusal(
  'BAD_TOKEN',
  'Send a token with which a client may connect: Authorization: Bearer TOKEN',
);

/** The addresses of the doors, with the host name by which the caller has reached this one. */
function serversOf(
  { headers }: IncomingMessage,
  { gatewayUrl, isOpen }: AsyncApiOptions,
): DocumentedServer[] {
  const base = `ws://${headers.host ?? ''}`;
  const own = URL.canParse(base) ? new URL(MQTT_PATH, base) : undefined;
  if (own === undefined) return [];
  const servers: DocumentedServer[] = [{ name: 'node', url: own.href, door: 'node', isOpen }];
  if (gatewayUrl === undefined) return servers;
  const gateway = new URL(gatewayUrl);
  gateway.hostname = own.hostname;
  return [...servers, { name: 'gateway', url: gateway.href, door: 'gateway', isOpen }];
}
