import type {
  Delivery,
  OpenedSession,
  OpenSession,
  Queued,
  SessionRecord,
  SessionRef,
  Stores,
  Subscription,
} from '@apus/broker';
import { upTo } from '@apus/broker/samples';
import type { QoS, Will } from '@apus/mqtt';
import fc from 'fast-check';
import {
  attachmentOf,
  deliveryTo,
  detachOf,
  messageId,
  messageOf,
  NOW_MS,
  openedOf,
  openOf,
  PAGE,
  ROOMY,
  TENANT,
} from './values.ts';

const CLIENTS = ['a', 'b'];
const TOPICS = ['x', 'x/y', 'z'];

/** One call, or a few that belong together. `reopen` ends every connection, as a crash does. */
export type Step =
  | {
      do: 'open';
      client: string;
      cleanStart: boolean;
      expirySeconds: number;
      will: Will | undefined;
      isWillOwed: boolean;
    }
  | { do: 'lose'; client: string; expirySeconds: number }
  | { do: 'remove'; client: string }
  | { do: 'note'; client: string; topicFilters: readonly string[] }
  | { do: 'beginWill' | 'doneWill' | 'discardWill'; nth: number }
  | { do: 'subscribe'; client: string; subscription: Subscription }
  | { do: 'unsubscribe'; client: string; topicFilter: string; shareGroup: string | undefined }
  | { do: 'offer'; clients: readonly string[]; qos: QoS; payload: Uint8Array }
  | { do: 'next'; client: string }
  | { do: 'complete' | 'release'; client: string; nth: number }
  | { do: 'receive' | 'mark-delivered' | 'pubrel'; client: string; packetId: number }
  | { do: 'retain' | 'unretain'; topic: string; qos: QoS }
  | { do: 'reopen' };

const client = fc.constantFrom(...CLIENTS);
const qos = fc.constantFrom<QoS>(0, 1, 2);
const qosKept = fc.constantFrom<QoS>(1, 2);
const shareGroup = fc.constantFrom(undefined, 'g');
const payload = fc.uint8Array({ maxLength: 20 });
const will: fc.Arbitrary<Will> = fc.record({
  topic: fc.constantFrom(...TOPICS),
  payload,
  qos,
  retain: fc.boolean(),
  properties: fc.constantFrom<Will['properties']>({}, { willDelayInterval: 5, userProperties: [['k', 'v']] }),
});
const subscription: fc.Arbitrary<Subscription> = fc.record({
  topicFilter: fc.constantFrom('x', 'x/+', '#'),
  shareGroup,
  qos,
  noLocal: fc.boolean(),
  retainAsPublished: fc.boolean(),
  subscriptionIdentifier: fc.constantFrom(undefined, 1, 268_435_455),
});
const expirySeconds = fc.constantFrom(60, 60, 60, 60, 0xffff_ffff, 0);
const cleanStart = fc.constantFrom(false, false, false, false, true);

