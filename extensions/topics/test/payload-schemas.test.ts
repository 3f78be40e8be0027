import { describe, expect, it } from 'vitest';
import { CHECKED_BYTES_MAX, REASON_LENGTH_MAX, SAMPLE_BYTES_MAX } from '../src/limits.ts';
import { PayloadSchemas } from '../src/payload-schemas.ts';
import { readTopics } from '../src/topics.ts';

const bytes = (text: string) => Buffer.from(text);

function schemas(...topics: object[]): PayloadSchemas {
  return new PayloadSchemas(readTopics({ topics }).topics);
}

const celsius = {
  topic: 'sensors/{sensor}/temperature',
  checkPayload: true,
  payload: {
    type: 'object',
    properties: { celsius: { type: 'number', minimum: -273.15 } },
    required: ['celsius'],
  },
};

describe('the check of a payload', () => {
  it.each([
    ['sensors/1/temperature', '{"celsius": 20}', undefined],
    ['sensors/1/temperature', '{"celsius": "20"}', '/celsius must be number'],
    ['sensors/1/temperature', '{"celsius": -300}', '/celsius must be >= -273.15'],
    ['sensors/1/temperature', '{}', "the payload must have required property 'celsius'"],
    ['sensors/1/temperature', '{"celsius":', 'the payload is not JSON'],
    ['sensors/1/temperature', '', 'the payload is not JSON'],
    ['sensors/1/humidity', 'wet', undefined],
  ])('of %s takes or refuses %s', (topic, payload, problem) => {
    expect(schemas(celsius).problemOf('default', topic, bytes(payload))).toBe(problem);
  });

  it('counts the payloads that it has compared, and not those without a schema', () => {
    const checked = schemas(celsius);
    for (const payload of ['{"celsius":1}', '1', '2'])
      checked.problemOf('t', 'sensors/1/temperature', bytes(payload));
    checked.problemOf('t', 'other', bytes('1'));
    expect(checked).toMatchObject({ succeeded: 1, failed: 2 });
  });

  it('uses the first topic of the file that matches, and its tenants', () => {
    const checked = schemas(
      { ...celsius, tenants: ['acme'] },
      { ...celsius, topic: 'sensors/1/temperature', payload: {} },
    );
    expect(checked.problemOf('acme', 'sensors/1/temperature', bytes('1'))).toBe('the payload must be object');
    expect(checked.problemOf('other', 'sensors/1/temperature', bytes('1'))).toBe(undefined);
  });

  it('accepts a payload of the largest size, and refuses one more byte', () => {
    const checked = schemas({ topic: 't', checkPayload: true, payload: { type: 'string' } });
    const text = (length: number) => bytes(JSON.stringify('x'.repeat(length - 2)));
    expect(checked.problemOf('default', 't', text(CHECKED_BYTES_MAX))).toBe(undefined);
    expect(checked.problemOf('default', 't', text(CHECKED_BYTES_MAX + 1))).toMatch('at most');
  });

  it('is not slowed by a text that makes JavaScript’s engine backtrack', () => {
    const checked = schemas({
      topic: 't',
      checkPayload: true,
      payload: { type: 'string', pattern: '^(a+)+$' },
    });
    // JavaScript's own engine would take longer than the age of the universe.
    const problem = checked.problemOf('default', 't', bytes(JSON.stringify(`${'a'.repeat(10_000)}!`)));
    expect(problem).toBe('the payload must match pattern "^(a+)+$"');
  });

  it('refuses lists that are nested more deeply than it can compare, and goes on checking', () => {
    const payload = { type: 'array', uniqueItems: true, maxItems: 10 };
    const checked = schemas({ topic: 't', checkPayload: true, payload });
    const depth = Math.floor(CHECKED_BYTES_MAX / 4) - 2;
    const deep = '['.repeat(depth) + ']'.repeat(depth);
    expect(checked.problemOf('default', 't', bytes(`[${deep},${deep}]`))).toBe(
      'the payload cannot be checked',
    );
    expect(checked.problemOf('default', 't', bytes('[1,2]'))).toBe(undefined);
  });

  it('accepts nested lists if the schema does not look into them', () => {
    const list = { type: 'array', items: { type: 'array' } };
    const checked = schemas({ topic: 't', checkPayload: true, payload: list });
    const depth = CHECKED_BYTES_MAX / 2;
    expect(checked.problemOf('default', 't', bytes('['.repeat(depth) + ']'.repeat(depth)))).toBe(undefined);
    expect(checked.problemOf('default', 't', bytes('[1]'))).toBe('/0 must be array');
  });

  it('gives a reason that is a valid MQTT string, however a publisher names its members [MQTT-1.5.4-2]', () => {
    const payload = { additionalProperties: { type: 'number' } };
    const checked = schemas({ topic: 't', checkPayload: true, payload });
    const problem = checked.problemOf('default', 't', bytes('{"\\u0000\\ud800":"x"}'));
    expect(problem).toBe('/?? must be number');
    const long = checked.problemOf('default', 't', bytes(`{"${'n'.repeat(1_000)}":"x"}`));
    expect(long).toHaveLength(REASON_LENGTH_MAX);
  });

  it('is not fooled by names of JavaScript’s own members', () => {
    const payload = { type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: false };
    const checked = schemas({ topic: 't', checkPayload: true, payload });
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect(checked.problemOf('default', 't', bytes(`{"a":1,"${name}":1}`))).toMatch(
        'additional properties',
      );
    const needed = schemas({ topic: 't', checkPayload: true, payload: { required: ['toString'] } });
    expect(needed.problemOf('default', 't', bytes('{}'))).toMatch('required');
  });

  it('is refused at the start if the file has no schema, or an invalid one', () => {
    expect(() => schemas({ topic: 't', checkPayload: true })).toThrow('needs a schema');
    expect(() => schemas({ ...celsius, payload: { type: 'nothing' } })).toThrow('type');
    expect(() => schemas({ ...celsius, payload: { pattern: '(' } })).toThrow();
  });
});

describe('an example from real messages', () => {
  const sampled = { ...celsius, sampled: true };

  it('is the newest payload of the tenant that has passed the check', () => {
    const checked = schemas(sampled);
    const publish = (text: string) => checked.problemOf('acme', 'sensors/1/temperature', bytes(text));
    for (const text of ['{"celsius":1}', '{"celsius":2}', '{"celsius":"none"}']) publish(text);
    expect(checked.samples.newest('acme', sampled.topic)).toEqual({ celsius: 2 });
    expect(checked.samples.newest('other', sampled.topic)).toBe(undefined);
  });

  it('is kept only if the owner allows it and it is small', () => {
    const publish = (checked: PayloadSchemas, text: string) =>
      checked.problemOf('acme', 'sensors/1/temperature', bytes(text));
    const unsampled = schemas(celsius);
    publish(unsampled, '{"celsius":1}');
    expect(unsampled.samples.newest('acme', celsius.topic)).toBe(undefined);
    const checked = schemas(sampled);
    publish(checked, JSON.stringify({ celsius: 1, note: 'x'.repeat(SAMPLE_BYTES_MAX) }));
    expect(checked.samples.newest('acme', celsius.topic)).toBe(undefined);
  });
});
