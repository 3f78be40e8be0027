import { type Message, messageBytes, steadyNow } from '@apus/broker';
import { matches } from '@apus/mqtt';
import type { Backlog, ClusterNode, Scheduler, TenantFilter } from '@apus/node';
import type { Bus } from './bus.ts';
import type { ClusterFanOut } from './fan-out.ts';
import type { PublishFrame } from './frames.ts';
import { FULL_RULES_LOOKED_MS, GIVEN_BACK_BYTES_MAX, GIVEN_BACK_MS_MAX } from './limits.ts';
import type { Others } from './tell-all.ts';

export interface FullRulesContext {
  readonly backlog: Backlog;
  readonly bus: Pick<Bus, 'send' | 'request'>;
  readonly clock: Scheduler;
  /** Refuses publishers of this process: messages of other processes wait for the room. */
  readonly holdBack: (filters: readonly TenantFilter[]) => void;
  /** Gives up a message for a dead process. Resolves when the process of its publisher knows. */
  readonly giveUp: (process: string, frame: PublishFrame) => Promise<void> | undefined;
}

/** A message for a dead process whose sessions are here. */
interface Inherited {
  readonly frame: PublishFrame;
  readonly bytes: number;
  readonly deadlineMs: number;
  take(): void;
  refuse(): void;
}

/** The messages that wait for one queue of a rule. */
interface Queue {
  readonly filter: TenantFilter;
  /** Oldest first. They are older than those of living processes, and go first. */
  readonly inherited: Inherited[];
  /** Processes at which messages wait, in turn. */
  readonly waiting: Set<string>;
  /** The process whose turn it is. */
  sending: string | undefined;
  /** How many messages are on their way back to a process, which does not count them in what it says meanwhile. */
  readonly returning: Map<string, number>;
}

/**
 * Tells other processes which queues of rules are full here, so that they refuse publishers themselves, and calls up
 * the messages that wait for room:
 *
 *     this process                       another process
 *     a message comes: little room left
 *     says so                            publishers are refused from now on (0x97)
 *     messages come: no room left
 *     gives them back                    they were under way: they wait in a line, and so do their publishers
 *     messages have left the queue:
 *     there is room for a portion        sends as many again, in their order, and says how many are left
 *     none is left: says so              takes others
 *
 * While messages wait, all processes refuse newer messages for that queue, or give them back, so that none overtakes
 * them.
 */
export class FullRules {
  readonly #context: FullRulesContext;
  /** For each process that knows of a full queue, what it was told last. */
  readonly #told = new Map<string, string>();
  readonly #queues = new Map<string, Queue>();
  #inheritedBytes = 0;
  #held = '[]';
  #isLookingSoon = false;
  #isStopped = false;
  #cancel: (() => void) | undefined;

