import type { Authenticator } from '@apus/broker';
import { rulesOfLists } from '@apus/broker';
import type { IClientOptions, IPublishPacket, MqttClient } from 'mqtt';
import { expect, onTestFinished, vi } from 'vitest';
import { unique } from '../unique.ts';

/** `#` leaves topics that begin with `$` out. */
const ROOMS = '$presence/+/+';
export const CLIENT_EVENTS = '$SYS/brokers/+/clients/+/+';
const RULES = rulesOfLists(['#', ROOMS], ['#', ROOMS, '$occupancy/+', CLIENT_EVENTS]);

/** Lets every client in, as `TENANT/NAME` says who it is: a configuration with tokens would name both in the token. */
export const tenantsByUsername: Authenticator = {
  authenticate: ({ username = '' }) => {
    const [tenant = '', name = ''] = username.split('/');
    return { tenant, name, clientIds: ['+'], rules: RULES };
  },
};

/** How a test reaches the door under test: stock mqtt.js, through the transport where the door speaks text frames. */
export type ConnectMqtt = (options: IClientOptions) => MqttClient;

/**
 * A busy machine may keep a function of a deployment from its end: then the queue gives its message out again half a minute
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

  /** Waits until these have come, and has not been sent anything else. */
  async expectPayloads(payloads: readonly string[]): Promise<void> {
    await vi.waitFor(() => expect(this.payloads).toEqual(payloads), PATIENT);
  }

  /** The same where they may come in another order: these are sorted. */
  async expectInAnyOrder(payloads: readonly string[]): Promise<void> {
    await vi.waitFor(() => expect(this.payloads.sort()).toEqual(payloads), PATIENT);
  }

  /** Sends itself a message: when it comes, all messages sent to it before have come. */
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

  /** Nothing has come but what it has sent itself in `roundTrip`. */
  async expectNothing(): Promise<void> {
    await this.roundTrip();
    expect(this.payloads.filter((payload) => payload !== 'round trip')).toEqual([]);
  }
}
