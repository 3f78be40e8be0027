import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly messages: readonly { readonly id: string; readonly topic: string; readonly payload: string }[];
}

/** Answers a request; by default with 200. */
export type Answer = (request: Received, response: ServerResponse) => void;

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly requests: Received[];
  answer: Answer;
  /** Payloads of the requests that were answered 200. */
  payloads(topic?: string): string[];
  /** Cuts all connections, and refuses new ones until `start`. */
  die(): Promise<void>;
  start(): Promise<void>;
}

export const SIMPLY_OK: Answer = (_request, response) => void response.end();

export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(code, headers).end('no');

/** An HTTP server on loopback for the duration of one test. */
export async function receiver(answer: Answer = SIMPLY_OK): Promise<Receiver> {
  const requests: Received[] = [];
  const taken: Received[] = [];
  const listener = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const headers = request.headers as Record<string, string>;
    const received = { headers, body, messages: JSON.parse(body).messages };
    requests.push(received);
    response.on('close', () => {
      if (response.writableFinished && response.statusCode === 200) taken.push(received);
    });
    made.answer(received, response);
  };
  let server = createServer((request, response) => void listener(request, response).catch(() => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const made: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    requests,
    answer,
    payloads: (topic) =>
      taken
        .flatMap(({ messages }) => messages)
        .filter((message) => topic === undefined || message.topic === topic)
        .map(({ payload }) => payload),
    async die() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    async start() {
      server = createServer((request, response) => void listener(request, response).catch(() => {}));
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return made;
}
