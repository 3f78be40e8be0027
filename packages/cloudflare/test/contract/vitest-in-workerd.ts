import {
  ASYMMETRIC_MATCHERS_OBJECT,
  customMatchers,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from '@vitest/expect';
import * as chai from 'chai';

/** The parts of Vitest that the contract suites use, for a runtime that has none. */

type Body = (...values: never[]) => unknown;
type Options = Readonly<Record<string, unknown>>;

interface Case {
  readonly title: string;
  readonly run: () => Promise<void>;
}

/** No test of a hub's stores is skipped. */
const CONTEXT = {
  skip: (isSkipped: unknown = true) => {
    if (isSkipped) throw new Error('skipped');
  },
};

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

export const expect = Object.assign(
  (value: unknown, message?: string) => chai.expect(value, message),
  chai.expect,
  (globalThis as Record<symbol, object>)[ASYMMETRIC_MATCHERS_OBJECT],
);
setState({ assertionCalls: 0, isExpectingAssertions: false }, expect as never);
(chai.expect as unknown as { extend(target: object, matchers: object): void }).extend(expect, customMatchers);

/** Every test of the suites that were declared. */
export const cases: Case[] = [];
let titles: readonly string[] = [];
let befores: readonly (() => unknown)[] = [];

export function beforeEach(before: () => unknown): void {
  befores = [...befores, before];
}

export function describe(title: string, ...rest: readonly (Options | Body)[]): void {
  const outer = { titles, befores };
  titles = [...titles, title];
  (rest.at(-1) as () => void)();
  ({ titles, befores } = outer);
}

export function it(title: string, ...rest: readonly (Options | Body | number)[]): void {
  const body = rest.find((each) => typeof each === 'function') as (context: typeof CONTEXT) => unknown;
  const own = befores;
  cases.push({
    title: [...titles, title].join(' '),
    run: async () => {
      for (const before of own) await before();
      await body(CONTEXT);
    },
  });
}

const each =
  (declare: (title: string, body: Body) => void) =>
  (rows: readonly unknown[]) =>
  (title: string, ...rest: readonly (Options | Body)[]) => {
    for (const [index, row] of rows.entries()) {
      const values = (Array.isArray(row) ? row : [row]) as never[];
      declare(`${title} (${index})`, () => (rest.at(-1) as Body)(...values));
    }
  };

it.each = each(it);
describe.each = each(describe);
