import { describe, expect, it } from 'vitest';
import { type Begun, PublishedToStreams, ReaderLedger } from './stream-ledger.ts';

/** `e-3` is in place 3 of epoch e, and has that for its payload; `e-3=x` has another; `s:e-3` is a last value. */
const ARRIVAL = /^(s:)?([a-z])-(\d+)(?:=(.*))?$/;

interface Suback {
  readonly isRecovered?: boolean;
  readonly newest: string;
  readonly after?: number;
}

const suback = (newest: string, after?: number, isRecovered = true): Suback => ({
  newest,
  isRecovered,
  ...(after !== undefined && { after }),
});

const begunOf = ({ isRecovered = true, newest, after }: Suback): Begun => {
  const [epoch = '', number] = newest.split('-');
  const place = { epoch, number: Number(number) };
  return { isRecovered, topics: new Map([['t', { ...place, after: after ?? place.number }]]) };
};

/** An acknowledged message was published before all SUBACKs; where its payload is a place, another reader has seen it. */
function problemsOf(
  acknowledged: readonly string[],
  what: readonly (string | Suback)[],
  { isExact = true } = {},
): string[] {
  const published = new PublishedToStreams();
  for (const [index, payload] of acknowledged.entries()) {
    published.published('t', payload, index);
    published.handled(`t=${payload}`);
    published.acknowledged('t', payload);
    const [, , epoch, number] = ARRIVAL.exec(payload) ?? [];
    if (epoch !== undefined)
      published.seen({ topic: 't', payload, place: { epoch, number: Number(number) }, kind: undefined });
  }
  const ledger = new ReaderLedger(published, { name: 'r', isExact });
  for (const each of what) {
    if (typeof each !== 'string') {
      ledger.begun(begunOf(each), acknowledged.length);
      continue;
    }
    if (each === 'asked') {
      ledger.asked();
      continue;
    }
    const [, isValue, epoch = '', number, payload = `${epoch}-${number}`] = ARRIVAL.exec(each) ?? [];
    const place = { epoch, number: Number(number) };
    ledger.received({ topic: 't', payload, place, kind: isValue && 'snapshot' });
  }
  return [...published.problems, ...ledger.problems, ...ledger.missing(['t'])].map(({ what: text }) => text);
}

const FROM_THE_BEGINNING = suback('e-0');
const ALL = ['e-1', 'e-2', 'e-3', 'e-4'];

