import {
  type FilterName,
  type Identity,
  type Memory,
  type Message,
  messageBytes,
  type SessionRef,
  type Subscription,
} from '@apus/broker';
import { levelCount, type Will } from '@apus/mqtt';
import type { Holding } from './holdings.ts';

/**
 * Memory of things beside the bytes of clients in them: objects, and their places in maps. Rounded up;
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
/** Beside its text: a place among the conditions of its filter. */
const CONDITION_BYTES = 256;

/**
 * The share above its limit that a node reserves for memory that it cannot refuse: the wills of clients that resume a
 * session.
 */
const RESERVE_SHARE = 1 / 8;

/** The share that the queues and streams of one tenant may take: the others need room too. */
const TENANT_MESSAGES_SHARE = 3 / 4;

/** The share of a tenant's queues that one identity may take, if its quota is larger. */
export const IDENTITY_QUEUES_SHARE = 1 / 2;

/**
 * Steps of a limit on queues. Processes that share the limit are told of each step, so each process may have up to a
 * 64th that others do not know of, and most messages pass no step.
 */
const QUEUES_STEPS = 64;

/** Queues of a tenant, by its name; or of an identity, by its `quotaHolderKey`. */
export type QueuesScope = 'tenant' | 'identity';

/** The memory of queues at one process. */
export interface QueuesState {
  readonly bytes: number;
  /** They have as much as they may at that process. */
  readonly isFull: boolean;
}

/** The memory of queues at all other processes. */
export interface QueuesSum {
  readonly bytes: number;
  /** At how many processes they are full. */
  readonly fullAt: number;
}

type QueuesElsewhere = Readonly<Record<QueuesScope, ReadonlyMap<string, QueuesSum>>>;

const NOWHERE: QueuesElsewhere = { tenant: new Map(), identity: new Map() };

/** Bytes that all stores of a process keep for clients, and their limit [SEC-MEMORY-5]. */
export class MemoryBudget implements Memory {
  readonly #bytesMax: number;
  readonly #queuedPerTenantMax: number;
  readonly #queuedPerIdentityMax: number;
  /** Limits of tenants whose plan has one. */
  readonly #queuedByPlanMax = new Map<string, number>();
  /** Called when queues at this process pass a step of their limit; with 0 bytes below the first one. */
  watchQueues: ((scope: QueuesScope, name: string, state: QueuesState) => void) | undefined;
  /** @default there is no other process */
  queuesElsewhere: QueuesElsewhere = NOWHERE;
  /** The step that was passed last, if it is not 0. */
  readonly #steps = { tenant: new Map<string, number>(), identity: new Map<string, number>() };
  /** Bytes of messages in queues and inflight, by tenant, if there are any. */
  readonly #queued = new Map<string, number>();
  /** Bytes of the histories of streams, by tenant. */
  readonly #streamed = new Map<string, number>();
  #bytes = 0;
  #isRestoring = false;

  /** An absent limit is none. */
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

  /** The plan of a tenant, as its latest client has shown it. */
  planned({ tenant, plan }: Pick<Identity, 'tenant' | 'plan'>): void {
    if (plan?.queuedBytesMax === undefined) this.#queuedByPlanMax.delete(tenant);
    else this.#queuedByPlanMax.set(tenant, plan.queuedBytesMax || Number.POSITIVE_INFINITY);
    this.#lookAtTenant(tenant);
  }

