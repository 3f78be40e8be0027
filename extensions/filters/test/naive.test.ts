import type { Message } from '@apus/broker';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { CelConditions } from '../src/conditions.ts';
import { messageOf } from './message-of.ts';

/** A condition, and what it says of a message by itself. Undefined: it fails. */
interface Both {
  readonly text: string;
  says(message: Message): boolean | undefined;
}

const FIELDS = ['a', 'b', 'list'] as const;
const WORDS = ['', 'x', 'xy', 'kitchen'] as const;

const jsonOf = ({ payload }: Message): unknown => {
  try {
    return JSON.parse(Buffer.from(payload).toString());
  } catch {
    return null;
  }
};
const fieldOf = (message: Message, name: string): unknown => {
  const json = jsonOf(message);
  return json !== null && typeof json === 'object' && !Array.isArray(json)
    ? (json as Record<string, unknown>)[name]
    : undefined;
};

const comparison = fc
  .record({
    name: fc.constantFrom(...FIELDS),
    operator: fc.constantFrom('<', '>', '<=', '>='),
    number: fc.integer({ min: -2, max: 2 }),
  })
  .map(({ name, operator, number }): Both => {
    const text = `payload.${name} ${operator} ${number}`;
    return {
      text,
      says(message) {
        const value = fieldOf(message, name);
        if (typeof value !== 'number') return undefined;
        return { '<': value < number, '>': value > number, '<=': value <= number, '>=': value >= number }[
          operator
        ];
      },
    };
  });
const equality = fc.record({ name: fc.constantFrom(...FIELDS), word: fc.constantFrom(...WORDS) }).map(
  ({ name, word }): Both => ({
    text: `payload.${name} == "${word}"`,
    says(message) {
      const value = fieldOf(message, name);
      return value === undefined ? undefined : value === word;
    },
  }),
);
const search = fc
  .record({
    what: fc.constantFrom('contains', 'startsWith', 'endsWith'),
    word: fc.constantFrom(...WORDS),
  })
  .map(({ what, word }): Both => {
    const says = ({ topic }: Message) =>
      what === 'contains'
        ? topic.includes(word)
        : what === 'startsWith'
          ? topic.startsWith(word)
          : topic.endsWith(word);
    return { text: `topic.${what}("${word}")`, says };
  });
const level = fc.record({ index: fc.nat(3), word: fc.constantFrom(...WORDS) }).map(
  ({ index, word }): Both => ({
    text: `levels[${index}] == "${word}"`,
    says: ({ topic }) => (index < topic.split('/').length ? topic.split('/')[index] === word : undefined),
  }),
);
const element = fc.integer({ min: -2, max: 2 }).map(
  (number): Both => ({
    text: `payload.list.exists(x, x == ${number})`,
    says(message) {
      const list = fieldOf(message, 'list');
      return Array.isArray(list) ? list.includes(number) : undefined;
    },
  }),
);
const other = fc.constantFrom<Both>(
  { text: 'retain', says: ({ retain }) => retain },
  { text: 'qos == 1', says: ({ qos }) => qos === 1 },
  {
    text: 'has(payload.a)',
    says: (message) => (jsonOf(message) === null ? undefined : fieldOf(message, 'a') !== undefined),
  },
  {
    text: 'user.region == "eu"',
    says: ({ properties }) => {
      const region = new Map(properties.userProperties).get('region');
      return region === undefined ? undefined : region === 'eu';
    },
  },
);

const leaf = fc.oneof(comparison, equality, search, level, element, other);
/** CEL's operators take what one side says where that decides, even if the other fails. */
const condition: fc.Arbitrary<Both> = fc.letrec<{ tree: Both; leaf: Both }>((tie) => ({
  leaf,
  tree: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    fc.record({ one: tie('tree'), two: tie('tree'), isAnd: fc.boolean() }).map(
      ({ one, two, isAnd }): Both => ({
        text: `(${one.text} ${isAnd ? '&&' : '||'} ${two.text})`,
        says(message) {
          const sides = [one.says(message), two.says(message)];
          if (sides.includes(!isAnd)) return !isAnd;
          return sides.includes(undefined) ? undefined : isAnd;
        },
      }),
    ),
    tie('tree').map(
      ({ text, says }): Both => ({
        text: `!(${text})`,
        says(message) {
          const said = says(message);
          return said === undefined ? undefined : !said;
        },
      }),
    ),
  ),
})).tree;

const value = fc.oneof(
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(...WORDS),
  fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 3 }),
);
const payload = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .dictionary(fc.constantFrom(...FIELDS), value, { noNullPrototype: true })
      .map((each) => JSON.stringify(each)),
  },
  { weight: 1, arbitrary: fc.constantFrom('', 'x', '[1]', 'null', '7') },
);
const message = fc
  .record({
    topic: fc
      .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 3 })
      .map((levels) => levels.join('/')),
    payload,
    region: fc.constantFrom(undefined, 'eu', 'us'),
    qos: fc.constantFrom<0 | 1 | 2>(0, 1, 2),
    retain: fc.boolean(),
  })
  .map(
    ({ topic, payload, region, qos, retain }): Message => ({
      ...messageOf(payload, region === undefined ? {} : { userProperties: [['region', region]] }),
      ...{ topic, qos, retain },
    }),
  );

it('conditions say of messages what a naive evaluation says', () => {
  const conditions = new CelConditions();
  fc.assert(
    fc.property(
      fc.array(condition, { minLength: 1, maxLength: 4 }),
      fc.array(message, { maxLength: 8 }),
      (all, messages) => {
        for (const { text } of all) if (conditions.check(text) !== undefined) return;
        for (const each of messages)
          for (const { text, says } of all)
            expect([text, conditions.fits(text, each)]).toEqual([text, says(each) === true]);
      },
    ),
    { numRuns: runs(500) },
  );
});
