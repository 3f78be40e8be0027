import { beforeEach, describe, expect, test } from 'vitest';
import { disconnect, Harness, publish } from './support/harness.ts';

const DISCONNECT_CODE = 4001;

let harness: Harness;

beforeEach(() => {
  harness = new Harness();
});

/** A connection whose CONNACK has come, with what the server takes of the offer. */
async function connected(taken: string, connect = {}, version: 4 | 5 = 4): Promise<void> {
  await harness.open(connect, version, 'mqtt-text-v1.1');
  const connack = harness.bytes([
    { cmd: 'connack', returnCode: 0, reasonCode: 0, sessionPresent: false } as never,
  ]);
  await harness.say(`(${taken}):${connack.toString('base64')}`);
  harness.gateway.texts.length = 0;
}

describe('DISCONNECT in the close (14)', () => {
  test.each([4, 5] as const)('replaces the frame by a close code, MQTT %i', async (version) => {
    await connected('close', {}, version);
    await harness.write(disconnect);
    expect(harness.sent).toEqual([]);
    expect(harness.gateway.closedWith?.code).toBe(DISCONNECT_CODE);
    harness.gateway.end(DISCONNECT_CODE);
    await harness.clock.runDue();
    expect(harness.closes).toHaveLength(1);
    expect(harness.errors).toEqual([]);
  });

  test('is a frame for a server that does not take it', async () => {
    await connected('nudge,move,resume');
    await harness.write(disconnect);
    expect(harness.sent).toEqual(['disconnect']);
    expect(harness.gateway.closedWith).toBeUndefined();
  });

  test('waits for the reply to packets written before', async () => {
    await connected('close');
    await harness.write(publish('a', 1));
    await harness.write(disconnect);
    expect(harness.gateway.closedWith).toBeUndefined();
    await harness.reply([{ cmd: 'puback', messageId: 1 }]);
    expect(harness.sent).toEqual(['a']);
    expect(harness.gateway.closedWith?.code).toBe(DISCONNECT_CODE);
  });

  test('is a frame if other packets leave with it', async () => {
    await connected('close');
    await harness.write(publish('a', 1), disconnect);
    expect(harness.sent).toEqual(['a disconnect']);
    expect(harness.gateway.closedWith).toBeUndefined();
  });

  test.each([
    ['is kept', { clean: false }, 4],
    ['outlives its connection', { properties: { sessionExpiryInterval: 9 } }, 5],
  ] as const)('closes with its code also where the session %s', async (_, fields, version) => {
    await connected('close', fields, version);
    await harness.write(disconnect);
    expect(harness.sent).toEqual([]);
    expect(harness.gateway.closedWith?.code).toBe(DISCONNECT_CODE);
  });

  const will = { topic: 'w', payload: Buffer.from('x'), qos: 0, retain: false } as const;
  test.each([
    ['that begins a session', {}, 4],
    ['whose session is kept', { clean: false }, 4],
  ] as const)(
    'is a frame of a client with a will %s: a close may not be heard',
    async (_, fields, version) => {
      await connected('close', { will, ...fields }, version);
      await harness.write(disconnect);
      expect(harness.sent).toEqual(['disconnect']);
    },
  );

  test.each([
    ['another reason', { reasonCode: 4 }],
    ['properties', { properties: { sessionExpiryInterval: 5 } }],
  ])('is a frame with %s', async (_, fields) => {
    await connected('close', {}, 5);
    await harness.write({ cmd: 'disconnect', reasonCode: 0, ...fields } as never);
    expect(harness.sent).toEqual(['disconnect']);
  });
});