  /**
   * The limit of a plan is for all processes together. `tenantQueueBytesMax` is for each: if one process exceeds it,
   * no other takes a message either.
   */
  isQueueFull(tenant: string): boolean {
    const bytes = this.queuedBytes(tenant);
    if (bytes >= this.#queuedOfTenantMax(tenant) || this.#hasShare(tenant)) return true;
    const elsewhere = this.queuesElsewhere.tenant.get(tenant);
    if (elsewhere === undefined) return false;
    const planned = this.#queuedByPlanMax.get(tenant) ?? Number.POSITIVE_INFINITY;
    return elsewhere.fullAt > 0 || bytes + elsewhere.bytes >= planned;
  }

  /** Whether the streams of the tenant take no more [SEC-TENANT-9]. */
  isStreamFull(tenant: string): boolean {
    return this.isFull || this.#hasShare(tenant);
  }

  /** Whether the queues of an identity may have so many more bytes: at most `bytesMax` at all processes together. */
  fits({ key, queuedBytes }: Holding, bytes: number, bytesMax: number): boolean {
    const elsewhere = this.queuesElsewhere.identity.get(key)?.bytes ?? 0;
    return queuedBytes + elsewhere + bytes <= bytesMax;
  }

  queuedBytes(tenant: string): number {
    return this.#queued.get(tenant) ?? 0;
  }

  /** Memory for the queues of one identity: its own quota, or a share of its tenant's, or of all. */
  queuedBytesMax({ tenant, quotas }: Pick<Identity, 'tenant' | 'quotas'>): number {
    if (quotas?.queuedBytesMax !== undefined) return quotas.queuedBytesMax || Number.POSITIVE_INFINITY;
    const planned = this.#queuedByPlanMax.get(tenant);
    if (planned === undefined || !Number.isFinite(this.#queuedPerIdentityMax))
      return this.#queuedPerIdentityMax;
    return Math.min(this.#queuedPerIdentityMax, Math.floor(planned * IDENTITY_QUEUES_SHARE));
  }

  /** Everything is restored, even if the limit is lower now. */
  restoring<T>(restore: () => T): T {
    this.#isRestoring = true;
    try {
      return restore();
    } finally {
      this.#isRestoring = false;
    }
  }

  /** So many more bytes are kept, or fewer. */
  change(bytes: number): void {
    this.#bytes += bytes;
  }

  /** So many more bytes in the tenant's queues, or fewer. */
  changeQueued(tenant: string, bytes: number): void {
    this.change(bytes);
    const queued = this.queuedBytes(tenant) + bytes;
    if (queued === 0) this.#queued.delete(tenant);
    else this.#queued.set(tenant, queued);
    this.#lookAtTenant(tenant);
  }

  /** So many more bytes in the tenant's streams, or fewer. */
  changeStreamed(tenant: string, bytes: number): void {
    this.change(bytes);
    const streamed = (this.#streamed.get(tenant) ?? 0) + bytes;
    if (streamed === 0) this.#streamed.delete(tenant);
    else this.#streamed.set(tenant, streamed);
  }

  /** The queues of one identity have changed. */
  lookAtQueues({ key, identity, queuedBytes }: Holding): void {
    if (this.watchQueues !== undefined)
      this.#look('identity', key, queuedBytes, this.queuedBytesMax(identity));
  }

  #hasShare(tenant: string): boolean {
    const bytes = this.queuedBytes(tenant) + (this.#streamed.get(tenant) ?? 0);
    return bytes >= this.#bytesMax * TENANT_MESSAGES_SHARE && !this.#isRestoring;
  }

  #lookAtTenant(tenant: string): void {
    if (this.watchQueues !== undefined)
      this.#look('tenant', tenant, this.queuedBytes(tenant), this.#queuedOfTenantMax(tenant));
  }

  #look(scope: QueuesScope, name: string, bytes: number, bytesMax: number): void {
    const steps = this.#steps[scope];
    const step = Math.floor((bytes * QUEUES_STEPS) / bytesMax);
    if (step === (steps.get(name) ?? 0)) return;
    if (step === 0) steps.delete(name);
    else steps.set(name, step);
    this.watchQueues?.(scope, name, { bytes: step === 0 ? 0 : bytes, isFull: bytes >= bytesMax });
  }

  #queuedOfTenantMax(tenant: string): number {
    return this.#queuedByPlanMax.get(tenant) ?? this.#queuedPerTenantMax;
  }
}

/** A message in queues. Its bytes count once, whatever the number of queues. */
export class HeldMessage {
  readonly #budget: MemoryBudget;
  readonly #tenant: string;
  readonly #bytes: number;
  #holders = 0;
  /** The only identity whose queues have it, in most cases; several stand in a map. */
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

  /** Whether one more queue of this identity has room for it [SEC-QUOTA-8]. */
  fits(holding: Holding, bytesMax: number): boolean {
    return this.#budget.fits(holding, this.#bytesOf(this.#queuesOf(holding)), bytesMax);
  }

  /** One more queue of this identity has it. */
  hold(holding: Holding): void {
    const queues = this.#queuesOf(holding);
    this.#budget.changeQueued(this.#tenant, this.#bytesOf(this.#holders));
    this.#changeQueued(holding, this.#bytesOf(queues));
    this.#holders += 1;
    this.#setQueuesOf(holding, queues + 1);
  }

  release(holding: Holding): void {
    const queues = this.#queuesOf(holding) - 1;
    this.#holders -= 1;
    this.#setQueuesOf(holding, queues);
    this.#budget.changeQueued(this.#tenant, -this.#bytesOf(this.#holders));
    this.#changeQueued(holding, -this.#bytesOf(queues));
  }

  #changeQueued(holding: Holding, bytes: number): void {
    holding.changeQueued(bytes);
    this.#budget.lookAtQueues(holding);
  }

  /** The first queue counts the message and its place, each further one its place. */
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

/** The rules from a token, or from the answer of a hook, are stored with each session. */
export function sessionBytes(
  { clientId }: Pick<SessionRef, 'clientId'>,
  { rules, clientIds }: Identity,
): number {
  let bytes = SESSION_BYTES + clientId.length + textsBytes(clientIds);
  for (const { topicFilters, share } of rules ?? [])
    bytes += RULE_BYTES + textsBytes(topicFilters) + (Array.isArray(share) ? textsBytes(share) : 0);
  return bytes;
}

export function subscriptionBytes({
  topicFilter,
  shareGroup = '',
  where,
}: FilterName & Pick<Subscription, 'where'>): number {
  const conditionBytes = where === undefined ? 0 : CONDITION_BYTES + where.length;
  const textBytes = topicFilter.length + shareGroup.length + conditionBytes;
  return SUBSCRIPTION_BYTES + textBytes + levelCount(topicFilter) * LEVEL_BYTES;
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
