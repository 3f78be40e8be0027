import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBridges, readRules } from '@apus/bridges';
import { clientFor, LOOPBACK, PLACE, receiver, SIMPLY_OK } from '@apus/bridges/testing';
import { type Authenticator, rulesOfLists } from '@apus/broker';
import { Built, type Serving } from '@apus/cli/testing';
import { GIVEN_BACK_MS_MAX } from '@apus/cluster/testing';
import type { RunningNode } from '@apus/node';
import type mqtt from 'mqtt';
import { describe, expect, it, onTestFinished } from 'vitest';
import { directory } from '../bridges/killable.ts';
import { engineOrSkip, startEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';

const program = engineOrSkip();
/** A dead process is given up after five seconds; the machine may be busy. */
const ARRIVAL = { timeout: 120_000, interval: 100 };
const QUEUE_LENGTH = 200;
/** Messages that a rule has in flight, beside its queue. */
const WINDOW = 100;
const PUBLISHERS = 20;

interface Flood {
  readonly acknowledged: string[];
  readonly refused: number[];
  /** All are answered. A message without room at another process waits for it. */
  done: Promise<unknown>;
}

describe('a rule whose target hangs, and its publishers with names', needs('engine', program), () => {
  const authenticator: Authenticator = {
    authenticate: ({ username = '' }) => ({
      tenant: 'default',
      name: username,
      rules: rulesOfLists(['#'], ['#']),
    }),
  };

  it('leaves others room, whatever one user publishes at once at another process [SEC-POOL-5]', async () => {
    const server = await receiver(() => {});
    const engine = await startEngine(program ?? '');
    const webhook = { url: server.url, allowAddresses: LOOPBACK, timeoutSeconds: 1 };
    const rules = readRules(
      { rules: [{ name: 'slow', filter: 'up/#', to: { webhook }, retrySecondsMax: 1 }] },
      PLACE,
    );
    const options = { authenticator, queueLengthMax: QUEUE_LENGTH, openBridges: openBridges([], rules) };
    // The first process runs the rule.
    const members = [await startMember(engine.url, options), await startMember(engine.url, options)] as const;
    onTestFinished(async () => {
      for (const member of members) await member.stop();
      await engine.stop();
    });
    const takenOf = async (at: RunningNode, username: string, count: number) => {
      const client = await clientFor(at.url, { username, password: '-' });
      const publishing = Array.from({ length: count }, (_, number) =>
        client.publishAsync(`up/${username}`, String(number), { qos: 1 }).then(
          () => 1,
          () => 0,
        ),
      );
      return (await Promise.all(publishing)).reduce((sum: number, taken) => sum + taken, 0);
    };
    // Both processes know the rule.
    await expect
      .poll(async () => (await takenOf(members[1], 'early', 1)) + server.requests.length, ARRIVAL)
      .toBeGreaterThan(1);
    const share = 0.45 * QUEUE_LENGTH;
    const greedy = await takenOf(members[1], 'greedy', 3 * QUEUE_LENGTH);
    expect(greedy).toBeGreaterThan(share);
    expect(greedy).toBeLessThanOrEqual(WINDOW + share);
    expect(await takenOf(members[1], 'honest', 20)).toBe(20);
    expect(await takenOf(members[0], 'another', 20)).toBe(20);
    expect(await takenOf(members[0], 'greedy', 1)).toBe(0);
  });
});

describe('a rule whose target hangs', needs('engine', program), () => {
  const built = new Built();

  async function hangingRule() {
    const server = await receiver(() => {});
    const webhook = { url: server.url, allowAddresses: ['127.0.0.1'], timeoutSeconds: 1 };
    const rules = [{ name: 'slow', filter: 'up/#', to: { webhook }, retrySecondsMax: 1 }];
    const path = join(directory(), 'rules.json');
    writeFileSync(path, JSON.stringify({ rules }));
    const engine = await startEngine(program ?? '');
    onTestFinished(() => engine.stop());
    const flags = ['--cluster', engine.url, '--rules', path, '--queue-length-max', String(QUEUE_LENGTH)];
    // The first process runs the rule.
    const members = [await built.serve(flags), await built.serve(flags), await built.serve(flags)] as const;
    return { server, members };
  }

  /** Each client publishes one message after another, as fast as they are answered. */
  function flood(members: readonly Serving[], prefix: string, count: number): Flood {
    const flooding: Flood = { acknowledged: [], refused: [], done: Promise.resolve() };
    const publish = async (at: Serving, publisher: number) => {
      const client = await clientFor(at.url);
      for (let number = 0; number < count; number += 1) {
        const text = `${prefix}-${publisher}-${number}`;
        await client.publishAsync('up/a', text, { qos: 1 }).then(
          () => flooding.acknowledged.push(text),
          (error: mqtt.ErrorWithReasonCode) => flooding.refused.push(error.code),
        );
      }
    };
    const all = Array.from({ length: PUBLISHERS }, (_, index) =>
      publish(members[index % members.length] as Serving, index),
    );
    flooding.done = Promise.all(all);
    return flooding;
  }

  it('refuses publishers at all processes when its queue is full, loses nothing, and takes more when it has room', async () => {
    const { server, members } = await hangingRule();
    const { acknowledged, refused, done } = flood(members, 'full', 40);
    await expect.poll(() => refused.length, ARRIVAL).toBeGreaterThan(100);
    expect(new Set(refused)).toEqual(new Set([0x97]));
    expect(acknowledged.length).toBeLessThanOrEqual(QUEUE_LENGTH + WINDOW);
    expect(acknowledged.length).toBeGreaterThan(WINDOW);
    // Other clients are not affected.
    const other = await clientFor(members[1].url);
    await other.publishAsync('other', 'goes on', { qos: 1 });
    server.answer = SIMPLY_OK;
    await done;
    const arrived = () => new Set(server.payloads());
    await expect.poll(() => acknowledged.filter((text) => !arrived().has(text)), ARRIVAL).toEqual([]);
    const taken = () =>
      other.publishAsync('up/a', 'again', { qos: 1 }).then(
        () => true,
        () => false,
      );
    await expect.poll(taken, ARRIVAL).toBe(true);
  });

  it.each([1, 2] as const)(
    'refuses the messages in flight at QoS %i when it has hung for too long, ends no connection, and none waits for ever',
    async (qos) => {
      const { members } = await hangingRule();
      // Each client has a message in flight before it can know that the queue is full.
      const others = members.slice(1);
      const clients = await Promise.all(
        Array.from({ length: 2.5 * QUEUE_LENGTH }, (_, index) =>
          clientFor((others[index % 2] as Serving).url),
        ),
      );
      let ended = 0;
      for (const client of clients) client.on('close', () => (ended += 1));
      const startedAtMs = performance.now();
      const outcomes = await Promise.all(
        clients.map((client, index) =>
          client.publishAsync('up/a', `late-${index}`, { qos }).then(
            () => 0,
            (error: mqtt.ErrorWithReasonCode) => error.code,
          ),
        ),
      );
      expect(new Set(outcomes)).toEqual(new Set([0, 0x97]));
      expect(ended).toBe(0);
      expect(outcomes.filter((code) => code === 0).length).toBeLessThanOrEqual(QUEUE_LENGTH + WINDOW);
      expect(performance.now() - startedAtMs).toBeLessThan(GIVEN_BACK_MS_MAX + 20_000);
      const { data } = (await (await fetch(new URL('/api/v5/rules', members[1].pageUrl))).json()) as {
        readonly data: readonly { readonly given_back: number; readonly given_up: number }[];
      };
      const [{ given_back, given_up } = { given_back: 0, given_up: 0 }] = data;
      expect(given_up).toBeGreaterThan(0);
      expect(given_back).toBe(given_up);
    },
  );

  it('loses nothing when the process that runs it dies, and its successor gets the full queue', async () => {
    const { server, members } = await hangingRule();
    const before = flood(members.slice(1), 'before', 40);
    await expect.poll(() => before.refused.length, ARRIVAL).toBeGreaterThan(100);
    await members[0].stop('SIGKILL');
    const after = flood(members.slice(1), 'after', 40);
    await expect.poll(() => after.refused.length, ARRIVAL).toBeGreaterThan(100);
    const all = () => [...before.acknowledged, ...after.acknowledged];
    expect(all().length).toBeLessThanOrEqual(QUEUE_LENGTH + WINDOW);
    server.answer = SIMPLY_OK;
    await Promise.all([before.done, after.done]);
    const acknowledged = all();
    const arrived = () => new Set(server.payloads());
    await expect.poll(() => acknowledged.filter((text) => !arrived().has(text)), ARRIVAL).toEqual([]);
  });
});
