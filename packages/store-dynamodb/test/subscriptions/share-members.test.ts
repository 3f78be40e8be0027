import type { SessionRef } from '@apus/broker';
import { describe, expect, it } from 'vitest';
import { SHARE_MEMBERS_READ } from '../../src/limits.ts';
import { detach, open, subscriptionTo, unique } from '../support/client.ts';
import { FakeClock, withService } from '../support/stores.ts';

const MEMBERS = 10;
const SHARE = { topicFilter: 'work', shareGroup: 'g' };

await withService((service) => {
  /** A share group of ten members that are connected, and what matching a message for it finds. */
  const begin = async () => {
    let nextRandom = 0;
    const fakeClock = new FakeClock();
    const stores = service.make({ fakeClock, random: () => nextRandom });
    const tenant = unique('tenant');
    const members: SessionRef[] = [];
    for (let number = 0; number < MEMBERS; number += 1) {
      const { session } = await open(stores, tenant, `member-${number}`);
      await stores.subscriptions.put(session, [{ ...subscriptionTo('work'), ...SHARE }], 10);
      members.push(session);
    }
    // The registry of shapes and the list of bans have been read when the first message is matched.
    await stores.subscriptions.match(tenant, 'other');
    await stores.forEvent().readAhead({ connectionId: 'publisher', tenant, topicNames: [] });
    const match = async (random = 0) => {
      nextRandom = random;
      const before = stores.meter.units;
      const matched = await stores.subscriptions.match(tenant, 'work');
      const [group] = matched.filter(({ shareGroup }) => shareGroup === SHARE.shareGroup);
      return { subscribers: group?.subscribers ?? [], reads: stores.meter.since(before).reads };
    };
    /** The same of a frame with so many messages of the topic. */
    const matchFrame = async (messages: number, random = 0) => {
      nextRandom = random;
      const before = stores.meter.units;
      const frame = stores.forEvent({ connectionId: 'publisher' });
      await frame.readAhead({ connectionId: 'publisher', tenant, topicNames: Array(messages).fill('work') });
      const [group] = await frame.subscriptions.match(tenant, 'work');
      const clientIds = (group?.subscribers ?? []).map(({ session }) => session.clientId);
      return { clientIds, reads: stores.meter.since(before).reads };
    };
    const leave = async (...leaving: readonly SessionRef[]) => {
      for (const session of leaving) await detach(stores, session, `${session.clientId}:1`);
    };
    return { stores, tenant, members, match, matchFrame, leave };
  };

  describe('a message for a share group', () => {
    it('reads a few of its members and not all of them', async () => {
      const { match } = await begin();
      const { subscribers, reads } = await match();
      expect(subscribers).toHaveLength(SHARE_MEMBERS_READ);
      // The head, the group, and those members.
      expect(reads).toBe(2 + SHARE_MEMBERS_READ);
    });

    it.each([
      { messages: 1, members: 1 },
      { messages: 2, members: 2 },
      { messages: SHARE_MEMBERS_READ, members: SHARE_MEMBERS_READ },
      { messages: SHARE_MEMBERS_READ + 1, members: SHARE_MEMBERS_READ },
    ])('reads $members of them for a frame of $messages', async ({ messages, members }) => {
      const { matchFrame } = await begin();
      const { clientIds, reads } = await matchFrame(messages);
      expect(clientIds).toHaveLength(members);
      // The connection, the head, the group, and those members.
      expect(reads).toBe(3 + members);
    });

    it('reads two more members where the first is offline, and all where these are offline too', async () => {
      const { matchFrame, members, leave } = await begin();
      const { clientIds: order } = await matchFrame(SHARE_MEMBERS_READ);
      const away = (count: number) =>
        leave(...members.filter(({ clientId }) => order.slice(0, count).includes(clientId)));
      await away(1);
      expect(await matchFrame(1)).toEqual({ clientIds: order, reads: 3 + SHARE_MEMBERS_READ });
      await away(SHARE_MEMBERS_READ);
      const { clientIds, reads } = await matchFrame(1);
      expect(new Set(clientIds).size).toBe(MEMBERS);
      expect(reads).toBe(3 + MEMBERS);
    });

    it('alone in its frame may go to each of them, at random', async () => {
      const { matchFrame, members } = await begin();
      const seen: string[] = [];
      for (let lot = 0; lot < MEMBERS; lot += 1)
        seen.push(...(await matchFrame(1, (lot + 0.5) / MEMBERS)).clientIds);
      expect(seen.sort()).toEqual(members.map(({ clientId }) => clientId).sort());
    });

    it('may go to each of them, at random', async () => {
      const { match, members } = await begin();
      const seen = new Map<string, number>();
      for (let lot = 0; lot < MEMBERS; lot += 1) {
        const { subscribers } = await match((lot + 0.5) / MEMBERS);
        for (const { session } of subscribers)
          seen.set(session.clientId, (seen.get(session.clientId) ?? 0) + 1);
      }
      const clientIds = members.map(({ clientId }) => clientId).sort();
      expect([...seen.keys()].sort()).toEqual(clientIds);
      expect(new Set(seen.values())).toEqual(new Set([SHARE_MEMBERS_READ]));
    });

    it('finds the only connected member, whatever the random choice', async () => {
      const { match, members, leave } = await begin();
      const [only, ...others] = members;
      await leave(...others);
      for (let lot = 0; lot < MEMBERS; lot += 1) {
        const { subscribers } = await match((lot + 0.5) / MEMBERS);
        const connected = subscribers.filter(({ session }) => session.attachment !== undefined);
        expect(connected.map(({ session }) => session.clientId)).toEqual([only?.clientId]);
      }
    });

    it('finds all of them, offline as they are, where none is connected', async () => {
      const { match, members, leave } = await begin();
      await leave(...members);
      expect((await match()).subscribers).toHaveLength(MEMBERS);
    });

    it('and all of them may take over from a member that is lost', async () => {
      const { stores, tenant } = await begin();
      expect(await stores.subscriptions.members(tenant, SHARE)).toHaveLength(MEMBERS);
    });
  });
});
