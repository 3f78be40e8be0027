import type { Authenticator } from '@apus/broker';
import { rulesOfLists } from '@apus/broker';
import type { IClientOptions, IPublishPacket, MqttClient } from 'mqtt';
import { expect, onTestFinished, vi } from 'vitest';
import { unique } from '../unique.ts';

/** `#` does not match topics that begin with `$`. */
const ROOMS = '$presence/+/+';
export const CLIENT_EVENTS = '$SYS/brokers/+/clients/+/+';
const RULES = rulesOfLists(['#', ROOMS], ['#', ROOMS, '$occupancy/+', CLIENT_EVENTS]);

/**
 * Admits every client, with the identity `TENANT/NAME` that it claims: a real configuration would take both from the
 * token.
 */
export const tenantsByUsername: Authenticator = {
  authenticate: ({ username = '' }) => {
    const [tenant = '', name = ''] = username.split('/');
    return { tenant, name, clientIds: ['+'], rules: RULES };
  },
};

/** How a test connects to the door under test: with mqtt.js, through the transport if the door speaks text frames. */
export type ConnectMqtt = (options: IClientOptions) => MqttClient;

/**
 * A busy machine may delay the end of a deployment's function: then the queue delivers its message again half a minute
 * later.
 */
const PATIENT = { timeout: 60_000, interval: 20 };

/** A connected program of a tenant. */
export class Program {
  readonly mqtt: MqttClient;
  readonly received: IPublishPacket[] = [];
  isSessionPresent: boolean | undefined;

  constructor(connectMqtt: ConnectMqtt, tenant: string, options: IClientOptions = {}) {
    this.mqtt = connectMqtt({
      protocolVersion: 5,
      reconnectPeriod: 0,
      resubscribe: false,
      username: `${tenant}/ann`,
      password: '-',
      ...options,
    });
    this.mqtt.on('error', () => {});
    this.mqtt.on('message', (_topic, _payload, packet) => this.received.push(packet));
    onTestFinished(() => void this.mqtt.end(true));
  }

  async connected(): Promise<this> {
    this.isSessionPresent = await new Promise<boolean>((resolve, reject) => {
      this.mqtt.once('connect', ({ sessionPresent }) => resolve(sessionPresent));
      this.mqtt.once('error', reject);
    });
    return this;
  }

  get payloads(): string[] {
    return this.received.map(({ payload }) => payload.toString());
  }

  /** Waits until exactly these have come. */
  async expectPayloads(payloads: readonly string[]): Promise<void> {
    await vi.waitFor(() => expect(this.payloads).toEqual(payloads), PATIENT);
  }

  /** The same in any order: the payloads are sorted. */
  async expectInAnyOrder(payloads: readonly string[]): Promise<void> {
    await vi.waitFor(() => expect(this.payloads.sort()).toEqual(payloads), PATIENT);
  }

  /** Sends a message to itself: when it comes, all messages sent to it before have come. */
  async roundTrip(): Promise<void> {
    const topic = unique('round-trip');
    await this.mqtt.subscribeAsync(topic, { qos: 1 });
    const back = new Promise<void>((resolve) => {
      const look = (received: string) => {
        if (received !== topic) return;
        this.mqtt.off('message', look);
        resolve();
      };
      this.mqtt.on('message', look);
    });
    await this.mqtt.publishAsync(topic, 'round trip', { qos: 1 });
    await back;
    await this.mqtt.unsubscribeAsync(topic);
  }

  /** Expects that only its own messages of `roundTrip` have come. */
  async expectNothing(): Promise<void> {
    await this.roundTrip();
    expect(this.payloads.filter((payload) => payload !== 'round trip')).toEqual([]);
  }
}
