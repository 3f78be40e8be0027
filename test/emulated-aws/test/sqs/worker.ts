import {
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
} from '@aws-sdk/client-sqs';
import type {
  EmulatorOptions,
  Environment,
  EventSourceOptions,
  FunctionOptions,
  QueueOptions,
  SqsBatchResponse,
  SqsEvent,
} from '../../src/index.ts';
import { deferred, start, type TestEmulator } from '../support.ts';
import { sqsClient } from './support.ts';

type Answer = SqsBatchResponse | undefined;

export interface WorkerOptions {
  readonly queue?: Partial<QueueOptions>;
  readonly source?: Partial<EventSourceOptions>;
  readonly lambda?: FunctionOptions;
  readonly emulator?: Partial<EmulatorOptions>;
}

/** One batch in the hands of the function: the test decides how it ends. */
export interface Batch {
  readonly event: SqsEvent;
  readonly environment: Environment;
  readonly bodies: readonly string[];
  end(answer?: unknown): void;
  fail(error: Error): void;
}

export interface Worker {
  readonly emulator: TestEmulator;
  readonly url: string;
  /** Batches in the order in which they came. */
  readonly batches: Batch[];
  send(body: string, fields?: Partial<SendMessageCommandInput>): Promise<void>;
  sendTo(group: string, ...bodies: readonly string[]): Promise<void>;
  /** Lets the event loop turn until nothing moves but for handlers that the test holds. */
  quiet(): Promise<void>;
}

/** A queue `jobs` (or `jobs.fifo`) and a function for its batches. */
export async function startWorker(
  options: WorkerOptions = {},
  handle?: (event: SqsEvent, environment: Environment) => Promise<unknown>,
): Promise<Worker> {
  const queue: QueueOptions = { name: options.queue?.fifo ? 'jobs.fifo' : 'jobs', ...options.queue };
  const batches: Batch[] = [];
  const hold = (event: SqsEvent, environment: Environment): Promise<unknown> => {
    const { promise, resolve } = deferred<() => unknown>();
    const bodies = event.Records.map(({ body }) => body);
    const end = (answer: unknown): void => resolve(() => answer);
    const fail = (error: Error): void =>
      resolve(() => {
        throw error;
      });
    batches.push({ event, environment, bodies, end, fail });
    return promise.then((answer) => answer());
  };
  const emulator = await start(() => ({}), {
    ...options.emulator,
    queues: [queue, ...(options.emulator?.queues ?? [])],
    eventSources: [
      {
        queue: queue.name,
        ...options.source,
        function: {
          ...options.lambda,
          createEnvironment: (environment) => async (event) =>
            (await (handle ?? hold)(event, environment)) as Answer,
        },
      },
    ],
  });
  const client = sqsClient(emulator.sqs);
  const url = emulator.sqs.queueUrl(queue.name);
  return {
    emulator,
    url,
    batches,
    async send(MessageBody, fields = {}) {
      await client.send(new SendMessageCommand({ QueueUrl: url, MessageBody, ...fields }));
    },
    async sendTo(group, ...bodies) {
      const Entries = bodies.map((body, index) => ({
        Id: String(index),
        MessageBody: body,
        MessageGroupId: group,
        MessageDeduplicationId: body,
      }));
      await client.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
    },
    async quiet() {
      // An advance grants a few turns; a message passes several shuffled stations until it is in the function.
      for (let turn = 0; turn < 5; turn += 1) await emulator.clock.advance(0);
    },
  };
}
