import { expect, test } from 'vitest';
import type { EmulatorOptions, ScheduledEvent, ScheduleOptions } from '../../src/index.ts';
import { start } from '../support.ts';

async function withSchedule(
  run: (event: ScheduledEvent) => Promise<void>,
  options: Partial<EmulatorOptions> = {},
  schedule: Partial<ScheduleOptions> = {},
) {
  return await start(
    {},
    {
      ...options,
      schedules: [{ rateSeconds: 600, function: { createEnvironment: () => run }, ...schedule }],
    },
  );
}

test('a schedule calls its function at its rate, with an event of EventBridge', async () => {
  const events: ScheduledEvent[] = [];
  const emulator = await withSchedule(async (event) => void events.push(event), {}, { name: 'sweep' });
  await emulator.clock.advance(599_999);
  expect(events).toEqual([]);
  await emulator.clock.advance(1);
  await emulator.quiet();
  expect(events).toEqual([
    {
      version: '0',
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      account: '123456789012',
      time: '2026-01-01T00:10:00Z',
      region: 'us-east-1',
      resources: ['arn:aws:events:us-east-1:123456789012:rule/sweep'],
      detail: {},
    },
  ]);
  await emulator.clock.advance(600_000);
  await emulator.quiet();
  expect(events.map(({ time }) => time)).toEqual(['2026-01-01T00:10:00Z', '2026-01-01T00:20:00Z']);
  expect(emulator.counters.snapshot().invocations.sweep).toMatchObject({ count: 2 });
});

test('a failed invocation is tried again after one minute and after two more, and then no more', async () => {
  const times: number[] = [];
  const emulator = await withSchedule(async () => {
    times.push(emulator.clock.now() - Date.UTC(2026, 0, 1));
    throw new Error('not today');
  });
  for (let minute = 0; minute < 19; minute += 1) {
    await emulator.clock.advance(60_000);
    await emulator.quiet();
  }
  expect(times.map((ms) => ms / 60_000)).toEqual([10, 11, 13]);
});

test('scheduleTwice and scheduleDelayMs: at least once, and late', async () => {
  let runs = 0;
  const emulator = await withSchedule(
    async () => {
      runs += 1;
    },
    { faults: { scheduleTwice: 1, scheduleDelayMs: 30_000 } },
  );
  await emulator.clock.advance(629_999);
  expect(runs).toBe(0);
  await emulator.clock.advance(1);
  await emulator.quiet();
  expect(runs).toBe(2);
});

test('no schedule fires once the emulator is stopped', async () => {
  let runs = 0;
  const emulator = await withSchedule(async () => {
    runs += 1;
  });
  await emulator.stop();
  await emulator.clock.advance(1_200_000);
  expect(runs).toBe(0);
});

test.each([0, 30, 90, -60])('a rate of %d s is refused', async (rateSeconds) => {
  await expect(withSchedule(async () => {}, {}, { rateSeconds })).rejects.toThrow('whole minutes');
});
