import { matches, type QoS } from '@apus/mqtt';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { FakeDoor } from './support/fake-door.ts';
import { ModelClient } from './support/model-client.ts';

const CLIENTS = ['ann', 'bob', 'cyd'] as const;
const TOPICS = ['a', 'a/b', 'a/b/c', '$a/b', 'x'] as const;
const FILTERS = ['a', 'a/+', '#', '+/b', 'a/b/#', '$a/#', 'x'] as const;
const EXPIRY_SECONDS = 60;

type Step =
  | { do: 'connect'; who: number; cleanStart: boolean; persistent: boolean }
  | { do: 'cut'; who: number }
  | { do: 'acknowledgeAll'; who: number }
  | { do: 'receive'; who: number }
  | { do: 'subscribe'; who: number; filter: number; qos: QoS }
  | { do: 'unsubscribe'; who: number; filter: number }
  | { do: 'publish'; who: number; topic: number; qos: QoS }
  | { do: 'wait'; seconds: number };

const who = fc.nat(CLIENTS.length - 1);
const qos = fc.constantFrom<QoS>(0, 1, 2);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('connect' as const),
      who,
      cleanStart: fc.boolean(),
      persistent: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('cut', 'acknowledgeAll', 'receive'),
      who,
    }) as fc.Arbitrary<Step>,
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('subscribe' as const),
      who,
      filter: fc.nat(FILTERS.length - 1),
      qos,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('unsubscribe' as const),
      who,
      filter: fc.nat(FILTERS.length - 1),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('publish' as const), who, topic: fc.nat(TOPICS.length - 1), qos }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.nat(40) }) },
);

/** The simplest model of the messages that a session must be given. */
interface ModelSession {
  persistent: boolean;
  online: boolean;
  detachedAtSeconds: number;
  readonly subscriptions: Map<string, QoS>;
  /** Messages at QoS 1 and 2 that this session was promised. */
  promised: { payload: string; qos: QoS }[];
}

class Walk {
  readonly door: FakeDoor;
  readonly clients: ModelClient[];
  readonly sessions = new Map<number, ModelSession>();
  /** Receipts before the present session began: promises of an ended session are void. */
  readonly #firstReceipt: number[];
  #seconds = 0;
  #messages = 0;

  constructor(isAsync: boolean) {
    this.door = new FakeDoor({ isAsync, limits: { inflightMessagesMax: 3 } });
    this.clients = CLIENTS.map((name, index) => new ModelClient(this.door, name, 1 + (index % 3)));
    this.#firstReceipt = CLIENTS.map(() => 0);
  }

  async take(step: Step): Promise<void> {
    if (step.do === 'wait') return await this.#wait(step.seconds);
    const client = this.#client(step.who);
    if (step.do === 'connect') return await this.#connect(step.who, client, step);
    if (step.do === 'cut') return await this.#cut(step.who, client);
    if (step.do === 'acknowledgeAll') return await client.acknowledgeAll();
    if (step.do === 'receive') return client.receive();
    const session = this.sessions.get(step.who);
    if (session === undefined || !session.online) return;
    if (step.do === 'publish') return await this.#publish(client, step);
    const filter = FILTERS[step.filter] ?? '#';
    if (step.do === 'subscribe') {
      session.subscriptions.set(filter, step.qos);
      await client.subscribe(filter, step.qos);
    } else {
      session.subscriptions.delete(filter);
      await client.unsubscribe(filter);
    }
  }

  #client(index: number): ModelClient {
    const client = this.clients[index];
    if (client === undefined) throw new Error(`no client ${index}`);
    return client;
  }

  async #connect(
    index: number,
    client: ModelClient,
    { cleanStart, persistent }: { cleanStart: boolean; persistent: boolean },
  ): Promise<void> {
    if (client.link !== undefined) await this.#cut(index, client);
    client.forgetUnanswered();
    const continued = cleanStart ? undefined : this.sessions.get(index);
    const present = await client.connect(cleanStart, persistent ? EXPIRY_SECONDS : 0);
    expect(present).toBe(continued !== undefined);
    if (continued === undefined) this.#firstReceipt[index] = client.receipts.length;
    const fresh = { subscriptions: new Map<string, QoS>(), promised: [] };
    this.sessions.set(index, { ...(continued ?? fresh), persistent, online: true, detachedAtSeconds: 0 });
  }

  async #cut(index: number, client: ModelClient): Promise<void> {
    await client.cut();
    const session = this.sessions.get(index);
    if (session === undefined || !session.online) return;
    session.online = false;
    session.detachedAtSeconds = this.#seconds;
    if (!session.persistent) this.sessions.delete(index);
  }

  async #wait(seconds: number): Promise<void> {
    this.#seconds += seconds;
    await this.door.advance(seconds);
    for (const [index, session] of this.sessions) {
      const isOver = !session.online && this.#seconds - session.detachedAtSeconds >= EXPIRY_SECONDS;
      if (isOver) this.sessions.delete(index);
    }
  }

  async #publish(client: ModelClient, { topic: index, qos }: { topic: number; qos: QoS }): Promise<void> {
    const topic = TOPICS[index] ?? 'a';
    const payload = `m${++this.#messages}`;
    for (const session of this.sessions.values()) {
      const granted = [...session.subscriptions]
        .filter(([filter]) => matches(filter, topic))
        .map(([, qos]) => qos);
      if (granted.length === 0) continue;
      const effective = Math.min(qos, Math.max(...granted)) as QoS;
      if (effective > 0 || session.online) session.promised.push({ payload, qos: effective });
    }
    await client.publish(topic, payload, qos, false);
  }

  /** Every client with a session returns, reads and answers to the end: each promise must have been kept. */
  async check(): Promise<void> {
    expect(await this.door.stores.sessions.count(), 'sessions in the store').toBe(this.sessions.size);
    for (const [index, session] of this.sessions) {
      const client = this.#client(index);
      if (!session.online) {
        client.forgetUnanswered();
        expect(await client.connect(false, EXPIRY_SECONDS)).toBe(true);
      }
    }
    for (const [index, session] of this.sessions) {
      const client = this.#client(index);
      await client.acknowledgeAll();
      const receipts = client.receipts.slice(this.#firstReceipt[index]);
      for (const level of [0, 1, 2] as const) {
        const got = receipts.filter(({ qos }) => qos === level).map(({ payload }) => payload);
        const promised = session.promised.filter(({ qos }) => qos === level).map(({ payload }) => payload);
        // QoS 1 may repeat a message; first receipts are in order.
        expect(level === 1 ? [...new Set(got)] : got, `QoS ${level} of ${client.clientId}`).toEqual(promised);
      }
    }
  }
}

describe.each([
  { title: 'ports that answer at once', isAsync: false },
  { title: 'ports that answer later', isAsync: true },
])('a random walk of sessions, over $title', ({ isAsync }) => {
  it('delivers every promised message, in order, QoS 0 and 2 once [MQTT-4.5.0-1] [MQTT-4.6.0-5] [MQTT-3.3.4-9] [MQTT-4.3.3-10]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
        const walk = new Walk(isAsync);
        // All clients are connected at first, or most walks would have no client.
        for (const who of CLIENTS.keys())
          await walk.take({ do: 'connect', who, cleanStart: true, persistent: who > 0 });
        for (const step of steps) await walk.take(step);
        await walk.check();
      }),
      { numRuns: runs(300) },
    );
  });
});
