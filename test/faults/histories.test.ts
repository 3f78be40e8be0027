import type { DynamoDbFaults, Faults } from '@apus/emulated-aws';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type HandFaults, HandStage, isOf } from './hand-stage.ts';
import { warmUp } from './history.ts';
import type { SimClient } from './sim-client.ts';

/** A busy machine may need longer; the histories themselves take no real time. */
const TIMEOUT_MS = 120_000;
/** Within the life of a handler, and longer than anything else here takes. */
const HELD_MS = 2_000;
/** A new shape's SUBACK waits for the leases of all publishers. */
const LEASES_MS = 10_000;

let stage: HandStage | undefined;
const begin = async (faults: HandFaults = {}): Promise<HandStage> => {
  stage = new HandStage();
  await stage.begin(faults);
  return stage;
};

beforeAll(warmUp, TIMEOUT_MS);
const finish = async (): Promise<void> => {
  await stage?.end();
  stage = undefined;
};
afterEach(finish);

describe('retained before matching, subscription before retained (design, 4.1)', () => {
  /**
   *     publisher                          subscriber
   *     its frame begins
   *                                        writes its subscription
   *                                        reads retained messages: none. SUBACK
   *     retains 1
   *     matches: finds the subscriber
   */
  it.each(['alone in its frame', 'behind another of its topic'] as const)(
    'a subscriber that comes while a message is being retained gets it live: %s',
    async (where) => {
      let isHeld = false;
      const { time, client, received } = await holding(() => isHeld);
      const subscriber = await client('subscriber');
      const publisher = await client('publisher');
      // So that nothing has to wait for the leases later.
      await time.during(publisher.subscribe('other/+', 1));
      await time.advance(LEASES_MS);
      if (where !== 'alone in its frame') publisher.publish('state/x', '0', { qos: 1 });
      publisher.publish('state/x', '1', { qos: 1, retain: true });
      isHeld = true;
      await time.advance(100);
      await time.during(subscriber.subscribe('state/+', 1), 500);
      expect(received).toEqual([]);
      isHeld = false;
      await time.advance(3 * HELD_MS);
      expect(received.filter((each) => each.endsWith(' 1'))).toEqual(['subscriber state/x 1']);
    },
    TIMEOUT_MS,
  );

  /** Every write of a retained message is slow while it is held. */
  async function holding(isHeld: () => boolean) {
    const store: DynamoDbFaults = {
      latencyMs: ({ operation, key }) =>
        operation === 'PutItem' && isOf('R', key) && isHeld() ? HELD_MS : 0,
    };
    const started = await begin({ store });
    return {
      time: started.time,
      received: started.received,
      client: async (name: string) => await started.client(name),
    };
  }
});

describe('retained messages that the window holds back (design, 3)', () => {
  /** Two of them do not fit one reply. */
  const PAYLOAD = 'x'.repeat(22_500);

  /**
   *     handler of a fetch                 handler of PUBACK r/0, which wants no reply
   *     r/1 waits, as the window is full
   *                                        r/0 is done with; loads the connection as it was before the fetch
   *     saves: no retained message is left. Its reply brings nothing
   *                                        dequeues r/1: no other would
   */
  it('come if an acknowledgement is handled before the fetch that lets them wait is saved', async () => {
    let isHeld = false;
    const store: DynamoDbFaults = {
      latencyMs: ({ operation, key }) =>
        isHeld && operation === 'PutItem' && isOf('C', key) ? HELD_MS / 2 : 0,
    };
    const played = await begin({ store });
    const { time, received } = played;
    const publisher = await played.client('publisher');
    const subscriber = await played.client('subscriber', { sessionExpirySeconds: 3_600, receiveMaximum: 1 });
    for (const topic of ['r/0', 'r/1']) {
      publisher.publish(topic, PAYLOAD, { qos: 1, retain: true });
      await time.advance(1_000);
    }
    const topics = () => received.map((each) => each.split(' ')[1]);
    // The application is slow, so that the fetch is on its way before the acknowledgement.
    const handle = subscriber.mqtt.handleMessage.bind(subscriber.mqtt);
    subscriber.mqtt.handleMessage = (packet, callback) => void setTimeout(() => handle(packet, callback), 30);
    void subscriber.subscribe('r/#', 1);
    isHeld = true;
    await time.advance(LEASES_MS);
    isHeld = false;
    publisher.publish('r/live', 'live', { qos: 1 });
    await time.advance(5_000);
    expect(topics()).toEqual(['r/0', 'r/1', 'r/live']);
  });
});

