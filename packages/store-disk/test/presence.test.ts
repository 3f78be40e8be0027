import type { Message } from '@apus/broker';
import { createDiskStores } from '@apus/store-disk';
import { expect, it, onTestFinished } from 'vitest';
import { RawClient, type Received } from '../../../test/support/raw-client.ts';
import { startNode } from '../../node/src/index.ts';
import { FakeScheduler } from '../../node/test/support/fake-scheduler.ts';
import { WILL_GRACE_SECONDS } from '../src/limits.ts';
import { temporaryDirectory } from './support/directory.ts';
import { openedOf, openOf } from './support/values.ts';

const TENANT = 'default';
const ROOM = '$presence/hall/+';
const LASTING = { clean: false, properties: { sessionExpiryInterval: 3600 } };

/** A node whose last process died while ann and bob were in a room that a client with a lasting session watched. */
async function restarted() {
  const clock = new FakeScheduler();
  const dataDirectory = temporaryDirectory();
  const identity = { tenant: TENANT, name: '' };
  const open = (clientId: string, expirySeconds: number) =>
    openOf(clientId, { tenant: TENANT, identity, expirySeconds, nowMs: clock.now() });
  const stores = await createDiskStores({ directory: dataDirectory, clock });
  for (const [member, expirySeconds] of [
    ['ann', 0],
    ['bob', 60],
  ] as const) {
    const { session } = openedOf(await stores.sessions.open(open(member, expirySeconds)));
    const place = { tenant: TENANT, room: 'hall', member };
    const holder = { tenant: TENANT, kind: 'client', name: member } as const;
    const limits = { membersMax: 9, ownersMax: 9, roomsPerSessionMax: 9, roomsPerIdentityMax: 9 };
    const message = messageTo(`$presence/hall/${member}`);
    const changed = stores.presenceStore.put(place, { session, holder }, message, limits, clock.now());
    expect(changed).toMatchObject({ change: 'joined', written: expect.any(Promise) });
    stores.presenceStore.takeUntold(TENANT, 'hall', 9, () => messageTo('$occupancy/hall'));
  }
  await stores.close();
  return { clock, dataDirectory };
}

function messageTo(topic: string): Message {
  return {
    ...{ id: '1', topic, payload: Buffer.from('here'), qos: 1 as const, retain: false, properties: {} },
    ...{ expiresAtMs: undefined, publisherKey: undefined },
  };
}

const textOf = ({ topic, payload }: Received): string => `${topic}=${payload}`;

async function nodeOf({ clock, dataDirectory }: Awaited<ReturnType<typeof restarted>>) {
  const node = await startNode({ port: 0, logLevel: 'silent', dataDirectory, clock });
  onTestFinished(() => node.stop());
  const { client: watcher } = await RawClient.connect(node.url, { clientId: 'watcher', ...LASTING });
  watcher.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: ROOM, qos: 1 }] });
  await watcher.expect('suback');
  const [one, other] = [await watcher.expect('publish'), await watcher.expect('publish')];
  expect([textOf(one), textOf(other)].sort()).toEqual(['$presence/hall/ann=here', '$presence/hall/bob=here']);
  return { node, watcher };
}

it(`lets the members of a process that died leave ${WILL_GRACE_SECONDS} s after the start, and tells so once`, async () => {
  const { clock, dataDirectory } = await restarted();
  const { watcher } = await nodeOf({ clock, dataDirectory });
  clock.advance(WILL_GRACE_SECONDS * 1000 - 1);
  await watcher.expectNothing();
  clock.advance(1);
  const gone = [await watcher.expect('publish'), await watcher.expect('publish')];
  expect(gone.map(textOf).sort()).toEqual(['$presence/hall/ann=', '$presence/hall/bob=']);
  clock.advance(3600_000);
  await watcher.expectNothing();
});

it('keeps a member whose client is back before, with its session or in a new one', async () => {
  const { clock, dataDirectory } = await restarted();
  const { node, watcher } = await nodeOf({ clock, dataDirectory });
  const { connack } = await RawClient.connect(node.url, { clientId: 'bob', ...LASTING });
  expect(connack.sessionPresent).toBe(true);
  const { client: ann } = await RawClient.connect(node.url, { clientId: 'ann' });
  const topic = '$presence/hall/ann';
  ann.send({ cmd: 'publish', topic, payload: 'here', qos: 1, messageId: 1, retain: false, dup: false });
  await ann.expect('puback');
  clock.advance(WILL_GRACE_SECONDS * 1000);
  await watcher.expectNothing();
  await ann.disconnect();
  expect(await watcher.expect('publish')).toMatchObject({ topic });
});

it('forgets members of whose leaving their watchers were told', async () => {
  const { clock, dataDirectory } = await restarted();
  const { node, watcher } = await nodeOf({ clock, dataDirectory });
  clock.advance(WILL_GRACE_SECONDS * 1000);
  await watcher.expect('publish');
  await watcher.expect('publish');
  await node.stop();
  const stores = await createDiskStores({ directory: dataDirectory, clock });
  expect([...stores.presenceStore.members(TENANT, 'hall')]).toEqual([]);
  expect(stores.dueTimers.filter(({ timer }) => timer.kind === 'presence')).toEqual([]);
  await stores.close();
});

it('tells of a member that was leaving when the process died', async () => {
  const { clock, dataDirectory } = await restarted();
  const stores = await createDiskStores({ directory: dataDirectory, clock });
  const [ann] = stores.dueTimers.filter(({ timer }) => timer.session.clientId === 'ann');
  const place = { tenant: TENANT, room: 'hall', member: 'ann' };
  if (ann === undefined) throw new Error('ann has no timer');
  expect(stores.presenceStore.remove(place, ann.timer.session)).toMatchObject({ change: 'left' });
  // No tick any more.
  await stores.close();
  const { watcher } = await nodeOf({ clock, dataDirectory });
  clock.advance(WILL_GRACE_SECONDS * 1000);
  const gone = [await watcher.expect('publish'), await watcher.expect('publish')];
  expect(gone.map(textOf)).toContain('$presence/hall/ann=');
});
