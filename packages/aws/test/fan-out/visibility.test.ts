import type { SQSClient } from '@aws-sdk/client-sqs';
import { describe, expect, it } from 'vitest';
import type { SqsRecord } from '../../src/events/sqs.ts';
import { SqsVisibility } from '../../src/fan-out/visibility.ts';

interface Entry {
  readonly Id: string;
  readonly ReceiptHandle: string;
}

const records = ['a', 'b', 'c'].map((receiptHandle) => ({ receiptHandle }) as SqsRecord);

/** Gives the records back; returns the receipts of each call and the warnings. `answer` gets the number of the call. */
async function giveBack(answer: (call: number, entries: readonly Entry[]) => object) {
  const asked: string[][] = [];
  const logged: unknown[] = [];
  const send = async ({ input }: { input: { Entries: readonly Entry[] } }) => {
    asked.push(input.Entries.map(({ ReceiptHandle }) => ReceiptHandle));
    return answer(asked.length, input.Entries);
  };
  const log = {
    debug() {},
    info() {},
    error() {},
    warn: (_: string, fields?: object) => logged.push(fields),
  };
  const client = { send } as unknown as SQSClient;
  await new SqsVisibility({ client, queueUrl: 'queue', log }).giveBack(records, 0);
  return { asked, logged };
}

describe('records that a worker returns', () => {
  it('are returned again where SQS was throttled, or reports that some failed', async () => {
    const { asked, logged } = await giveBack((call, entries) => {
      if (call === 1) throw new Error('throttled');
      return call === 2
        ? { Failed: [{ Id: entries[1]?.Id, SenderFault: false, Code: 'InternalError' }] }
        : {};
    });
    expect(asked).toEqual([['a', 'b', 'c'], ['a', 'b', 'c'], ['b']]);
    expect(logged).toEqual([]);
  });

  it('are left to their visibility timeout after three times, and that is logged', async () => {
    const { asked, logged } = await giveBack(() => {
      throw new Error('throttled');
    });
    expect(asked).toHaveLength(3);
    expect(logged).toEqual([{ records: 3, reason: 'throttled' }]);
  });

  it('are not returned again where SQS does not know them', async () => {
    const failed = { Id: '0', SenderFault: true, Code: 'ReceiptHandleIsInvalid' };
    const { asked, logged } = await giveBack(() => ({ Failed: [failed] }));
    expect(asked).toHaveLength(1);
    expect(logged).toEqual([]);
  });
});
