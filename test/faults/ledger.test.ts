import { describe, expect, it } from 'vitest';
import { GapLedger } from './gap-ledger.ts';
import { Ledger } from './ledger.ts';
import { ProbeLedger } from './probe-ledger.ts';
import { WillLedger } from './will-ledger.ts';

const whatOf = (problems: readonly { what: string }[]) => problems.map(({ what }) => what);

function ledgerOf(qos: 1 | 2, received: readonly number[]): Ledger {
  const ledger = new Ledger(() => ({ names: ['s'], isGroup: false }));
  for (const number of [0, 1, 2]) {
    ledger.published({ topic: 't', qos, number });
    ledger.acknowledged('t', number);
  }
  for (const number of received) ledger.received('s', 't', number);
  return ledger;
}

describe('messages', () => {
  it('are right if every promise is kept, repetitions at QoS 1 included', () => {
    expect(ledgerOf(1, [0, 1, 0, 1, 2]).problems).toEqual([]);
    expect(ledgerOf(2, [0, 1, 2]).problems).toEqual([]);
  });

  it('are reported if they are lost, doubled, or out of order', () => {
    expect(whatOf(ledgerOf(1, [0, 2]).problems)).toEqual(['lost: t 1 never came to s']);
    expect(whatOf(ledgerOf(2, [0, 1, 1, 2]).problems)).toEqual(['doubled: t 1 came twice to s']);
    expect(whatOf(ledgerOf(1, [0, 2, 1]).problems)).toEqual(['order: t at s: 1 came first after 2']);
  });

  it('need not arrive if they were never acknowledged', () => {
    const ledger = ledgerOf(1, [0, 1, 2]);
    ledger.published({ topic: 't', qos: 1, number: 3 });
    expect(ledger.problems).toEqual([]);
  });

  it('for a group need to reach one of its members', () => {
    const group = (received: readonly [string, number][]) => {
      const ledger = new Ledger(() => ({ names: ['a', 'b'], isGroup: true }));
      for (const number of [0, 1]) {
        ledger.published({ topic: 't', qos: 2, number });
        ledger.acknowledged('t', number);
      }
      for (const [name, number] of received) ledger.received(name, 't', number);
      return whatOf(ledger.problems);
    };
    expect(
      group([
        ['b', 1],
        ['a', 0],
      ]),
    ).toEqual([]);
    expect(group([['b', 1]])).toEqual(['lost: t 0 never came to a or b']);
    expect(
      group([
        ['a', 0],
        ['a', 1],
        ['b', 0],
      ]),
    ).toEqual(['doubled: t 0 came twice to the group']);
  });
});

describe('wills', () => {
  const after = (fate: 'owed' | 'withdrawn' | 'either', count: number) => {
    const ledger = new WillLedger();
    ledger.begun('w', 2);
    ledger.decide('w', fate);
    for (let times = 0; times < count; times += 1) ledger.received('w');
    return whatOf(ledger.problems);
  };

  it('come once if they are due, and not if they are withdrawn', () => {
    expect(after('owed', 1)).toEqual([]);
    expect(after('either', 0)).toEqual([]);
    expect(after('withdrawn', 0)).toEqual([]);
    expect(after('owed', 0)).toEqual(['will: w was owed and never came']);
    expect(after('withdrawn', 1)).toEqual(['will: w came though withdrawn']);
    expect(after('owed', 2)).toEqual(['will: w came twice']);
    expect(after('either', 2)).toEqual(['will: w came twice']);
  });
});