describe('a reader of a stream', () => {
  it('is right with every message in order, even over a reconnect', () => {
    expect(problemsOf(ALL, [FROM_THE_BEGINNING, ...ALL])).toEqual([]);
    const goesOn = suback('e-4', 2);
    expect(problemsOf(ALL, [FROM_THE_BEGINNING, 'e-1', 'e-2', goesOn, 'e-3', 'e-4'])).toEqual([]);
  });

  it('reports a missing acknowledged message', () => {
    const lost = (payload: string) => `lost: t ${payload} never came to r, and nothing was said`;
    expect(problemsOf(ALL, [FROM_THE_BEGINNING, 'e-1', 'e-2', 'e-4'])).toEqual([lost('e-3')]);
    expect(problemsOf(ALL, [FROM_THE_BEGINNING, 'e-1', 'e-2', 'e-3'])).toEqual([lost('e-4')]);
  });

  it('may skip a message whose publisher got no answer', () => {
    expect(problemsOf(['e-1', 'e-3'], [FROM_THE_BEGINNING, 'e-1', 'e-3'])).toEqual([]);
  });

  it('reports disorder, repetitions and an epoch that returns', () => {
    const order = (late: string, before: string) => `order: t at r: ${late} came behind ${before}`;
    expect(problemsOf([], [FROM_THE_BEGINNING, 'e-2', 'e-1'])).toContain(order('e-1', 'e-2'));
    expect(problemsOf([], [FROM_THE_BEGINNING, 'e-1', 'e-1'])).toContain(order('e-1', 'e-1'));
    expect(problemsOf([], [FROM_THE_BEGINNING, 'e-3', 'f-4', 'e-3'])).toContain(order('e-3', 'f-4'));
  });

  it('reports "true" over a gap, and over the end of an epoch', () => {
    expect(problemsOf([], [FROM_THE_BEGINNING, suback('e-4', 2)])).toEqual([
      'recovered: t at r begins behind 2, not 0, and true',
    ]);
    expect(problemsOf([], [FROM_THE_BEGINNING, suback('f-0')])).toEqual([
      'recovered: t at r from epoch e to f, and true',
    ]);
  });

  it('reports "false" if nothing was missing', () => {
    expect(problemsOf(ALL, [FROM_THE_BEGINNING, ...ALL, suback('e-4', 4, false)])).toEqual([
      'gap: r has everything, and SUBACK says false',
    ]);
  });

  it('accepts "false" for messages that were missing when it was asked, even if they came before the answer', () => {
    const [first = '', ...others] = ALL;
    const asked = ['asked', ...others, suback('e-4', 4, false)];
    expect(problemsOf(ALL, [FROM_THE_BEGINNING, first, ...asked])).toEqual([]);
    expect(problemsOf(ALL, [FROM_THE_BEGINNING, ...ALL, 'asked', suback('e-4', 4, false)])).toHaveLength(1);
  });

  it('accepts "false" for a topic that the reader did not know, whose beginning is not sent', () => {
    const published = new PublishedToStreams();
    const whole = { epoch: 'e', number: 2, after: 2 };
    const problemsOfGap = (after: number) => {
      const ledger = new ReaderLedger(published, { name: 'r', isExact: true });
      ledger.begun({ isRecovered: true, topics: new Map([['t', whole]]) }, 0);
      ledger.asked();
      const other = { epoch: 'f', number: 2, after };
      const topics = new Map([
        ['t', whole],
        ['unknown', other],
      ]);
      ledger.begun({ isRecovered: false, topics }, 1);
      return ledger.problems.map(({ what }) => what);
    };
    expect(problemsOfGap(1)).toEqual([]);
    expect(problemsOfGap(0)).toEqual(['gap: r has everything, and SUBACK says false']);
  });

  it('accepts "false" for missing messages, and expects all later ones', () => {
    const gap = suback('e-3', 2, false);
    expect(problemsOf(ALL, [FROM_THE_BEGINNING, 'e-1', gap, 's:e-3', 'e-4'])).toEqual([]);
    expect(problemsOf(ALL, [FROM_THE_BEGINNING, 'e-1', gap, 's:e-3', 'e-5=x'])).toContain(
      'lost: t e-4 never came to r, and nothing was said',
    );
  });

  it('continues after a last value whose SUBACK was lost, and misses the messages between', () => {
    const told = [FROM_THE_BEGINNING, suback('e-2', 1, false), 's:e-2'];
    expect(problemsOf(ALL, [...told, 'e-3', 's:e-4', suback('e-4', 4)])).toEqual([]);
    expect(problemsOf(ALL, [...told, 's:e-4', suback('e-4', 4)])).toEqual([
      'lost: t e-3 never came to r, and nothing was said',
    ]);
  });

  it('without ordering may get messages twice and in any order, but misses none', () => {
    const bare = { isExact: false };
    expect(problemsOf(ALL, [FROM_THE_BEGINNING, 'e-2', 'e-1', 'e-2', 'e-4', 'e-3'], bare)).toEqual([]);
    expect(problemsOf(ALL, [FROM_THE_BEGINNING, 'e-2', 'e-1', 'e-4'], bare)).toEqual([
      'lost: t e-3 never came to r, and nothing was said',
    ]);
  });

  it('is promised nothing from before its beginning', () => {
    expect(problemsOf(ALL, [suback('e-4', 2), 'e-3', 'e-4'])).toEqual([]);
  });
});

describe('the log of a topic', () => {
  it('has one message in each place', () => {
    expect(problemsOf([], [FROM_THE_BEGINNING, 'e-1=a', 'e-1=b'], { isExact: false })).toContain(
      'place: a and b are both t e-1',
    );
  });

  it('has a message in as many places as handlers began with it', () => {
    expect(problemsOf(['a'], [FROM_THE_BEGINNING, 'e-1=a', 'e-2=a'])).toEqual([
      'doubled: t=a had 1 handlers and is at e-1 and e-2',
    ]);
    // When an epoch ends, messages keep their numbers.
    expect(problemsOf(['a'], [FROM_THE_BEGINNING, 'e-1=a', 'f-1=a'], { isExact: false })).toEqual([]);
  });
});
