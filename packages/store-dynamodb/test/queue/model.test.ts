import { describe, expect, it, vi } from 'vitest';
import { inCi } from '../../../../test/support/skips.ts';
import { decide, forgetting, NEW_RECORD } from '../../src/queue/decide.ts';
import { IN_CI, LARGE, SMALL } from './configurations.ts';
import { type Exploration, explore } from './explore.ts';
import { Model } from './model.ts';
import { coreWith, MUTATIONS, type Mutation } from './mutations.ts';
import { type Configuration, QUIET } from './world.ts';

/** Twice as many as the largest of the small configurations has. */
const SMALL_STATES_MAX = 400_000;
const LARGE_STATES_MAX = 20_000_000;
const LARGE_TIMEOUT_MS = 3_600_000;

const IS_CI = process.env.CI !== undefined;
const IS_LARGE = process.env.APUS_RECORD_MODEL === 'large';
const IS_TRACED = process.env.APUS_RECORD_TRACES === '1';
const CORE = { decide, forgetting, NEW_RECORD };

// A machine that is busy many times over takes a minute for the largest of them.
vi.setConfig({ testTimeout: 600_000 });

describe('every reachable state of a session keeps its promises', () => {
  it.each(titled(SMALL))('%s', (_, { config }) => {
    expectNothing(exploredFully(config));
  });

  it.each(titled(IN_CI))('%s', inCi, (_, { config }) => {
    expectNothing(exploredFully(config));
  });

  if (IS_LARGE)
    it.each(titled(LARGE))(
      '%s',
      (_, { config }) => {
        expectNothing(explore(new Model(config, CORE), LARGE_STATES_MAX));
      },
      LARGE_TIMEOUT_MS,
    );
});

describe('the exploration finds the violation of each mutation, and none in its control', () => {
  it.each(titled(MUTATIONS.filter(({ isForCi }) => IS_CI || !isForCi)))('%s', async (_, mutation) => {
    const { violation, trace, states } = explore(await mutated(mutation), SMALL_STATES_MAX);
    expect(violation ?? 'nothing').toMatch(mutation.finds);
    const control = controlOf(configOf(mutation), states);
    if (control.violation !== undefined)
      expect.fail(readable('the control', control.violation, control.trace));
    if (IS_TRACED) process.stdout.write(readable(mutation.name, violation, trace));
  });

  it('prints the shortest trace to the violation', async () => {
    const mutation = MUTATIONS.find(({ name }) => name === 'a take beyond the Receive Maximum');
    const { trace } = explore(await mutated(mutation as Mutation), SMALL_STATES_MAX);
    expect(trace).toEqual([
      'publisher 1 sends {0}, attempt 1',
      '  publisher 1 reads: may take {0}',
      '  publisher 1 takes: PUBLISH 0 as 1; record: connection 1, direct, [0 as 1 push/sent]',
      '  publisher 1 posts to 1: PUBLISH 0 as 1',
      'client receives a push: PUBLISH 0 as 1',
      'publisher 2 sends {1}, attempt 1',
      '  publisher 2 reads: may take {1}',
      '  publisher 2 takes: PUBLISH 1 as 3; record: connection 1, direct, [0 as 1 push/sent; 1 as 3 push/sent]',
      '  publisher 2 posts to 1: PUBLISH 1 as 3',
      'client receives a push: PUBLISH 1 as 3',
    ]);
  });
});

function titled<T extends { readonly name: string }>(list: readonly T[]): [string, T][] {
  return list.map((each) => [each.name, each]);
}

/** Explorations of the record's own code. Many mutations are looked for in the same small configurations. */
const explorations = new Map<string, Exploration>();

function exploredFully(config: Configuration): Exploration {
  const key = keyOf(config);
  const known = explorations.get(key);
  if (known !== undefined) return known;
  const exploration = explore(new Model(config, CORE), SMALL_STATES_MAX);
  explorations.set(key, exploration);
  return exploration;
}

/** Every state that can be reached, where that is known, and as many as the mutation took otherwise. */
function controlOf(config: Configuration, states: number): Exploration {
  return explorations.get(keyOf(config)) ?? explore(new Model(config, CORE), states);
}

function keyOf(config: Configuration): string {
  return JSON.stringify(Object.entries(config).sort(([one], [other]) => (one < other ? -1 : 1)));
}

async function mutated(mutation: Mutation): Promise<Model> {
  const { edit, caller } = mutation;
  const core = edit === undefined ? CORE : await coreWith(edit);
  return new Model(configOf(mutation), core, caller === undefined ? [] : [caller]);
}

function configOf({ config }: Mutation): Configuration {
  return { ...QUIET, ...config };
}

function expectNothing({ violation, trace, isComplete, beyond, states }: Exploration): void {
  if (violation !== undefined) expect.fail(readable('the session record', violation, trace));
  expect({ isComplete, beyond }).toEqual({ isComplete: true, beyond: 0 });
  if (IS_TRACED) process.stdout.write(`${states} states\n`);
}

function readable(name: string, violation: string | undefined, trace: readonly string[]): string {
  return [`${name}: ${violation}`, ...trace.map((step) => `    ${step}`), ''].join('\n');
}
