import { describe, expect, it } from 'vitest';
import { readOptions } from '../../soak/src/options.ts';
import { phasesOf } from '../../soak/src/phases.ts';
import { topicsOf } from '../../soak/src/topics.ts';
import {
  FROZEN_MS,
  GROWTH_MIN_BYTES,
  problemsOf,
  type Run,
  type Second,
  WARM_UP_SECONDS,
} from '../../soak/src/verdict.ts';

const MIB = 1024 * 1024;
const RATE = 100;

function second(changes: Partial<Second> = {}): Second {
  return {
    view: 'messages',
    frames: [16, 17],
    longTasks: [],
    latencies: [],
    elapsedMs: 1_000,
    threadMs: 300,
    heapBytes: 100 * MIB,
    residentBytes: 200 * MIB,
    ...changes,
  };
}

/** A run without problems, long enough to judge its memory. */
function run(changes: Partial<Run> = {}): Run {
  const seconds = Array.from({ length: WARM_UP_SECONDS + 30 }, () => second());
  const sent = RATE * seconds.length;
  return {
    seconds,
    sent,
    sendingMs: seconds.length * 1_000,
    received: sent,
    skipped: 0,
    openingMs: 0,
    pause: { stoodStill: true, toldOf: 5, wentOn: true },
    messagesKept: 50_000,
    packetsKept: 5_000,
    ...changes,
  };
}

/** A second for each, after those in which everything fills. */
function withHeap(...mebibytes: readonly number[]): Second[] {
  const warmUp = Array.from({ length: WARM_UP_SECONDS }, () => second({ heapBytes: 1 }));
  return [...warmUp, ...mebibytes.map((size) => second({ heapBytes: size * MIB }))];
}

describe('the verdict of a soak run', () => {
  it('reports nothing for a run without a problem', () => {
    expect(problemsOf(run(), RATE)).toEqual([]);
  });

  it('knows a frozen frame from a slow one', () => {
    const ok = [...run().seconds, second({ frames: [FROZEN_MS] })];
    expect(problemsOf(run({ seconds: ok }), RATE)).toEqual([]);
    const frozen = [...run().seconds, second({ frames: [FROZEN_MS + 1] })];
    expect(problemsOf(run({ seconds: frozen }), RATE)).toEqual([`a frame took ${FROZEN_MS + 1} ms`]);
    const blank = run().seconds.map((one) => ({ ...one, frames: [] }));
    expect(problemsOf(run({ seconds: blank }), RATE)).toEqual(['no frame was drawn']);
  });

  it('knows growing memory from what the collector leaves, and from what fills at first', () => {
    expect(problemsOf(run({ seconds: withHeap(100, 104, 101, 103, 108, 109) }), RATE)).toEqual([]);
    expect(problemsOf(run({ seconds: withHeap(100, 102, 110, 115, 125, 130) }), RATE)).toEqual([
      'memory of the heap grew from 102 MiB to 130 MiB',
    ]);
    const small = 10;
    const grown = small + GROWTH_MIN_BYTES / MIB;
    expect(problemsOf(run({ seconds: withHeap(small, small, grown) }), RATE)).toEqual([]);
    expect(problemsOf(run({ seconds: withHeap(small, small, grown + 1) }), RATE)).toHaveLength(1);
  });

  it('counts what was lost, and what was never sent', () => {
    const { sent } = run();
    expect(problemsOf(run({ received: sent - 3 }), RATE)).toEqual([
      `3 of ${sent.toLocaleString('en')} messages did not reach the page`,
    ]);
    expect(problemsOf(run(), RATE * 2)).toHaveLength(1);
    expect(problemsOf(run({ sent: 0, received: 0 }), RATE)).toHaveLength(1);
  });

  it('wants the logs within their limits', () => {
    expect(problemsOf(run({ messagesKept: 50_001 }), RATE)).toEqual(['the log kept 50,001 messages']);
    expect(problemsOf(run({ packetsKept: 5_001 }), RATE)).toEqual(['the timeline kept 5,001 packets']);
  });

  it('wants a pause to be one', () => {
    expect(problemsOf(run({ pause: { stoodStill: false, toldOf: 0, wentOn: false } }), RATE)).toHaveLength(3);
    expect(problemsOf(run({ pause: undefined }), RATE)).toEqual([]);
  });
});

describe('the phases of a soak run', () => {
  it('give each view its time, and pause the messages in the middle of theirs', () => {
    expect(phasesOf(['messages', 'tree'], 200)).toEqual([
      { view: 'messages', isPaused: false, seconds: 45 },
      { view: 'messages', isPaused: true, seconds: 10 },
      { view: 'messages', isPaused: false, seconds: 45 },
      { view: 'tree', isPaused: false, seconds: 100 },
    ]);
  });
});

describe('the options of a soak run', () => {
  it('are ten minutes at 5,000 messages a second where nothing is said', () => {
    expect(readOptions([])).toMatchObject({ seconds: 600, rate: 5_000, door: 'node' });
    expect(readOptions(['--minutes', '0.5', '--door', 'gateway'])).toMatchObject({
      seconds: 30,
      door: 'gateway',
    });
  });

  it.each([
    [['--minutes', '0'], '--minutes wants a number above 0, not “0”'],
    [['--rate', '1.5'], '--rate wants a whole number above 0, not “1.5”'],
    [['--door', 'back'], '--door knows node, gateway, not “back”'],
    [['--views', 'tree,cellar'], '--views knows messages, tree, charts, wire, not “cellar”'],
  ])('%j are refused', (args, message) => {
    expect(() => readOptions(args)).toThrow(message);
  });
});

describe('the topics of the tree', () => {
  it('are all different, five to a machine', () => {
    const topics = topicsOf(30_000);
    expect(new Set(topics).size).toBe(30_000);
    expect(topics.filter((topic) => topic.startsWith('site/plant-2/line-3/machine-4/'))).toHaveLength(5);
  });
});
