import type { Delivery, Queued, SessionRef, Stores, Subscription } from '@apus/broker';
import type { QoS, Will } from '@apus/mqtt';
import fc from 'fast-check';
import {
  attachmentOf,
  deliveryTo,
  messageId,
  messageOf,
  NOW_MS,
  openOf,
  PAGE,
  ROOMY,
  TENANT,
} from './values.ts';

const CLIENTS = ['a', 'b'];
const TOPICS = ['x', 'x/y', 'z'];

/** One call, or a few that belong together. `reopen` ends every connection, as a crash does. */
export type Step =
  | { do: 'open'; client: string; cleanStart: boolean; expirySeconds: number; will: Will | undefined }
  | { do: 'lose'; client: string; expirySeconds: number }
  | { do: 'takeWill' | 'remove'; client: string }
  | { do: 'subscribe'; client: string; subscription: Subscription }
  | { do: 'unsubscribe'; client: string; topicFilter: string; shareGroup: string | undefined }
  | { do: 'offer'; clients: readonly string[]; qos: QoS; payload: Uint8Array }
  | { do: 'next'; client: string }
  | { do: 'complete' | 'release'; client: string; nth: number }
  | { do: 'receive' | 'settle' | 'pubrel'; client: string; packetId: number }
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
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: named('lose'), client, expirySeconds }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('takeWill', 'takeWill', 'remove'), client }) },
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
      do: fc.constantFrom('receive', 'settle', 'pubrel'),
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

interface Sent {
  readonly packetId: number;
  readonly messageId: string;
}

/** Takes steps on some stores. Two walks that took the same steps have stores with the same state. */
export class Walk {
  stores: Stores;
  #connections = 0;
  #messages = 0;
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
        await this.stores.retained.put(TENANT, message, 1000);
        return;
      }
      case 'unretain':
        return await this.stores.retained.delete(TENANT, each.topic, messageId(this.#messages));
      default:
        return await this.#ofClient(each);
    }
  }

  /** Every connection ends at `nowMs`; what ends with it is forgotten. */
  async cut(nowMs: number): Promise<void> {
    for (const clientId of CLIENTS) {
      const record = await this.stores.sessions.get(TENANT, clientId);
      if (record === undefined) continue;
      if (record.attachment !== undefined) {
        const { expirySeconds: expiry, session } = record;
        await this.stores.sessions.detach(session, record.attachment.connectionId, expiry, nowMs);
      }
      if (record.expirySeconds === 0) await this.#end(record.session);
    }
  }

  /** Forgets everything, as the broker does when sessions end and topics are cleared. */
  async forgetAll(): Promise<void> {
    await this.cut(NOW_MS);
    for (const clientId of CLIENTS) {
      const record = await this.stores.sessions.get(TENANT, clientId);
      if (record !== undefined) await this.#end(record.session);
    }
    for (const topic of TOPICS) await this.stores.retained.delete(TENANT, topic, messageId(this.#messages));
  }

  /** All that can be seen of the stores; reading it connects every client. */
  async state(): Promise<unknown> {
    const clients = [];
    for (const clientId of CLIENTS) clients.push(await this.#stateOf(clientId));
    const retained = await this.stores.retained.match(TENANT, '#', NOW_MS, undefined, PAGE);
    return { clients, retained: retained.messages.map(plain).sort(byJson) };
  }

  async #stateOf(clientId: string): Promise<unknown> {
    const record = await this.stores.sessions.get(TENANT, clientId);
    if (record === undefined) return undefined;
    const { session, attachment, ...rest } = record;
    const subscriptions = (await this.stores.subscriptions.list(session)).map(plain).sort(byJson);
    const receipts = [];
    for (const packetId of [1, 2])
      receipts.push(await this.stores.received.begin(session, packetId, 'probe', 0));
    const length = await this.stores.queues.length(session);
    const { session: opened, present } = await this.#connect(
      clientId,
      false,
      record.expirySeconds,
      undefined,
    );
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

  async #open({
    client: clientId,
    cleanStart,
    expirySeconds: expiry,
    will: last,
  }: Extract<Step, { do: 'open' }>) {
    const { present, previous } = await this.#connect(clientId, cleanStart, expiry, last);
    if (present || previous === undefined) return;
    await this.#clear(previous.session);
  }

  #connect(clientId: string, cleanStart: boolean, expiry: number, last: Will | undefined) {
    this.#connections += 1;
    const attachment = attachmentOf(`connection-${this.#connections}`);
    return Promise.resolve(
      this.stores.sessions.open(
        openOf(clientId, { cleanStart, expirySeconds: expiry, attachment, will: last }),
      ),
    );
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
        await sessions.detach(
          session,
          attachment.connectionId,
          record.expirySeconds === 0 ? 0 : each.expirySeconds,
          NOW_MS,
        );
        return;
      case 'takeWill':
        await sessions.takeWill(session, `connection-${this.#connections}`);
        return;
      case 'remove':
        if (await sessions.remove(session)) await this.#clear(session);
        return;
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
      case 'settle':
        return await received.settle(session, each.packetId);
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

  /** What is sent again is known by its packet id; what waited gets any that is free. */
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
