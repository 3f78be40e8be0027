import type { Activity, Clock, Dice, Random, Shuffler } from '@apus/emulator/service';
import { queueDoesNotExist } from './errors.ts';
import type { SqsFaults } from './faults.ts';
import type { SqsLimits } from './limits.ts';
import { Queue } from './queue.ts';
import { type QueueOptions, type QueueSettings, queueSettings } from './queue-options.ts';
import type { SqsTally } from './tally.ts';
import { Throughput } from './throughput.ts';

export interface ServiceParts {
  readonly region: string;
  readonly accountId: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly dice: Dice<string>;
  readonly faults: SqsFaults & { readonly shuffle?: number };
  readonly limits: SqsLimits;
  readonly tally: SqsTally;
  readonly shuffler: Shuffler;
  readonly activity: Activity;
  /** Counts something that a test wants to be zero. */
  readonly onEvent: (name: string) => void;
}

/** The queues of one account in one Region. */
export class SqsService {
  readonly parts: ServiceParts;
  readonly #queues = new Map<string, Queue>();

  constructor(parts: ServiceParts) {
    this.parts = parts;
  }

  /** Throws where AWS would refuse it. */
  create(options: QueueOptions): Queue {
    const { clock, dice, faults, limits, random } = this.parts;
    const settings = queueSettings(options, limits);
    if (this.#queues.has(settings.name)) throw new Error(`The queue ${settings.name} exists`);
    const queue = new Queue({
      ...{ settings, clock, dice, faults, limits },
      arn: this.arn(settings.name),
      url: this.url(settings.name),
      createdAtMs: clock.now(),
      deadLetterQueue: this.#deadLetterQueueOf(settings),
      random: random.fork(),
      throughput: new Throughput(clock, settings, limits),
      soon: (run) => this.soon(run),
    });
    this.#queues.set(settings.name, queue);
    return queue;
  }

  /** Throws QueueDoesNotExist. */
  find(name: string): Queue {
    const queue = this.#queues.get(name);
    if (queue === undefined) throw queueDoesNotExist();
    return queue;
  }

  has(name: string): boolean {
    return this.#queues.has(name);
  }

  findByUrl(url: string): Queue {
    const name = url.split('/').at(-1) ?? '';
    const queue = this.find(name);
    if (!url.endsWith(`/${this.parts.accountId}/${name}`)) throw queueDoesNotExist();
    return queue;
  }

  url(name: string): string {
    return `https://sqs.${this.parts.region}.amazonaws.com/${this.parts.accountId}/${name}`;
  }

  arn(name: string): string {
    return `arn:aws:sqs:${this.parts.region}:${this.parts.accountId}:${name}`;
  }

  /** By the emulator's clock and not the caller's: a call goes on while the caller is frozen. */
  async sleep(ms: number): Promise<void> {
    if (ms > 0) await new Promise<void>((resolve) => this.parts.clock.setTimer(ms, resolve));
  }

  /** A few turns of the event loop later, out of order. Counts as activity until it runs. */
  soon(run: () => void): void {
    const { activity, faults, random, shuffler } = this.parts;
    const end = activity.begin();
    const depart = (): void => {
      end();
      run();
    };
    if (random.happens(faults.shuffle ?? 1)) shuffler.add(depart);
    else setImmediate(depart);
  }

  stop(): void {
    for (const queue of this.#queues.values()) queue.stop();
  }

  #deadLetterQueueOf({ fifo, name, redrive }: QueueSettings): Queue | undefined {
    if (redrive === undefined) return undefined;
    const target = this.#queues.get(redrive.deadLetterQueue);
    if (target === undefined) {
      throw new Error(
        `${name}: the dead-letter queue ${redrive.deadLetterQueue} does not exist; create it first`,
      );
    }
    if (target.parts.settings.fifo !== fifo) {
      throw new Error(
        `${name}: the dead-letter queue of a FIFO queue is FIFO, that of a standard queue standard`,
      );
    }
    return target;
  }
}
