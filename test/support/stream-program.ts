import { resume } from '@apus/client/resume';
import type { IPublishPacket, MqttClient, Packet } from 'mqtt';
import { onTestFinished } from 'vitest';
import type { Noticed, StreamMessage } from './stream-ledger.ts';

type UserProperties = Record<string, string>;

const FROM_THE_BEGINNING: UserProperties = { 'stream-offset': 'earliest' };

function said(packet: Packet): UserProperties {
  const { properties } = packet as { properties?: { userProperties?: UserProperties } };
  return { ...properties?.userProperties };
}

/** A program that reads a stream with mqtt.js and records the messages. */
abstract class Program {
  readonly noticed: Noticed[] = [];
  /** The values of `stream-recovered` in SUBACKs. */
  readonly recovered: string[] = [];
  readonly client: MqttClient;
  comesBack = true;

  constructor(client: MqttClient) {
    this.client = client;
    client.on('error', () => {});
    client.on('packetreceive', (packet) => {
      if (packet.cmd === 'suback') this.recovered.push(String(said(packet)['stream-recovered']));
    });
    onTestFinished(() => void client.end(true));
    // The transport waits for seconds, as many clients may have been cut at the same time. The connection may be there
    // again: `reconnect` would end it, and mqtt.js does not come back from an end that meets a close.
    client.on('close', () =>
      setImmediate(() => {
        if (this.comesBack && !client.connected && !client.disconnecting) client.reconnect();
      }),
    );
  }

  get messages(): StreamMessage[] {
    return this.noticed.filter((each) => each !== 'gap');
  }

  get payloads(): Set<string> {
    return new Set(this.messages.map(({ payload }) => payload));
  }

  protected note(topic: string, payload: Buffer, packet: IPublishPacket): void {
    this.noticed.push({
      topic,
      payload: payload.toString(),
      position: said(packet)['stream-position'] ?? '',
    });
  }
}

/** The program of packages/client/README.md with the helper. */
export class ResumingProgram extends Program {
  constructor(client: MqttClient, topicFilter: string, userProperties = FROM_THE_BEGINNING) {
    super(resume(client, { onGap: () => this.noticed.push('gap') }));
    client.on('message', (...message) => this.note(...message));
    client.subscribe(topicFilter, { qos: 0, properties: { userProperties } });
  }
}

/** The program without the helper: `client` is made with `resubscribe: false`. For one topic. */
export class SubscribingProgram extends Program {
  constructor(client: MqttClient, topic: string, first = FROM_THE_BEGINNING) {
    super(client);
    let position: string | undefined;
    let isReading = false;
    client.on('packetreceive', (packet) => {
      if (packet.cmd === 'suback' && said(packet)['stream-recovered'] === 'false') this.noticed.push('gap');
    });
    client.on('message', (...message) => {
      this.note(...message);
      if (isReading) position = said(message[2])['stream-position'] ?? position;
    });
    client.on('connect', () => {
      isReading = false;
      const userProperties = position === undefined ? first : { 'stream-position': position };
      client.subscribe(topic, { qos: 0, properties: { userProperties } }, (error) => {
        isReading = error === null;
      });
    });
  }
}
