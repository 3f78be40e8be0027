import { readFileSync } from 'node:fs';
import { connect, createTransport } from '@apus/client';
import { billOf } from '@apus/cost';
import { type Emulator, ManualClock } from '@apus/emulated-aws';
import mqtt, { type MqttClient } from 'mqtt';
import { afterEach, describe, expect, it } from 'vitest';
import { billedMessages, startGateway } from './gateway.ts';
import { NaiveClient } from './naive-client.ts';

const MINUTES_A_DAY = 24 * 60;
/** API Gateway ends a connection at this age. */
const CONNECTION_MINUTES = 120;
const FILTER = { topic: 'orders/7', qos: 1 } as const;

/** The figures of a row of docs/costs.md, which must equal the measured ones. */
function documentedRow(row: string): readonly number[] {
  const page = readFileSync(new URL('../../docs/costs.md', import.meta.url), 'utf8');
  const line = page.split('\n').find((each) => each.startsWith(`| ${row} |`)) ?? '';
  return line
    .split('|')
    .slice(2, -1)
    .map((cell) => Number(cell.trim().replaceAll(/[$,]/g, '')));
}

function documented(row: string, column: 'naive' | 'apus'): number {
  return documentedRow(row)[column === 'naive' ? 0 : 1] ?? Number.NaN;
}

/** Dollars for a thousand clients and 30 days: messages, connection-minutes, together. */
function dollarsOf(messagesPerDay: number): readonly number[] {
  const clientDays = 1_000 * 30;
  const messages = billOf({ gatewayMessagesIn: messagesPerDay * clientDays }).usd;
  const minutes = billOf({ connectionMinutes: MINUTES_A_DAY * clientDays }).usd;
  return [messages, minutes, messages + minutes].map((usd) => Number(usd.toFixed(2)));
}

let emulator: Emulator;
const clients: MqttClient[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
  await emulator.stop();
});

function connected(client: MqttClient): Promise<void> {
  return new Promise((resolve) => client.once('connect', () => resolve()));
}

async function open(clock?: ManualClock): Promise<{ client: MqttClient; quiet: () => Promise<void> }> {
  const transport = createTransport(
    clock && {
      // The clock moves at the middle between the earliest and the latest moment.
      random: () => 0.5,
      timers: {
        now: () => clock.now(),
        setTimeout: (callback, milliseconds) => clock.setTimer(milliseconds, callback),
        clearTimeout: (cancel) => (cancel as () => void)?.(),
        defer: setImmediate,
      },
    },
  );
  // The transport answers mqtt.js's own pings without a frame. Without them the test needs one clock only.
  const client = connect(mqtt, emulator.url, { keepalive: 0, clean: true }, transport);
  clients.push(client);
  await connected(client);
  await client.subscribeAsync(FILTER.topic, { qos: FILTER.qos });
  const isQuiet = () => {
    const { messages } = emulator.counters.snapshot();
    const { framesSent, framesReceived } = transport.statistics;
    return client.connected && framesSent === messages.in.count && framesReceived >= messages.replies.count;
  };
  const quiet = async () => {
    do await new Promise(setImmediate);
    while (!isQuiet());
    await emulator.quiet();
  };
  return { client, quiet };
}

describe('an idle client, for a day', () => {
  it('costs as much as docs/costs.md says, and at most a quarter of naive frames', async () => {
    const clock = new ManualClock();
    emulator = await startGateway(clock);
    const { client, quiet } = await open(clock);
    client.on('connect', () => void client.subscribeAsync(FILTER.topic, { qos: FILTER.qos }));
    for (let minute = 0; minute < MINUTES_A_DAY; minute += 1) {
      await clock.advance(60_000);
      await quiet();
    }
    const apus = billedMessages(emulator);
    expect(apus).toBe(documented('Idle client, a day', 'apus'));
    expect(await naiveDay()).toBe(documented('Idle client, a day', 'naive'));
    expect(documented('Idle client, a day', 'naive') / apus).toBeGreaterThanOrEqual(4);
    expect(documentedRow('Apus')).toEqual(dollarsOf(apus));
    expect(documentedRow('naive frames')).toEqual(dollarsOf(documented('Idle client, a day', 'naive')));
  }, 60_000);

  async function naiveDay(): Promise<number> {
    await Promise.all(clients.splice(0).map((client) => client.endAsync(true)));
    await emulator.stop();
    const clock = new ManualClock();
    emulator = await startGateway(clock);
    for (let opened = 0; opened < MINUTES_A_DAY / CONNECTION_MINUTES; opened += 1) {
      const client = await NaiveClient.connect(emulator.url, 'naive');
      await client.ask({ cmd: 'subscribe', messageId: 1, subscriptions: [FILTER] });
      for (let minute = 1; minute < CONNECTION_MINUTES; minute += 1) {
        await clock.advance(60_000);
        await client.ask({ cmd: 'pingreq' });
      }
      await clock.advance(60_000);
      await client.closed();
      await emulator.quiet();
    }
    return billedMessages(emulator);
  }
});

describe('a QoS 1 message from one client to another', () => {
  it('costs as much as docs/costs.md says, and at most 3 billed messages', async () => {
    emulator = await startGateway();
    const { client: subscriber } = await open();
    const { client: publisher } = await open();
    await publisher.unsubscribeAsync(FILTER.topic);
    await emulator.quiet();
    emulator.counters.reset();
    const received = new Promise((resolve) => subscriber.once('message', resolve));
    await publisher.publishAsync(FILTER.topic, 'x', { qos: 1 });
    await received;
    await emulator.quiet();
    const apus = billedMessages(emulator);
    expect(apus).toBe(documented('QoS 1 message, 1:1', 'apus'));
    expect(apus).toBeLessThanOrEqual(3);
  });

  it('costs one more with naive frames: the PUBACK of a session that queues nothing', async () => {
    emulator = await startGateway();
    const subscriber = await NaiveClient.connect(emulator.url, 'subscriber');
    await subscriber.ask({ cmd: 'subscribe', messageId: 1, subscriptions: [FILTER] });
    const publisher = await NaiveClient.connect(emulator.url, 'publisher');
    emulator.counters.reset();
    const received = subscriber.next();
    await publisher.ask({ cmd: 'publish', ...FILTER, payload: 'x', messageId: 2 });
    await received;
    // A frame that asks for no reply is billed, too.
    subscriber.tell({ cmd: 'puback', messageId: 1 }, ',');
    while (emulator.counters.snapshot().messages.in.count < 2) await new Promise(setImmediate);
    await emulator.quiet();
    expect(billedMessages(emulator)).toBe(documented('QoS 1 message, 1:1', 'naive'));
    for (const client of [subscriber, publisher]) client.close();
  });

  it('costs less than 1 billed message each when they gather behind a reply', async () => {
    emulator = await startGateway();
    const { client: subscriber } = await open();
    const { client: publisher } = await open();
    await publisher.unsubscribeAsync(FILTER.topic);
    emulator.counters.reset();
    const count = 500;
    let received = 0;
    const all = new Promise<void>((resolve) => {
      subscriber.on('message', () => {
        received += 1;
        if (received === count) resolve();
      });
    });
    // Messages published while the transport awaits a reply leave in one frame, on a machine of any speed.
    for (let burst = 0; burst < count; burst += 10) {
      await Promise.all(
        Array.from({ length: 10 }, () => publisher.publishAsync(FILTER.topic, 'x', { qos: 1 })),
      );
    }
    await all;
    await emulator.quiet();
    expect(billedMessages(emulator) / count).toBeLessThan(1);
  });
});
