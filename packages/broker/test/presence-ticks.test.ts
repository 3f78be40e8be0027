import { describe, expect, it } from 'vitest';
import { FakeDoor, type FakeDoorOptions, type FakeLink } from './support/fake-door.ts';
import { FakeTicks } from './support/fake-ticks.ts';

const ROOM = '$presence/hall/+';

/** A room that so many watch, and its first watcher. */
async function hall(watchers: number, options: FakeDoorOptions = {}) {
  const ticks = new FakeTicks();
  const door = new FakeDoor({ ticks, ...options });
  const links: FakeLink[] = [];
  for (let index = 0; index < watchers; index += 1) {
    const link = await door.connect({ clientId: `w${index}` });
    await door.subscribe(link, ROOM);
    link.take();
    links.push(link);
  }
  const enter = async (clientId: string, data = 'here') => {
    const link = await door.connect({ clientId });
    await door.publish(link, `$presence/hall/${clientId}`, data);
    return link;
  };
  const delays = () => [...ticks.armed.values()];
  return { door, ticks, links, watcher: links[0] as FakeLink, enter, delays };
}

/** `ann=here` for each message; with a star where it was there before the watcher came. */
function told(link: FakeLink): string[] {
  return link.take().flatMap((packet) => {
    if (packet.type !== 'publish') return [];
    const member = packet.topic.split('/').at(-1);
    return `${member}=${Buffer.from(packet.payload).toString()}${packet.retain ? '*' : ''}`;
  });
}

describe.each([{ isAsync: false }, { isAsync: true }])(
  'A room, ports answer later: $isAsync',
  ({ isAsync }) => {
    it('of 100 watchers is told at once', async () => {
      const { watcher, enter, delays } = await hall(100, { isAsync });
      await enter('ann');
      expect(told(watcher)).toEqual(['ann=here']);
      expect(delays()).toEqual([]);
    });

    it.each([
      [101, 1_000],
      [1_000, 1_000],
      [1_001, 5_000],
      [10_000, 5_000],
      [10_001, 30_000],
    ])('of %i watchers is told in ticks of %i ms', async (watchers, ms) => {
      const { door, ticks, watcher, enter, delays } = await hall(watchers);
      await enter('ann');
      await enter('bob');
      expect(told(watcher)).toEqual([]);
      expect(delays()).toEqual([ms]);
      while ((await ticks.tick(door)) > 0);
      expect(told(watcher)).toEqual(['ann=here', 'bob=here']);
      expect(delays()).toEqual([]);
    });

    it('does not tell watchers of a member that came and went between two ticks', async () => {
      const { door, ticks, watcher, enter } = await hall(101, { isAsync });
      const ann = await enter('ann');
      await enter('bob');
      await door.publish(ann, '$presence/hall/ann', '');
      await ticks.tick(door);
      expect(told(watcher)).toEqual(['bob=here']);
    });

    it('does not tell watchers of a member that left and came back unchanged between two ticks', async () => {
      const { door, ticks, watcher, enter } = await hall(101, { isAsync });
      const ann = await enter('ann');
      await ticks.tick(door);
      told(watcher);
      await door.publish(ann, '$presence/hall/ann', '');
      await door.publish(ann, '$presence/hall/ann', 'here');
      await ticks.tick(door);
      expect(told(watcher)).toEqual([]);
    });

    it('tells watchers only the newest data of a member', async () => {
      const { door, ticks, watcher, enter } = await hall(101, { isAsync });
      const ann = await enter('ann', 'one');
      for (const data of ['two', 'three']) await door.publish(ann, '$presence/hall/ann', data);
      await ticks.tick(door);
      expect(told(watcher)).toEqual(['ann=three']);
    });

    it('gives a new watcher the state that the others have been told, and the same changes from then on', async () => {
      const { door, ticks, watcher, enter } = await hall(101, { isAsync });
      await enter('ann');
      await ticks.tick(door);
      told(watcher);
      const bob = await enter('bob');
      const newcomer = await door.connect();
      await door.subscribe(newcomer, ROOM);
      expect(told(newcomer)).toEqual(['ann=here*']);
      await enter('eve');
      await door.publish(bob, '$presence/hall/bob', '');
      await ticks.tick(door);
      expect(told(newcomer)).toEqual(['eve=here']);
      expect(told(watcher)).toEqual(['eve=here']);
    });

    it('tells the number of its members at the tick, and not between', async () => {
      const { door, ticks, enter } = await hall(101, { isAsync });
      const counter = await door.connect();
      await door.subscribe(counter, '$occupancy/hall');
      const ann = await enter('ann');
      await enter('bob');
      await door.publish(ann, '$presence/hall/ann', '');
      expect(told(counter)).toEqual(['hall=0*']);
      await ticks.tick(door);
      expect(told(counter)).toEqual(['hall=1']);
    });
  },
);

describe('A tick', () => {
  it('sets no timer where no member has changed', async () => {
    const { door, ticks, enter } = await hall(101);
    await enter('ann');
    await ticks.tick(door);
    expect(await ticks.tick(door)).toBe(0);
  });

  it('tells many members to many watchers in turns, and each once', async () => {
    const { door, ticks, watcher, enter } = await hall(500);
    const names = Array.from({ length: 90 }, (_, index) => `m${index}`);
    for (const name of names) await enter(name);
    await ticks.tick(door);
    const first = told(watcher);
    expect(first.length).toBe(40);
    await ticks.tick(door);
    await ticks.tick(door);
    expect([...first, ...told(watcher)]).toEqual(names.map((name) => `${name}=here`));
    expect(ticks.armed.size).toBe(0);
  });

  it('makes a join cost the same for any number of watchers: the broker reads them only at the tick', async () => {
    let matches = 0;
    const wrap: FakeDoorOptions['wrap'] = (stores) => ({
      ...stores,
      subscriptions: new Proxy(stores.subscriptions, {
        get(target, name) {
          if (name === 'match') matches += 1;
          const value = Reflect.get(target, name);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      }),
    });
    const { enter } = await hall(200, { wrap, deliveryQuota: { take: () => true } });
    await enter('first');
    matches = 0;
    for (let index = 0; index < 10; index += 1) await enter(`m${index}`);
    expect(matches).toBe(0);
  });
});

describe('A member', () => {
  it('is not added for a client that left while the authorizer decided', async () => {
    let allow: (is: boolean) => void = () => {};
    const authorizer = {
      mayPublish: () => new Promise<boolean>((resolve) => (allow = resolve)),
      maySubscribe: () => true,
    };
    const { door, watcher } = await hall(1, { authorizer });
    const ann = await door.connect({ clientId: 'ann' });
    const entering = door.publish(ann, '$presence/hall/ann', 'here');
    // Another connection of the same client identifier ends the session of the first.
    const other = await door.connect({ clientId: 'ann' });
    allow(true);
    await entering;
    await door.cut(other);
    await door.advance(3600);
    expect(told(watcher)).toEqual([]);
    const newcomer = await door.connect();
    await door.subscribe(newcomer, ROOM);
    expect(told(newcomer)).toEqual([]);
  });

  it('is charged at once for the deliveries that it causes, and refused where its quota is used up', async () => {
    const taken: number[] = [];
    const deliveryQuota = { take: (_: unknown, count: number) => taken.push(count) < 2 };
    const { watcher, enter } = await hall(3, { deliveryQuota });
    await enter('ann');
    await enter('bob');
    expect(taken).toEqual([3, 3]);
    expect(told(watcher)).toEqual(['ann=here']);
  });
});
