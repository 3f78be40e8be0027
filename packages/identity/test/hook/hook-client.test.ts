import { describe, expect, test } from 'vitest';
import { DEFAULT_HOOK_LIMITS, type HookAnswer, HookClient, type HookLimits } from '../../src/index.ts';
import { FakeSender, FakeTimers, json, type LogLine, logInto, promisesRun, silence } from './fakes.ts';

const REQUEST = { method: 'POST', url: 'https://auth.example/', headers: {}, body: '{}' } as const;

function stage(limits: Partial<HookLimits> = {}, remainingMs?: () => number) {
  const sender = new FakeSender();
  const timers = new FakeTimers();
  const lines: LogLine[] = [];
  const client = new HookClient({
    name: 'hook',
    sender,
    limits: { ...DEFAULT_HOOK_LIMITS, ...limits },
    timers,
    log: logInto(lines),
    ...(remainingMs !== undefined && { remainingMs }),
  });
  return { sender, timers, lines, client };
}

describe('a request to a hook', () => {
  test('is answered, and leaves no timer behind', async () => {
    const { client, timers } = stage();
    expect(await client.ask(REQUEST)).toEqual(json({ result: 'allow' }));
    expect(timers.pending).toBe(0);
  });

  test('is given up after the timeout if no answer comes', async () => {
    const { client, sender, timers, lines } = stage({ timeoutMs: 5_000 });
    sender.behaviour = silence;
    const asked = client.ask(REQUEST);
    await promisesRun();
    timers.pass(4_999);
    await promisesRun();
    expect(lines).toEqual([]);
    timers.pass(1);
    expect(await asked).toBeUndefined();
    expect(lines).toEqual([
      { event: 'hook-unanswered', fields: { hook: 'hook', reason: 'none within 5000 ms', count: 1 } },
    ]);
  });

  test('is repeated at once if its connection had ended', async () => {
    const { client, sender } = stage();
    let tries = 0;
    sender.behaviour = () => {
      tries += 1;
      if (tries === 1) throw new TypeError('fetch failed', { cause: new Error('ECONNRESET') });
      return json({ result: 'deny' });
    };
    expect(await client.ask(REQUEST)).toEqual(json({ result: 'deny' }));
  });

  test('is not sent after five failures in a row; later a single one tries [SEC-HOOK-3]', async () => {
    const { client, sender, timers } = stage({ timeoutMs: 1_000 });
    sender.behaviour = silence;
    for (let failure = 0; failure < 5; failure++) {
      const asked = client.ask(REQUEST);
      await promisesRun();
      timers.pass(1_000);
      expect(await asked).toBeUndefined();
    }
    expect(sender.requests).toHaveLength(5);
    // No time passes: no client waits for a dead server.
    for (let ask = 0; ask < 10; ask++) expect(await client.ask(REQUEST)).toBeUndefined();
    expect(sender.requests).toHaveLength(5);

    timers.pass(5_000);
    sender.behaviour = () => json({ result: 'allow' });
    const [trial, second] = await Promise.all([client.ask(REQUEST), client.ask(REQUEST)]);
    expect(trial).toBeDefined();
    expect(second).toBeUndefined();
    expect(await client.ask(REQUEST)).toBeDefined();
  });

  test('is one of a limited number at a time; the others wait, in their order [SEC-HOOK-3]', async () => {
    const { client, sender } = stage({ concurrentRequestsMax: 2 });
    const answers: ((answer: HookAnswer) => void)[] = [];
    sender.behaviour = () => new Promise((resolve) => void answers.push(resolve));
    const order: string[] = [];
    const ask = async (name: string) => {
      await client.ask({ ...REQUEST, url: `https://auth.example/${name}` });
      order.push(name);
    };
    const all = ['a', 'b', 'c', 'd'].map(ask);
    await promisesRun();
    expect(sender.requests).toHaveLength(2);
    for (let index = 0; index < 4; index++) {
      answers[index]?.(json({}));
      await promisesRun();
    }
    await Promise.all(all);
    expect(order).toEqual(['a', 'b', 'c', 'd']);
  });

  test('does not wait longer than the timeout, and only a limited number wait', async () => {
    const { client, sender, timers } = stage({
      concurrentRequestsMax: 1,
      waitingRequestsMax: 1,
      timeoutMs: 1_000,
    });
    sender.behaviour = silence;
    const running = client.ask(REQUEST);
    const waiting = client.ask(REQUEST);
    await promisesRun();
    expect(await client.ask(REQUEST)).toBeUndefined();
    timers.pass(1_000);
    expect(await Promise.all([running, waiting])).toEqual([undefined, undefined]);
    expect(sender.requests).toHaveLength(1);
  });

  test('has no more time than the process itself', async () => {
    let leftMs = 300;
    const { client, sender, timers } = stage({}, () => leftMs);
    sender.behaviour = silence;
    const asked = client.ask(REQUEST);
    await promisesRun();
    timers.pass(300);
    expect(await asked).toBeUndefined();
    leftMs = 0;
    expect(await client.ask(REQUEST)).toBeUndefined();
    expect(sender.requests).toHaveLength(1);
  });

  test('without an answer is logged once a minute, with the number', async () => {
    const { client, sender, timers, lines } = stage();
    sender.behaviour = () => {
      throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    };
    for (let ask = 0; ask < 20; ask++) await client.ask(REQUEST);
    timers.pass(60_000);
    await client.ask(REQUEST);
    expect(lines.map(({ fields }) => [fields?.reason, fields?.count])).toEqual([
      ['connect ECONNREFUSED', 1],
      ['connect ECONNREFUSED', 20],
    ]);
  });
});
