import { ConnectionLost, type Queued } from '@apus/broker';
import { expect, it } from 'vitest';
import { attachmentOf } from '../../../broker/contract/support.ts';
import {
  deliveryTo,
  detach,
  messageId,
  messageOf,
  offerAsDoor,
  open,
  PAGE,
  ROOMY,
  unique,
} from '../support/client.ts';
import { isRecordWrite, once } from '../support/hooks.ts';
import { FakeClock, failure, type Hooks, NOW_MS, withService } from '../support/stores.ts';

const idsOf = (page: readonly Queued[]) =>
  page.map((queued) => (queued.type === 'publish' ? queued.message.id : 'pubrel'));

await withService((service) => {
  it('a page whose write has lost its answer is sent, although a publisher has objected since', async () => {
    const other = service.make();
    const tenant = unique('tenant');
    const { session } = await open(other, tenant, 'c');
    const offer = async (number: number) => {
      const known = (await other.sessions.get(tenant, 'c'))?.session ?? session;
      const delivery = deliveryTo(known);
      await other.queues.offer(messageOf(number), [delivery], ROOMY);
      return delivery.packetId;
    };
    await detach(other, session, 'c:1');
    expect(await offer(1)).toBe(0);
    let isDue = true;
    const after: Hooks['after'] = async (operation, input) => {
      if (!isDue || !isRecordWrite(operation, input)) return;
      isDue = false;
      expect(await offer(2)).toBe(0);
      throw failure('TimeoutError');
    };
    const stores = service.make({ hooks: { after } });
    const { session: back } = await open(stores, tenant, 'c', { connectionId: 'c:2' });
    // The reply to CONNECT carries the dequeued messages: publishers append until it has arrived.
    const { queues } = stores.forEvent({ connectionId: 'c:2' });
    expect(idsOf(await queues.next(back, PAGE, NOW_MS))).toEqual([messageId(1)]);
    expect(isDue).toBe(false);
    expect(idsOf(await queues.next(back, PAGE, NOW_MS))).toEqual([messageId(2)]);
  });

  it.each([
    ['the first record of a session', 0],
    ['a later record', 1],
  ])('%s names the connection that the session moves to while it is written', async (_what, earlier) => {
    const tenant = unique('tenant');
    const other = service.make();
    const { session } = await open(other, tenant, 'c');
    for (let number = 0; number < earlier; number += 1)
      await other.queues.offer(messageOf(10 + number), [deliveryTo({ ...session })], ROOMY);
    const attachment = attachmentOf('c:2');
    const move = { from: 'c:1', nowMs: NOW_MS };
    const identity = { tenant, name: 'somebody' };
    const hooks = once(isRecordWrite, async () => {
      expect(await other.sessions.renew(session, attachment, identity, move)).toBeDefined();
    });
    const known = (await other.sessions.get(tenant, 'c'))?.session ?? session;
    const delivery = deliveryTo(known);
    await service.make({ hooks }).queues.offer(messageOf(1), [delivery], ROOMY);
    expect(delivery.packetId).toBeGreaterThan(0);
    const { queues } = other.forEvent({ connectionId: 'c:2' });
    const moved = { ...session, attachment };
    expect(await queues.complete(moved, delivery.packetId, 'puback')).toBe('done');
  });

  it.each(['puback', 'pubrec'] as const)(
    'a %s in the frame that brings DISCONNECT counts',
    async (packet) => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'c');
      const delivery = deliveryTo({ ...session }, { qos: packet === 'pubrec' ? 2 : 1 });
      await stores.queues.offer(messageOf(1, { qos: 2 }), [delivery], ROOMY);
      const frame = stores.forEvent({ connectionId: 'c:1', looksAtEnd: true });
      const { packetId } = delivery;
      const outcome =
        packet === 'pubrec'
          ? await frame.queues.release({ ...session }, packetId)
          : await frame.queues.complete({ ...session }, packetId, packet);
      expect(outcome).toBe('done');
      await detach(frame, { ...session }, 'c:1');
      await frame.commit();
      const { session: back } = await open(stores, tenant, 'c', { connectionId: 'c:2' });
      const page = await stores.queues.next(back, PAGE, NOW_MS);
      expect(page).toEqual(packet === 'pubrec' ? [{ type: 'pubrel', packetId }] : []);
    },
  );

  it('a PUBREC on a connection that the session has lost is not answered: the message comes again', async () => {
    const stores = service.make();
    const tenant = unique('tenant');
    const { session } = await open(stores, tenant, 'c');
    const delivery = deliveryTo({ ...session }, { qos: 2 });
    await stores.queues.offer(messageOf(1, { qos: 2 }), [delivery], ROOMY);
    await detach(stores, session, 'c:1');
    const frame = stores.forEvent({ connectionId: 'c:1', looksAtEnd: true });
    expect(await frame.queues.release({ ...session }, delivery.packetId)).toBe('ended');
    const { session: back } = await open(stores, tenant, 'c', { connectionId: 'c:2' });
    expect(await stores.queues.next(back, PAGE, NOW_MS)).toMatchObject([{ type: 'publish' }]);
  });

  it.each(['pubrec', 'puback', 'pubcomp'] as const)(
    '%s whose connection is lost before it is written leaves no answer, where it has one',
    async (packet) => {
      const stores = service.make();
      const tenant = unique('tenant');
      const { session } = await open(stores, tenant, 'c');
      const qos = packet === 'puback' ? 1 : 2;
      const delivery = deliveryTo({ ...session }, { qos });
      await stores.queues.offer(messageOf(1, { qos }), [delivery], ROOMY);
      const { packetId } = delivery;
      if (packet === 'pubcomp') await stores.queues.release(session, packetId);
      const frame = stores.forEvent({ connectionId: 'c:1', looksAtEnd: true });
      const outcome =
        packet === 'pubrec'
          ? await frame.queues.release({ ...session }, packetId)
          : await frame.queues.complete({ ...session }, packetId, packet);
      expect(outcome).toBe('done');
      await detach(stores, session, 'c:1');
      const { session: back } = await open(stores, tenant, 'c', { connectionId: 'c:2' });
      const again = packet === 'pubcomp' ? { type: 'pubrel', packetId } : { type: 'publish' };
      expect(await stores.queues.next(back, PAGE, NOW_MS)).toMatchObject([again]);
      // Else the client would complete the message, and take the one that has just been sent again for another.
      if (packet === 'pubrec') await expect(frame.commit()).rejects.toThrow(ConnectionLost);
      else await frame.commit();
    },
  );

  it('as many messages of QoS 2 as a window holds may come in one frame', async () => {
    const stores = service.make();
    const tenant = unique('tenant');
    const { session } = await open(stores, tenant, 'c', { attachment: { receiveMaximum: 200 } });
    const offers = Array.from({ length: 120 }, (_, number) => ({
      message: messageOf(number, { qos: 2 }),
      deliveries: [deliveryTo({ ...session }, { qos: 2, copy: '0' })],
    }));
    const offered = await stores.queues.offerAll(offers, ROOMY);
    await offered.append();
    const sent = offers.filter(({ deliveries: [delivery] }) => (delivery?.packetId ?? 0) > 0);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.length + (await stores.queues.length(session))).toBe(120);
  });

  it('a page whose messages have all expired brings the messages behind it [MQTT-3.3.2-5]', async () => {
    const stores = service.make();
    const tenant = unique('tenant');
    const { session } = await open(stores, tenant, 'c');
    await detach(stores, session, 'c:1');
    const offer = async (number: number, expiresAtMs?: number) => {
      const message = messageOf(number, expiresAtMs === undefined ? {} : { expiresAtMs });
      await stores.queues.offer(message, [deliveryTo({ ...session, attachment: undefined })], ROOMY);
    };
    for (const number of [1, 2, 3, 4, 5]) await offer(number, NOW_MS);
    await offer(6);
    const { session: back } = await open(stores, tenant, 'c', { connectionId: 'c:2' });
    const one = { messages: 1, bytes: 0 };
    expect(idsOf(await stores.queues.next(back, one, NOW_MS))).toEqual([messageId(6)]);
    expect(await stores.queues.length(back)).toBe(0);
  });

  it('a queue that is fetched in vain waits since the last message moved, and costs no write', async () => {
    const fakeClock = new FakeClock();
    const stores = service.make({ fakeClock });
    const tenant = unique('tenant');
    const { session } = await open(stores, tenant, 'c', { attachment: { receiveMaximum: 1 } });
    for (const number of [1, 2])
      await stores.queues.offer(messageOf(number), [deliveryTo({ ...session })], ROOMY);
    const fetch = async () => {
      fakeClock.nowMs += 60_000;
      const before = stores.meter.units.writes;
      const { queues } = stores.forEvent({ connectionId: 'c:1' });
      expect(await queues.next({ ...session }, PAGE, fakeClock.nowMs)).toEqual([]);
      const [queue] = await stores.sweepScan.queues([session]);
      return { waitsSinceMs: queue?.waitsSinceMs, writes: stores.meter.units.writes - before };
    };
    const first = await fetch();
    expect(first.waitsSinceMs).toBe(fakeClock.nowMs);
    expect(await fetch()).toEqual({ waitsSinceMs: first.waitsSinceMs, writes: 0 });
  });

  it('a copy that was taken together with a known one is sent, and its connection stays', async () => {
    const ended: string[] = [];
    const stores = service.make();
    const tenant = unique('tenant');
    const { session } = await open(stores, tenant, 'c', { attachment: { receiveMaximum: 1 } });
    const offer = async (...copies: string[]) => {
      const current = (await stores.sessions.get(tenant, 'c'))?.session ?? session;
      const deliveries = copies.map((copy) => deliveryTo(current, { qos: 2, copy }));
      await offerAsDoor(stores, messageOf(1), deliveries, (connectionId) => ended.push(connectionId));
      return deliveries.map(({ packetId }) => packetId);
    };
    const [first = 0] = await offer('known');
    await stores.queues.release(session, first);
    await stores.queues.complete(session, first, 'pubcomp');
    expect(await offer('new', 'known')).toEqual([expect.any(Number), 0]);
    expect(ended).toEqual([]);
  });

  it('a copy for a share group that comes when its session has ended is for another member', async () => {
    const stores = service.make();
    const tenant = unique('tenant');
    const { session } = await open(stores, tenant, 'c');
    const share = { shareGroup: 'g', topicFilter: 'a/+' };
    // It has taken one, so there is a record.
    await stores.queues.offer(messageOf(1), [deliveryTo(session, { share })], ROOMY);
    const matched = (await stores.sessions.get(tenant, 'c'))?.session ?? session;
    const offline = (await detach(stores, session, 'c:1'))?.session ?? session;
    await stores.sessions.remove(offline);
    expect((await stores.queues.unacknowledged(offline)).map(({ message }) => message.id)).toEqual([
      messageId(1),
    ]);
    await stores.queues.clear(offline);
    const late = deliveryTo(matched, { share, copy: 'name' });
    await stores.queues.offer(messageOf(2), [late], ROOMY);
    expect(late).toMatchObject({ packetId: 0, passOnAs: 'name' });
    expect(await stores.queues.unacknowledged(offline)).toEqual([]);
  });

  it('messages of one event come to the incarnation that each was matched to', async () => {
    const stores = service.make();
    const tenant = unique('tenant');
    const { session: before } = await open(stores, tenant, 'c');
    const fields = { cleanStart: true, connectionId: 'c:2' };
    const { session: now } = await open(stores, tenant, 'c', fields);
    const [old, fresh] = [deliveryTo({ ...before }), deliveryTo({ ...now })];
    await stores.queues.offerAll(
      [
        { message: messageOf(1), deliveries: [old] },
        { message: messageOf(2), deliveries: [fresh] },
      ],
      ROOMY,
    );
    expect(old.packetId).toBe(0);
    expect(fresh.packetId).toBeGreaterThan(0);
    expect((await stores.queues.unacknowledged(now)).map(({ message }) => message.id)).toEqual([
      messageId(2),
    ]);
  });

  it('messages of one event are decided on together: one write, and those that do not fit are appended later', async () => {
    const stores = service.make();
    const attachment = { receiveMaximum: 2, takesNudges: true };
    const { session } = await open(stores, unique('tenant'), 'c', { attachment });
    const deliveries = [1, 2, 3, 4].map(() => deliveryTo({ ...session }));
    const offers = deliveries.map((delivery, index) => ({
      message: messageOf(index + 1),
      deliveries: [delivery],
    }));
    const before = stores.meter.units;
    const offered = await stores.queues.offerAll(offers, ROOMY);
    expect(deliveries.map(({ packetId }) => packetId)).toEqual([1, 3, 0, 0]);
    expect(stores.meter.since(before).writes).toBe(1);
    expect(offered).toMatchObject({ uncertain: [], waiting: ['c:1'] });
    expect(await stores.queues.length(session)).toBe(0);
    expect(await offered.append()).toEqual({ dropped: 0, uncertain: [], unannounced: ['c:1'] });
    expect(await stores.queues.length(session)).toBe(2);
  });

  it('a message beside one whose connection is uncertain waits behind it', async () => {
    const stores = service.make();
    const { session } = await open(stores, unique('tenant'), 'c');
    const first = { message: messageOf(1), deliveries: [deliveryTo({ ...session }, { copy: 'a' })] };
    await stores.queues.offerAll([first], ROOMY);
    const again = { message: messageOf(1), deliveries: [deliveryTo({ ...session }, { copy: 'a' })] };
    const next = { message: messageOf(2), deliveries: [deliveryTo({ ...session }, { copy: 'a' })] };
    const offered = await stores.queues.offerAll([again, next], ROOMY);
    expect(offered.uncertain).toEqual(['c:1']);
    expect([again, next].map(({ deliveries }) => deliveries[0]?.packetId)).toEqual([0, 0]);
    expect(await offered.append()).toMatchObject({ dropped: 0, uncertain: [] });
    const left = await stores.queues.unacknowledged(session);
    expect(left.map(({ message }) => message.id)).toEqual([messageId(1), messageId(2)]);
  });
});
