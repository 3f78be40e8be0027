import { type RunningDoors, startDoors } from '@apus/cli';
import { afterAll, beforeAll } from 'vitest';
import { RawClient, type Received } from '../support/raw-client.ts';
import { type Fields, TextClient } from '../support/text-client.ts';
import { unique } from '../support/unique.ts';

export type DoorOfClient = 'node' | 'gateway';
export const DOORS: readonly DoorOfClient[] = ['node', 'gateway'];

/** A client of either door, for tests that hold at both. */
export interface Client {
  readonly door: DoorOfClient;
  readonly connack: Received;
  /**
   * Sends packets and waits until the broker has handled them. Returns their answers, and the client's own messages.
   */
  exchange(...packets: Fields[]): Promise<readonly Received[]>;
  /** The next packet that answers no packet of the client. */
  next(): Promise<Received>;
  expectNothing(): Promise<void>;
  expectClose(): Promise<number>;
  vanish(): Promise<void>;
}

/** Both doors of one node, over the same stores. */
export interface Doors {
  readonly node: RunningDoors;
  connect(door: DoorOfClient, fields?: Fields): Promise<Client>;
}

export function useDoors(options: Parameters<typeof startDoors>[0] = {}): Doors {
  let node: RunningDoors | undefined;
  beforeAll(async () => {
    node = await startDoors({ ...options, port: 0, gatewayPort: 0 });
  });
  afterAll(() => node?.stop());
  const running = (): RunningDoors => {
    if (node === undefined) throw new Error('the doors open when the tests begin');
    return node;
  };
  return {
    get node() {
      return running();
    },
    connect: async (door, fields = {}) => {
      const all = { clientId: unique(door), ...fields };
      return door === 'node' ? await connectNode(running(), all) : await connectGateway(running(), all);
    },
  };
}

async function connectNode(node: RunningDoors, fields: Fields): Promise<Client> {
  const { client, connack } = await RawClient.connect(node.url, fields);
  return {
    door: 'node',
    connack,
    exchange: async (...packets) => {
      for (const packet of packets) client.send(packet);
      client.send({ cmd: 'pingreq' });
      const answers: Received[] = [];
      for (;;) {
        const packet = await client.next();
        if (packet.cmd === 'pingresp') return answers;
        answers.push(packet);
      }
    },
    next: () => client.next(),
    expectNothing: () => client.expectNothing(),
    expectClose: () => client.expectClose(),
    vanish: () => client.vanish(),
  };
}

async function connectGateway(node: RunningDoors, fields: Fields): Promise<Client> {
  const { client, reply } = await TextClient.connect(node.gateway?.url ?? '', fields);
  const [connack, ...others] = reply.packets;
  if (connack === undefined) throw new Error('the reply to CONNECT is empty');
  const waiting: Received[] = [...others];
  return {
    door: 'gateway',
    connack,
    exchange: async (...packets) => (await client.exchange(...packets)).packets,
    next: async () => {
      if (waiting.length === 0) waiting.push(...(await client.pushes.next()).packets);
      const packet = waiting.shift();
      if (packet === undefined) throw new Error('a push without a packet came');
      return packet;
    },
    expectNothing: async () => {
      await client.expectNoPush();
      if (waiting.length > 0) throw new Error(`expected nothing, ${waiting.length} packets wait`);
    },
    expectClose: () => client.expectClose(),
    vanish: () => client.vanish(),
  };
}
