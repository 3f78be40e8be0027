import { type Authenticator, type GivenQuotaScopes, type Quotas, rulesOfLists } from '@apus/broker';
import { beforeEach, describe, expect, it } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { FakeScheduler } from './support/fake-scheduler.ts';
import { nodeForTest } from './support/nodes.ts';

/** `TENANT/NAME`; `ada` has exceptions of her own, and `watch` no quotas. */
const byUserName = (exceptions: Partial<Quotas> = {}): Authenticator => ({
  authenticate({ username = '' }) {
    const [tenant = '', name = ''] = username.split('/');
    const rules = rulesOfLists(['#'], ['#']);
    if (name === 'watch') return { tenant, name, rules, quotas: { packetsPerSecondMax: 0 } };
    return { tenant, name, rules, ...(name === 'ada' && { quotas: exceptions }) };
  },
});

const PER_SECOND = 10;
/** A second's worth: with its bytes the tenth is a little more. */
const BURST = PER_SECOND;
const STEP_MS = 250;

describe('a client that sends more than its identity may', () => {
  let clock: FakeScheduler;
  let url: string;
  let watch: RawClient;

  async function start(quotas: GivenQuotaScopes, exceptions?: Partial<Quotas>): Promise<void> {
    clock = new FakeScheduler();
    ({ url } = await nodeForTest({ clock, authenticator: byUserName(exceptions), quotas }));
    watch = await connect('watch/watch');
  }

  async function connect(username: string, more: Record<string, unknown> = {}): Promise<RawClient> {
    return (await RawClient.connect(url, { username, ...more })).client;
  }

  /** Moves time, and lets the node read what it may after each step. */
  async function pass(seconds: number): Promise<void> {
    await handleAll();
    for (let ms = 0; ms < seconds * 1_000; ms += STEP_MS) {
      clock.advance(STEP_MS);
      await handleAll();
    }
  }

  /** The node answers a client that does not have to wait after all packets that it read before. */
  async function handleAll(): Promise<void> {
    for (let round = 0; round < 3; round += 1) {
      watch.send({ cmd: 'pingreq' });
      await watch.expect('pingresp');
    }
  }

  function publish(client: RawClient, count: number, payload = 'x'): void {
    for (let messageId = 1; messageId <= count; messageId += 1)
      client.send({ cmd: 'publish', topic: 't', qos: 1, messageId, payload });
  }

  function pubacksOf(client: RawClient): number {
    return client.takeReceived().filter(({ cmd }) => cmd === 'puback').length;
  }

  beforeEach(() => start({ identity: { publishesPerSecondMax: PER_SECOND } }));

  it('is read no faster than it may send, and loses nothing [SEC-QUOTA-1]', async () => {
    const runaway = await connect('t/runaway');
    publish(runaway, 60);
    await pass(0);
    expect(pubacksOf(runaway)).toBe(BURST);
    await pass(2);
    const inTwoSeconds = pubacksOf(runaway);
    expect(inTwoSeconds).toBeGreaterThanOrEqual(2 * PER_SECOND - 1);
    expect(inTwoSeconds).toBeLessThanOrEqual(2 * PER_SECOND + 1);
    await pass(4);
    expect(pubacksOf(runaway)).toBe(60 - BURST - inTwoSeconds);
  });

  it('holds up no other identity [SEC-QUOTA-1]', async () => {
    const runaway = await connect('t/runaway');
    publish(runaway, 500);
    const honest = await connect('t/honest');
    for (let second = 0; second < 5; second += 1) {
      publish(honest, PER_SECOND - 1);
      await handleAll();
      expect(pubacksOf(honest)).toBe(PER_SECOND - 1);
      await pass(1);
    }
  });

  it('gets no more of it by a second connection, nor by coming again', async () => {
    const runaway = await connect('t/runaway');
    publish(runaway, BURST);
    await pass(0);
    expect(pubacksOf(runaway)).toBe(BURST);
    runaway.close();
    const again = await connect('t/runaway');
    const second = await connect('t/runaway');
    publish(again, 30);
    publish(second, 30);
    await pass(3);
    const both = [pubacksOf(again), pubacksOf(second)];
    // Each is found out by its first.
    expect((both[0] ?? 0) + (both[1] ?? 0)).toBeLessThanOrEqual(3 * PER_SECOND + 2);
    // They take turns.
    expect(Math.min(...both)).toBeGreaterThan(PER_SECOND);
  });

  it('is not taken for silent while it is not read from [MQTT-3.1.2-22]', async () => {
    await start({ identity: { packetsPerSecondMax: 1 } });
    const slow = await connect('t/slow', { keepalive: 1 });
    const subscriptions = Array.from({ length: 6 }, (_, index) => ({ topic: `t/${index}`, qos: 0 }));
    slow.send({ cmd: 'subscribe', messageId: 1, subscriptions });
    slow.send({ cmd: 'pingreq' });
    await pass(4.5);
    expect(slow.takeReceived().map(({ cmd }) => cmd)).toEqual(['suback']);
    await pass(1);
    expect(slow.takeReceived().map(({ cmd }) => cmd)).toEqual(['pingresp']);
  });

  it('is disconnected with 0x96 after a minute of it, and comes back by itself [SEC-QUOTA-1]', async () => {
    const runaway = await connect('t/runaway');
    publish(runaway, 1_000);
    await pass(59);
    expect(runaway.takeReceived().every(({ cmd }) => cmd === 'puback')).toBe(true);
    await pass(3);
    expect(runaway.takeReceived().at(-1)).toMatchObject({ cmd: 'disconnect', reasonCode: 0x96 });
    await runaway.expectClose();
    const again = await connect('t/runaway');
    publish(again, 5);
    await pass(1);
    expect(pubacksOf(again)).toBe(5);
  });

  it('is not disconnected when it comes down to its rate from time to time', async () => {
    const busy = await connect('t/busy');
    for (let round = 0; round < 3; round += 1) {
      publish(busy, 300);
      await pass(33);
      expect(pubacksOf(busy)).toBe(300);
    }
  });

  it('pays for bytes', async () => {
    await start({ identity: { bytesPerSecondMax: 10_000 } });
    const runaway = await connect('t/runaway');
    publish(runaway, 20, 'x'.repeat(5_000));
    await pass(4);
    const inFourSeconds = pubacksOf(runaway);
    expect(inFourSeconds).toBeGreaterThanOrEqual(1);
    expect(inFourSeconds).toBeLessThanOrEqual(11);
    await pass(8);
    expect(pubacksOf(runaway)).toBe(20 - inFourSeconds);
  });

  it('pays for each filter of a SUBSCRIBE', async () => {
    await start({ identity: { packetsPerSecondMax: PER_SECOND } });
    const runaway = await connect('t/runaway');
    const subscriptions = Array.from({ length: 50 }, (_, index) => ({ topic: `t/${index}`, qos: 0 }));
    runaway.send({ cmd: 'subscribe', messageId: 1, subscriptions });
    runaway.send({ cmd: 'pingreq' });
    await pass(3.75);
    expect(runaway.takeReceived().map(({ cmd }) => cmd)).toEqual(['suback']);
    await pass(1);
    expect(runaway.takeReceived().map(({ cmd }) => cmd)).toEqual(['pingresp']);
  });

  it('pays for the deliveries that it causes', async () => {
    await start({ identity: { deliveriesPerMinuteMax: 60 } });
    for (let count = 0; count < 5; count += 1) {
      const subscriber = await connect(`t/subscriber-${count}`);
      subscriber.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 't', qos: 0 }] });
      await subscriber.expect('suback');
    }
    const runaway = await connect('t/runaway');
    publish(runaway, 10);
    await pass(0);
    // Five seconds each, which the next one finds: it is the last for now.
    expect(pubacksOf(runaway)).toBe(1);
    await pass(20);
    expect(pubacksOf(runaway)).toBe(4);
  });

  it('holds up its tenant where the quota of that is used up, and no other tenant', async () => {
    await start({ identity: { publishesPerSecondMax: 0 }, tenant: { publishesPerSecondMax: PER_SECOND } });
    const runaway = await connect('one/runaway');
    publish(runaway, 1_000);
    await pass(0);
    const sibling = await connect('one/sibling');
    const stranger = await connect('two/stranger');
    publish(sibling, 20);
    publish(stranger, PER_SECOND);
    await handleAll();
    expect(pubacksOf(stranger)).toBe(PER_SECOND);
    await pass(5);
    expect(pubacksOf(sibling)).toBe(20);
    // They have not overdrawn anything of their own.
    await pass(65);
    expect(runaway.takeReceived().every(({ cmd }) => cmd === 'puback')).toBe(true);
  });

  it('has the quotas that its identity names', async () => {
    await start({ identity: { publishesPerSecondMax: PER_SECOND } }, { publishesPerSecondMax: 100 });
    const ada = await connect('t/ada');
    publish(ada, 200);
    await pass(0);
    expect(pubacksOf(ada)).toBe(100);
  });
});
