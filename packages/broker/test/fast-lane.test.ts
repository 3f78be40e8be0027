import type { AcknowledgementPacket, Packet, QoS } from '@apus/mqtt';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { FakeDoor, type FakeLink } from './support/fake-door.ts';

const CLIENTS = ['ann', 'bob', 'cyd'] as const;
const TOPICS = ['a', 'a/b', 'x', 'x/y', '$a/b'] as const;
const FILTERS = ['a', 'a/+', '#', '+/b', '$a/#'] as const;

/** A payload that no topic allows. */
const WRONG = 'wrong';
/** A topic to which no client may publish. */
const FORBIDDEN = 'x/y';

const who = fc.nat(CLIENTS.length - 1);
const qos = fc.constantFrom<QoS>(0, 1, 2);
const flag = fc.boolean();
const filter = fc.constantFrom(...FILTERS);
const topic = fc.constantFrom(...TOPICS);
const step = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reconnect' as const), who, cleanStart: flag }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cut' as const), who }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('be ready' as const), who, isReady: flag }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('subscribe' as const),
      who,
      filter,
      qos,
      noLocal: flag,
      where: fc.constantFrom(undefined, undefined, 'small', 'large'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('answer' as const), who }) },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constant('publish' as const),
      who,
      topic,
      qos,
      retain: fc.constantFrom(false, false, true),
      payload: fc.constantFrom('', 'small', WRONG, 'large'.repeat(20)),
    }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

class Walk {
  readonly door: FakeDoor;
  /** What the ports were asked and told, which an operator sees as figures. */
  readonly counts = { checked: 0, asked: 0, dropped: 0, unrouted: 0, filtered: 0 };
  readonly #links: (FakeLink | undefined)[] = [];
  readonly #unanswered = CLIENTS.map((): Packet[] => []);
  #packets = 0;

  constructor(isGeneral: boolean) {
    const { counts } = this;
    const isAllowed = (topic: string) => {
      counts.asked += 1;
      return topic !== FORBIDDEN;
    };
    this.door = new FakeDoor({
      limits: { inflightMessagesMax: 2, queueLengthMax: 3, receiveMaximum: 3 },
      deliveryQuota: { take: (_publisher, deliveries) => deliveries < 4 && this.#packets % 7 !== 6 },
      payloads: {
        problemOf: (_tenant, _topic, payload) => {
          counts.checked += 1;
          return String(payload) === WRONG ? 'it is wrong' : undefined;
        },
      },
      drops: {
        add(_session, _reason, count) {
          counts.dropped += count;
        },
        addUnrouted() {
          counts.unrouted += 1;
        },
        addFiltered() {
          counts.filtered += 1;
        },
        isDue: () => false,
        take: () => ({ since: {}, total: 0 }),
        forget: () => {},
      },
      conditions: {
        check: () => undefined,
        fits: (where, { payload }) => String(payload).startsWith(where),
        spent: 0,
      },
      // An outlet is not for the fast lane, nor is a slow authorizer.
      ...(isGeneral && { outlet: { take: () => undefined } }),
      authorizer: {
        mayPublish: (_identity, _clientId, topic) =>
          isGeneral ? Promise.resolve(isAllowed(topic)) : isAllowed(topic),
        maySubscribe: () => true,
      },
    });
  }

  async take(step: Step): Promise<void> {
    const { who } = step;
    const link = this.#links[who];
    if (step.do === 'reconnect') return await this.#connect(who, step.cleanStart);
    if (link === undefined) return;
    if (step.do === 'cut') {
      this.#links[who] = undefined;
      await this.door.cut(link);
    } else if (step.do === 'be ready') link.isReady = step.isReady;
    else if (step.do === 'answer')
      for (const packet of this.#answers(who)) await this.door.broker.receive(link, packet);
    else if (step.do === 'publish') {
      const { topic, qos, retain, payload } = step;
      this.#packets += 1;
      await this.door.publish(link, topic, payload, {
        qos,
        retain,
        packetId: qos && 1 + (this.#packets % 5),
      });
    } else {
      const { filter, qos, noLocal, where } = step;
      const rest = { retainAsPublished: true, retainHandling: 0 as const };
      const subscriptions = [{ topicFilter: filter, qos, noLocal, ...rest }];
      const userProperties: [string, string][] = where === undefined ? [] : [['where', where]];
      await this.door.subscribe(link, filter, qos, { subscriptions, properties: { userProperties } });
    }
  }

  async #connect(who: number, cleanStart: boolean): Promise<void> {
    const before = this.#links[who];
    if (before !== undefined) await this.door.cut(before);
    this.#unanswered[who] = [];
    const clientId = CLIENTS[who] ?? '';
    const properties = {
      sessionExpiryInterval: who === 0 ? 0 : 60,
      receiveMaximum: 2,
      maximumPacketSize: 60,
    };
    this.#links[who] = await this.door.connect({ clientId, cleanStart, properties });
  }

  #answers(who: number): AcknowledgementPacket[] {
    return (this.#unanswered[who]?.splice(0) ?? []).flatMap((packet) => {
      const type = answerTo(packet);
      if (type === undefined || !('packetId' in packet)) return [];
      return [{ type, packetId: packet.packetId, reasonCode: 0, properties: {} }];
    });
  }

  /** What each client has received since the last step. */
  received(): (readonly Packet[])[] {
    return this.#links.map((link, who) => {
      const packets = link?.take() ?? [];
      this.#unanswered[who]?.push(...packets);
      return packets;
    });
  }
}

function answerTo(packet: Packet): AcknowledgementPacket['type'] | undefined {
  if (packet.type === 'publish') return packet.qos === 1 ? 'puback' : packet.qos === 2 ? 'pubrec' : undefined;
  if (packet.type === 'pubrec') return 'pubrel';
  return packet.type === 'pubrel' ? 'pubcomp' : undefined;
}

it('a message gets the same answer, and its subscribers the same packets, on the fast lane and on the general way', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 80 }), async (steps) => {
      const fast = new Walk(false);
      const general = new Walk(true);
      const begin = CLIENTS.map((_, who) => ({ do: 'reconnect' as const, who, cleanStart: true }));
      for (const each of [...begin, ...steps]) {
        await fast.take(each);
        await general.take(each);
        expect(general.received(), JSON.stringify(each)).toEqual(fast.received());
      }
      expect(general.door.warnings).toEqual(fast.door.warnings);
      expect(general.counts).toEqual(fast.counts);
    }),
    { numRuns: runs(1_000) },
  );
});
