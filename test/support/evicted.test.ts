import { needsWorkerd } from '@apus/cloudflare/testing';
import { expect, it, onTestFinished } from 'vitest';
import { goTo } from './door.ts';
import { RawClient } from './raw-client.ts';
import { openDoor } from './start-door.ts';
import { evictions } from './start-object.ts';

/** A byte order mark is a character like any other [MQTT-1.5.4-3], also in the records of a session. */
const KEPT = { clientId: `\u{feff}${'kept'.repeat(20)}`, properties: { sessionExpiryInterval: 60 } };

it(
  'lets an object sleep while it has sockets, and resets it while it has none [MQTT-1.5.4-3]',
  needsWorkerd,
  async () => {
    goTo('evicted');
    const door = await openDoor().finally(() => goTo('node'));
    onTestFinished(() => door.stop());
    const { client } = await RawClient.connect(door.url, KEPT);
    const before = { ...evictions };
    await expect.poll(() => evictions.hibernated - before.hibernated).toBeGreaterThan(2);
    client.send({ cmd: 'pingreq' });
    expect((await client.next()).cmd).toBe('pingresp');
    await client.disconnect();
    await expect.poll(() => evictions.reset - before.reset).toBeGreaterThan(2);
    const { client: again, connack } = await RawClient.connect(door.url, { ...KEPT, clean: false });
    expect(connack.sessionPresent).toBe(true);
    again.close();
  },
);
