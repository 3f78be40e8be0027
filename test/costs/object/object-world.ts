import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { newFolder, startWorkerd } from '@apus/cloudflare/testing';
import { RawClient, type Received } from '../../support/raw-client.ts';
import type { Counted } from './counts.ts';

const WORKER = { file: fileURLToPath(new URL('counting-worker.ts', import.meta.url)), hub: 'CountingHub' };

/** Client identifiers of one length, so that records have the same size in any order of a run. */
const nameOf = (index: number): string => `client-${String(index).padStart(7, '0')}`;

/** A hub in `workerd` whose time passes only when it is asked to. */
export interface ObjectWorld {
  /** CONNECT with mqtt.js's Keep Alive of 60 seconds, of a session that ends with its connection unless it is kept. */
  connect(fields?: Readonly<Record<string, unknown>>): Promise<BenchClient>;
  /** CONNECT of a session that outlives its connection by an hour. */
  connectKept(clientId?: string): Promise<BenchClient>;
  pass(ms: number): Promise<void>;
  /** The hub has taken everything that clients have sent since `reset`, and no timer keeps it awake. */
  rest(): Promise<void>;
  /** The object loses its memory, and its sockets stay. */
  hibernate(): Promise<void>;
  reset(): Promise<void>;
  counted(): Promise<Counted>;
}

/** A client that sends nothing by itself. */
export class BenchClient {
  readonly #client: RawClient;
  readonly #sent: () => void;
  readonly clientId: string;

  constructor(client: RawClient, clientId: string, sent: () => void) {
    this.#client = client;
    this.clientId = clientId;
    this.#sent = sent;
  }

  send(packet: Readonly<Record<string, unknown>>): void {
    this.#sent();
    this.#client.send(packet);
  }

  next(cmd: string): Promise<Received> {
    return this.#client.expect(cmd);
  }

  async subscribe(topic: string, qos: number, userProperties?: Readonly<Record<string, string>>) {
    const properties = userProperties && { userProperties };
    this.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos }], properties });
    await this.next('suback');
  }

  async ping(): Promise<void> {
    this.send({ cmd: 'pingreq' });
    await this.next('pingresp');
  }

  async disconnect(): Promise<void> {
    this.#sent();
    await this.#client.disconnect();
  }

  lose(): void {
    this.#client.close();
  }
}

export interface Workerd {
  /** A hub of its own, without clients. */
  world(): Promise<ObjectWorld>;
  stop(): Promise<void>;
}

export async function startCounting(): Promise<Workerd> {
  const folder = newFolder();
  const workerd = await startWorkerd(1, folder, WORKER);
  let hubs = 0;
  return {
    world: async () => {
      hubs += 1;
      const world = worldOf(`127.0.0.1:${workerd.port}/hub-${hubs}`);
      // The first event creates its table.
      const first = await world.connect();
      await world.rest();
      first.lose();
      await world.reset();
      return world;
    },
    stop: async () => {
      await workerd.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function worldOf(base: string): ObjectWorld {
  let clients = 0;
  let sent = 0;
  const note = () => {
    sent += 1;
  };
  const ask = async (what: string): Promise<Counted> => {
    const answer = await fetch(`http://${base}/${what}`);
    if (!answer.ok) throw new Error(`${what}: ${await answer.text()}`);
    return (await answer.json()) as Counted;
  };
  const connect = async (fields: Readonly<Record<string, unknown>> = {}): Promise<BenchClient> => {
    clients += 1;
    const given = { clientId: nameOf(clients), keepalive: 60, ...fields };
    note();
    const { client } = await RawClient.connect(`ws://${base}/mqtt`, given);
    return new BenchClient(client, given.clientId, note);
  };
  return {
    connect,
    connectKept: (clientId) => {
      const properties = { sessionExpiryInterval: 3_600 };
      return connect({ clean: clientId === undefined, properties, ...(clientId && { clientId }) });
    },
    pass: async (ms) => void (await ask(`pass?ms=${ms}`)),
    rest: async () => {
      while ((await ask('counts')).messages < sent) await new Promise(setImmediate);
      await ask('rest');
    },
    hibernate: async () => {
      await ask('rest');
      await (await fetch(`http://${base}/evict`)).text();
    },
    reset: async () => {
      await ask('reset');
      sent = 0;
    },
    counted: () => ask('counts'),
  };
}
