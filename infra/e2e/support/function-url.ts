import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { invoke } from './aws.ts';

interface Result {
  readonly statusCode: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Stands in for the URL of a function, which the emulator notes down and does not answer: a server that turns requests
 * into the events that Lambda makes of them (payload format 2.0). It goes when the test is over.
 */
export async function functionUrlOf(functionName: string): Promise<string> {
  const server = createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
    const body = await buffer(request);
    const {
      statusCode,
      headers,
      body: text,
    } = (await invoke(functionName, {
      version: '2.0',
      routeKey: '$default',
      rawPath: pathname,
      rawQueryString: search.slice(1),
      headers: request.headers,
      requestContext: { http: { method: request.method, path: pathname, protocol: 'HTTP/1.1' } },
      body: body.toString(),
      isBase64Encoded: false,
    })) as Result;
    response.writeHead(statusCode, headers).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}
