import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import type { SqsEvent } from '../src/index.ts';
import { sqsClient } from './sqs/support.ts';
import { start } from './support.ts';

test('a message that is sent is handed to the function and deleted', async () => {
  const events: SqsEvent[] = [];
  const emulator = await start(
    {},
    {
      queues: [{ name: 'jobs' }],
      eventSources: [
        {
          queue: 'jobs',
          function: {
            createEnvironment: () => async (event) => {
              events.push(event);
              return undefined;
            },
          },
        },
      ],
    },
  );
  const client = sqsClient(emulator.sqs);
  const QueueUrl = emulator.sqs.queueUrl('jobs');
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'hello' }));
  await emulator.quiet();
  expect(events.map(({ Records }) => Records.map(({ body }) => body))).toEqual([['hello']]);
  expect(emulator.sqs.depth('jobs')).toEqual({ available: 0, delayed: 0, inFlight: 0 });
});
