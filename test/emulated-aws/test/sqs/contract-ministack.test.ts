import { setTimeout as sleep } from 'node:timers/promises';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, describe } from 'vitest';
import { ministackOrSkip } from '../../../support/ministack-or-skip.ts';
import { needs } from '../../../support/skips.ts';
import { defineSqsContract } from './contract.ts';

const ANSWERS_HANDLE_IS_INVALID =
  'MiniStack answers ReceiptHandleIsInvalid where SQS says yes and does nothing';

/** The same contract against an SQS that is not ours. */
const ministack = await ministackOrSkip('sqs');

describe('on MiniStack', needs('python', ministack), () => {
  const client = new SQSClient({
    endpoint: ministack?.endpoint ?? '',
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
  });
  afterAll(() => client.destroy());
  defineSqsContract({
    client,
    inRealTime: true,
    passSeconds: (seconds) => sleep(seconds * 1000),
    known: {
      'keeps a message that is deleted by the handle of an earlier receive': ANSWERS_HANDLE_IS_INVALID,
      'accepts a second deletion of a message': ANSWERS_HANDLE_IS_INVALID,
      'refuses a receipt handle once the visibility timeout is over':
        'MiniStack deletes by a handle until the message is received again',
    },
  });
});
