import type { GivenStream } from '@apus/broker';
import type { DynamoDbFaults, Faults } from '@apus/emulated-aws';
import { type InProcessWorld, startCloudInProcess } from '../cloud/start-cloud-in-process.ts';
import { SimClient, type SimClientOptions } from './sim-client.ts';
import { Trace } from './trace.ts';
import { VirtualTime } from './virtual-time.ts';

/** The first part of a partition key tells the kind of its item. */
export const isOf = (kind: string, key: { readonly p?: { readonly S?: string } } | undefined): boolean =>
  key?.p?.S?.startsWith(`${kind}\0`) === true;

export interface HandFaults {
  readonly gateway?: Faults;
  readonly store?: DynamoDbFaults;
  /** The deployment keeps members of rooms. @default false */
  readonly hasRooms?: boolean;
  /** @default none */
  readonly streams?: readonly GivenStream[];
}

/** One history without a seed: the test decides which calls are held, and for how long. */
export class HandStage {
  readonly time = new VirtualTime(1);
  readonly received: string[] = [];
  readonly #clients: SimClient[] = [];
  #world: InProcessWorld | undefined;

  async begin(faults: HandFaults): Promise<void> {
    this.#world = await this.time.during(
      startCloudInProcess({
        seed: 1,
        ...(faults.gateway !== undefined && { faults: faults.gateway }),
        ...(faults.store !== undefined && { dynamoFaults: faults.store }),
        presence: faults.hasRooms === true,
        ...(faults.streams !== undefined && { streams: faults.streams }),
      }),
    );
  }

  /** @param withinMs the longest time to connect */
  async client(
    clientId: string,
    options: Partial<SimClientOptions> = {},
    withinMs = 500,
  ): Promise<SimClient> {
    if (this.#world === undefined) throw new Error('begin first');
    const client = new SimClient(
      this.#world.emulator,
      { clientId, sessionExpirySeconds: 0, isSingle: true, ...options },
      { message: (topic, payload) => this.received.push(`${clientId} ${topic} ${payload}`) },
      new Trace(() => this.time.nowMs),
    );
    this.#clients.push(client);
    await this.time.advance(withinMs);
    if (!client.mqtt.connected) throw new Error(`${clientId} is not connected`);
    return client;
  }

  async end(): Promise<void> {
    for (const client of this.#clients) client.stop();
    await this.time.advance(1_000);
    this.#world?.stop();
    this.time.restore();
  }
}
