import { SQSClient } from '@aws-sdk/client-sqs';
import type { Sqs, SqsCaller } from '../../src/index.ts';

/** AWS's own client, whose requests end in the emulator. It tries once: a test sees each answer. */
export function sqsClient(sqs: Pick<Sqs, 'requestHandler'>, environment?: SqsCaller): SQSClient {
  return new SQSClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
    requestHandler: sqs.requestHandler(environment),
  });
}
