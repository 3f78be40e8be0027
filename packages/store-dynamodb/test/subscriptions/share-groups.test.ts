import { GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, vi } from 'vitest';
import {
  SHARE_GROUP_BYTES_MAX,
  SHARE_GROUP_NAME_BYTES_MAX,
  SHARE_GROUPS_LOOK,
  SHARE_GROUPS_MAX,
} from '../../src/limits.ts';
import { groupKey, headKey, type Key } from '../../src/table/keys.ts';
import { sizeOf } from '../../src/table/meter.ts';
import { marshalled } from '../../src/table/table.ts';
import { open, subscriptionTo, unique } from '../support/client.ts';
import { heldUp, once } from '../support/hooks.ts';
import { FakeClock, failure, type Hooks, type MakeOptions, withService } from '../support/stores.ts';

const MAXIMUM = 1_000;
const SHARE = { topicFilter: 'work', shareGroup: 'g' };
const of = (shareGroup: string, topicFilter = 'work') => ({ ...subscriptionTo(topicFilter), shareGroup });
const names = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => of(`group-${from + index}`));

// On a service that is reached over HTTP a filter full of groups takes some hundred calls.
vi.setConfig({ testTimeout: 60_000 });

const isJoin = (operation: string, input: object) =>
  operation === 'UpdateItem' && JSON.stringify(input).includes('"S":"group"');

