import { describe, expect, test } from 'vitest';
import { startWorker } from './worker.ts';

const REPORTING = { source: { reportBatchItemFailures: true } };

/** Five messages of one group in one batch that the test ends; which of them come again? */
async function comeAgain(answer: (ids: readonly string[]) => unknown, options = REPORTING) {
  const errors: string[] = [];
  const worker = await startWorker({
    ...options,
    queue: { fifo: true, visibilityTimeoutSeconds: 10 },
    emulator: { onInvocationError: (error) => errors.push(error.message) },
  });
  const { batches, emulator, sendTo, quiet } = worker;
  await sendTo('a', '1', '2', '3', '4', '5');
  await quiet();
  const [first] = batches.splice(0);
  first?.end(answer(first.event.Records.map(({ messageId }) => messageId)));
  await emulator.quiet();
  await emulator.clock.advance(10_000);
  await quiet();
  const { events } = emulator.counters.snapshot();
  return { again: batches.flatMap(({ bodies }) => bodies), errors, events };
}

const failures = (...ids: readonly unknown[]) => ({
  batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })),
});

const ALL = ['1', '2', '3', '4', '5'];

describe('partial batch responses', () => {
  test('only the named messages come again', async () => {
    const { again, errors, events } = await comeAgain((ids) => failures(ids[2], ids[3], ids[4]));
    expect(again).toEqual(['3', '4', '5']);
    expect(errors).toEqual([]);
    expect(events).not.toHaveProperty('eventSourceOrderBroken');
  });

  test('a message that is returned while a later one of its group is taken breaks the order, and is reported', async () => {
    const { again, events } = await comeAgain((ids) => failures(ids[1]));
    expect(again).toEqual(['2']);
    expect(events).toMatchObject({ eventSourceOrderBroken: 1 });
  });

  test.each([
    ['no answer', undefined],
    ['an empty object', {}],
    ['an empty list', { batchItemFailures: [] }],
    ['a list that is null', { batchItemFailures: null }],
  ])('%s is success', async (_title, answer) => {
    expect((await comeAgain(() => answer)).again).toEqual([]);
  });

  test.each([
    ['an id that is not of this batch', failures('nobody')],
    ['an id that is empty', failures('')],
    ['an id that is null', failures(null)],
    ['a wrong name', { batchItemFailures: [{ messageId: 'x' }] }],
    ['a list that is none', { batchItemFailures: 'all' }],
    ['an answer that is text', 'done'],
  ])('%s fails the whole batch', async (_title, answer) => {
    const { again, errors } = await comeAgain(() => answer);
    expect(again).toEqual(ALL);
    expect(errors).toEqual([expect.stringContaining('Malformed batch response')]);
  });

  test('one wrong id among right ones fails the whole batch', async () => {
    expect((await comeAgain((ids) => failures(ids[4], 'nobody'))).again).toEqual(ALL);
  });

  test('without the option, every result is success', async () => {
    const options = { source: { reportBatchItemFailures: false } };
    expect((await comeAgain((ids) => failures(ids[0]), options)).again).toEqual([]);
  });
});

describe('mappings that cannot be created', () => {
  test.each([
    [
      'a visibility timeout shorter than the function runs',
      { queue: { visibilityTimeoutSeconds: 4 } },
      '4 s',
    ],
    ['11 messages of a FIFO queue', { queue: { fifo: true }, source: { batchSize: 11 } }, '1 to 10'],
    ['a window on a FIFO queue', { queue: { fifo: true }, source: { batchWindowSeconds: 1 } }, 'window'],
    ['11 messages without a window', { source: { batchSize: 11 } }, 'batchWindowSeconds'],
    ['no message', { source: { batchSize: 0 } }, 'batchSize'],
    ['a concurrency of 1', { source: { maximumConcurrency: 1 } }, 'maximumConcurrency'],
    ['a queue that is not there', { source: { queue: 'nowhere' } }, 'exist'],
  ])('%s', async (_title, options, message) => {
    await expect(startWorker(options)).rejects.toThrow(message);
  });

  test('a visibility timeout as long as the function runs is enough', async () => {
    await startWorker({ queue: { visibilityTimeoutSeconds: 5 } });
  });
});
