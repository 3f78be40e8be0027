import type { Will } from '@apus/mqtt';
import { expect } from 'vitest';
import type {
  Awaitable,
  DetachSession,
  OpenedSession,
  OpenSession,
  Queued,
  SessionRecord,
  SessionRef,
  Stores,
} from '../src/index.ts';
import { attachmentOf, detachOf, NOW_MS, openedOf, openOf } from './samples.ts';

export {
  attachmentOf,
  deliveryTo,
  messageId,
  messageOf,
  NOW_MS,
  openOf,
  ROOMY,
  subscriptionTo,
  upTo,
} from './samples.ts';

export type MakeStores = () => Awaitable<Stores>;

/** Differences that an implementation may have. Leave a reason beside each. */
export interface ContractOptions {
  /** False where numbers over a whole tenant are sampled: there are no tests at their exact boundary then. */
  readonly countsAreExact?: boolean;
}

/** The will of a connection that brings one. */
export const WILL: Will = {
  topic: 'gone',
  payload: Buffer.from('bye'),
  qos: 1,
  retain: false,
  properties: {},
};

let names = 0;

/** A name that no other test has: the stores of two tests may be the same. */
export function unique(prefix: string): string {
  names += 1;
  return `${prefix}-${Date.now().toString(36)}-${names}`;
}

/** A ref as it comes back from a door that stored it with a connection. */
export function copyOf(session: SessionRef): SessionRef {
  const { key, tenant, clientId, incarnation, attachment } = session;
  return { key, tenant, clientId, incarnation, attachment: attachment && { ...attachment } };
}

/**
 * A client and its session. Its ref is read anew after each change, since only some stores hand out refs that
 * follow the session.
 */
export class Client {
  readonly stores: Stores;
  readonly tenant: string;
  readonly clientId: string;
  #connections = 0;
  #hasWill = false;

  constructor(stores: Stores, tenant = unique('tenant'), clientId = unique('client')) {
    this.stores = stores;
    this.tenant = tenant;
    this.clientId = clientId;
  }

  /** The connection that was opened last. */
  get connectionId(): string {
    return `${this.clientId}:${this.#connections}`;
  }

  async open(fields: Partial<OpenSession> & { receiveMaximum?: number } = {}): Promise<OpenedSession> {
    const { receiveMaximum = 10, ...request } = fields;
    this.#connections += 1;
    this.#hasWill = fields.will !== undefined;
    const { tenant, clientId, connectionId } = this;
    const attachment = attachmentOf(connectionId, { receiveMaximum });
    const answer = await this.stores.sessions.open(openOf(clientId, { tenant, attachment, ...request }));
    return openedOf(answer);
  }

  async session(): Promise<SessionRef> {
    const record = await this.stores.sessions.get(this.tenant, this.clientId);
    expect(record, 'the session is there').toBeDefined();
    return (record as NonNullable<typeof record>).session;
  }

  /** The connection ends; a will that it brought is due at once. */
  async lose(nowMs = NOW_MS, expirySeconds = 60): Promise<SessionRef> {
    await this.detach({ nowMs, expirySeconds });
    return await this.session();
  }

  async detach(fields: Partial<DetachSession> = {}): Promise<SessionRecord | undefined> {
    const { nowMs = NOW_MS } = fields;
    const will = this.#hasWill ? { atMs: nowMs, isWithdrawnByReturn: false } : undefined;
    const { connectionId } = this;
    return await this.stores.sessions.detach(
      detachOf(await this.session(), { connectionId, will, ...fields }),
    );
  }

  /** Connects again, as the broker does it. */
  async resume(receiveMaximum?: number): Promise<SessionRef> {
    const { session, present } = await this.open(receiveMaximum === undefined ? {} : { receiveMaximum });
    expect(present, 'the session continues').toBe(true);
    return session;
  }
}

/** The dequeued entries, in short: `a`, a resent `a` as `a+`, a PUBREL of packet id 3 as `pubrel 3`. */
export function summary(queued: readonly Queued[]): string[] {
  return queued.map((each) =>
    each.type === 'pubrel'
      ? `pubrel ${each.packetId}`
      : `${Buffer.from(each.message.payload).toString()}${each.delivery.dup ? '+' : ''}`,
  );
}
