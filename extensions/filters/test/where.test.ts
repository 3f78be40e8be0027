import type { Message } from '@apus/broker';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Variables } from '../src/compile.ts';
import { CelConditions } from '../src/conditions.ts';
import { COMPILED_MAX, WHERE_LENGTH_MAX, WHERE_NODES_MAX } from '../src/limits.ts';
import { messageOf } from './message-of.ts';

afterEach(() => void vi.restoreAllMocks());

const fits = (where: string, message: Message) => {
  const conditions = new CelConditions();
  expect(conditions.check(where)).toBeUndefined();
  return conditions.fits(where, message);
};

describe('a condition of a client', () => {
  it.each([
    ['payload.t > 80', true],
    ['payload.t > 82.0 || user.region == "us"', false],
    ['payload.list.exists(each, each > 1) && levels[1] == "kitchen"', true],
    ['payload.rows.exists(row, row.tags.exists(tag, tag.startsWith("al")))', true],
    ['payload.list.filter(each, each > 1).size() == 1', true],
    ['topic.contains("kit") && qos == 1 && !retain && content_type == ""', true],
    ['payload.missing == 1', false],
    ['payload.unit > 1', false],
    ['payload.unit', false],
  ])('%s: %s', (where, expected) => {
    const payload = '{"t": 81.5, "unit": "C", "list": [1, 2], "rows": [{"tags": []}, {"tags": ["alarm"]}]}';
    expect(fits(where, messageOf(payload, { userProperties: [['region', 'eu']] }))).toBe(expected);
  });

  it.each([
    ['payload.t >', /Unexpected token.*, at character 12\.$/],
    ['payload.t > 1 && foo == 1', /Unknown variable: foo, at character 18\.$/],
    ['topic + "x"', /has to be true or false/],
    ['topic.matches("(a+)+$")', /has matches\(\)/],
    ['payload.s.split(",").size() > 2', /split\(\) is not for conditions of clients, at character \d+\.$/],
    ['payload.l.map(x, payload.s).size() > 2', /map\(\) is not for/],
    ['cel.bind(a, payload.s + payload.s, a + a == "x")', /bind\(\) is not for/],
    ['bytes(payload.s).size() > 1', /bytes\(\) is not for/],
    ['timestamp(payload.at).getHours("Europe/Berlin") > 1', /getHours\(\) is not for/],
    [
      'payload.a.exists(a, a.exists(b, b.exists(c, c > 1)))',
      /exists\(\) stands within 2 others, at character/,
    ],
    ['x'.repeat(WHERE_LENGTH_MAX + 1), /has at most 1024 characters, not 1025/],
    [`qos == 1${' || qos == 1'.repeat(30)}`, new RegExp(`has at most ${WHERE_NODES_MAX} nodes`)],
  ])('%s is refused', (where, reason) => {
    expect(new CelConditions().check(where)).toMatch(reason);
  });

  it('is compiled once, and evaluated once for a message', () => {
    const conditions = new CelConditions();
    const read = vi.spyOn(Variables.prototype, 'payload', 'get');
    const message = messageOf('{"t": 1}');
    for (let subscriber = 0; subscriber < 1_000; subscriber += 1)
      expect(conditions.fits('payload.t == 1', message)).toBe(true);
    expect(conditions.fits('payload.t == 2', message)).toBe(false);
    expect(read).toHaveBeenCalledTimes(2);
    // Another message in between does not make it be evaluated again.
    expect(conditions.fits('payload.t == 1', messageOf('{"t": 2}'))).toBe(false);
    expect(conditions.fits('payload.t == 1', message)).toBe(true);
    expect(read).toHaveBeenCalledTimes(3);
  });

  it('is compiled again where there are more than are kept', () => {
    const conditions = new CelConditions();
    const message = messageOf('{"t": 5}');
    for (let n = 0; n <= COMPILED_MAX; n += 1) expect(conditions.check(`payload.t == ${n}`)).toBeUndefined();
    for (const [n, expected] of [
      [0, false],
      [5, true],
      [COMPILED_MAX, false],
    ] as const)
      expect(conditions.fits(`payload.t == ${n}`, message)).toBe(expected);
  });
});

describe('a condition that would take long [SEC-WORK-11]', () => {
  const list = (count: number, element: string) => `[${Array.from({ length: count }, () => element).join()}]`;
  it.each([
    [
      'a search of a long text for a long one',
      'payload.s.contains(payload.t)',
      `{"s": "${'a'.repeat(120_000)}", "t": "b${'a'.repeat(60_000)}"}`,
    ],
    [
      'a search for each element',
      'payload.l.exists(x, payload.s.contains("aaaaaaaaaaaaaaaaaaab"))',
      `{"s": "${'a'.repeat(120_000)}", "l": ${list(50_000, '1')}}`,
    ],
    [
      'a macro in a macro',
      'payload.l.exists(x, payload.l.exists(y, x + y == 3.0))',
      `{"l": ${list(100_000, '1')}}`,
    ],
    ['an error for each element', 'payload.l.exists(x, x.y == 1)', `{"l": ${list(120_000, '1')}}`],
    [
      'a list with the same text many times',
      `${list(20, 'payload.s')}.exists(x, x.contains(payload.t))`,
      `{"s": "${'a'.repeat(120_000)}", "t": "${'a'.repeat(60_000)}b"}`,
    ],
  ])('does not fit, and is not evaluated: %s', (_what, where, payload) => {
    const conditions = new CelConditions();
    expect(conditions.check(where)).toBeUndefined();
    const read = vi.spyOn(Variables.prototype, 'payload', 'get');
    expect(conditions.fits(where, messageOf(payload))).toBe(false);
    expect(read).not.toHaveBeenCalled();
  });

  const dear = (n: number) => `!payload.l.exists(x, x == "alarm${n}")`;

  it('does not fit where the message has had as many as it may, and a plain one does', () => {
    const conditions = new CelConditions();
    const message = messageOf(`{"l": ${list(150, '"word"')}}`);
    const known = [0, 1, 2, 3, 4, 5, 6, 7].map((n) => conditions.fits(dear(n), message));
    expect(known).toEqual([true, true, true, true, true, true, false, false]);
    expect(conditions.fits('size(payload.l) > 100', message)).toBe(true);
    expect(conditions.fits(dear(7), messageOf(`{"l": ${list(150, '"word"')}}`))).toBe(true);
  });

  it('counts as many deliveries, once', () => {
    const conditions = new CelConditions();
    const message = messageOf(`{"l": ${list(150, '"word"')}}`);
    expect(conditions.fits('qos >= 0', message)).toBe(true);
    expect(conditions.spent).toBe(0);
    for (let time = 0; time < 3; time += 1) conditions.fits(dear(0), message);
    expect(conditions.spent).toBeGreaterThan(450);
    expect(conditions.spent).toBeLessThan(700);
  });

  it('fits where the same condition has little to look at', () => {
    expect(fits('payload.l.exists(x, payload.l.exists(y, x + y == 3.0))', messageOf('{"l": [1, 2]}'))).toBe(
      true,
    );
    expect(fits('payload.s.contains(payload.t)', messageOf('{"s": "abc", "t": "b"}'))).toBe(true);
    const many = `{"l": ${list(190, '"word"')}}`;
    expect(fits('!payload.l.exists(x, x == "alarm")', messageOf(many))).toBe(true);
  });
});
