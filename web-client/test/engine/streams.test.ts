import { startDoors } from '@apus/cli';
import { connectAsync, type MqttClient } from 'mqtt';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { cuttable, type Way } from '../../../test/support/cuttable.ts';
import { streamFacts } from '../../src/engine/stream-reading.ts';
import type { Door, LogMark, Subscription } from '../../src/engine/types.ts';
import { profileFor, subscriptionFor, TestConnection, urlOf } from '../support/engine.ts';

const DOORS: readonly Door[] = ['node', 'gateway'];

const STREAMS = [
  { name: 'chat', topicFilter: 'chat/#' },
  { name: 'few', topicFilter: 'few/+', messagesMax: 2 },
];

/** The transport waits as shortly as it may. */
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

async function startWithStreams(door: Door): Promise<readonly [Way, MqttClient]> {
  const node = await startDoors({ port: 0, gatewayPort: 0, streams: STREAMS });
  onTestFinished(() => node.stop());
  const other = await connectAsync(node.url, { protocolVersion: 5 });
  onTestFinished(() => other.endAsync(true));
  return [await cuttable(urlOf(node, door)), other];
}

async function publish(client: MqttClient, topic: string, payloads: readonly string[]): Promise<void> {
  for (const payload of payloads) await client.publishAsync(topic, payload, { qos: 1 });
}

function reads({ url }: Way, door: Door, subscription: Subscription): TestConnection {
  const profile = profileFor(url, {
    door,
    reconnectPeriodMs: 500,
    subscriptions: [subscription],
  });
  return new TestConnection(profile).open();
}

const shown = ({ received }: TestConnection) =>
  received.map((message) => [message.text(), streamFacts(message.properties)?.kind ?? 'live']);

const marksOf = ({ connection }: TestConnection): LogMark[] =>
  connection.messages.marks.map(({ mark }) => mark);

/** It is cut, and granted again when `meanwhile` has been done. */
async function cutAround(
  test: TestConnection,
  way: Way,
  id: string,
  meanwhile: () => Promise<void>,
): Promise<void> {
  way.break();
  await meanwhile();
  way.mend();
  // The transport tells of the loss when it has asked in vain to go on.
  await test.until(() => marksOf(test).some(({ kind }) => kind === 'away'));
  await test.granted(id);
}

describe.each(DOORS)('at the %s door', (door) => {
  test('a subscription begins in the past of a stream, and goes on from there after a loss', async () => {
    const [way, other] = await startWithStreams(door);
    await publish(other, 'chat/room', ['1', '2', '3']);
    const subscription = subscriptionFor('chat/room', { userProperties: [['rewind', '2']] });
    const test = reads(way, door, subscription);
    await test.until(({ received }) => received.length === 2);
    await publish(other, 'chat/room', ['4']);
    await test.until(({ received }) => received.length === 3);
    expect(test.status?.subscriptions[subscription.id]).toMatchObject({ status: 'granted', isWhole: true });
    await cutAround(test, way, subscription.id, () => publish(other, 'chat/room', ['5', '6']));
    await test.until(({ received }) => received.length === 5);
    const all = shown(test);
    expect(all.map(([payload]) => payload)).toEqual(['2', '3', '4', '5', '6']);
    expect(all.map(([, kind]) => kind)).toEqual([
      'historical',
      'historical',
      'live',
      'recovered',
      'recovered',
    ]);
    expect(marksOf(test)).toEqual([
      expect.objectContaining({ kind: 'away', readsStreams: true }),
      expect.objectContaining({ kind: 'stream', filter: 'chat/room', isRecovered: true, count: 2 }),
    ]);
  });

  test('a gap that the broker cannot close is marked where it is', async () => {
    const [way, other] = await startWithStreams(door);
    await publish(other, 'few/room', ['1']);
    const subscription = subscriptionFor('$stream/few', { userProperties: [['rewind', '1']] });
    const test = reads(way, door, subscription);
    await test.until(({ received }) => received.length === 1);
    await cutAround(test, way, subscription.id, () =>
      publish(other, 'few/room', ['2', '3', '4', '5', '6', '7']),
    );
    await test.until(({ received }) => received.at(-1)?.text() === '7');
    expect(shown(test)).toEqual([
      ['1', 'historical'],
      ['7', 'snapshot'],
    ]);
    expect(marksOf(test)).toContainEqual(
      expect.objectContaining({ kind: 'stream', filter: '$stream/few', isRecovered: false }),
    );
    expect(test.status?.subscriptions[subscription.id]?.isWhole).toBe(false);
    // It is known whose messages they are, though the filter names no topic.
    expect(test.received.at(-1)?.subscriptionIds).toEqual([subscription.id]);
  });

  test('another beginning is read at once', async () => {
    const [way, other] = await startWithStreams(door);
    await publish(other, 'chat/room', ['1', '2', '3']);
    const subscription = subscriptionFor('chat/room', { userProperties: [['rewind', '1']] });
    const test = reads(way, door, subscription);
    await test.until(({ received }) => received.length === 1);
    test.connection.setSubscriptions([{ ...subscription, userProperties: [['stream-offset', 'earliest']] }]);
    await test.until(({ received }) => received.length === 4);
    expect(shown(test).map(([payload]) => payload)).toEqual(['3', '1', '2', '3']);
  });
});