describe('retained messages', () => {
  const acknowledged = [0, 1, 2, 3];
  const sent = { acknowledgedOf: () => acknowledged, wasSentAgain: () => false };
  const probe = (
    floor: number,
    from: number,
    numbers: readonly number[],
    isRetained = true,
    again: readonly number[] = [],
  ) => {
    const ledger = new ProbeLedger('p');
    ledger.subscribes('t', floor);
    ledger.subscribed('t', from);
    for (const number of numbers) ledger.received('t', number, isRetained && number === numbers[0]);
    return whatOf(
      ledger.problems({
        ...sent,
        wasSentAgain: (_topic, number, after) => again.includes(number) && after <= Math.max(...again),
      }),
    );
  };

  it('are as new as what was acknowledged before, and everything after SUBACK follows', () => {
    expect(probe(1, 2, [1, 2, 3])).toEqual([]);
    expect(probe(1, 3, [2, 3])).toEqual([]);
    expect(probe(1, 2, [0, 2, 3])).toEqual([
      'stale: p was first given t 0, and 1 was acknowledged before',
      'lost: t 1 never came to p, which had subscribed',
    ]);
    expect(probe(1, 2, [1, 3])).toEqual(['lost: t 2 never came to p, which had subscribed']);
    expect(probe(1, 4, [1, 3])).toEqual(['lost: t 2 never came to p, which had subscribed']);
    expect(probe(1, 4, [])).toEqual(['retained: the newest of t that p has is -1, not 3']);
    expect(probe(0, 4, [0, 1, 3, 2])).toEqual(['order: t at p: 2 came first after 3']);
    expect(probe(0, 4, [3, 2, 3])).toEqual([]);
    // Its publisher got no answer, and sent it again.
    expect(probe(0, 4, [2, 3, 2, 3])).toEqual([]);
    expect(probe(0, 4, [0, 3, 2, 3])).toContain('order: t at p: 2 came first after 3');
  });

  it('may be followed by older ones when a publisher sends them again', () => {
    const disorder = 'order: t at p: 0 came first after 2';
    expect(probe(-1, 3, [1, 2, 0, 1, 2, 3], true, [0, 1, 2])).toEqual([]);
    expect(probe(-1, 3, [1, 2, 0, 1, 2, 3])).toEqual([disorder]);
    expect(probe(-1, 0, [1, 2, 0, 1, 2, 3], true, [0, 1, 2])).toEqual([disorder]);
    // A message that is first sent after that repetition comes after it.
    expect(probe(-1, 3, [1, 3, 0, 2], true, [0, 1, 2])).toContain('order: t at p: 0 came first after 3');
  });

  it('have to come as long as the connection holds', () => {
    const ledger = new ProbeLedger('p');
    ledger.subscribes('t', 1);
    ledger.subscribed('t', 2);
    ledger.broken();
    expect(ledger.problems(sent)).toEqual([]);
  });
});

describe('messages to a session that ends with its connection', () => {
  type What = number | 'lost' | 'gap' | 'anew';
  const problemsOf = (...what: readonly What[]) => {
    const ledger = new GapLedger();
    for (const each of what) {
      if (typeof each === 'number') ledger.heard('t', each);
      else ledger.told(each);
    }
    return whatOf(ledger.problems(() => [0, 1, 2, 3, 4]));
  };

  it('are reported if they are missing without a reported gap', () => {
    expect(problemsOf(0, 1, 2, 3, 4)).toEqual([]);
    expect(problemsOf(0, 3, 4)).toEqual(['gap: t 1, 2 never came, and nothing was said']);
    expect(problemsOf(0, 'lost', 2)).toEqual(['gap: t 1 never came, and nothing was said']);
    expect(problemsOf(0, 1, 'lost', 'gap', 2, 4)).toEqual(['gap: t 3 never came, and nothing was said']);
    expect(problemsOf(0, 'anew', 1, 3, 4)).toEqual(['gap: t 2 never came, and nothing was said']);
  });

  it('may be missing with a reported gap, before or after kept messages, or with a new connection', () => {
    expect(problemsOf(0, 'lost', 'gap', 2, 3)).toEqual([]);
    expect(problemsOf(0, 'lost', 2, 'gap', 3)).toEqual([]);
    expect(problemsOf(0, 'lost', 2, 4, 'gap')).toEqual([]);
    expect(problemsOf(0, 'anew', 4)).toEqual([]);
  });

  it('are not missing if they come late', () => {
    expect(problemsOf(0, 3, 1, 2)).toEqual([]);
  });

  it.each([
    ['before', ['handled', 'granted'], []],
    ['after', ['granted', 'handled'], ['gap: t 2 never came, and nothing was said']],
  ] as const)(
    'are required from the grant of the subscription on: handled %s it',
    (_when, order, problems) => {
      const ledger = new GapLedger();
      ledger.told('anew');
      for (const each of order) each === 'granted' ? ledger.told('granted') : ledger.handled('t=2');
      for (const number of [1, 3]) ledger.heard('t', number);
      expect(whatOf(ledger.problems(() => [1, 2, 3]))).toEqual(problems);
    },
  );

  it.each([
    ['before', ['gap', 'handled'], ['gap: t 2 never came, and nothing was said']],
    ['after', ['handled', 'gap'], []],
  ] as const)(
    'are covered by a gap that is reported after their handler began, and by no earlier one: reported %s',
    (_when, order, problems) => {
      const ledger = new GapLedger();
      for (const each of ['anew', 'granted', 'lost'] as const) ledger.told(each);
      for (const each of order) each === 'gap' ? ledger.told('gap') : ledger.handled('t=2');
      for (const number of [1, 3]) ledger.heard('t', number);
      expect(whatOf(ledger.problems(() => [1, 2, 3]))).toEqual(problems);
    },
  );
});
