import type { Socket } from 'node:net';
import { ApiGatewayManagementApiClient } from '@aws-sdk/client-apigatewaymanagementapi';
import { onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import {
  type CreateEnvironment,
  type Emulator,
  type EmulatorOptions,
  type Environment,
  type Handlers,
  ManualClock,
  startEmulator,
} from '../src/index.ts';

export const ok = { statusCode: 200 };

/** Handlers that accept every client and echo its messages. */
export const echo: Handlers = {
  connect: async () => ok,
  default: async (event) => ({ ...ok, body: event.body }),
  disconnect: async () => ok,
};

export interface TestEmulator extends Emulator {
  readonly clock: ManualClock;
}

/** An emulator with a clock that stands still, a fixed seed, and `echo` unless other handlers are given. */
export async function start(
  handlers: Partial<Handlers> | ((environment: Environment) => Partial<Handlers>) = {},
  options: Partial<EmulatorOptions> = {},
): Promise<TestEmulator> {
  const clock = new ManualClock();
  const createEnvironment: CreateEnvironment<Handlers> = (environment) => ({
    ...echo,
    ...(typeof handlers === 'function' ? handlers(environment) : handlers),
  });
  const emulator = await startEmulator({ clock, seed: 1, createEnvironment, ...options });
  onTestFinished(() => emulator.stop());
  return Object.assign(emulator, { clock });
}

export interface Close {
  readonly code: number;
  readonly reason: string;
}

/** A real WebSocket client whose messages wait in a queue: a test asks for the next one and never sleeps. */
export class Client {
  readonly socket: WebSocket;
  readonly closed: Promise<Close>;
  readonly #received: string[] = [];
  readonly #asking: ((message: string) => void)[] = [];

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      const message = String(data);
      const asking = this.#asking.shift();
      if (asking === undefined) this.#received.push(message);
      else asking(message);
    });
    socket.on('error', () => {});
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
    });
  }

  static async open(url: string, protocols: string[] = [], options: ClientOptions = {}): Promise<Client> {
    const client = new Client(new WebSocket(url, protocols, options));
    await new Promise((resolve, reject) => client.socket.on('open', resolve).on('error', reject));
    return client;
  }

  /** Messages that have come and that the test has not asked for yet. */
  get received(): readonly string[] {
    return this.#received;
  }

  send(message: string): void {
    this.socket.send(message);
  }

  /** Sends several messages in one write, so that the server reads them at once. */
  sendTogether(messages: readonly string[]): void {
    const { _socket: tcp } = this.socket as unknown as { readonly _socket: Socket };
    tcp.cork();
    for (const message of messages) this.socket.send(message);
    tcp.uncork();
  }

  next(): Promise<string> {
    const message = this.#received.shift();
    if (message !== undefined) return Promise.resolve(message);
    return new Promise((resolve) => this.#asking.push(resolve));
  }

  async nextMessages(count: number): Promise<string[]> {
    const messages: string[] = [];
    while (messages.length < count) messages.push(await this.next());
    return messages;
  }
}

/** How a handshake was refused. */
export function refusal(
  url: string,
  protocols: string[] = [],
  options: ClientOptions = {},
): Promise<{ status: number | undefined; body: string }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, protocols, options);
    socket.on('open', () => reject(new Error('The handshake was not refused')));
    socket.on('error', reject);
    socket.on('unexpected-response', async (_request, response) => {
      let body = '';
      for await (const chunk of response) body += chunk;
      resolve({ status: response.statusCode, body });
    });
  });
}

/** AWS's own client, signing with the credentials of an environment, or of a caller outside Lambda. */
export function managementClient(
  emulator: Pick<Emulator, 'managementEndpoint' | 'region' | 'credentials'>,
): ApiGatewayManagementApiClient;
export function managementClient(environment: Environment): ApiGatewayManagementApiClient;
export function managementClient(
  caller: Environment | Pick<Emulator, 'managementEndpoint' | 'region' | 'credentials'>,
): ApiGatewayManagementApiClient {
  const credentials =
    'credentials' in caller
      ? caller.credentials
      : {
          accessKeyId: caller.variables.AWS_ACCESS_KEY_ID ?? '',
          secretAccessKey: caller.variables.AWS_SECRET_ACCESS_KEY ?? '',
          sessionToken: caller.variables.AWS_SESSION_TOKEN ?? '',
        };
  return new ApiGatewayManagementApiClient({
    endpoint: caller.managementEndpoint,
    region: 'region' in caller ? caller.region : (caller.variables.AWS_REGION ?? ''),
    credentials: credentials,
    maxAttempts: 1,
  });
}

/** A promise and its resolver, for a test that decides when something goes on. */
export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((resolvePromise) => {
    resolve = resolvePromise;
  });
  return { promise, resolve };
}

/** Waits for what the other end of a socket will see soon: turns the event loop, no timer, until it is so. */
export async function eventually(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise(setImmediate);
}
