import { describe, expect, it } from 'vitest';
import { ClosedLoop } from '../src/generator/closed-loop.ts';
import type { Door } from '../src/generator/wire.ts';
import { readScenario } from '../src/scenario/read-scenario.ts';
import { brokerForTest, runForTest, scenarioOf, urlOf } from './support.ts';

describe('a closed loop', () => {
  it('keeps its window full from its beginning to its end, and is not widened by a duplicate', () => {
    let sent = 0;
    const loop = new ClosedLoop(3, () => {
      sent += 1;
    });
    loop.cameBack();
    expect(sent).toBe(0);
    loop.begin();
    expect(sent).toBe(3);
    loop.cameBack();
    loop.cameBack();
    expect(sent).toBe(5);
    loop.end();
    for (let count = 0; count < 4; count += 1) loop.cameBack();
    expect(sent).toBe(5);
    // Four came of three in flight: one was a duplicate, which is not replaced.
    loop.begin();
    expect(sent).toBe(8);
  });

  it.each(['node', 'gateway'] satisfies Door[])(
    'sends at the %s door until its time is over; everything that was sent has come',
    async (door) => {
      const node = await brokerForTest();
      const scenario = scenarioOf({
        groups: [
          { name: 'subscribers', clients: 3, subscribe: { filters: ['news'], qos: 1 } },
          {
            name: 'publisher',
            clients: 1,
            subscribe: { filters: ['news'], qos: 1 },
            publish: { topic: 'news', qos: 1, window: 2 },
          },
        ],
      });
      const { outcome, run } = await runForTest(scenario, urlOf(node, door), door, { workers: 2 });
      const { sent, notSent } = outcome.publishes;
      expect(run.problems).toEqual([]);
      expect(notSent).toBe(0);
      // More than the window: messages have come back, and others have followed.
      expect(sent).toBeGreaterThan(2);
      expect(outcome.deliveries).toMatchObject({ expected: sent * 4, received: sent * 4, lost: 0 });
    },
  );
});

describe('a scenario with a window', () => {
  const publish = { topic: 'a', window: 2 };
  const scenario = (groups: object[]) =>
    readScenario({ name: 'n', title: 't', durationSeconds: 1, groups: [...groups] });
  const loop = { name: 'loop', clients: 1, subscribe: { filters: ['a'] }, publish };

  it('needs no pace', () => {
    expect(scenario([loop]).groups[0]?.publish).toMatchObject({ window: 2, perSecond: 1 });
  });

  it.each<[object[], RegExp]>([
    [[{ ...loop, subscribe: { filters: ['b'] } }], /clients of "loop" have a window, so they subscribe/],
    [[{ ...loop, subscribe: undefined }], /clients of "loop" have a window, so they subscribe/],
    [[{ ...loop, publish: { ...publish, perSecond: 5 } }], /"perSecond": is one of 1, not 5/],
    [[{ ...loop, publish: { ...publish, window: 0 } }], /"window": should be a number from 1 to 500, not 0/],
    [[{ ...loop, publish: { ...publish, topics: 2 } }], /a client with a window has one topic/],
    [
      [loop, { name: 'paced', clients: 1, publish: { topic: 'a', perSecond: 1 } }],
      /either all that publish have a window, or none/,
    ],
  ])('%j is refused in a sentence', (groups, sentence) => {
    expect(() => scenario(groups)).toThrow(sentence);
  });
});
