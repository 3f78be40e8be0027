import { SQSClient } from '@aws-sdk/client-sqs';
import {
  createSqs,
  ManualClock,
  type QueueOptions,
  type Sqs,
  type SqsCaller,
  type SqsOptions,
  type StandaloneSqs,
} from '../../src/index.ts';
import { Bench } from './bench.ts';

/** AWS's own client, whose requests end in the emulator. It tries once: a test sees each answer. */
export function sqsClient(sqs: Pick<Sqs, 'clientConfig'>, environment?: SqsCaller): SQSClient {
  return new SQSClient(sqs.clientConfig(environment));
}

export interface TestSqs {
  readonly sqs: StandaloneSqs;
  readonly clock: ManualClock;
  readonly bench: Bench;
  /** Creates a queue and answers its URL. */
  create(options?: Partial<QueueOptions>): string;
}

/** A standalone SQS with a clock that stands still, and the same seed every time. */
export function startSqs(options: SqsOptions = {}): TestSqs {
  const clock = new ManualClock();
  const sqs = createSqs({ clock, seed: 1, ...options });
  const bench = new Bench({
    client: sqsClient(sqs),
    async passSeconds(seconds) {
      // A long poll that is on its way should wait when time begins to pass.
      await sqs.quiet();
      await clock.advance(seconds * 1000);
    },
  });
  const create = (queue: Partial<QueueOptions> = {}): string =>
    sqs.createQueue({ name: queue.fifo ? 'jobs.fifo' : 'jobs', ...queue }).url;
  return { sqs, clock, bench, create };
}
