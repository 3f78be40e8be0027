import { describe, expect, it } from 'vitest';
import { SCHEMA_DEPTH_MAX, UNIQUE_ITEMS_MAX } from '../src/limits.ts';
import { inlined } from '../src/schema.ts';

describe('a schema', () => {
  it('has each reference replaced by its target', () => {
    const $defs = { celsius: { type: 'number' }, pair: { items: { $ref: '#/$defs/celsius' } } };
    expect(inlined({ $defs, properties: { both: { $ref: '#/$defs/pair' } } })).toEqual({
      properties: { both: { items: { type: 'number' } } },
    });
  });

  it('keeps values that look like references or keywords', () => {
    const schema = { enum: [{ $ref: '#/$defs/none' }], properties: { pattern: { const: { $id: 'x' } } } };
    expect(inlined(schema)).toEqual(schema);
  });

  it.each([
    ['refers to itself', { $defs: { a: { items: { $ref: '#/$defs/a' } } }, $ref: '#/$defs/a' }],
    ['refers to its own root', { items: { $ref: '#' } }],
    ['doubles with each reference', doubling(40)],
    ['is deeper than may be', deep(SCHEMA_DEPTH_MAX + 1)],
    ['refers to nothing', { $ref: '#/$defs/none' }],
    ['refers to a file', { $ref: 'file:///etc/passwd' }],
    ['has a name of its own', { $id: 'https://schemas.example/x' }],
    ['compares a list of any length', { uniqueItems: true }],
    ['compares a list that is too long', { uniqueItems: true, maxItems: UNIQUE_ITEMS_MAX + 1 }],
    ['has a long pattern', { pattern: 'a'.repeat(257) }],
    ['is none', []],
  ])('is refused that %s', (_why, schema) => {
    expect(() => inlined(schema)).toThrow();
  });
});

function doubling(levels: number): object {
  const names = Array.from({ length: levels }, (_, index) => `d${index}`);
  const $defs = Object.fromEntries(
    names.map((name, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [name, index === levels - 1 ? {} : { anyOf: [next, next] }];
    }),
  );
  return { $defs, $ref: '#/$defs/d0' };
}

function deep(levels: number): object {
  let schema: object = {};
  for (let level = 0; level < levels; level += 1) schema = { not: schema };
  return schema;
}