describe('append, then look again (design, 3)', () => {
  /** One message more than the window holds: it is appended when the others have been posted. */
  const MESSAGES = ['1', '2', '3'];

  /**
   *     publisher                          subscriber
   *     posts two messages, appends one
   *     dies before it looks again
   *                                        SUBSCRIBE: a message waits, and goes first
   */
  it(
    'retained messages reach a subscriber, wherever the handler of a publisher dies that does not return',
    async () => {
      let steps = 0;
      for (let killedAt = 0; killedAt <= steps; killedAt += 1) {
        const dying = dyingBehindPosts(killedAt);
        const { time, received, client } = await beginWith(dying.gateway);
        (await client('retainer')).publish('state/x', 'retained', { qos: 1, retain: true });
        const terms = { sessionExpirySeconds: 3_600, receiveMaximum: MESSAGES.length - 1 };
        const subscriber = await client('subscriber', terms);
        await time.during(subscriber.subscribe('news', 1), LEASES_MS);
        const publisher = await client('publisher');
        dying.begins();
        for (const message of MESSAGES)
          publisher.mqtt.publish('news', message, { qos: 1 }, () => dying.ends());
        await time.advance(1_000);
        // The first history kills no handler: it counts the steps.
        if (killedAt === 0) steps = dying.steps();
        publisher.stop();
        await time.during(subscriber.subscribe('state/+', 1), LEASES_MS);
        await time.advance(LEASES_MS);
        expect(received, `killed at step ${killedAt}`).toContain('subscriber state/x retained');
        await finish();
      }
      expect(steps).toBeGreaterThan(3);
    },
    10 * TIMEOUT_MS,
  );

  async function beginWith(gateway: Faults) {
    const started = await begin({ gateway });
    return { time: started.time, received: started.received, client: started.client.bind(started) };
  }

  /** @param killedAt the step behind the first post at which the posting process dies; 0: it lives */
  function dyingBehindPosts(killedAt: number) {
    let passed = 0;
    let isArmed = false;
    let poster: string | undefined;
    const gateway: Faults = {
      killAfterCall: ({ environmentId }) => {
        if (isArmed) poster ??= environmentId;
        return false;
      },
      killAtCheckpoint: ({ environmentId }) => isArmed && environmentId === poster && ++passed === killedAt,
    };
    const begins = () => {
      isArmed = true;
    };
    const ends = () => {
      isArmed = false;
    };
    return { gateway, begins, ends, steps: () => passed };
  }
});

describe('CONNECT in the handshake (docs/text-frames.md, 15)', () => {
  /** The gateway waits 29 s for `$connect`, and the transport sends the next CONNECT in a frame. */
  const COMES_BACK_MS = 90_000;

  /**
   *     handler of $connect                client
   *     opens the session
   *     dies, or its answer is lost
   *                                        the handshake fails: it comes back with the same client identifier
   */
  it(
    'a client reconnects and is served, wherever its $connect dies',
    async () => {
      let steps = 0;
      for (let killedAt = 0; killedAt <= steps; killedAt += 1) {
        let passed = 0;
        let isArmed = false;
        const dies = () => isArmed && ++passed === killedAt;
        const played = await begin({ gateway: { killAtCheckpoint: dies } });
        const publisher = await played.client('publisher');
        isArmed = true;
        const withinMs = killedAt === 0 ? 500 : COMES_BACK_MS;
        const subscriber = await played.client('subscriber', { isSingle: false }, withinMs);
        isArmed = false;
        if (killedAt === 0) steps = passed;
        await isServed(played, publisher, subscriber, `killed at step ${killedAt}`);
        await finish();
      }
      expect(steps).toBeGreaterThan(3);
    },
    10 * TIMEOUT_MS,
  );

  it('a client reconnects and is served if $connect has done its work and its answer is lost', async () => {
    let lost = 0;
    const gateway: Faults = {
      dropHandshake: ({ headers }) => {
        const carriesConnect = Object.values(headers).some((value) => value.startsWith('mqtt-connect.'));
        if (carriesConnect) lost += 1;
        return carriesConnect;
      },
    };
    const played = await begin({ gateway });
    const publisher = await played.client('publisher', { isSingle: false }, COMES_BACK_MS);
    const subscriber = await played.client('subscriber', { isSingle: false }, COMES_BACK_MS);
    // The next CONNECT of each client travels in a frame.
    expect(lost).toBe(2);
    await isServed(played, publisher, subscriber, 'after a lost answer');
  });

  async function isServed(
    { time, received }: HandStage,
    publisher: SimClient,
    subscriber: SimClient,
    when: string,
  ): Promise<void> {
    await time.during(subscriber.subscribe('news', 1), LEASES_MS);
    publisher.publish('news', '1', { qos: 1 });
    await time.advance(10_000);
    expect(received, when).toEqual(['subscriber news 1']);
  }
});

describe('QoS 2: pending, handed on, done (design, 5)', () => {
  /**
   *     handler A                          client, handler B
   *     pending; hands on, or half of it
   *     dies
   *                                        returns, and sends it again
   *                                        hands on what is not yet, under the same message id
   */
  it(
    'a message comes once, wherever its handler dies',
    async () => {
      let steps = 0;
      for (let killedAt = 0; killedAt <= steps; killedAt += 1) {
        let passed = 0;
        let isArmed = false;
        const dies = () => isArmed && ++passed === killedAt;
        const gateway = { killAtCheckpoint: dies, killBeforeCall: dies, killAfterCall: dies };
        const { time, received, client } = await begun({ gateway });
        const subscriber = await client('subscriber', { sessionExpirySeconds: 3_600, isSingle: false });
        await time.during(subscriber.subscribe('orders', 2));
        const publisher = await client('publisher', { sessionExpirySeconds: 3_600, isSingle: false });
        isArmed = true;
        publisher.publish('orders', '1', { qos: 2 });
        await time.advance(60_000);
        expect(received, `killed at step ${killedAt}`).toEqual(['subscriber orders 1']);
        expect(publisher.hasUnsent, `killed at step ${killedAt}`).toBe(false);
        // The first history kills no handler: it counts the steps.
        if (killedAt === 0) steps = passed;
        await finish();
      }
      expect(steps).toBeGreaterThan(10);
    },
    10 * TIMEOUT_MS,
  );

  async function begun(faults: { gateway: Faults }) {
    const started = await begin(faults);
    return {
      time: started.time,
      received: started.received,
      client: started.client.bind(started),
    };
  }
});
