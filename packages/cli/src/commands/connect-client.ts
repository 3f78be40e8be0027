import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { shownUrl } from '../shown-url.ts';
import { optionsFrom, reasonOf, urlFrom } from './client-flags.ts';
import { CommandError } from './command.ts';
import type { ConnectionWatch } from './connection-watch.ts';
import { explainingWebSocket, type HandshakeRefusal, refusalText } from './explaining-web-socket.ts';
import { UsageError, type Values } from './flags.ts';

/** Host names of API Gateway: a node is never there. */
const GATEWAY_HOST = /\.execute-api\.[\w-]+\.amazonaws\.com(\.cn)?$/;

/** Answers of a gateway door that asks for authentication: statuses of HTTP, and codes of CONNACK. */
const UNAUTHORIZED = [401, 403, 0x86, 0x87, 4, 5];

/** The query parameter of a token, at both doors. */
const TOKEN_PARAMETER = 'token';

type Make = () => Promise<MqttClient>;

/** The reason why there is no connection, and the server's own answer if it gave one. */
class NotConnected extends Error {
  override readonly name = 'NotConnected';
  readonly refusal: HandshakeRefusal | undefined;

  constructor(refusal: HandshakeRefusal | undefined, cause: unknown) {
    super(refusal === undefined ? reasonOf(cause) : refusalText(refusal), { cause });
    this.refusal = refusal;
  }
}

/**
 * Returns a connected client, which then reconnects by itself. If the server refuses as API Gateway does, it is a
 * gateway door, and the client uses text frames. `prepare` gets the client before it is connected: the messages of a
 * persistent session follow CONNACK at once.
 */
export async function connectClient(
  values: Values,
  more: IClientOptions,
  watch: ConnectionWatch,
  prepare: (client: MqttClient) => void,
): Promise<MqttClient> {
  const url = urlFrom(values);
  const token = values.text('token') ?? (process.env.APUS_TOKEN || undefined);
  if (token !== undefined && new URL(url).protocol.startsWith('mqtt'))
    throw new UsageError(
      '--token goes in the handshake of a WebSocket. Over TCP a token is a password: --password.',
    );
  const options = { ...optionsFrom(values), ...more };
  const node = () => connected(atNode(url, options, token, watch), watch, prepare);
  const gateway = () => connected(atGateway(url, options, token, watch), watch, prepare);
  const fail = (error: unknown, hint = ''): never => {
    throw new CommandError(`Cannot connect to ${shownUrl(url)}: ${reasonOf(error)}${hint}`, { cause: error });
  };
  if (!GATEWAY_HOST.test(new URL(url).hostname)) {
    const found = await node().catch((error: NotConnected) =>
      error.refusal?.isGateway === true ? undefined : fail(error),
    );
    if (found !== undefined) return found;
  }
  return await gateway().catch((error: NotConnected) => fail(error, hintFor(error, url, token)));
}

function atNode(
  url: string,
  options: IClientOptions,
  token: string | undefined,
  watch: ConnectionWatch,
): Make {
  const address = new URL(url);
  // The credentials travel in CONNECT.
  address.username = '';
  address.password = '';
  if (token !== undefined) address.searchParams.set(TOKEN_PARAMETER, token);
  return async () => {
    const Socket = explainingWebSocket(watch);
    return mqtt.connect(url, {
      ...options,
      // mqtt.js loses the brackets of an IPv6 address.
      createWebsocket: (_to, subprotocols, { wsOptions }) =>
        new Socket(address.href, subprotocols, wsOptions as ConstructorParameters<typeof Socket>[2]),
    });
  };
}

function atGateway(
  url: string,
  options: IClientOptions,
  token: string | undefined,
  watch: ConnectionWatch,
): Make {
  return async () => {
    const client = await import('@apus/client');
    return client.connect(mqtt, url, options, {
      // The transport itself tells how a connection ends, which it may open several sockets for.
      WebSocket: explainingWebSocket({ refused: (refusal) => watch.refused(refusal), closed() {} }),
      onEvent: (event) => watch.told(event),
      ...(token !== undefined && { token: () => token }),
    });
  };
}

/** @throws {NotConnected} */
async function connected(
  make: Make,
  watch: ConnectionWatch,
  prepare: (client: MqttClient) => void,
): Promise<MqttClient> {
  watch.refusal = undefined;
  const client = await make();
  prepare(client);
  try {
    await new Promise<void>((resolve, reject) => {
      client.once('connect', () => resolve());
      client.once('error', reject);
      // Without an error the other side has closed.
      client.once('close', () => reject(new Error('the connection was closed before CONNACK')));
    });
    watch.begin(client);
    return client;
  } catch (error) {
    // The server may give the reason for its close.
    client.on('error', () => {});
    client.end(true);
    throw new NotConnected(watch.refusal, error);
  }
}

function hintFor({ refusal, cause }: NotConnected, url: string, token: string | undefined): string {
  const code = refusal?.status ?? (cause as { readonly code?: unknown }).code;
  if (!UNAUTHORIZED.some((each) => each === code)) return '';
  if (token !== undefined || new URL(url).searchParams.has(TOKEN_PARAMETER))
    return ' (The token may be wrong.)';
  return ' (It wants a token, as `apus token` makes it: in the environment variable APUS_TOKEN, or as --token.)';
}
