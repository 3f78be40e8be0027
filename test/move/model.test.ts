import { describe, expect, it, vi } from 'vitest';
import { explore } from '../support/explore.ts';
import { expectNothing, readable, titled } from '../support/explored.ts';
import { LARGE, QUIET, SMALL } from './configurations.ts';
import { MovingSession } from './model.ts';
import { MUTATIONS } from './mutations.ts';

/** Twice as many as the largest of the small configurations has. */
const SMALL_STATES_MAX = 300_000;
const LARGE_STATES_MAX = 5_000_000;
const LARGE_TIMEOUT_MS = 3_600_000;

const IS_LARGE = process.env.APUS_MOVE_MODEL === 'large';
const IS_TRACED = process.env.APUS_MOVE_TRACES === '1';

// A machine that is busy many times over takes a minute for the largest of them.
vi.setConfig({ testTimeout: 600_000 });

describe('every state of a session that moves or is resumed keeps its promises', () => {
  it.each(titled(SMALL))('%s', (name, { config }) => {
    expectNothing(name, explore(new MovingSession(config), SMALL_STATES_MAX), IS_TRACED);
  });

  if (IS_LARGE)
    it.each(titled(LARGE))(
      '%s',
      (name, { config }) => {
        expectNothing(name, explore(new MovingSession(config), LARGE_STATES_MAX), IS_TRACED);
      },
      LARGE_TIMEOUT_MS,
    );
});

describe('the exploration of moves finds a missing protection, and nothing with all of them', () => {
  it.each(titled(MUTATIONS))('%s', (name, { mutation, finds, config }) => {
    const broken = explore(new MovingSession({ ...QUIET, ...config }, mutation), SMALL_STATES_MAX);
    expect(broken.violation ?? 'nothing').toMatch(finds);
    const control = explore(new MovingSession({ ...QUIET, ...config }), broken.states);
    if (control.violation !== undefined) expect.fail(readable('the control', control));
    if (IS_TRACED) process.stdout.write(readable(name, broken));
  });
});
