import type { Authorizer } from '@apus/broker';
import { beforeEach, describe, expect, it } from 'vitest';
import { notInACluster } from '../support/only-at.ts';
import { OPTIONS_NEED_OUR_DOOR, runningBrokerUrl } from '../support/start-door.ts';
import { usePeers } from './raw/peers.ts';

const ownDoor = describe.skipIf(runningBrokerUrl !== undefined);

const NOTHING_ALLOWED: Authorizer = { mayPublish: () => false, maySubscribe: () => false };

/** Lines that a client may cause with one packet, or with many in a minute: some lines, each of some hundred bytes. */
const LOG_BYTES_MAX = 2_000;

ownDoor(`the log of what is refused (${OPTIONS_NEED_OUR_DOOR})`, () => {
  const entries: { level: string; event: string; fields: Record<string, unknown> }[] = [];
  const peers = usePeers({
    authenticator: { authenticate: ({ username = '' }) => ({ tenant: 'default', name: username }) },
    authorizer: NOTHING_ALLOWED,
    logLevel: 'debug',
    logSink: (entry) => entries.push(entry as (typeof entries)[number]),
  });
  beforeEach(() => {
    entries.length = 0;
  });
  const linesOf = (event: string) => entries.filter((entry) => entry.event === event);
  const bytes = (): number =>
    entries
      .filter(({ level }) => level !== 'debug')
      .map((entry) => JSON.stringify(entry))
      .join('\n').length;

  it('has one line for a SUBSCRIBE of 24,000 bytes with 4,000 filters [SEC-LOG-1]', async () => {
    const { client } = await peers.connect({ username: 'ada' });
    const subscriptions = Array.from({ length: 4_000 }, (_, index) => ({
      topic: index.toString(36).padStart(3, '0'),
      qos: 0,
    }));
    client.send({ cmd: 'subscribe', messageId: 1, subscriptions });
    await client.expect('suback');
    expect(linesOf('subscribe-refused')).toHaveLength(1);
    expect(bytes()).toBeLessThan(LOG_BYTES_MAX);
  });

  it('has one line for 100 PUBLISHes of one client, with its identity, and a topic of 5,000 characters cut short [SEC-LOG-2]', async () => {
    const { client } = await peers.connect({ username: 'bob' });
    for (let messageId = 1; messageId <= 100; messageId++) {
      const topic = `${'x'.repeat(5_000)}${messageId}`;
      client.send({ cmd: 'publish', topic, payload: '', qos: 1, messageId });
      await client.expect('puback');
    }
    expect(linesOf('publish-refused')).toMatchObject([{ fields: { tenant: 'default', name: 'bob' } }]);
    expect(bytes()).toBeLessThan(LOG_BYTES_MAX);
  });

  it('has a line for the refused of each identity', async () => {
    for (const username of ['carol', 'dave']) {
      const { client } = await peers.connect({ username });
      client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'a', qos: 0 }] });
      await client.expect('suback');
    }
    expect(linesOf('subscribe-refused').map(({ fields }) => fields.name)).toEqual(['carol', 'dave']);
  });

  it(
    'has one line for 50 connections of one address that violate the protocol',
    notInACluster('each process logs for itself'),
    async () => {
      for (let index = 0; index < 50; index++) {
        const { client } = await peers.connect({ clientId: `${'c'.repeat(900)}${index}` });
        client.send({ cmd: 'publish', topic: 'x/#'.repeat(1_000), payload: '', qos: 1, messageId: 1 });
        await client.expectClose();
      }
      expect(linesOf('protocol-violation').length).toBe(1);
      expect(bytes()).toBeLessThan(LOG_BYTES_MAX);
    },
  );
});
