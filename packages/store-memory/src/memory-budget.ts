import {
  type FilterName,
  type Identity,
  type Memory,
  type Message,
  messageBytes,
  type SessionRef,
} from '@apus/broker';
import { levelCount, type Will } from '@apus/mqtt';
import type { Holding } from './holdings.ts';

/**
 * Memory that things take beside the bytes of clients in them: objects, and their places in maps. Rounded up;
 * counted-memory.test.ts measures that none takes more.
 */
export const RECEIPT_BYTES = 256;
const SESSION_BYTES = 1024;
const RULE_BYTES = 512;
const TEXT_BYTES = 64;
const HELD_MESSAGE_BYTES = 768;
const HOLDER_BYTES = 256;
const RETAINED_MESSAGE_BYTES = 1024;
const USER_PROPERTY_BYTES = 96;
const SUBSCRIPTION_BYTES = 512;
const LEVEL_BYTES = 48;

/**
 * The share beyond its limit that a node reserves for memory that it cannot refuse: the wills of clients that resume a
 * session.
 */
const RESERVE_SHARE = 1 / 8;

/** The share of a tenant's queues that one identity may use, if its quota is larger. */
export const IDENTITY_QUEUES_SHARE = 1 / 2;

/** Bytes that all stores of a process keep for clients, and their limit [SEC-MEMORY-5]. */
export class MemoryBudget implements Memory {
  readonly #bytesMax: number;
  readonly #queuedPerTenantMax: number;
  readonly #queuedPerIdentityMax: number;
  /** By tenant, where a plan names it. */
  readonly #queuedByPlanMax = new Map<string, number>();
  /** Called when the queues of a tenant at this process become full, or are no more. @default nothing is called */
  watchQueues: ((tenant: string, isFull: boolean) => void) | undefined;
  /** Whether the queues of a tenant are full at another process that shares them. @default there is none */
  isQueueFullElsewhere: (tenant: string) => boolean = () => false;
  /** Of messages in queues and inflight, by tenant; none of a tenant that has none. */
  readonly #queued = new Map<string, number>();
  #bytes = 0;
  #isRestoring = false;

  /** No limit, where one is not given. */
  constructor(
    bytesMax = Number.POSITIVE_INFINITY,
    queuedPerTenantMax = Number.POSITIVE_INFINITY,
    queuedPerIdentityMax = Number.POSITIVE_INFINITY,
  ) {
    this.#bytesMax = bytesMax;
    this.#queuedPerTenantMax = queuedPerTenantMax;
    this.#queuedPerIdentityMax = queuedPerIdentityMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get bytesMax(): number {
    return this.#bytesMax;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#bytesMax && !this.#isRestoring;
  }

  get isReserveUsed(): boolean {
    return this.#bytes >= this.#bytesMax * (1 + RESERVE_SHARE) && !this.#isRestoring;
  }

  /** The plan of a tenant, as a client of it has shown it last. */
  planned({ tenant, plan }: Pick<Identity, 'tenant' | 'plan'>): void {
    const wasFull = this.#isFullHere(tenant);
    if (plan?.queuedBytesMax === undefined) this.#queuedByPlanMax.delete(tenant);
    else this.#queuedByPlanMax.set(tenant, plan.queuedBytesMax || Number.POSITIVE_INFINITY);
    this.#tellWatcher(tenant, wasFull);
  }

  isQueueFull(tenant: string): boolean {
    return this.#isFullHere(tenant) || this.isQueueFullElsewhere(tenant);
  }

  queuedBytes(tenant: string): number {
    return this.#queued.get(tenant) ?? 0;
  }

