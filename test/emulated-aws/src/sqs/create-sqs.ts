import {
  Activity,
  type Clock,
  Dice,
  Random,
  randomSeed,
  Shuffler,
  systemClock,
} from '@apus/emulator/service';
import { clientConfigOf, type SdkClientConfig } from '../dynamodb/client-config.ts';
import type { SqsFaults } from './faults.ts';
import { DEFAULT_SQS_LIMITS, type SqsLimits } from './limits.ts';
import type { QueueOptions } from './queue-options.ts';
import { type SqsCaller, SqsRequestHandler } from './request-handler.ts';
import { SqsService } from './service.ts';
import type { Depth } from './shelf.ts';
import { type SqsSnapshot, SqsTally } from './tally.ts';

export interface SqsOptions {
  /** @default 'us-east-1' */
  readonly region?: string;
  /** @default '123456789012' */
  readonly accountId?: string;
  /** @default the machine's */
  readonly clock?: Clock;
  /** The source of every random choice. @default a random one */
  readonly seed?: number;
  readonly faults?: SqsFaults;
  readonly limits?: Partial<SqsLimits>;
}

export interface QueueNames {
  readonly name: string;
  readonly url: string;
  readonly arn: string;
}

/** SQS as a test sees it from outside. */
export interface Sqs {
  /** Throws if AWS would refuse it, or if there is a queue of this name. Create a dead-letter queue first. */
  createQueue(options: QueueOptions): QueueNames;
  /** The URL of a queue, even of one that does not exist yet. */
  queueUrl(name: string): string;
  queueArn(name: string): string;
  /** How many messages a queue holds now, by their state. Throws QueueDoesNotExist. */
  depth(name: string): Depth;
  /**
   * For `new SQSClient({ requestHandler, … })`. Given an execution environment, its
   * calls are held while it is frozen, never return once it is dead, and pass the checkpoints `sqs:ACTION:before` and
   * `sqs:ACTION:after`, where `killAtCheckpoint` may strike.
   */
  requestHandler(environment?: SqsCaller): SqsRequestHandler;
  /** The complete options: `new SQSClient(sqs.clientConfig(environment))` is ready, and faster. */
  clientConfig(environment?: SqsCaller): SdkClientConfig;
}

/** SQS by itself, without functions. */
export interface StandaloneSqs extends Sqs {
  readonly seed: number;
  readonly counters: { snapshot(): SqsSnapshot; reset(): void };
  /** Names of faults that struck, and how often. */
  readonly events: Readonly<Record<string, number>>;
  /** Resolves when no call is under way. */
  quiet(): Promise<void>;
  stop(): void;
}

/**
 * A strict SQS in this process, to which AWS's own SDK talks without a socket.
 *
 * ```ts
 * const sqs = createSqs();
 * const { url: QueueUrl } = sqs.createQueue({ name: 'jobs.fifo', fifo: true });
 * const client = new SQSClient(sqs.clientConfig());
 * await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'hello', MessageGroupId: 'a', MessageDeduplicationId: '1' }));
 * ```
 */
export function createSqs(options: SqsOptions = {}): StandaloneSqs {
  const seed = options.seed ?? randomSeed();
  const random = new Random(seed);
  const tally = new SqsTally();
  const activity = new Activity();
  const events: Record<string, number> = {};
  const onEvent = (name: string): void => {
    events[name] = (events[name] ?? 0) + 1;
  };
  const service = new SqsService({
    region: options.region ?? 'us-east-1',
    accountId: options.accountId ?? '123456789012',
    clock: options.clock ?? systemClock,
    random,
    dice: new Dice(random.fork(), onEvent),
    faults: options.faults ?? {},
    limits: { ...DEFAULT_SQS_LIMITS, ...options.limits },
    tally,
    shuffler: new Shuffler(random.fork()),
    activity,
    onEvent,
  });
  return {
    ...sqsOf(service),
    seed,
    counters: tally,
    events,
    quiet: () => activity.quiet(),
    stop: () => service.stop(),
  };
}

export function sqsOf(service: SqsService): Sqs {
  const requestHandler = (environment?: SqsCaller) => new SqsRequestHandler(service, environment);
  return {
    createQueue(options) {
      const { arn, settings, url } = service.create(options).parts;
      return { name: settings.name, url, arn };
    },
    queueUrl: (name) => service.url(name),
    queueArn: (name) => service.arn(name),
    depth: (name) => service.find(name).depth,
    requestHandler,
    clientConfig: (environment) => ({
      ...clientConfigOf(requestHandler(environment)),
      region: service.parts.region,
    }),
  };
}
