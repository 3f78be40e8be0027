import type { Delivery, Queued, SessionRef } from '@apus/broker';
import { presenceStoreContract, storesContract, streamStoreContract } from '@apus/broker/contract';
import { deliveryTo, NOW_MS, numberedMessage, ROOMY } from '@apus/broker/samples';
import { expect, it } from 'vitest';
import type { LivingConnection } from '../src/index.ts';
import { gatedStores, MapJournal } from './support/map-journal.ts';
import { openOf } from './support/values.ts';

const CLOCK = { now: () => NOW_MS };
const PAGE = { messages: 100, bytes: 1_000_000 };
const WILL = { topic: 'gone', payload: Buffer.from('bye'), qos: 1, retain: false, properties: {} } as const;

const contract = gatedStores(new MapJournal(), CLOCK);
storesContract('behind a gate', () => contract);
presenceStoreContract('behind a gate', async () => ({ ...contract, presence: contract.presenceStore }));
streamStoreContract('behind a gate', () => gatedStores(new MapJournal(), CLOCK).streamStore);

type Opened = ReturnType<typeof gatedStores>;

/** A session with its connection, which has room for this many messages, and that many messages in its queue. */
function connected(expirySeconds: number, receiveMaximum: number, messages: number) {
  const journal = new MapJournal();
  const before = gatedStores(journal, CLOCK);
  const request = openOf('a', { expirySeconds, will: WILL, nowMs: NOW_MS });
  const attachment = { ...request.attachment, receiveMaximum };
  const opened = before.sessions.open({ ...request, attachment });
  if (opened instanceof Promise || opened === 'owned-by-another')
    throw new Error('it has to be open at once');
  offer(before, opened.session, 1, messages);
  before.flush();
  const living = (): LivingConnection => ({
    attachment,
    progress: before.queues.progressOf(opened.session),
  });
  const wake = () => {
    const after = gatedStores(journal, CLOCK, living);
    const session = after.sessions.get(request.tenant, 'a')?.session;
    if (session === undefined) throw new Error('the session is lost');
    return { after, session };
  };
  return { journal, before, session: opened.session, wake, request };
}

function offer({ queues }: Opened, session: SessionRef, from: number, to: number): readonly Delivery[] {
  const deliveries: Delivery[] = [];
  for (let number = from; number <= to; number += 1) {
    const delivery = deliveryTo(session, { qos: 2 });
    queues.offer(numberedMessage(number, { qos: 2 }), [delivery], ROOMY);
    deliveries.push(delivery);
  }
  return deliveries;
}

function next({ queues }: Opened, session: SessionRef): readonly Queued[] {
  return queues.next(session, PAGE, NOW_MS) as readonly Queued[];
}

const payloads = (page: readonly Queued[]) =>
  page.map((queued) =>
    queued.type === 'pubrel' ? `pubrel ${queued.packetId}` : String(queued.message.payload),
  );

it.each([0, 60])('sends a living connection nothing again (expiry %i s)', (expirySeconds) => {
  const { wake } = connected(expirySeconds, 10, 3);
  const { after, session } = wake();
  expect(session.attachment?.connectionId).toBe('a:1');
  expect(next(after, session)).toEqual([]);
});

it('counts in its window what it was sent [MQTT-4.9.0-2]', () => {
  const { wake } = connected(60, 2, 3);
  const { after, session } = wake();
  expect(next(after, session)).toEqual([]);
  expect(after.queues.complete(session, 1)).toBe('done');
  expect(payloads(next(after, session))).toEqual(['3']);
});

it('gives no packet identifier twice', () => {
  const { wake } = connected(60, 10, 3);
  const { after, session } = wake();
  expect(offer(after, session, 4, 4)[0]?.packetId).toBe(4);
});

it('still sends again what it had not sent again', () => {
  const { before, session, wake, request } = connected(60, 10, 3);
  before.sessions.open({ ...request, cleanStart: false });
  before.queues.next(session, { ...PAGE, messages: 1 }, NOW_MS);
  before.flush();
  const { after, session: woken } = wake();
  expect(payloads(next(after, woken))).toEqual(['2', '3']);
});

it('keeps a PUBREL that was sent again out of the window', () => {
  const { before, session, wake, request } = connected(60, 1, 1);
  before.queues.release(session, 1);
  before.sessions.open({
    ...request,
    cleanStart: false,
    attachment: { ...request.attachment, receiveMaximum: 1 },
  });
  expect(payloads(next(before, session))).toEqual(['pubrel 1']);
  before.flush();
  const { after, session: woken } = wake();
  expect(offer(after, woken, 2, 2)[0]?.packetId).toBe(2);
});

it('publishes no will while the connection lives', () => {
  const { wake } = connected(0, 1, 0);
  const { after, session } = wake();
  expect(after.dueTimers).toEqual([]);
  expect(after.sessions.beginWill(session, 'a:1', 'id', NOW_MS)).toEqual({ state: 'none' });
});

it.each([0, 60])(
  'lets the will of a cut connection wait once, however often it wakes (expiry %i s)',
  (expirySeconds) => {
    const { journal } = connected(expirySeconds, 1, 0);
    const wakeAt = (ms: number) => {
      const stores = gatedStores(journal, { now: () => NOW_MS + ms });
      stores.flush();
      return stores.dueTimers.find(({ timer }) => timer.kind === 'will')?.dueAtMs;
    };
    if (expirySeconds === 0)
      for (const key of journal.records.keys()) if (!key.startsWith('w')) journal.records.delete(key);
    expect([wakeAt(0), wakeAt(20_000)]).toEqual([NOW_MS + 30_000, NOW_MS + 30_000]);
  },
);

it('writes the records of a session that ends with its connection apart from the others', () => {
  const { journal } = connected(0, 10, 3);
  const kinds = [...journal.records.keys()].map((key) => `${key[0]}${key[1]}`);
  expect(kinds.sort()).toEqual(['q8', 'q8', 'q8', 's8', 'w0']);
});

it('lets a member leave whose session another one of its client has followed', () => {
  const { journal, before, session, request } = connected(0, 10, 0);
  const { tenant } = session;
  const place = { tenant, room: 'hall', member: 'ann' };
  const owner = { session, holder: { tenant, kind: 'client', name: 'a' } } as const;
  const limits = { membersMax: 9, ownersMax: 9, roomsPerSessionMax: 9, roomsPerIdentityMax: 9 };
  before.presenceStore.put(place, owner, numberedMessage(1), limits, NOW_MS);
  const attachment = { ...request.attachment, connectionId: 'a:2' };
  before.sessions.open({ ...request, attachment });
  before.flush();
  const after = gatedStores(journal, CLOCK, () => ({ attachment, progress: undefined }));
  const present = after.sessions.get(tenant, 'a')?.session;
  expect(present && after.presenceStore.ownedBy(present)).toEqual([]);
  const due = after.dueTimers.find(({ timer }) => timer.kind === 'presence');
  expect(due && after.presenceStore.remove(place, due.timer.session)).toMatchObject({ change: 'left' });
});
