import { describe, expect, test } from 'vitest';
import { LOG_LINES_MAX, type Log, SparingLog } from '../src/index.ts';

type Line = readonly [level: string, event: string, fields: Record<string, unknown> | undefined];

/** A log, what it has written, and a clock that the test moves. */
class Stage {
  nowMs = Date.parse('2026-01-01T00:00:00Z');
  readonly lines: Line[] = [];
  readonly log: SparingLog;

  constructor() {
    const writeAt =
      (level: string): Log['info'] =>
      (event, fields) =>
        this.lines.push([level, event, fields]);
    const log: Log = {
      debug: writeAt('debug'),
      info: writeAt('info'),
      warn: writeAt('warn'),
      error: writeAt('error'),
    };
    this.log = new SparingLog(log, { now: () => this.nowMs });
  }

  refuse(times: number, fields: Record<string, unknown>): void {
    for (let time = 0; time < times; time++) this.log.warn('publish-refused', fields);
  }
}

const ADA = { tenant: 'default', name: 'ada', clientId: 'phone' };

describe('events of one kind from one identity', () => {
  test('the first in a minute is a line, and the others are a number when the minute is over', () => {
    const stage = new Stage();
    stage.refuse(4_000, { ...ADA, reason: 'no' });
    expect(stage.lines).toEqual([['warn', 'publish-refused', { ...ADA, reason: 'no' }]]);
    stage.nowMs += 59_999;
    stage.log.tell();
    expect(stage.lines).toHaveLength(1);
    stage.nowMs += 1;
    stage.log.tell();
    expect(stage.lines.slice(1)).toEqual([
      ['warn', 'publish-refused', expect.objectContaining({ ...ADA, repeated: 3_999, withinSeconds: 60 })],
    ]);
  });

  test('the first of the next minute is a line again, behind the number of the last', () => {
    const stage = new Stage();
    stage.refuse(2, ADA);
    stage.nowMs += 60_000;
    stage.refuse(2, ADA);
    expect(stage.lines.map(([, , fields]) => fields?.repeated)).toEqual([undefined, 1, undefined]);
  });

  test('there is no number where nothing was repeated', () => {
    const stage = new Stage();
    stage.refuse(1, ADA);
    stage.nowMs += 60_000;
    stage.log.tell();
    expect(stage.lines).toHaveLength(1);
  });

  test('the number is told at the end of the process, too', () => {
    const stage = new Stage();
    stage.refuse(3, ADA);
    stage.log.end();
    expect(stage.lines.at(-1)).toMatchObject(['warn', 'publish-refused', { repeated: 2 }]);
  });

  test('events that count for themselves are summed', () => {
    const stage = new Stage();
    for (const count of [5, 6, 7]) stage.log.info('messages-dropped', { clientId: 'c', count });
    stage.log.end();
    expect(stage.lines.map(([, , fields]) => fields?.count)).toEqual([5, 13]);
  });

  test.each<['info' | 'error', Record<string, unknown>]>([
    ['error', ADA],
    ['info', { swept: 3 }],
  ])('%s %j has ten lines: the broker causes it, and each event may have another cause', (level, fields) => {
    const stage = new Stage();
    for (let index = 0; index < 100; index++) stage.log[level]('timer-failed', fields);
    stage.log.end();
    expect(stage.lines).toHaveLength(11);
    expect(stage.lines.at(-1)).toMatchObject([level, 'timer-failed', { repeated: 90 }]);
  });
});

describe('are told apart', () => {
  const bothOf = (one: Record<string, unknown>, other: Record<string, unknown>): number => {
    const stage = new Stage();
    stage.refuse(1, one);
    stage.refuse(1, other);
    return stage.lines.length;
  };

  test.each<[string, Record<string, unknown>, Record<string, unknown>, number]>([
    ['names', ADA, { ...ADA, name: 'bob' }, 2],
    ['tenants', ADA, { ...ADA, tenant: 'acme' }, 2],
    ['reason codes', { ...ADA, reasonCode: 0x87 }, { ...ADA, reasonCode: 0x90 }, 2],
    ['client identifiers of one name: not', ADA, { ...ADA, clientId: 'tablet' }, 1],
    ['addresses without a name', { address: '192.0.2.1:1' }, { address: '192.0.2.2:1' }, 2],
    ['ports: not', { address: '192.0.2.1:1' }, { address: '192.0.2.1:2' }, 1],
    ['client identifiers without name and address', { clientId: 'a' }, { clientId: 'b' }, 2],
  ])('%s', (_what, one, other, lines) => {
    expect(bothOf(one, other)).toBe(lines);
  });

  test('a thousand senders; those beyond it share a line and a number', () => {
    const stage = new Stage();
    for (let index = 0; index < 5_000; index++) {
      // Errors have no limit of their number.
      stage.log.error('failed', { clientId: `c${index}` });
    }
    expect(stage.lines).toHaveLength(1_010);
    stage.log.end();
    expect(stage.lines).toHaveLength(1_011);
    expect(stage.lines.at(-1)).toMatchObject(['error', 'failed', { name: 'others', repeated: 3_990 }]);
  });
});