  /** Memory that the queues of one identity may take: its own quota, before a share of its tenant's and that of all. */
  queuedBytesMax({ tenant, quotas }: Pick<Identity, 'tenant' | 'quotas'>): number {
    if (quotas?.queuedBytesMax !== undefined) return quotas.queuedBytesMax || Number.POSITIVE_INFINITY;
    const planned = this.#queuedByPlanMax.get(tenant);
    if (planned === undefined || !Number.isFinite(this.#queuedPerIdentityMax))
      return this.#queuedPerIdentityMax;
    return Math.min(this.#queuedPerIdentityMax, Math.floor(planned * IDENTITY_QUEUES_SHARE));
  }

  /** Everything from before is kept, also where the limit is lower now. */
  restoring<T>(restore: () => T): T {
    this.#isRestoring = true;
    try {
      return restore();
    } finally {
      this.#isRestoring = false;
    }
  }

  /** This many bytes more are kept, or fewer. */
  change(bytes: number): void {
    this.#bytes += bytes;
  }

  /** The same for the memory of a tenant's queues. */
  changeQueued(tenant: string, bytes: number): void {
    this.change(bytes);
    const wasFull = this.#isFullHere(tenant);
    const queued = this.queuedBytes(tenant) + bytes;
    if (queued === 0) this.#queued.delete(tenant);
    else this.#queued.set(tenant, queued);
    this.#tellWatcher(tenant, wasFull);
  }

  #isFullHere(tenant: string): boolean {
    return this.queuedBytes(tenant) >= (this.#queuedByPlanMax.get(tenant) ?? this.#queuedPerTenantMax);
  }

  #tellWatcher(tenant: string, wasFull: boolean): void {
    const isFull = this.#isFullHere(tenant);
    if (isFull !== wasFull) this.watchQueues?.(tenant, isFull);
  }
}

/** A message that queues hold. Its bytes count once, however many do. */
export class HeldMessage {
  readonly #budget: MemoryBudget;
  readonly #tenant: string;
  readonly #bytes: number;
  #holders = 0;
  /** The queues of one identity, mostly; of more in a map. */
  #first: Holding | undefined;
  #ofFirst = 0;
  #ofOthers: Map<Holding, number> | undefined;

  constructor(budget: MemoryBudget, message: Message, tenant: string) {
    this.#budget = budget;
    this.#tenant = tenant;
    this.#bytes = HELD_MESSAGE_BYTES + contentBytes(message);
  }

  get isHeld(): boolean {
    return this.#holders > 0;
  }

  /** Whether one more queue of this identity may hold it [SEC-QUOTA-8]. */
  fits(holding: Holding, bytesMax: number): boolean {
    return holding.queuedBytes + this.#bytesOf(this.#queuesOf(holding)) <= bytesMax;
  }

  /** One more queue holds it, of this identity. */
  hold(holding: Holding): void {
    const queues = this.#queuesOf(holding);
    this.#budget.changeQueued(this.#tenant, this.#bytesOf(this.#holders));
    holding.changeQueued(this.#bytesOf(queues));
    this.#holders += 1;
    this.#setQueuesOf(holding, queues + 1);
  }

  release(holding: Holding): void {
    const queues = this.#queuesOf(holding) - 1;
    this.#holders -= 1;
    this.#setQueuesOf(holding, queues);
    this.#budget.changeQueued(this.#tenant, -this.#bytesOf(this.#holders));
    holding.changeQueued(-this.#bytesOf(queues));
  }

  /** The first queue takes the message and its place, each further one its place. */
  #bytesOf(queuesBefore: number): number {
    return queuesBefore === 0 ? this.#bytes + HOLDER_BYTES : HOLDER_BYTES;
  }

  #queuesOf(holding: Holding): number {
    return holding === this.#first ? this.#ofFirst : (this.#ofOthers?.get(holding) ?? 0);
  }

  #setQueuesOf(holding: Holding, queues: number): void {
    this.#first ??= holding;
    if (holding === this.#first) {
      this.#ofFirst = queues;
      return;
    }
    this.#ofOthers ??= new Map();
    if (queues === 0) this.#ofOthers.delete(holding);
    else this.#ofOthers.set(holding, queues);
  }
}

/** The rules that a token, or the answer of a hook, has brought are kept with each session. */
export function sessionBytes(
  { clientId }: Pick<SessionRef, 'clientId'>,
  { rules, clientIds }: Identity,
): number {
  let bytes = SESSION_BYTES + clientId.length + textsBytes(clientIds);
  for (const { topicFilters, share } of rules ?? [])
    bytes += RULE_BYTES + textsBytes(topicFilters) + (Array.isArray(share) ? textsBytes(share) : 0);
  return bytes;
}

export function subscriptionBytes({ topicFilter, shareGroup = '' }: FilterName): number {
  return SUBSCRIPTION_BYTES + topicFilter.length + shareGroup.length + levelCount(topicFilter) * LEVEL_BYTES;
}

export function retainedMemoryBytes(message: Message): number {
  return RETAINED_MESSAGE_BYTES + contentBytes(message) + levelCount(message.topic) * LEVEL_BYTES;
}

export function willBytes(will: Will): number {
  return contentBytes(will);
}

function contentBytes(message: Pick<Message, 'topic' | 'payload' | 'properties'>): number {
  return messageBytes(message) + (message.properties.userProperties?.length ?? 0) * USER_PROPERTY_BYTES;
}

function textsBytes(texts: readonly string[] = []): number {
  return texts.reduce((bytes, text) => bytes + TEXT_BYTES + text.length, 0);
}