const named = <D extends string>(name: D) => fc.constant(name);

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: named('open'),
      client,
      cleanStart,
      expirySeconds,
      will: fc.option(will, { nil: undefined }),
      isWillOwed: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: named('lose'), client, expirySeconds }) },
  { weight: 1, arbitrary: fc.record({ do: named('remove'), client }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: named('note'), client, topicFilters: fc.subarray(['x', 'x/+', '#']) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('beginWill', 'doneWill', 'discardWill'),
      nth: fc.nat({ max: 3 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: named('subscribe'), client, subscription }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: named('unsubscribe'),
      client,
      topicFilter: fc.constantFrom('x', 'x/+'),
      shareGroup,
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: named('offer'),
      clients: fc.subarray(CLIENTS, { minLength: 1 }),
      qos: qosKept,
      payload,
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: named('next'), client }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('complete', 'release'), client, nth: fc.nat({ max: 4 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('receive', 'mark-delivered', 'pubrel'),
      client,
      packetId: fc.integer({ min: 1, max: 2 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('retain', 'unretain'),
      topic: fc.constantFrom(...TOPICS),
      qos,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: named('reopen') }) },
);

/** Later than any will is due after a restart. */
const WILLS_DUE_MS = NOW_MS + 1_000_000_000;

/** A connection that brought a will. */
interface Mortal {
  readonly connectionId: string;
  readonly session: SessionRef;
  /** Its session is on the disk, and with it the will. */
  readonly isDurable: boolean;
}

interface Sent {
  readonly packetId: number;
  readonly messageId: string;
}

/** Takes steps on some stores. Two walks that took the same steps have stores with the same state. */
export class Walk {
  stores: Stores;
  #connections = 0;
  #messages = 0;
  readonly #mortals: Mortal[] = [];
  /** Clients whose session is on the disk. */
  readonly #durable = new Set<string>();
  /** Sent and not complete, as each client knows it: packet ids may differ between two walks. */
  readonly #sent = new Map<string, Sent[]>();

  constructor(stores: Stores) {
    this.stores = stores;
  }

  async take(each: Exclude<Step, { do: 'reopen' }>): Promise<void> {
    switch (each.do) {
      case 'open':
        return await this.#open(each);
      case 'offer':
        return await this.#offer(each);
      case 'retain': {
        this.#messages += 1;
        const message = messageOf(this.#messages, { topic: each.topic, qos: each.qos, retain: true });
        await this.stores.retained.put(TENANT, message, upTo(1000));
        return;
      }
      case 'unretain':
        return await this.stores.retained.delete(TENANT, each.topic, messageId(this.#messages));
      case 'beginWill':
      case 'doneWill':
      case 'discardWill':
        return await this.#changeWill(each.do, this.#mortals.at(-1 - each.nth));
      default:
        return await this.#ofClient(each);
    }
  }

  /** Every connection ends at `nowMs`; what ends with it is forgotten. */
  async cut(nowMs: number): Promise<void> {
    for (const clientId of CLIENTS) {
      const record = await this.stores.sessions.get(TENANT, clientId);
      if (record === undefined) continue;
      if (record.attachment !== undefined) await this.#detach(record, record.expirySeconds, nowMs);
      if (record.expirySeconds === 0) await this.#end(record.session);
    }
    for (const mortal of this.#mortals) if (!mortal.isDurable) await this.#publishWill(mortal);
  }

  /** Forgets everything, as the broker does when sessions end and topics are cleared. */
  async forgetAll(): Promise<void> {
    await this.cut(NOW_MS);
    for (const clientId of CLIENTS) {
      const record = await this.stores.sessions.get(TENANT, clientId);
      if (record !== undefined) await this.#end(record.session);
    }
    for (const topic of TOPICS) await this.stores.retained.delete(TENANT, topic, messageId(this.#messages));
    for (const mortal of this.#mortals) await this.#publishWill(mortal);
  }

  /** All that can be seen of the stores; reading it connects every client. */
  async state(): Promise<unknown> {
    const wills = [];
    for (const { session, connectionId } of this.#mortals)
      wills.push(
        plain(await this.stores.sessions.beginWill(session, connectionId, messageId(0), WILLS_DUE_MS)),
      );
    const clients = [];
    for (const clientId of CLIENTS) clients.push(await this.#stateOf(clientId));
    const retained = await this.stores.retained.match(TENANT, '#', NOW_MS, undefined, PAGE);
    return { wills, clients, retained: retained.messages.map(plain).sort(byJson) };
  }

  async #stateOf(clientId: string): Promise<unknown> {
    const record = await this.stores.sessions.get(TENANT, clientId);
    if (record === undefined) return undefined;
    // After a restart no will is due at once.
    const { session, attachment, willDue: _, ...rest } = record;
    const subscriptions = (await this.stores.subscriptions.list(session)).map(plain).sort(byJson);
    const receipts = [];
    for (const packetId of [1, 2])
      receipts.push(await this.stores.received.begin(session, packetId, 'probe', 0));
    const length = await this.stores.queues.length(session);
    const { session: opened, present } = await this.#connect(clientId, {
      expirySeconds: record.expirySeconds,
    });
    const queued = await this.stores.queues.next(opened, PAGE, NOW_MS);
    return {
      ...(plain({
        ...rest,
        connectionId: attachment?.connectionId,
        present,
        length,
        receipts,
        subscriptions,
      }) as object),
      queued: queued.map((each) => this.#lineOf(clientId, each)),
    };
  }

  async #open({ client: clientId, do: _, ...each }: Extract<Step, { do: 'open' }>) {
    const { present, previous, session } = await this.#connect(clientId, {
      ...each,
      isWillOwed: () => each.isWillOwed,
    });
    if (!present && each.expirySeconds > 0) this.#durable.add(clientId);
    else if (!present) this.#durable.delete(clientId);
    if (each.will !== undefined) {
      const { key, tenant, incarnation } = session;
      this.#mortals.push({
        connectionId: `connection-${this.#connections}`,
        session: { key, tenant, clientId, incarnation, attachment: undefined },
        isDurable: this.#durable.has(clientId),
      });
    }
    if (present || previous === undefined) return;
    await this.#clear(previous.session);
  }

  async #connect(clientId: string, fields: Partial<OpenSession>): Promise<OpenedSession> {
    this.#connections += 1;
    const attachment = attachmentOf(`connection-${this.#connections}`);
    return openedOf(await this.stores.sessions.open(openOf(clientId, { ...fields, attachment })));
  }

  async #detach({ session, will: held }: SessionRecord, expiry: number, nowMs: number): Promise<void> {
    await this.stores.sessions.detach(
      detachOf(session, {
        expirySeconds: expiry,
        nowMs,
        will: held && { atMs: nowMs, isWithdrawnByReturn: false },
      }),
    );
  }

  async #changeWill(what: 'beginWill' | 'doneWill' | 'discardWill', mortal: Mortal | undefined) {
    this.#messages += 1;
    if (mortal === undefined) return;
    const { sessions } = this.stores;
    const { session, connectionId } = mortal;
    if (what === 'beginWill')
      await sessions.beginWill(session, connectionId, messageId(this.#messages), WILLS_DUE_MS);
    else if (what === 'doneWill') await sessions.doneWill(session, connectionId);
    else await sessions.discardWill(session, connectionId);
  }

  async #publishWill(mortal: Mortal): Promise<void> {
    await this.#changeWill('beginWill', mortal);
    await this.#changeWill('doneWill', mortal);
  }

  async #offer({ clients, qos: level, payload: bytes }: Extract<Step, { do: 'offer' }>): Promise<void> {
    this.#messages += 1;
    const message = messageOf(this.#messages, {
      qos: level,
      payload: bytes,
      properties: { correlationData: bytes },
    });
    const deliveries: Delivery[] = [];
    for (const clientId of clients) {
      const record = await this.stores.sessions.get(TENANT, clientId);
      if (record !== undefined)
        deliveries.push(deliveryTo(record.session, { qos: level, subscriptionIdentifiers: [7] }));
    }
    await this.stores.queues.offer(message, deliveries, ROOMY);
    for (const { session, packetId } of deliveries)
      if (packetId > 0) this.#note(session.clientId, packetId, message.id);
  }

  async #ofClient(each: Extract<Step, { client: string }>): Promise<void> {
    const { sessions, subscriptions, queues, received } = this.stores;
    const record = await sessions.get(TENANT, each.client);
    if (record === undefined) return;
    const { session, attachment } = record;
    switch (each.do) {
      case 'lose':
        if (attachment === undefined) return;
        await this.#detach(record, record.expirySeconds === 0 ? 0 : each.expirySeconds, NOW_MS);
        return;
      case 'remove':
        if (await sessions.remove(session)) await this.#clear(session);
        return;
      case 'note':
        return await sessions.noteReplays(session, record.lastConnectionId, each.topicFilters);
      case 'subscribe':
        await subscriptions.put(session, [each.subscription], 100);
        return;
      case 'unsubscribe':
        await subscriptions.remove(session, [each]);
        return;
      case 'next':
        for (const queued of await queues.next(session, PAGE, NOW_MS)) {
          if (queued.type === 'publish') this.#note(each.client, queued.delivery.packetId, queued.message.id);
        }
        return;
      case 'complete':
        await this.#complete(session, this.#nth(each.client, each.nth));
        return;
      case 'release':
        await queues.release(session, this.#nth(each.client, each.nth));
        return;
      case 'receive':
        this.#messages += 1;
        await received.begin(session, each.packetId, messageId(this.#messages), 100);
        return;
      case 'mark-delivered':
        return await received.markDelivered(session, each.packetId);
      case 'pubrel':
        await received.release(session, each.packetId);
    }
  }

  async #end(session: SessionRef): Promise<void> {
    await this.stores.sessions.remove(session);
    await this.#clear(session);
  }

  async #clear(session: SessionRef): Promise<void> {
    await this.stores.subscriptions.clear(session);
    await this.stores.received.clear(session);
    await this.stores.queues.clear(session);
    this.#sent.delete(session.clientId);
  }

  #note(clientId: string, packetId: number, messageIdentifier: string): void {
    const earlier = this.#sentTo(clientId).filter((sent) => sent.packetId !== packetId);
    this.#sent.set(clientId, [...earlier, { packetId, messageId: messageIdentifier }]);
  }

  #sentTo(clientId: string): readonly Sent[] {
    return this.#sent.get(clientId) ?? [];
  }

  #nth(clientId: string, nth: number): number {
    return this.#sentTo(clientId).at(-1 - nth)?.packetId ?? 0;
  }

  async #complete(session: SessionRef, packetId: number): Promise<void> {
    if ((await this.stores.queues.complete(session, packetId)) !== 'done') return;
    const left = this.#sentTo(session.clientId).filter((sent) => sent.packetId !== packetId);
    this.#sent.set(session.clientId, left);
  }

  /** Compares a repetition by its packet id, and a new message without: the store may give it any free id. */
  #lineOf(clientId: string, queued: Queued): unknown {
    const sentUnder = (packetId: number) =>
      this.#sentTo(clientId).find((sent) => sent.packetId === packetId)?.messageId;
    if (queued.type === 'pubrel') return `pubrel of ${sentUnder(queued.packetId)}`;
    const { delivery, message } = queued;
    const { qos: level, retain, subscriptionIdentifiers, share, dup, packetId } = delivery;
    const id = dup ? sentUnder(packetId) : 'new';
    return { message: plain(message), level, retain, subscriptionIdentifiers, share, dup, id };
  }
}

/** Bytes as text, so that a Buffer equals the Uint8Array that it was. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, each: unknown) =>
      isBytes(each)
        ? `bytes ${Buffer.from(each.data).toString('hex')}`
        : each instanceof Uint8Array
          ? `bytes ${Buffer.from(each).toString('hex')}`
          : each,
    ),
  );
}

/** A Buffer has become this before a replacer sees it. */
function isBytes(value: unknown): value is { data: number[] } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    value.type === 'Buffer' &&
    'data' in value
  );
}

function byJson(one: unknown, other: unknown): number {
  return JSON.stringify(one) < JSON.stringify(other) ? -1 : 1;
}
