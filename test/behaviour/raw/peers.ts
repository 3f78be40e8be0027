import { afterAll, beforeAll } from 'vitest';
import type { Door } from '../../support/door.ts';
import { RawClient } from '../../support/raw-client.ts';
import { type DoorOptions, openDoor } from '../../support/start-door.ts';
import { unique } from '../../support/unique.ts';

export type Version = 3 | 4 | 5;
export type Fields = Record<string, unknown>;
export type Received = Awaited<ReturnType<RawClient['next']>>;

/** Clients for the tests of one file or one `describe`; all are closed after the last, so that tests may overlap. */
export interface Peers {
  url(): string;
  /** Where the HTTP API of a door of our own is. */
  httpUrl(): string;
  /** Opens the WebSocket and sends nothing. */
  open(version?: Version): Promise<RawClient>;
  /** Opens the WebSocket, sends CONNECT and returns with the CONNACK. */
  connect(connect?: Fields): Promise<{ client: RawClient; connack: Received }>;
  /** A client that has connected and subscribed to the filter at this QoS. */
  subscriber(topicFilter: string, qos?: 0 | 1 | 2): Promise<RawClient>;
  /** Removes the retained message of this topic after the last test. */
  forget(topic: string): void;
}

/** Opens a door before the tests of this block and closes it after them. */
export function usePeers(options: DoorOptions = {}): Peers {
  let door: Door | undefined;
  const clients: RawClient[] = [];
  const retainedTopics: string[] = [];
  beforeAll(async () => {
    door = await openDoor(options);
  });
  afterAll(async () => {
    for (const client of clients) client.close();
    if (retainedTopics.length > 0) await removeRetained(url(), retainedTopics);
    await door?.stop();
  });

  const url = (): string => {
    if (door === undefined) throw new Error('the door opens when the tests of the block begin');
    return door.url;
  };

  const open = async (version: Version = 5): Promise<RawClient> => {
    const client = await RawClient.open(url(), version);
    clients.push(client);
    return client;
  };

  const connect: Peers['connect'] = async (fields = {}) => {
    const version = (fields.protocolVersion ?? 5) as Version;
    const client = await open(version);
    client.send({
      cmd: 'connect',
      protocolId: version === 3 ? 'MQIsdp' : 'MQTT',
      protocolVersion: version,
      clean: true,
      clientId: unique('peer'),
      keepalive: 0,
      ...fields,
    });
    return { client, connack: await client.expect('connack') };
  };

  const subscriber: Peers['subscriber'] = async (topicFilter, qos = 0) => {
    const { client } = await connect();
    await subscribe(client, topicFilter, { qos });
    return client;
  };

  const forget = (topic: string): void => {
    retainedTopics.push(topic);
  };

  const httpUrl = (): string => {
    if (door?.httpUrl === undefined) throw new Error('only a door of our own has an HTTP API');
    return door.httpUrl;
  };

  return { url, httpUrl, open, connect, subscriber, forget };
}

async function removeRetained(url: string, topics: readonly string[]): Promise<void> {
  const { client } = await RawClient.connect(url);
  for (const topic of topics) client.send({ cmd: 'publish', topic, payload: '', qos: 0, retain: true });
  await client.expectNothing();
  await client.disconnect();
}

/** SUBSCRIBE to one filter; returns its reason code. */
export async function subscribe(
  client: RawClient,
  topicFilter: string,
  options: Fields = {},
): Promise<unknown> {
  client.send({
    cmd: 'subscribe',
    messageId: 1,
    subscriptions: [{ topic: topicFilter, qos: 0, nl: false, rap: false, rh: 0, ...options }],
  });
  const suback = await client.expect('suback');
  return (suback.granted as unknown[])[0];
}

/** PUBLISH at QoS 0, 1 or 2, with the acknowledgements waited for. */
export async function publish(client: RawClient, fields: Fields): Promise<void> {
  client.send({ cmd: 'publish', payload: '', qos: 0, retain: false, dup: false, messageId: 1, ...fields });
  if (fields.qos === 1) await client.expect('puback');
  if (fields.qos === 2) {
    await client.expect('pubrec');
    client.send({ cmd: 'pubrel', messageId: fields.messageId ?? 1 });
    await client.expect('pubcomp');
  }
}

/** The next packet must be a PUBLISH with this payload. */
export async function expectMessage(client: RawClient, payload: string): Promise<Received> {
  const message = await client.expect('publish');
  const received = String(message.payload);
  if (received !== payload) throw new Error(`expected the message "${payload}", received "${received}"`);
  return message;
}

/** DISCONNECT with this reason code, then the close. */
export async function expectDisconnect(client: RawClient, reasonCode: number): Promise<Received> {
  const packet = await client.expect('disconnect');
  if (packet.reasonCode !== reasonCode) {
    throw new Error(`expected DISCONNECT ${hex(reasonCode)}, received ${hex(packet.reasonCode)}`);
  }
  await client.expectClose();
  return packet;
}

/** The connection closes and not one packet comes before. */
export async function expectCloseWithoutPackets(client: RawClient): Promise<void> {
  await client.expectClose();
  const packet = await client.next().catch(() => undefined);
  if (packet !== undefined) throw new Error(`expected only the close, received ${JSON.stringify(packet)}`);
}

/** Properties of a packet; an empty object where it has none. */
export function propertiesOf(packet: Received): Fields {
  return (packet.properties ?? {}) as Fields;
}

function hex(code: unknown): string {
  return typeof code === 'number' ? `0x${code.toString(16)}` : String(code);
}
