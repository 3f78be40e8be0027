import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';

/* Random conditions and updates over a few attributes and a few values, so that they meet. */

export type Values = Record<string, AttributeValue>;

/** Writes a part of an expression, and leaves its names and values with the placeholders. */
export type Part = (placeholders: Placeholders) => string;

/** Gathers what stands behind the placeholders of a call's expressions. */
export class Placeholders {
  readonly #names: Record<string, string> = {};
  readonly #values: Values = {};

  name(name: string): string {
    this.#names[`#${name}`] = name;
    return `#${name}`;
  }

  value(value: AttributeValue): string {
    const placeholder = `:v${Object.keys(this.#values).length}`;
    this.#values[placeholder] = value;
    return placeholder;
  }

  get input(): object {
    return {
      ...(Object.keys(this.#names).length > 0 && { ExpressionAttributeNames: this.#names }),
      ...(Object.keys(this.#values).length > 0 && { ExpressionAttributeValues: this.#values }),
    };
  }
}

const word = fc.constantFrom('', 'x', 'xy', 'y').map((S): AttributeValue => ({ S }));
const integer = fc.integer({ min: -1, max: 3 }).map((n): AttributeValue => ({ N: String(n) }));
const bytes = fc.constantFrom([1], [1, 2], [255]).map((B): AttributeValue => ({ B: Uint8Array.from(B) }));
const words = fc.constantFrom<string[]>(['x'], ['x', 'y'], ['zz']).map((SS): AttributeValue => ({ SS }));
const list = fc.array(fc.oneof(word, integer), { maxLength: 3 }).map((L): AttributeValue => ({ L }));
const record = word.map((value): AttributeValue => ({ M: { f: value } }));

/** Attributes, and the one type that each has, where it is there. */
const TYPES = { n: integer, c: word, k: bytes, w: words, l: list, m: record } as const;

type Name = keyof typeof TYPES;

export const NAMES = Object.keys(TYPES) as Name[];

export const attributes: fc.Arbitrary<Values> = fc
  .tuple(fc.record(TYPES), fc.subarray(NAMES, { minLength: 1 }))
  .map(([all, names]) => Object.fromEntries(names.map((name) => [name, all[name]])));

const name = fc.constantFrom(...NAMES);
const typed = name.chain((each) => TYPES[each].map((value): [Name, AttributeValue] => [each, value]));
const comparator = fc.constantFrom('=', '<>', '<', '<=', '>', '>=');

const onAttributes: fc.Arbitrary<Part> = fc.oneof(
  fc.tuple(fc.constantFrom('attribute_exists', 'attribute_not_exists'), name).map(
    ([call, at]): Part =>
      (to) =>
        `${call}(${to.name(at)})`,
  ),
  fc.constant<Part>((to) => `attribute_exists(${to.name('m')}.${to.name('f')})`),
  fc.tuple(comparator, integer).map(
    ([by, than]): Part =>
      (to) =>
        `${to.name('n')} ${by} ${to.value(than)}`,
  ),
  fc.tuple(comparator, word).map(
    ([by, than]): Part =>
      (to) =>
        `${to.name('c')} ${by} ${to.value(than)}`,
  ),
  fc.tuple(comparator, bytes).map(
    ([by, than]): Part =>
      (to) =>
        `${to.name('k')} ${by} ${to.value(than)}`,
  ),
  typed.map(
    ([at, than]): Part =>
      (to) =>
        `${to.name(at)} = ${to.value(than)}`,
  ),
  word.map(
    (prefix): Part =>
      (to) =>
        `begins_with(${to.name('c')}, ${to.value(prefix)})`,
  ),
  word.map(
    (part): Part =>
      (to) =>
        `contains(${to.name('c')}, ${to.value(part)})`,
  ),
  word.map(
    (member): Part =>
      (to) =>
        `contains(${to.name('w')}, ${to.value(member)})`,
  ),
  fc.tuple(fc.constantFrom<Name>('c', 'k', 'w', 'l', 'm'), integer).map(
    ([at, than]): Part =>
      (to) =>
        `size(${to.name(at)}) >= ${to.value(than)}`,
  ),
  fc.array(integer, { minLength: 1, maxLength: 3 }).map(
    (values): Part =>
      (to) => {
        return `${to.name('n')} IN (${values.map((each) => to.value(each)).join(', ')})`;
      },
  ),
  fc.tuple(fc.nat(2), fc.nat(2)).map(
    ([low, more]): Part =>
      (to) => {
        const bounds = [low, low + more].map((n) => to.value({ N: String(n) }));
        return `${to.name('n')} BETWEEN ${bounds.join(' AND ')}`;
      },
  ),
  fc.tuple(name, fc.constantFrom('S', 'N', 'B', 'SS', 'L', 'M')).map(
    ([at, type]): Part =>
      (to) => {
        return `attribute_type(${to.name(at)}, ${to.value({ S: type })})`;
      },
  ),
);
const onKey = fc.constantFrom('attribute_exists(p)', 'attribute_not_exists(p)').map(
  (text): Part =>
    () =>
      text,
);

function combined(simple: fc.Arbitrary<Part>): fc.Arbitrary<Part> {
  return fc.oneof(
    { weight: 3, arbitrary: simple },
    simple.map(
      (of): Part =>
        (to) =>
          `NOT ${of(to)}`,
    ),
    fc.tuple(simple, fc.constantFrom('AND', 'OR'), simple).map(
      ([left, by, right]): Part =>
        (to) =>
          `${left(to)} ${by} ${right(to)}`,
    ),
    fc.tuple(simple, simple, simple, fc.constantFrom('AND', 'OR')).map(
      ([one, two, three, by]): Part =>
        (to) =>
          `NOT (${one(to)} ${by} ${two(to)}) OR ${three(to)}`,
    ),
  );
}

export const condition = combined(fc.oneof({ weight: 4, arbitrary: onAttributes }, onKey));
/** A filter may not name the key. */
export const filter = combined(onAttributes);

type Section = 'SET' | 'REMOVE' | 'ADD' | 'DELETE';

/** A change of one attribute. */
type Change = readonly [Name, Section, Part];

const change: fc.Arbitrary<Change> = fc.oneof(
  typed.map(([at, value]): Change => [at, 'SET', (to) => `${to.name(at)} = ${to.value(value)}`]),
  typed.map(([at, value]): Change => {
    return [at, 'SET', (to) => `${to.name(at)} = if_not_exists(${to.name(at)}, ${to.value(value)})`];
  }),
  name.map((at): Change => [at, 'REMOVE', (to) => to.name(at)]),
  integer.map((by): Change => ['n', 'ADD', (to) => `${to.name('n')} ${to.value(by)}`]),
  fc
    .tuple(fc.constantFrom('+', '-'), integer)
    .map(
      ([sign, by]): Change => [
        'n',
        'SET',
        (to) => `${to.name('n')} = ${to.name('n')} ${sign} ${to.value(by)}`,
      ],
    ),
  words.map((by): Change => ['w', 'ADD', (to) => `${to.name('w')} ${to.value(by)}`]),
  words.map((by): Change => ['w', 'DELETE', (to) => `${to.name('w')} ${to.value(by)}`]),
  list.map(
    (more): Change => [
      'l',
      'SET',
      (to) => `${to.name('l')} = list_append(${to.name('l')}, ${to.value(more)})`,
    ],
  ),
  word.map((value): Change => ['m', 'SET', (to) => `${to.name('m')}.${to.name('f')} = ${to.value(value)}`]),
);

/** No attribute is changed twice. */
export const update: fc.Arbitrary<Part> = fc
  .uniqueArray(change, { minLength: 1, maxLength: 3, selector: ([each]) => each })
  .map(
    (changes): Part =>
      (to) => {
        const sections = new Map<Section, string[]>();
        for (const [, section, write] of changes) {
          sections.set(section, [...(sections.get(section) ?? []), write(to)]);
        }
        return [...sections].map(([section, texts]) => `${section} ${texts.join(', ')}`).join(' ');
      },
  );
