import { expect, test } from 'vitest';
import type { InvokedFunction } from '../../src/index.ts';
import { start } from '../support.ts';

const emulatorWith = async (...functions: InvokedFunction[]) => await start({}, { functions });

test('a function without a trigger is invoked with an event, which crosses as JSON, and answers', async () => {
  const events: unknown[] = [];
  const emulator = await emulatorWith({
    functionName: 'worker',
    createEnvironment: (environment) => async (event, context) => {
      events.push(event);
      return { environment: environment.id, name: context.functionName };
    },
  });
  const answer = await emulator.invoke('worker', { at: new Date(0) });
  expect(events).toEqual([{ at: '1970-01-01T00:00:00.000Z' }]);
  expect(answer).toEqual({ environment: 'environment-0', name: 'worker' });
  expect(emulator.counters.snapshot().invocations.worker).toMatchObject({ count: 1 });
});

test('the caller of invoke gets its error, its timeout, and an error for an unknown name', async () => {
  const emulator = await emulatorWith(
    {
      functionName: 'fails',
      createEnvironment: () => async () => {
        throw new Error('not today');
      },
    },
    { functionName: 'hangs', timeoutMs: 1_000, createEnvironment: () => () => new Promise(() => {}) },
  );
  await expect(emulator.invoke('fails', {})).rejects.toThrow('not today');
  const hanging = expect(emulator.invoke('hangs', {})).rejects.toThrow('timed out after 1.00 seconds');
  await emulator.clock.advance(1_000);
  await hanging;
  await expect(emulator.invoke('nobody', {})).rejects.toThrow('There is no function nobody');
});
