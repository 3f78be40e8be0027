import { JSON_DEPTH_MAX, type Message } from '@apus/broker';
import { describe, expect, test } from 'vitest';
import { conditionOf, JSON_BYTES_MAX } from '../src/index.ts';
import { messageOf as plainMessageOf } from './message-of.ts';

const PROPERTIES = { userProperties: [['region', 'eu']], contentType: 'application/json' } as const;

const messageOf = (payload: string | Uint8Array, others: Partial<Message> = {}): Message => ({
  ...plainMessageOf(payload, PROPERTIES),
  ...others,
});

function verdict(expression: string, message: Message) {
  const condition = conditionOf(expression);
  if ('problem' in condition) throw new Error(condition.problem);
  return condition(message);
}

const JSON_MESSAGE = messageOf('{"t": 81.5, "n": 3, "unit": "C", "list": [1, 2], "door": {"open": true}}');

describe('a condition', () => {
  test.each([
    ['payload.t > 80', true],
    ['payload.t > 82.0', false],
    ['payload.n == 3 && payload.unit == "C"', true],
    ['payload.door.open', true],
    ['payload.list.exists(each, each > 1)', true],
    ['has(payload.missing) && payload.missing == 3', false],
    ['topic.startsWith("sensors/") && levels[1] == "kitchen"', true],
    ['user["region"] == "eu"', true],
    ['user.region == "us"', false],
    ['"region" in user', true],
    ['qos == 1 && !retain', true],
    ['content_type == "application/json"', true],
  ])('%s is %s', (expression, expected) => {
    expect(verdict(expression, JSON_MESSAGE)).toBe(expected);
  });

  test.each([
    ['a field that is not there', 'payload.missing == 3', JSON_MESSAGE],
    ['a user property that is not there', 'user.missing == "x"', JSON_MESSAGE],
    ['a field of another type', 'payload.unit > 3', JSON_MESSAGE],
    ['a field that is no condition', 'payload.unit', JSON_MESSAGE],
    ['a field of Object', 'payload.constructor == 3', JSON_MESSAGE],
    ['a payload that is no JSON', 'payload.t > 80.0', messageOf('{"t": 81')],
    ['a payload that is no UTF-8', 'payload.t > 80.0', messageOf(Buffer.from([0xff]))],
  ])('cannot be said of %s', (_what, expression, message) => {
    expect(verdict(expression, message)).toEqual({ error: expect.any(String) });
  });

  test('does not read a payload above the limit as JSON', () => {
    expect(verdict('payload == null', messageOf(`"${'x'.repeat(JSON_BYTES_MAX - 2)}"`))).toBe(false);
    expect(verdict('payload == null', messageOf(`"${'x'.repeat(JSON_BYTES_MAX - 1)}"`))).toBe(true);
    const levels = (count: number) => messageOf('['.repeat(count) + ']'.repeat(count));
    expect(verdict('payload == null', levels(JSON_DEPTH_MAX))).toBe(false);
    expect(verdict('payload == null', levels(JSON_DEPTH_MAX + 1))).toBe(true);
  });

  test.each([
    ['payload.t +', 'Unexpected token'],
    ['foo == 1', 'Unknown variable'],
    ['topic == 1', 'no such overload'],
    ['topic + "x"', 'has to be true or false'],
    ['topic.matches("(a+)+$")', 'has matches()'],
    [`${'('.repeat(100)}true${')'.repeat(100)}`, 'no CEL expression'],
  ])('%s is an error before anything starts', (expression, problem) => {
    expect(conditionOf(expression)).toEqual({ problem: expect.stringContaining(problem) });
  });
});
