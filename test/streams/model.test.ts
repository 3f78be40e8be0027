import { describe, expect, it, vi } from 'vitest';
import { explore } from '../support/explore.ts';
import { expectNothing, readable, titled } from '../support/explored.ts';
import { LARGE, MUTATIONS, SMALL } from './configurations.ts';
import { type EpochMutation, EpochsOfATopic } from './epochs.ts';
import { StreamOfOneTopic } from './model.ts';

/** Twice as many as the largest of the small configurations has. */
const SMALL_STATES_MAX = 300_000;
const LARGE_STATES_MAX = 5_000_000;
const LARGE_TIMEOUT_MS = 3_600_000;

const IS_LARGE = process.env.APUS_STREAM_MODEL === 'large';
const IS_TRACED = process.env.APUS_STREAM_TRACES === '1';

// A machine that is busy many times over takes a minute for the largest of them.
vi.setConfig({ testTimeout: 600_000 });

describe('every state of a topic and its reader keeps the promise', () => {
  it.each(titled(SMALL))('%s', (name, { config }) => {
    expectNothing(name, explore(new StreamOfOneTopic(config), SMALL_STATES_MAX), IS_TRACED);
  });

  if (IS_LARGE)
    it.each(titled(LARGE))(
      '%s',
      (name, { config }) => {
        expectNothing(name, explore(new StreamOfOneTopic(config), LARGE_STATES_MAX), IS_TRACED);
      },
      LARGE_TIMEOUT_MS,
    );
});

describe('the exploration of a stream finds a missing protection, and nothing with all of them', () => {
  it.each(titled(MUTATIONS))('%s', (name, { mutation, finds, config }) => {
    const broken = explore(new StreamOfOneTopic(config, mutation), SMALL_STATES_MAX);
    expect(broken.violation ?? 'nothing').toMatch(finds);
    const control = explore(new StreamOfOneTopic(config), broken.states);
    if (control.violation !== undefined) expect.fail(readable('the control', control));
    if (IS_TRACED) process.stdout.write(readable(name, broken));
  });
});

describe('the epochs of a topic that was silent', () => {
  it('follow each other, even if clocks differ', () => {
    expectNothing('three publishers', explore(new EpochsOfATopic(3), SMALL_STATES_MAX), IS_TRACED);
  });

  it.each<EpochMutation>(['no-closing-tile', 'no-root'])(
    'come back, or are where no reader looks, with %s',
    (mutation) => {
      const broken = explore(new EpochsOfATopic(3, mutation), SMALL_STATES_MAX);
      expect(broken.violation ?? 'nothing').toMatch(/is placed behind|where no reader looks/);
      if (IS_TRACED) process.stdout.write(readable(mutation, broken));
    },
  );
});