await withService((service) => {
  describe('a member of a share group', () => {
    const subscription = { ...subscriptionTo('work'), ...SHARE };

    // Its list, the head, the group.
    it.each([1, 2, 3])(
      'whose SUBSCRIBE dies at its write %i is found once it has subscribed again',
      async (due) => {
        const tenant = unique('tenant');
        const fakeClock = new FakeClock();
        const { session } = await open(service.make(), tenant, 'member');
        // The shape is known, and is not among the writes.
        await service.make({ fakeClock }).subscriptions.put(session, [subscriptionTo('other')], 10);
        let writes = 0;
        const before = (operation: string) => {
          if (operation !== 'UpdateItem') return;
          writes += 1;
          if (writes === due) throw new Error('died');
        };
        const dying = service.make({ fakeClock, hooks: { before } });
        await expect(dying.subscriptions.put(session, [subscription], 10)).rejects.toThrow('died');
        await service.make({ fakeClock }).subscriptions.put(session, [subscription], 10);
        const matched = await service.make({ fakeClock }).subscriptions.match(tenant, 'work');
        expect(matched.map(({ shareGroup, subscribers }) => [shareGroup, subscribers.length])).toEqual([
          ['g', 1],
        ]);
      },
    );

    it('is absent, and the publish goes on, where only the name of its group exists', async () => {
      const tenant = unique('tenant');
      const before = (operation: string, input: object) => {
        if (operation === 'UpdateItem' && JSON.stringify(input).includes('"group"')) throw new Error('died');
      };
      const stores = service.make({ hooks: { before } });
      const { session } = await open(stores, tenant, 'member');
      await stores.subscriptions.put(session, [subscriptionTo('work')], 10);
      await expect(stores.subscriptions.put(session, [subscription], 10)).rejects.toThrow('died');
      const matched = await service.make().subscriptions.match(tenant, 'work');
      expect(matched.map(({ shareGroup }) => shareGroup)).toEqual([undefined]);
    });
  });

  /** A client whose shape is known, so that its SUBSCRIBE writes the list, the head and the group. */
  const begin = async () => {
    const tenant = unique('tenant');
    const make = (options: MakeOptions = {}) => service.make({ fakeClock: new FakeClock(), ...options });
    const stores = make();
    const { session } = await open(stores, tenant, 'client');
    await stores.subscriptions.put(session, [subscriptionTo('other')], MAXIMUM);
    const item = async (key: Key) => {
      const command = new GetItemCommand({
        TableName: service.tableName,
        Key: marshalled(key),
        ConsistentRead: true,
      });
      return (await service.client.send(command)).Item;
    };
    const groupNames = async () => (await item(headKey(tenant, 'work')))?.g?.SS ?? [];
    const found = async () => {
      const matched = await make().subscriptions.match(tenant, 'work');
      return matched.flatMap(({ shareGroup, subscribers }) => (subscribers.length > 0 ? [shareGroup] : []));
    };
    return { tenant, make, stores, session, item, groupNames, found };
  };

  describe('the share groups of a filter', () => {
    it(`are ${SHARE_GROUPS_MAX} at most, each with as many members as come`, async () => {
      const { tenant, stores, session } = await begin();
      const outcomes = await stores.subscriptions.put(session, names(SHARE_GROUPS_MAX + 1), MAXIMUM);
      expect(outcomes.slice(0, -1)).toEqual(Array(SHARE_GROUPS_MAX).fill('added'));
      expect(outcomes.at(-1)).toBe('over-limit');
      expect(await stores.subscriptions.list(session)).toHaveLength(1 + SHARE_GROUPS_MAX);
      const { session: other } = await open(stores, tenant, 'other');
      const put = async (...subscriptions: ReturnType<typeof of>[]) =>
        await stores.subscriptions.put(other, subscriptions, MAXIMUM);
      expect(await put(of('group-0'), of('new'), of('new', 'rest'))).toEqual([
        'added',
        'over-limit',
        'added',
      ]);
    });

    it('make room for one more when one of them has no members', async () => {
      const { stores, session, found } = await begin();
      await stores.subscriptions.put(session, names(SHARE_GROUPS_MAX), MAXIMUM);
      await stores.subscriptions.remove(session, [of('group-7')]);
      expect(await stores.subscriptions.put(session, names(1, SHARE_GROUPS_MAX), MAXIMUM)).toEqual(['added']);
      expect(await found()).toHaveLength(SHARE_GROUPS_MAX);
      expect(await found()).not.toContain('group-7');
      // And it may come again when there is room.
      await stores.subscriptions.remove(session, [of('group-8')]);
      expect(await stores.subscriptions.put(session, [of('group-7')], MAXIMUM)).toEqual(['added']);
      expect(await found()).toContain('group-7');
    });

    it('cost a publish nothing for ever, when they were subscribed and left', async () => {
      const { tenant, make, stores, session } = await begin();
      const outcomes: unknown[] = [];
      for (const subscription of names(3 * SHARE_GROUPS_LOOK)) {
        outcomes.push(...(await stores.subscriptions.put(session, [subscription], MAXIMUM)));
        await stores.subscriptions.remove(session, [subscription]);
      }
      expect(new Set(outcomes)).toEqual(new Set(['added']));
      const publisher = make();
      await publisher.subscriptions.match(tenant, 'unrelated');
      const before = publisher.meter.units;
      await publisher.subscriptions.match(tenant, 'work');
      expect(publisher.meter.since(before).reads).toBeLessThanOrEqual(1 + SHARE_GROUPS_LOOK);
    });

    it('are checked to make room for others: a SUBSCRIBE whose own name is entered succeeds although the check is throttled', async () => {
      const { make, stores, session, found } = await begin();
      await stores.subscriptions.put(session, names(SHARE_GROUPS_LOOK - 1), MAXIMUM);
      let refused = 0;
      const before = (operation: string, input: object) => {
        if (operation !== 'BatchGetItem' || !JSON.stringify(input).includes('"S":"group"')) return;
        refused += 1;
        throw failure('ThrottlingException');
      };
      const last = names(1, SHARE_GROUPS_LOOK - 1);
      expect(await make({ hooks: { before } }).subscriptions.put(session, last, MAXIMUM)).toEqual(['added']);
      expect(refused).toBeGreaterThan(0);
      expect(await found()).toHaveLength(SHARE_GROUPS_LOOK);
    });

    it('have names that a head has room for', async () => {
      const { stores, session } = await begin();
      const [fits, long] = [0, 1].map((more) =>
        of('ä'.repeat(SHARE_GROUP_NAME_BYTES_MAX / 2) + 'x'.repeat(more)),
      );
      expect(await stores.subscriptions.put(session, [fits ?? of(''), long ?? of('')], MAXIMUM)).toEqual([
        'added',
        'over-limit',
      ]);
    });
  });

  describe('the name of a share group without members', () => {
    /** Enough groups for the last of them to look for names that can go. */
    const look = names(SHARE_GROUPS_LOOK - 1);

    it('is entered again when it is removed just before a member joins', async () => {
      const { make, stores, session, groupNames, found } = await begin();
      const { hooks, reached, release } = heldUp(isJoin);
      const joining = make({ hooks }).subscriptions.put(session, [of('g')], MAXIMUM);
      await reached;
      expect(await groupNames()).toEqual(['g']);
      await stores.subscriptions.put(session, look, MAXIMUM);
      expect(await groupNames()).not.toContain('g');
      release();
      expect(await joining).toEqual(['added']);
      expect(await found()).toContain('g');
      // The next one joins as always.
      expect(await stores.subscriptions.put(session, [of('g')], MAXIMUM)).toEqual(['replaced']);
    });

    it('is entered again by each joining member, when it is removed before each of them', async () => {
      const { tenant, make, stores, session, groupNames, found } = await begin();
      let times = 0;
      const before: Hooks['before'] = async (operation, input) => {
        if (!isJoin(operation, input) || times === 2) return;
        times += 1;
        const { session: other } = await open(stores, tenant, `other-${times}`);
        const others = names(SHARE_GROUPS_LOOK - 1, 100 * times);
        await stores.subscriptions.put(other, others, MAXIMUM);
        expect(await groupNames()).not.toContain('g');
        await stores.subscriptions.remove(other, others);
      };
      expect(await make({ hooks: { before } }).subscriptions.put(session, [of('g')], MAXIMUM)).toEqual([
        'added',
      ]);
      expect(times).toBe(2);
      expect(await found()).toEqual(['g']);
    });

    it('stays when a member joins while it is to be removed, and the others are removed', async () => {
      const { tenant, make, stores, session, groupNames, found } = await begin();
      const gone = [of('g'), of('h')];
      await stores.subscriptions.put(session, gone, MAXIMUM);
      await stores.subscriptions.remove(session, gone);
      const { session: member } = await open(stores, tenant, 'member');
      const isTakingOut = (operation: string) => operation === 'TransactWriteItems';
      const join = async () =>
        expect(await stores.subscriptions.put(member, [of('g')], MAXIMUM)).toEqual(['added']);
      const looking = make({ hooks: once(isTakingOut, join) });
      await looking.subscriptions.put(session, look.slice(1), MAXIMUM);
      expect(await groupNames()).toContain('g');
      expect(await groupNames()).not.toContain('h');
      expect(await found()).toContain('g');
    });
  });

  describe('the members of a share group', () => {
    it('take no more bytes than are counted, and leave none behind', async () => {
      const { tenant, stores, item } = await begin();
      const key = groupKey(tenant, SHARE);
      const sessions = [];
      for (const clientId of ['x', 'ä'.repeat(500), '"'.repeat(1_000)]) {
        for (const keepsNothing of [false, true]) {
          const connectionId = 'L0SM9cOFvHcCIvw=';
          const fields = { connectionId, attachment: { keepsNothing } };
          const { session } = await open(stores, tenant, clientId + keepsNothing, fields);
          await stores.subscriptions.put(session, [of('g')], MAXIMUM);
          sessions.push(session);
        }
      }
      const group = await item(key);
      expect(sizeOf(group)).toBeGreaterThan(6_000);
      expect(Number(group?.w?.N)).toBeGreaterThanOrEqual(sizeOf(group));
      for (const session of sessions) await stores.subscriptions.remove(session, [of('g')]);
      expect(await item(key)).toMatchObject({ n: { N: '0' }, w: { N: '0' } });
    });

    it('are no more than its item has bytes for, and one that leaves makes room', async () => {
      const { tenant, stores, session, item } = await begin();
      const key = groupKey(tenant, SHARE);
      await stores.subscriptions.put(session, [of('g')], MAXIMUM);
      const one = Number((await item(key))?.w?.N);
      // As if members with long client ids stood there.
      await service.client.send(
        new UpdateItemCommand({
          TableName: service.tableName,
          Key: marshalled(key),
          UpdateExpression: 'SET w = :w',
          ExpressionAttributeValues: { ':w': { N: String(SHARE_GROUP_BYTES_MAX - one + 1) } },
        }),
      );
      const { session: other } = await open(stores, tenant, 'anyone');
      expect(await stores.subscriptions.put(other, [of('g')], MAXIMUM)).toEqual(['over-limit']);
      expect(await stores.subscriptions.list(other)).toEqual([]);
      await stores.subscriptions.remove(session, [of('g')]);
      expect(await stores.subscriptions.put(other, [of('g')], MAXIMUM)).toEqual(['added']);
    });
  });
});
