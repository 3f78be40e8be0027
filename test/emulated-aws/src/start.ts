import * as gateway from '@apus/emulator';
import {
  type CreateFunction,
  functionSettings,
  type Gateway,
  Random,
  Shuffler,
} from '@apus/emulator/service';
import { EventSource } from './event-source/event-source.ts';
import { type EventSourceOptions, eventSourceSettings } from './event-source/options.ts';
import { type Sqs, sqsOf } from './sqs/create-sqs.ts';
import type { SqsFaults } from './sqs/faults.ts';
import { DEFAULT_SQS_LIMITS, type SqsLimits } from './sqs/limits.ts';
import type { QueueOptions } from './sqs/queue-options.ts';
import { SqsService } from './sqs/service.ts';
import { type SqsSnapshot, SqsTally } from './sqs/tally.ts';

export interface Faults extends gateway.Faults, SqsFaults {}

export interface EmulatorOptions extends Omit<gateway.EmulatorOptions, 'attach' | 'faults'> {
  /** Queues that exist from the start, in any order. Create more with `emulator.sqs.createQueue`. */
  readonly queues?: readonly QueueOptions[];
  /** Queues that invoke functions. */
  readonly eventSources?: readonly EventSourceOptions[];
  readonly faults?: Faults;
  readonly sqsLimits?: Partial<SqsLimits>;
}

export interface CountersSnapshot extends gateway.CountersSnapshot {
  readonly sqs: SqsSnapshot;
}

interface WithQueues {
  /** The queues; only those of the option `queues` exist at the start. */
  readonly sqs: Sqs;
  readonly counters: { snapshot(): CountersSnapshot; reset(): void };
}
export interface Emulator extends Omit<gateway.Emulator, 'counters'>, WithQueues {}
export interface InProcessEmulator extends Omit<gateway.InProcessEmulator, 'counters'>, WithQueues {}

/** `startEmulator` of `@apus/emulator`, with SQS in the account. */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const queues = new Queues(options);
  return queues.beside(await gateway.startEmulator(queues.options));
}

/** `startInProcess` of `@apus/emulator`, with SQS in the account. */
export function startInProcess(options: EmulatorOptions): InProcessEmulator {
  const queues = new Queues(options);
  return queues.beside(gateway.startInProcess(queues.options));
}

class Queues {
  readonly options: gateway.EmulatorOptions;
  readonly #options: EmulatorOptions;
  readonly #tally = new SqsTally();
  #sqs: Sqs | undefined;

  constructor(options: EmulatorOptions) {
    this.#options = options;
    this.options = { ...options, attach: (account, createFunction) => this.#attach(account, createFunction) };
  }

  beside<E extends Pick<gateway.Emulator, 'counters'>>(emulator: E): Omit<E, 'counters'> & WithQueues {
    const { counters } = emulator;
    const sqs = this.#sqs as Sqs;
    return {
      ...emulator,
      sqs,
      counters: {
        snapshot: () => ({ ...counters.snapshot(), sqs: this.#tally.snapshot() }),
        reset: () => {
          counters.reset();
          this.#tally.reset();
        },
      },
    };
  }

  /** Creates the queues, and starts the event sources. Queues draw from random numbers of their own. */
  #attach(account: Gateway, createFunction: CreateFunction): SqsService {
    const { queues = [], eventSources = [], sqsLimits } = this.#options;
    const { activity, counters, dice, settings } = account;
    const { accountId, clock, faults, hasSeededIds, region, seed } = settings;
    const random = new Random(~seed, hasSeededIds);
    const service = new SqsService({
      ...{ accountId, activity, clock, dice, faults, random, region },
      limits: { ...DEFAULT_SQS_LIMITS, ...sqsLimits },
      tally: this.#tally,
      shuffler: new Shuffler(random.fork()),
      onEvent: (name) => counters.event(name),
    });
    this.#sqs = sqsOf(service);
    for (const queue of deadLetterQueuesFirst(queues)) service.create(queue);
    for (const options of eventSources) {
      const queue = service.find(options.queue);
      const lambda = functionSettings(options.function, `apus-${options.queue.replace('.', '-')}`);
      const settings = eventSourceSettings(options, queue, lambda.timeoutMs);
      const target = createFunction(lambda, options.function.createEnvironment);
      new EventSource(account, service.parts, queue, settings, target).start();
    }
    return service;
  }
}

/** A dead-letter queue has to exist before a queue can name it. */
function deadLetterQueuesFirst(queues: readonly QueueOptions[]): QueueOptions[] {
  const byName = new Map(queues.map((queue) => [queue.name, queue]));
  const ordered = new Set<QueueOptions>();
  const visit = (queue: QueueOptions, path: readonly QueueOptions[]): void => {
    if (path.includes(queue)) throw new Error(`${queue.name} is its own dead-letter queue in the end`);
    const target = byName.get(queue.redrive?.deadLetterQueue ?? '');
    if (target !== undefined) visit(target, [...path, queue]);
    ordered.add(queue);
  };
  for (const queue of queues) visit(queue, []);
  return [...ordered];
}
