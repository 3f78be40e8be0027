import type { IncomingMessage, RequestListener } from 'node:http';
import { API_PATH } from '@apus/api';
import type { Log, StreamDeclarations } from '@apus/broker';
import { TENANT_HEADER } from '@apus/cloud';
import { type Handshakes, isTenant } from '@apus/identity';
import { TENANT } from '../auth/anonymous.ts';
import { identifiableRequest, MQTT_PATH, pathOf } from '../handshake.ts';
import type { PeerAddresses } from '../peer-address.ts';
import type { DocumentedServer, NodeTopics } from '../topics.ts';
import { type ApiAccess, refusalOf } from './access.ts';
import { type ApiAnswer, badRequest, refusal } from './answer.ts';
import { write } from './router.ts';

const DOCUMENT_PATH = `${API_PATH}/asyncapi.json`;

export interface AsyncApiOptions {
  readonly topics: NodeTopics;
  readonly streams: StreamDeclarations | undefined;
  readonly access: ApiAccess;
  /** Checks tokens. Absent: no token is checked. */
  readonly handshakes: Handshakes | undefined;
  readonly addresses: PeerAddresses;
  /** The URL of the gateway door. */
  readonly gatewayUrl: string | undefined;
  /** Clients connect without a token. */
  readonly isOpen: boolean;
  readonly log: Log;
}

/**
 * Answers the document for developers. It is open to callers of the API, and to holders of a token with which a client
 * may connect: these see the topics of their own tenant [SEC-TENANT-4].
 */
export function withAsyncApi(handler: RequestListener, options: AsyncApiOptions): RequestListener {
  return (request, response) => {
    if (request.method !== 'GET' || pathOf(request) !== DOCUMENT_PATH) return handler(request, response);
    answer(request, options).then(
      (given) => write(response, given),
      (error: unknown) => {
        options.log.error('api-failed', { path: DOCUMENT_PATH, error: String(error) });
        write(response, refusal(500, 'INTERNAL_ERROR', 'This should not have happened: see the log.'));
      },
    );
  };
}

async function answer(request: IncomingMessage, options: AsyncApiOptions): Promise<ApiAnswer> {
  const tenant = await tenantOf(request, options);
  if (typeof tenant !== 'string') return tenant;
  const servers = serversOf(request, options);
  const streams = options.streams?.all ?? [];
  return { status: 200, body: options.topics.asyncApi({ tenant, servers, streams }) };
}

async function tenantOf(
  request: IncomingMessage,
  { access, handshakes, addresses }: AsyncApiOptions,
): Promise<string | ApiAnswer> {
  const refused = refusalOf(request, access);
  if (refused === undefined) {
    const tenant = request.headers[TENANT_HEADER] ?? TENANT;
    if (isTenant(tenant)) return tenant;
    return badRequest(`${TENANT_HEADER} has up to 64 letters, digits, ".", "_" and "-".`);
  }
  const found = await handshakes?.identify(identifiableRequest(request, addresses.of(request).address));
  if (found === undefined) return refused;
  return 'status' in found ? TOKEN_WANTED : (found.identity?.tenant ?? TOKEN_WANTED);
}

const TOKEN_WANTED = refusal(
  401,
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
