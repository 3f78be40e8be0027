import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request in EMQX's form. */
export interface HookCall {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export type Respond = (call: HookCall, response: ServerResponse) => void;

/** A server of the operator, which accepts only EMQX's requests. */
export interface HookServer {
  readonly url: string;
  readonly calls: HookCall[];
  respond: Respond;
  stop(): Promise<void>;
}

export async function startHookServer(): Promise<HookServer> {
  const server = createServer((request, response) => void serve(hook, request, response));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const hook: HookServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls: [],
    respond: (_, response) => answer(response, { result: 'ignore' }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return hook;
}

export function answer(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function serve(hook: HookServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  const problem = problemOf(request, text);
  if (problem !== undefined) {
    answer(response, { result: 'deny', problem }, 400);
    throw new Error(problem);
  }
  const call = { path: request.url ?? '', body: JSON.parse(text) as HookCall['body'] };
  hook.calls.push(call);
  hook.respond(call, response);
}

function problemOf({ method, headers }: IncomingMessage, text: string): string | undefined {
  if (method !== 'POST') return `the method is ${method}`;
  if (headers['content-type'] !== 'application/json') return `the body is ${headers['content-type']}`;
  if (headers.accept !== 'application/json') return `accepted is ${headers.accept}`;
  const texts = Object.values(JSON.parse(text) as object);
  return texts.every((value) => typeof value === 'string') ? undefined : `not all are texts: ${text}`;
}
