import mqtt, { type IPublishPacket, type MqttClient } from 'mqtt';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cuttable, seeded } from '../support/cuttable.ts';
import { onlyAt } from '../support/only-at.ts';
import { NEEDS_OWN_DOOR, useDoor, withOptions } from './util/door-fixture.ts';

const READS = onlyAt(
  'node',
  'test/cloud/streams.test.ts cuts programs at the gateway door, which promises no order',
);

function propertiesOf({ properties }: IPublishPacket): Record<string, string> {
  return { ...(properties?.userProperties as Record<string, string> | undefined) };
}

/** A program as packages/client/README.md has it: it keeps the position and subscribes in `connect`. */
class Program {
  readonly payloads: string[] = [];
  readonly recovered: string[] = [];
  readonly client: MqttClient;
  #position: string | undefined;

  constructor(url: string, topic: string) {
    this.client = mqtt.connect(url, { protocolVersion: 5, resubscribe: false, reconnectPeriod: 5 });
    this.client.on('error', () => {});
    this.client.on('message', (_topic, payload, packet) => {
      this.#position = propertiesOf(packet)['stream-position'];
      this.payloads.push(payload.toString());
    });
    this.client.on('packetreceive', (packet) => {
      if (packet.cmd !== 'suback') return;
      const said = packet.properties?.userProperties as Record<string, string> | undefined;
      this.recovered.push(String(said?.['stream-recovered']));
    });
    this.client.on('connect', () => {
      const asked: Record<string, string> =
        this.#position === undefined
          ? { 'stream-offset': 'earliest' }
          : { 'stream-position': this.#position };
      this.client.subscribe(topic, { qos: 1, properties: { userProperties: asked } }, () => {});
    });
    onTestFinished(() => void this.client.end(true));
  }
}

describe(withOptions('A program of mqtt.js that is cut at random'), { ...NEEDS_OWN_DOOR, ...READS }, () => {
  const door = useDoor({ streams: [{ name: 'chat', topicFilter: 'chat/#', messagesMax: 10_000 }] });

  test.each([1, 2, 3])(
    'gets every message once and in order, and is told of no gap (seed %d)',
    async (seed) => {
      const next = seeded(seed);
      const topic = `chat/${seed}`;
      const way = await cuttable(door.url);
      const programs = [1, 2, 3].map(() => new Program(way.url, topic));
      const publisher = await mqtt.connectAsync(door.url, { protocolVersion: 5 });
      onTestFinished(() => void publisher.end(true));
      const sent: string[] = [];
      for (let number = 1; number <= 600; number += 1) {
        const payload = `${number} ${'x'.repeat(Math.floor(next() * 2000))}`;
        const qos = next() < 0.5 ? 0 : 1;
        sent.push(payload);
        const published = publisher.publishAsync(topic, payload, { qos });
        if (next() < 0.3) await published;
        if (next() >= 0.04) continue;
        way.cut();
        const [program] = programs;
        const before = program?.recovered.length ?? 0;
        if (next() < 0.5) await expect.poll(() => program?.recovered.length).toBeGreaterThan(before);
      }
      for (const { payloads } of programs) await expect.poll(() => payloads.length).toBe(sent.length);
      for (const { payloads, recovered } of programs) {
        expect(payloads).toEqual(sent);
        expect(new Set(recovered)).toEqual(new Set(['true']));
      }
      expect(programs.some(({ recovered }) => recovered.length > 3)).toBe(true);
    },
  );
});
