import type { IncomingMessage } from 'node:http';
import type { Identity } from '@apus/broker';
import {
  type ApiAnswer,
  BULK_PATH,
  createPublishEndpoint,
  type HttpRequest,
  PUBLISH_PATH,
  publishHere,
  REQUEST_BYTES_MAX,
  TENANT_HEADER,
} from '@apus/door';
import { everythingAllowed, TENANT } from '../auth/anonymous.ts';
import { bodyOf } from './body.ts';
import type { ApiContext } from './context.ts';
import type { Handle, Handlers } from './router.ts';

/** A caller of the API may publish to every topic but the server's own. The router has checked the tenant. */
const callerOf = ({ headers }: HttpRequest): Identity => ({
  tenant: headers[TENANT_HEADER] ?? TENANT,
  name: 'api',
});

/** The endpoint of a deployment (`httpPublish`), here under the access of the whole API. */
export function publishHandlers({ broker, limits, usage }: ApiContext) {
  const endpoint = createPublishEndpoint({
    authenticate: callerOf,
    authorizer: everythingAllowed,
    limits: { topicLevelsMax: limits.topicLevelsMax, publishBytesMax: limits.maximumPacketSize },
    publish: publishHere(broker, ({ tenant, payload }) =>
      usage.add(tenant, { messagesIn: 1, bytesIn: payload.length }),
    ),
  });
  const at =
    (path: string): Handle =>
    async ({ http }): Promise<ApiAnswer> => {
      const { status, headers, body } = await endpoint(await requestOf(http, path));
      return { status, headers, body: JSON.parse(body) };
    };
  return { publish: at(PUBLISH_PATH), publishBulk: at(BULK_PATH) } satisfies Partial<Handlers>;
}

async function requestOf(http: IncomingMessage, path: string): Promise<HttpRequest> {
  const headers = Object.entries(http.headers).map(([name, value]) => [name, value?.toString()] as const);
  return {
    method: 'POST',
    path,
    headers: Object.fromEntries(headers),
    body: await bodyOf(http, REQUEST_BYTES_MAX),
  };
}
