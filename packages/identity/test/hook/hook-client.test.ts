import { describe, expect, test } from 'vitest';
import { DEFAULT_HOOK_LIMITS, type HookAnswer, HookClient, type HookLimits } from '../../src/index.ts';
import { FakeSender, FakeTimers, json, type LogLine, logInto, promisesRun, silence } from './fakes.ts';

const SENT = { method: 'POST', url: 'https://auth.example/', headers: {}, body: '{}' } as const;
const REQUEST = { request: SENT, holder: '192.0.2.1' };

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
      await client.ask({ ...REQUEST, request: { ...SENT, url: `https://auth.example/${name}` } });
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
    expect(await client.ask(REQUEST)).toBe('busy');
    timers.pass(1_000);
    expect(await Promise.all([running, waiting])).toEqual([undefined, 'busy']);
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

  test('that has waited too long does not make others be refused [SEC-HOOK-5]', async () => {
    const { client, sender, timers } = stage({ concurrentRequestsPerHolderMax: 1, timeoutMs: 1_000 });
    const answers: ((answer: HookAnswer) => void)[] = [];
    sender.behaviour = () => new Promise((resolve) => void answers.push(resolve));
    const many = Array.from({ length: 20 }, () => client.ask(REQUEST));
    await promisesRun();
    // The second is asked when it has 100 ms left.
    timers.pass(900);
    answers[0]?.(json({}));
    await promisesRun();
    timers.pass(100);
    await Promise.all(many);
    const stranger = client.ask({ ...REQUEST, holder: '192.0.2.2' });
    await promisesRun();
    for (const answer of answers) answer(json({ result: 'allow' }));
    expect(await stranger).toEqual(json({ result: 'allow' }));
  });
});

describe('questions of many holders [SEC-HOOK-5]', () => {
  test('that are never answered make their holder be refused, and no other', async () => {
    const { client, sender, timers } = stage({ timeoutMs: 1_000 });
    sender.behaviour = silence;
    const late = Array.from({ length: 32 }, () => client.ask(REQUEST));
    await promisesRun();
    timers.pass(1_000);
    await Promise.all(late);
    sender.behaviour = () => json({ result: 'allow' });
    expect(await client.ask(REQUEST)).toBeUndefined();
    expect(await client.ask({ ...REQUEST, holder: '192.0.2.2' })).toEqual(json({ result: 'allow' }));
  });

  test('that fail for five of them make all be refused, until one is answered', async () => {
    const { client, sender, timers } = stage();
    sender.behaviour = () => {
      throw new Error('connect ECONNREFUSED');
    };
    for (let holder = 0; holder < 5; holder++) await client.ask({ ...REQUEST, holder: `192.0.2.${holder}` });
    sender.behaviour = () => json({ result: 'allow' });
    expect(await client.ask({ ...REQUEST, holder: '198.51.100.1' })).toBeUndefined();
    timers.pass(5_000);
    for (const holder of ['198.51.100.1', '198.51.100.2'])
      expect(await client.ask({ ...REQUEST, holder })).toEqual(json({ result: 'allow' }));
  });

  /** Answers nothing until the test does: `sent` are those that have been asked. */
  function slowHook(limits: Partial<HookLimits>) {
    const { client, sender, lines } = stage(limits);
    const answers: (() => void)[] = [];
    sender.behaviour = () => new Promise((resolve) => void answers.push(() => resolve(json({}))));
    const ask = (holder: string) =>
      client.ask({ request: { ...SENT, url: `https://auth.example/${holder}` }, holder });
    const sent = () => sender.requests.map(({ url }) => url.split('/').at(-1));
    return { ask, answers, sent, lines };
  }

  test('run at a time up to the share of each', async () => {
    const { ask, answers, sent } = slowHook({
      concurrentRequestsMax: 4,
      concurrentRequestsPerHolderMax: 2,
    });
    const all = [...'aaaaa', 'b'].map(ask);
    await promisesRun();
    expect(sent()).toEqual(['a', 'a', 'b']);
    answers[0]?.();
    await promisesRun();
    expect(sent()).toEqual(['a', 'a', 'b', 'a']);
    for (let each = 0; each < all.length; each++) {
      answers[each]?.();
      await promisesRun();
    }
    expect(await Promise.all(all)).toEqual(all.map(() => json({})));
  });

  test('of one are asked at its pace after a burst, and those of others at once', async () => {
    const { client, sender, timers } = stage({ requestsPerSecondPerHolderMax: 50 });
    const ask = (holder = 'a') => client.ask({ request: SENT, holder });
    for (let question = 0; question < 1_000; question += 1) await ask();
    const waiting = [ask(), ask()];
    await promisesRun();
    expect(sender.requests).toHaveLength(1_000);
    await ask('b');
    timers.pass(20);
    await promisesRun();
    expect(sender.requests).toHaveLength(1_002);
    timers.pass(20);
    expect(await Promise.all(waiting)).toEqual([json({ result: 'allow' }), json({ result: 'allow' })]);
  });

  test('hold a share of the bytes that may wait, and what is free is left for others [SEC-HOOK-6]', async () => {
    const { client, sender } = stage({ waitingRequestsPerHolderMax: 1_000 });
    const answers: (() => void)[] = [];
    sender.behaviour = () => new Promise((resolve) => void answers.push(() => resolve(json({}))));
    const bytes = 2 * 1024 * 1024;
    const ask = (holder: string) => client.ask({ request: SENT, holder, bytes });
    const all = Array.from({ length: 30 }, () => ask('mallory'));
    const other = ask('ada');
    await promisesRun();
    const small = client.ask({ request: SENT, holder: 'bob', bytes: 60_000 });
    await promisesRun();
    while (answers.length > 0) {
      answers.shift()?.();
      await promisesRun();
    }
    const outcomes = await Promise.all(all);
    // A fifth of 256 MiB: a quarter of what it leaves.
    expect(outcomes.filter((outcome) => outcome !== 'busy')).toHaveLength(25);
    expect(await Promise.all([other, small])).toEqual([json({}), json({})]);
    const later = ask('mallory');
    await promisesRun();
    answers.shift()?.();
    expect(await later).toEqual(json({}));
  });

  test('take turns', async () => {
    const { ask, answers, sent } = slowHook({ concurrentRequestsMax: 1 });
    const all = [...'aaaabc'].map(ask);
    for (let each = 0; each < all.length; each++) {
      await promisesRun();
      answers[each]?.();
    }
    await Promise.all(all);
    expect(sent()).toEqual(['a', 'a', 'b', 'c', 'a', 'a']);
  });

  test('wait up to the share of each; a full queue turns one of the holder with most away', async () => {
    const { ask, answers, lines } = slowHook({
      concurrentRequestsMax: 1,
      waitingRequestsMax: 5,
      waitingRequestsPerHolderMax: 3,
    });
    const busy: string[] = [];
    const asked = [...'xaaaabb', 'c', 'c'].map(async (holder, index) => {
      if ((await ask(holder)) === 'busy') busy.push(`${holder}${index}`);
      await promisesRun();
    });
    await promisesRun();
    // The fourth of a is beyond its share; the first of c takes the place of a's first, and the second of b's.
    expect(busy).toEqual(['a4', 'a1', 'b5']);
    expect(lines[0]?.fields).toMatchObject({ reason: 'too many requests wait for it' });
    for (let each = 0; each < 9; each++) {
      answers[each]?.();
      await promisesRun();
    }
    await Promise.all(asked);
  });
});