describe('a flood of senders that differ', () => {
  const flood = (stage: Stage, count: number): void => {
    for (let index = 0; index < count; index++) stage.refuse(1, { address: `[2001:db8::${index}]:1` });
  };

  test('has so many lines in a minute, and one that says how many events were left out [SEC-LOG-3]', () => {
    const stage = new Stage();
    flood(stage, 100_000);
    expect(stage.lines).toHaveLength(LOG_LINES_MAX);
    stage.log.error('disk-failed');
    expect(stage.lines).toHaveLength(LOG_LINES_MAX + 1);
    stage.nowMs += 60_000;
    stage.log.tell();
    const [, , leftOut] = stage.lines[LOG_LINES_MAX + 1] ?? [];
    const strangers = 1_001 - LOG_LINES_MAX;
    const limit = { linesMax: LOG_LINES_MAX, withinSeconds: 60 };
    expect(leftOut).toEqual({ count: strangers, strangers, others: 0, ...limit });
    // Each event is in a line, in the number of a line, or among those that were left out.
    const counted = stage.lines.map(([, event, fields]) =>
      event === 'disk-failed' ? 0 : Number(fields?.count ?? fields?.repeated ?? 1),
    );
    expect(counted.reduce((sum, count) => sum + count)).toBe(100_000);
  });

  test('hides no line of an identity or of the broker [SEC-LOG-3]', () => {
    const stage = new Stage();
    flood(stage, 900);
    stage.log.warn('publish-refused', ADA);
    stage.log.info('users-changed', { count: 1 });
    expect(stage.lines.slice(LOG_LINES_MAX).map(([, event]) => event)).toEqual([
      'publish-refused',
      'users-changed',
    ]);
  });

  test('goes on for an hour with as many in each of its minutes', () => {
    const stage = new Stage();
    for (let minute = 0; minute < 60; minute++) {
      flood(stage, 5_000);
      stage.nowMs += 60_000;
    }
    stage.log.end();
    expect(stage.lines.length).toBeLessThanOrEqual(61 * (LOG_LINES_MAX + 1));
  });
});

describe('a text', () => {
  const written = (fields: Record<string, unknown>): unknown => {
    const stage = new Stage();
    stage.log.warn('event', fields);
    return stage.lines[0]?.[2];
  };

  test('of 100 characters is written, and a longer one is cut, at every level', () => {
    const stage = new Stage();
    const topic = 'x'.repeat(101);
    for (const level of ['debug', 'info', 'warn', 'error'] as const) stage.log[level](level, { topic });
    const cut = { topic: `${'x'.repeat(100)}… (101 characters)` };
    expect(stage.lines.map(([, , fields]) => fields)).toEqual([cut, cut, cut, cut]);
    expect(written({ topic: 'x'.repeat(100) })).toEqual({ topic: 'x'.repeat(100) });
  });

  test('inside of a list or of an object is cut as well', () => {
    const fields = { filters: new Array(50).fill('x'.repeat(200)), will: { topic: 'x'.repeat(200) } };
    const cut = `${'x'.repeat(100)}… (200 characters)`;
    expect(written(fields)).toEqual({ filters: new Array(10).fill(cut), will: { topic: cut } });
  });

  test('of an internal error keeps its stack trace', () => {
    expect(written({ error: 'x'.repeat(4_000) })).toEqual({ error: 'x'.repeat(4_000) });
    expect(JSON.stringify(written({ error: 'x'.repeat(60_000) })).length).toBeLessThan(4_100);
  });

  test('in the number of a minute is cut too', () => {
    const stage = new Stage();
    stage.refuse(2, { clientId: 'x'.repeat(60_000) });
    stage.log.end();
    expect(JSON.stringify(stage.lines).length).toBeLessThan(600);
  });
});
