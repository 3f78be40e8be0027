import { type NodeOptions, type RunningNode, startNode } from '@apus/node';
import mqtt, { type IClientOptions, type IPublishPacket, type MqttClient } from 'mqtt';
import { expect, onTestFinished } from 'vitest';
import { openBridges, readBridges } from '../../src/index.ts';

export const BRIDGES_PLACE = { where: 'bridges.json', directory: '.', environment: {}, nowMs: Date.now() };

/** A node at a free port for the duration of one test. */
export async function nodeForTest(options: NodeOptions = {}): Promise<RunningNode> {
  const node = await startNode({ port: 0, logLevel: 'silent', ...options });
  onTestFinished(() => node.stop());
  return node;
}

/** A node with one bridge, as a file declares it. */
export async function bridgedNode(bridge: object, options: NodeOptions = {}): Promise<RunningNode> {
  const bridges = readBridges({ bridges: [{ name: 'test', ...bridge }] }, BRIDGES_PLACE);
  return await nodeForTest({ ...options, openBridges: openBridges(bridges) });
}

export interface Collecting {
  readonly client: MqttClient;
  readonly packets: IPublishPacket[];
  texts(): string[];
}

export async function clientFor(url: string, options: IClientOptions = {}): Promise<MqttClient> {
  const client = await mqtt.connectAsync(url, { protocolVersion: 5, reconnectPeriod: 50, ...options });
  client.on('error', () => {});
  onTestFinished(async () => void (await client.endAsync(true)));
  return client;
}

/** A client that records the messages that it receives. */
export async function collector(
  url: string,
  filter: string,
  options: IClientOptions = {},
): Promise<Collecting> {
  const client = await clientFor(url, options);
  const packets: IPublishPacket[] = [];
  client.on('message', (_topic, _payload, packet) => packets.push(packet));
  await client.subscribeAsync(filter, { qos: 2, rap: true });
  return { client, packets, texts: () => packets.map(({ payload }) => payload.toString()) };
}

export interface BridgeStatus {
  readonly name: string;
  readonly status: string;
  readonly last_error: string | null;
  readonly in: Readonly<Record<string, number>>;
  readonly out: Readonly<Record<string, number>>;
}

export async function statusOf(node: Pick<RunningNode, 'httpUrl'>): Promise<BridgeStatus> {
  const response = await fetch(new URL('/api/v5/bridges', node.httpUrl));
  const { data } = (await response.json()) as { readonly data: readonly BridgeStatus[] };
  const [status] = data;
  if (status === undefined) throw new Error('the node has no bridge');
  return status;
}

export async function untilConnected(node: Pick<RunningNode, 'httpUrl'>): Promise<void> {
  await expect.poll(async () => (await statusOf(node)).status).toBe('connected');
}