  constructor(context: FullRulesContext) {
    this.#context = context;
    context.backlog.watch(() => this.#lookSoon());
  }

  /** Gives a message back that has no room here. Resolves when its process knows. Undefined: it has room. */
  giveBack(from: string, frame: PublishFrame): Promise<void> | undefined {
    const { tenant, message, isPlain, mayWait, isAgain } = frame;
    if (!isPlain || !mayWait) return undefined;
    const { backlog, bus } = this.#context;
    const holder = frame.payer?.holder;
    const before = isAgain ? undefined : this.#queueBefore(tenant, message, holder);
    const room = backlog.roomFor(tenant, message, holder);
    if (room === 'never') return this.#context.giveUp(from, frame);
    if (room === 'enough' && before === undefined) {
      if (message.qos > 0) backlog.queued(tenant, message, holder);
      return undefined;
    }
    const lacking =
      before?.filter ?? (room === 'none' ? backlog.lacking(tenant, message, holder) : undefined);
    if (lacking !== undefined) this.#wait(from, lacking);
    this.#tell(from);
    this.#lookLater();
    if (lacking === undefined) {
      if (message.qos > 0) backlog.queued(tenant, message, holder);
      return undefined;
    }
    if (!isAgain) backlog.count(lacking, { givenBack: 1, givenUp: 0 });
    const { returning } = this.#queueOf(lacking);
    returning.set(from, (returning.get(from) ?? 0) + 1);
    return bus.request(from, { type: 'later', messageId: message.id, queue: lacking }).then(() => {
      const left = (returning.get(from) ?? 1) - 1;
      if (left > 0) returning.set(from, left);
      else returning.delete(from);
    });
  }

  /**
   * Takes a message for a dead process whose sessions are here: delivers it when there is room, or gives it up.
   * Resolves when either is done.
   */
  inherit(
    from: string,
    frame: PublishFrame,
    deliver: () => Promise<void> | undefined,
  ): Promise<void> | undefined {
    const { tenant, message, isPlain, mayWait } = frame;
    if (!isPlain || !mayWait) return deliver();
    const { backlog, clock, giveUp } = this.#context;
    if (backlog.roomFor(tenant, message) === 'never') return giveUp(from, frame);
    const before = this.#queueBefore(tenant, message, frame.payer?.holder);
    const lacking =
      before !== undefined && before.inherited.length > 0 ? before.filter : backlog.lacking(tenant, message);
    if (lacking === undefined) return deliver();
    const bytes = messageBytes(message);
    backlog.count(lacking, { givenBack: 1, givenUp: 0 });
    if (this.#inheritedBytes + bytes > GIVEN_BACK_BYTES_MAX) {
      backlog.count(lacking, { givenBack: 0, givenUp: 1 });
      return giveUp(from, frame);
    }
    this.#inheritedBytes += bytes;
    return new Promise((resolve) => {
      this.#queueOf(lacking).inherited.push({
        ...{ frame, bytes, deadlineMs: steadyNow(clock) + GIVEN_BACK_MS_MAX },
        take: () => resolve(deliver()),
        refuse: () => resolve(giveUp(from, frame)),
      });
      this.#holdBack();
      this.#lookLater();
    });
  }

  /** How many messages wait at the process. */
  waits(from: string, filter: TenantFilter, left: number, givenUp: number): void {
    const queue = this.#queueOf(filter);
    if (givenUp > 0) this.#context.backlog.count(filter, { givenBack: 0, givenUp });
    if (queue.sending === from) queue.sending = undefined;
    if (left > 0) queue.waiting.add(from);
    else if (!queue.returning.has(from)) queue.waiting.delete(from);
    this.#look();
  }

  forget(process: string): void {
    this.#told.delete(process);
    for (const queue of this.#queues.values()) {
      queue.waiting.delete(process);
      queue.returning.delete(process);
      if (queue.sending === process) queue.sending = undefined;
    }
    if (this.#queues.size > 0) this.#look();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
  }

  #wait(from: string, filter: TenantFilter): void {
    this.#queueOf(filter).waiting.add(from);
    this.#holdBack();
  }

  #queueOf(filter: TenantFilter): Queue {
    const key = keyOf(filter);
    const known = this.#queues.get(key);
    if (known !== undefined) return known;
    const queue: Queue = {
      ...{ filter, inherited: [], waiting: new Set<string>() },
      ...{ sending: undefined, returning: new Map<string, number>() },
    };
    this.#queues.set(key, queue);
    return queue;
  }

  /** A queue that the message is for too, and for which others wait, or others of its publisher. */
  #queueBefore(tenant: string, { topic }: Message, holder: string | undefined): Queue | undefined {
    for (const queue of this.#queues.values()) {
      const { filter } = queue;
      if (filter.holder !== undefined && filter.holder !== holder) continue;
      if (filter.tenant === tenant && matches(filter.topicFilter, topic)) return queue;
    }
    return undefined;
  }

  /** Queues that are full, or for which messages wait. */
  #filters(): readonly TenantFilter[] {
    const filters = new Map(this.#context.backlog.full().map((filter) => [keyOf(filter), filter]));
    for (const [key, { filter }] of this.#queues) filters.set(key, filter);
    return [...filters.values()];
  }

  #tell(process: string): void {
    const filters = this.#filters();
    const text = JSON.stringify(filters);
    if ((this.#told.get(process) ?? '[]') === text) return;
    if (filters.length === 0) this.#told.delete(process);
    else this.#told.set(process, text);
    this.#context.bus.send(process, { type: 'full', filters });
  }

  #holdBack(): void {
    const filters = Array.from(this.#queues.values(), ({ filter }) => filter);
    const text = JSON.stringify(filters);
    if (this.#held === text) return;
    this.#held = text;
    this.#context.holdBack(filters);
  }

  /** Looks once for all messages that have left in this turn. */
  #lookSoon(): void {
    if (this.#isLookingSoon || (this.#queues.size === 0 && this.#told.size === 0)) return;
    this.#isLookingSoon = true;
    setImmediate(() => {
      this.#isLookingSoon = false;
      if (!this.#isStopped) this.#look();
    });
  }

  #lookLater(): void {
    this.#cancel ??= this.#context.clock.after(FULL_RULES_LOOKED_MS, () => {
      this.#cancel = undefined;
      this.#look();
    });
  }

  #look(): void {
    const full = new Set(this.#context.backlog.full().map(keyOf));
    for (const [key, queue] of this.#queues) {
      this.#refuseLate(queue);
      if (!full.has(key)) this.#serve(queue);
      if (queue.inherited.length + queue.waiting.size === 0 && queue.sending === undefined)
        this.#queues.delete(key);
    }
    this.#holdBack();
    for (const process of [...this.#told.keys()]) this.#tell(process);
    if (this.#told.size > 0 || this.#queues.size > 0) this.#lookLater();
  }

  #refuseLate({ filter, inherited }: Queue): void {
    const { backlog, clock } = this.#context;
    const nowMs = steadyNow(clock);
    let givenUp = 0;
    for (let first = inherited[0]; first !== undefined && first.deadlineMs <= nowMs; first = inherited[0]) {
      this.#shift(inherited, first);
      givenUp += 1;
      first.refuse();
    }
    if (givenUp > 0) backlog.count(filter, { givenBack: 0, givenUp });
  }

  #serve(queue: Queue): void {
    const { backlog, bus } = this.#context;
    const { filter, inherited, waiting } = queue;
    for (let first = inherited[0]; first !== undefined; first = inherited[0]) {
      if (backlog.roomFor(first.frame.tenant, first.frame.message) === 'none') return;
      this.#shift(inherited, first);
      first.take();
    }
    if (queue.sending !== undefined) return;
    for (const process of waiting) {
      waiting.delete(process);
      queue.sending = process;
      bus.send(process, { type: 'again', queue: filter, ...backlog.portion });
      return;
    }
  }

  #shift(inherited: Inherited[], { bytes }: Inherited): void {
    inherited.shift();
    this.#inheritedBytes -= bytes;
  }
}

/** Undefined: the node has no rules. */
export function fullRulesOf(
  node: Pick<ClusterNode, 'backlog' | 'fullElsewhere'>,
  { bus, clock, membership: { me } }: Others,
  fanOut: Pick<ClusterFanOut, 'refused'>,
): FullRules | undefined {
  const { backlog } = node;
  if (backlog === undefined) return undefined;
  return new FullRules({
    ...{ backlog, bus, clock },
    holdBack: (filters) => node.fullElsewhere(me, filters),
    giveUp: (process, { message: { id } }) => {
      if (process !== me) return bus.request(process, { type: 'refused', messageId: id });
      fanOut.refused(id);
      return undefined;
    },
  });
}

/** A key of a queue, or of a publisher's share of it. */
export function keyOf({ tenant, topicFilter, holder }: TenantFilter): string {
  return JSON.stringify([tenant, topicFilter, holder]);
}
