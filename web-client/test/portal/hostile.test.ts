import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { readDocument } from '../../src/portal/document/read-document.ts';
import { filterOf, givenValue, topicNameOf } from '../../src/portal/document/topic-of.ts';
import { EXAMPLE_LENGTH_MAX, NAME_LENGTH_MAX, TOPICS_MAX } from '../../src/portal/limits.ts';
import { samplePayload } from '../../src/portal/schema/sample-of.ts';
import { schemaNode } from '../../src/portal/schema/schema-node.ts';

const documentOf = (channels: unknown, more: object = {}) => ({
  asyncapi: '3.0.0',
  info: {},
  channels,
  ...more,
});

describe('a document of a stranger', () => {
  test.each([undefined, null, 1, 'asyncapi', [], {}, { asyncapi: '2.6.0' }, { asyncapi: 3 }])(
    'that is %j is none',
    (given) => expect(readDocument(given)).toBeUndefined(),
  );

  test('whose members are of other types is read without them', () => {
    const wrong = [null, 1, 'text', [], {}, { address: 1 }];
    const channels = Object.fromEntries(wrong.map((channel, index) => [`wrong${index}`, channel]));
    const odd = {
      address: 'a/{b}',
      title: { html: true },
      parameters: [],
      messages: 'none',
      'x-apus-stream': 'x',
      'x-apus-checked': 'yes',
    };
    const read = readDocument(
      documentOf(
        { ...channels, odd },
        { servers: { a: null, b: { host: 1 } }, operations: { c: null, d: { channel: 1 } } },
      ),
    );
    expect(read?.servers).toEqual([]);
    expect(read?.topics).toEqual([
      {
        address: 'a/{b}',
        title: 'a/{b}',
        description: undefined,
        parameters: [{ name: 'b', description: undefined, values: [], isEnum: false, isRest: false }],
        contentType: 'application/json',
        schema: undefined,
        examples: [],
        isChecked: false,
        stream: undefined,
        publish: undefined,
        subscribe: undefined,
      },
    ]);
  });

  test('names servers of WebSockets alone', () => {
    const server = (protocol: string, host: string) => ({ protocol, host, pathname: '/mqtt' });
    const servers = {
      script: server('javascript', 'alert(1)'),
      page: server('https', 'example.com'),
      odd: server('ws', ' '),
      good: server('wss', 'example.com'),
    };
    expect(readDocument(documentOf({}, { servers }))?.servers.map(({ url }) => url)).toEqual([
      'wss://example.com/mqtt',
    ]);
  });

  test('has so many topics listed, names so long shown, and examples so long', () => {
    const channel = {
      address: 'a',
      title: 'x'.repeat(100_000),
      messages: {
        message: {
          examples: [{ payload: 'y'.repeat(EXAMPLE_LENGTH_MAX) }, { payload: 1 }, { name: 'none' }],
        },
      },
    };
    const channels = Object.fromEntries(
      [...Array(TOPICS_MAX + 7).keys()].map((index) => [`c${index}`, channel]),
    );
    const read = readDocument(documentOf(channels));
    expect(read?.topics).toHaveLength(TOPICS_MAX);
    expect(read?.leftOut).toBe(7);
    expect(read?.topics[0]?.title.length).toBe(NAME_LENGTH_MAX + 1);
    expect(read?.topics[0]?.examples).toEqual([{ label: undefined, payload: '1' }]);
  });
});

test('no JSON at all breaks the reader', () => {
  const names = [
    'address',
    'messages',
    'payload',
    'properties',
    '$ref',
    'enum',
    'items',
    'required',
    'allOf',
  ];
  const json = fc.jsonValue({ maxDepth: 4 });
  const schema = fc.dictionary(fc.constantFrom(...names, '__proto__'), fc.oneof(json, fc.constant('#')));
  const channel = fc.record({
    address: fc.string(),
    messages: fc.record({ m: fc.record({ payload: schema }) }),
  });
  const given = fc.record({
    asyncapi: fc.constant('3.0.0'),
    info: json,
    servers: fc.dictionary(fc.string(), json),
    operations: json,
    channels: fc.dictionary(fc.string(), fc.oneof(channel, json)),
  });
  fc.assert(
    fc.property(given, (document) => {
      for (const topic of readDocument(document)?.topics ?? []) {
        samplePayload(topic);
        filterOf(topic, {});
        topicNameOf(topic, {});
        const roots = [topic.schema, document];
        for (const child of schemaNode(topic.schema, roots).children()) schemaNode(child.schema, roots);
      }
    }),
    { numRuns: runs(500) },
  );
});

describe('a schema of a stranger', () => {
  const recursive = {
    $ref: '#/$defs/node',
    $defs: { node: { type: 'object', properties: { left: { $ref: '#/$defs/node' }, right: { $ref: '#' } } } },
  };

  test('that refers to itself is read a level at a time', () => {
    let node = schemaNode(recursive, [recursive]);
    for (let depth = 0; depth < 1_000; depth++) {
      expect(node.size).toBe(2);
      const [, right] = node.children();
      node = schemaNode(right?.schema, [recursive]);
    }
    expect(node.type).toBe('object');
  });

  test('whose references go in a circle, or nowhere, allows any value', () => {
    const circle = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } };
    expect(schemaNode(circle, [circle]).type).toBe('any value');
    for (const $ref of ['#/none', 'https://example.com/schema', '#/__proto__/polluted', '#/constructor']) {
      expect(schemaNode({ $ref }, [{}]).type).toBe('any value');
    }
  });

  test('refers to the document behind itself', () => {
    const document = { components: { schemas: { 'a/b': { type: 'integer' } } } };
    expect(schemaNode({ $ref: '#/components/schemas/a~1b' }, [{}, document]).type).toBe('integer');
  });

  test('that is deep or wide gives no example that is', () => {
    let deep: object = { type: 'string' };
    for (let depth = 0; depth < 5_000; depth++) deep = { properties: { a: deep }, required: ['a'] };
    const names = [...Array(5_000).keys()].map(String);
    const wide = { properties: Object.fromEntries(names.map((name) => [name, deep])), required: names };
    for (const schema of [deep, wide, recursive, { $ref: '#' }, { enum: [] }, 7]) {
      const [topic] =
        readDocument(documentOf({ a: { address: 'a', messages: { m: { payload: schema } } } }))?.topics ?? [];
      expect(topic === undefined ? '' : samplePayload(topic)?.length).toBeLessThan(20_000);
    }
  });

  test('says its constraints in words, with values that are cut', () => {
    const { type, constraints } = schemaNode(
      {
        type: ['string', 'null'],
        enum: [...Array(40).keys()].map((number) => `${number}${'z'.repeat(500)}`),
        pattern: '^a+$',
        minLength: 1,
        default: '<script>',
      },
      [],
    );
    expect(type).toBe('string or null');
    expect(constraints.join('; ')).toMatch(
      /^one of "0z+….* and 10 more; at least 1 characters; matches \^a\+\$; "<script>" if/,
    );
    expect(constraints.every((constraint) => constraint.length < 4_000)).toBe(true);
  });
});

test('a parameter with the name of an inherited member has no value until the reader gives one', () => {
  const channels = { c: { address: 'a/{constructor}', parameters: { constructor: {} } } };
  const [topic] = readDocument(documentOf(channels))?.topics ?? [];
  if (topic === undefined) throw new Error('the document has no topic');
  expect(givenValue({}, 'constructor')).toBe('');
  expect(filterOf(topic, {})).toBe('a/+');
  expect(topicNameOf(topic, { constructor: 'x' } as never)).toBe('a/x');
});
