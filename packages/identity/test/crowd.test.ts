import { array, assert, asyncProperty, constantFrom, integer, record } from 'fast-check';
import { expect, test } from 'vitest';
import { Crowd } from '../src/index.ts';

const HOLDERS = ['a', 'b', 'c'];

test('a crowd finds the holder with most members and its oldest, as a search does', async () => {
  const step = record({
    kind: constantFrom('add', 'add', 'delete', 'turn'),
    member: integer({ min: 0, max: 9 }),
    holder: constantFrom(...HOLDERS),
  });
  await assert(
    asyncProperty(array(step, { maxLength: 60 }), async (steps) => {
      const crowd = new Crowd<number>();
      const list: { member: number; holder: string }[] = [];
      const forget = (member: number) => {
        const at = list.findIndex((each) => each.member === member);
        if (at >= 0) list.splice(at, 1);
        return at >= 0;
      };
      for (const { kind, member, holder } of steps) {
        if (kind === 'add') {
          forget(member);
          crowd.add(member, holder);
          list.push({ member, holder });
        } else if (kind === 'delete') expect(crowd.delete(member)).toBe(forget(member));
        else {
          const turn = crowd.takeTurn((each) => each === holder);
          const oldest = list.find((each) => each.holder === holder);
          expect(turn).toEqual(oldest && [oldest.member, holder]);
          if (oldest !== undefined) forget(oldest.member);
        }
        const count = (of: string) => list.filter((each) => each.holder === of).length;
        expect(crowd.size).toBe(list.length);
        expect(crowd.most).toBe(Math.max(...HOLDERS.map(count)));
        for (const each of HOLDERS) {
          expect(crowd.count(each)).toBe(count(each));
          expect(crowd.oldest(each)).toBe(list.find((one) => one.holder === each)?.member);
        }
        const greediest = crowd.oldest();
        const holderOf = greediest === undefined ? undefined : crowd.holderOf(greediest);
        expect(holderOf === undefined ? 0 : count(holderOf)).toBe(crowd.most);
      }
    }),
  );
});

test('holders take turns', () => {
  const crowd = new Crowd<string>();
  for (const [member, holder] of ['a1 a', 'a2 a', 'a3 a', 'b1 b', 'c1 c'].map((each) => each.split(' ')))
    crowd.add(member ?? '', holder ?? '');
  const turns = Array.from({ length: 6 }, () => crowd.takeTurn(() => true)?.[0]);
  expect(turns).toEqual(['a1', 'b1', 'c1', 'a2', 'a3', undefined]);
});
