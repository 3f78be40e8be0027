import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ApiFunction } from '@apus/aws/lambda';

export const API_KEY = 'the-key-of-the-operator-of-this-test';

/** The SHA-256 of the key, which the stack has. */
export const API_KEY_SHA256 = createHash('sha256').update(API_KEY).digest('hex');

/** The settings of `infra/lib/http-api.ts`: Lambda answers preflights itself, and the function sees none. */
const CORS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, PUT, DELETE',
  'access-control-allow-headers': 'authorization, content-type, apus-tenant',
};

/** The URL of a function, served in front of it. */
export interface FunctionUrl {
  readonly url: string;
  /** Requests that the function has answered, such as `GET /api/v5/clients`. */
  readonly requests: readonly string[];
  stop(): Promise<void>;
}

export async function startFunctionUrl(handler: ApiFunction): Promise<FunctionUrl> {
  const requests: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method === 'OPTIONS') {
      response.writeHead(200, CORS).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, search } = new URL(request.url ?? '/', 'http://function');
    requests.push(`${request.method} ${pathname}`);
    const headers = request.headers as Record<string, string>;
    const {
      statusCode,
      headers: given,
      body,
    } = await handler(
      {
        ...{ rawPath: pathname, rawQueryString: search.slice(1), headers },
        body: Buffer.concat(chunks).toString(),
        requestContext: { http: { method: request.method ?? '', sourceIp: '192.0.2.1' } },
      },
      { getRemainingTimeInMillis: () => 840_000 },
    );
    response.writeHead(statusCode, { ...given, ...CORS }).end(body);
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    requests,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
