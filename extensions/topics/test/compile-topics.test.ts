import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type CheckedTopic, CompiledPayloads } from '../src/checked/index.ts';
import { compileTopics, RE2_FILE } from '../src/compile-topics.ts';
import { PayloadSchemas } from '../src/payload-schemas.ts';
import { readTopics } from '../src/topics.ts';

const require = createRequire(import.meta.url);

/** Loads the compiled text as a function does: from a folder that contains nothing else. */
function load(text: string, hasPatterns: boolean): readonly CheckedTopic[] {
  const folder = mkdtempSync(join(tmpdir(), 'apus-checks-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'index.cjs'), text);
  if (hasPatterns)
    writeFileSync(
      join(folder, RE2_FILE),
      `module.exports = require(${JSON.stringify(require.resolve('re2js'))})`,
    );
  return require(join(folder, 'index.cjs'));
}

const TOPICS = [
  {
    topic: 'sensors/{sensor}/temperature',
    checkPayload: true,
    tenants: ['acme'],
    payload: {
      type: 'object',
      properties: { celsius: { type: 'number' }, name: { type: 'string', minLength: 2, maxLength: 3 } },
      required: ['celsius'],
      additionalProperties: false,
    },
  },
  { topic: 'lists', checkPayload: true, payload: { type: 'array', uniqueItems: true, maxItems: 5 } },
  { topic: 'enums', checkPayload: true, payload: { enum: [{ a: [1] }, 'b'] } },
  { topic: 'patterns', checkPayload: true, payload: { type: 'string', pattern: '^(a+)+$' } },
  {
    topic: 'either',
    checkPayload: true,
    payload: {
      oneOf: [{ $ref: '#/$defs/Point' }, { type: 'null' }],
      $defs: { Point: { type: 'object', properties: { x: { type: 'integer' } }, required: ['x'] } },
    },
  },
];

const PAYLOADS = [
  ...['{"celsius":1}', '{"celsius":"1"}', '{}', '{"celsius":1,"name":"x"}', '{"celsius":1,"name":"🙂🙂🙂"}'],
  ...['{"celsius":1,"__proto__":2}', '{"celsius":1,"constructor":2}', '[1,2]', '[1,1]', '[{"a":1},{"a":1}]'],
  ...[
    '{"a":[1]}',
    '{"a":[2]}',
    '"b"',
    '"aaa"',
    `"${'a'.repeat(5_000)}!"`,
    '{"x":1}',
    '{"x":1.5}',
    'null',
    'no',
  ],
];

it('compiled text judges each payload as the compiler does', () => {
  const { topics } = readTopics({ topics: TOPICS });
  const { text, hasPatterns } = compileTopics(topics);
  expect(hasPatterns).toBe(true);
  const compiled = new CompiledPayloads(load(text, hasPatterns), () => {});
  const schemas = new PayloadSchemas(topics);
  const names = ['sensors/1/temperature', 'lists', 'enums', 'patterns', 'either', 'other'];
  const problems = new Set<string | undefined>();
  for (const topic of names)
    for (const tenant of ['acme', 'other'])
      for (const payload of PAYLOADS) {
        const problem = compiled.problemOf(tenant, topic, Buffer.from(payload));
        expect([topic, tenant, payload, problem]).toEqual([
          ...[topic, tenant, payload],
          schemas.problemOf(tenant, topic, Buffer.from(payload)),
        ]);
        problems.add(problem);
      }
  expect(problems.size).toBeGreaterThan(8);
});

it('compiled text needs no regular-expression engine if no schema has a pattern, and makes no code from text', () => {
  const { topics } = readTopics({ topics: TOPICS.filter(({ topic }) => topic !== 'patterns') });
  const { text, hasPatterns } = compileTopics(topics);
  expect(hasPatterns).toBe(false);
  expect(text).not.toMatch(/require\(|new Function|eval\(/);
  expect(load(text, hasPatterns)).toHaveLength(4);
});

it('compiled text does not let a schema inject code', () => {
  const evil = '"); process.exit(1); ("';
  const { topics } = readTopics({
    topics: [
      {
        topic: 'evil',
        checkPayload: true,
        payload: {
          properties: { [evil]: { const: evil } },
          required: [evil],
          description: '*/ process.exit(1)',
        },
      },
    ],
  });
  const { text } = compileTopics(topics);
  let refused = 0;
  const compiled = new CompiledPayloads(load(text, false), () => {
    refused += 1;
  });
  expect(compiled.problemOf('default', 'evil', Buffer.from(JSON.stringify({ [evil]: evil })))).toBe(
    undefined,
  );
  expect(compiled.problemOf('default', 'evil', Buffer.from('{}'))).toMatch('required property');
  expect(refused).toBe(1);
});
