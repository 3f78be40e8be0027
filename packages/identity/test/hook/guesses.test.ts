import { describe, expect, test } from 'vitest';
import { createChain, GuessLimiter, type HookAnswer, readIdentity } from '../../src/index.ts';
import { FakeSender, FakeTimers, json, logInto } from './fakes.ts';

const ARN = 'arn:aws:lambda:eu-west-1:123456789012:function:may-connect';
const FREE = 5;

function stage(others: readonly object[] = []) {
  const sender = new FakeSender();
  const timers = new FakeTimers();
  const chain = createChain(
    readIdentity({ authenticators: [...others, { hook: { functionArn: ARN } }] }, 'identity.json'),
    {
      ...{ clock: timers, timers, log: logInto([]), limiter: new GuessLimiter(timers) },
      functionSender: () => sender,
    },
  );
  const guess = (password: string) =>
    chain.ask({ clientId: 'c', username: 'ada', password: Buffer.from(password), address: '192.0.2.1:5000' });
  return { sender, timers, guess };
}

const NOES: readonly (readonly [string, HookAnswer])[] = [
  ['result deny', json({ result: 'deny' })],
  ['result ignore', json({ result: 'ignore' })],
  ['no result', json({})],
  ['401', json({}, 401)],
  ['a redirect', json({}, 302)],
];

describe('guesses that a hook is asked about [SEC-GUESS-7]', () => {
  test.each(NOES)('have five tries if it says no by %s', async (_, no) => {
    const { sender, timers, guess } = stage();
    sender.behaviour = () => no;
    for (let tries = 0; tries < FREE; tries++)
      expect(await guess('wrong')).not.toMatchObject({ refused: 0x9f });
    for (let tries = 0; tries < 20; tries++) expect(await guess('wrong')).toMatchObject({ refused: 0x9f });
    expect(sender.requests).toHaveLength(FREE);
    timers.pass(1_000);
    sender.behaviour = () => json({ result: 'allow' });
    expect(await guess('right')).toMatchObject({ name: 'ada' });
  });

  test.each(NOES)('that come at once have no more tries, by %s', async (_, no) => {
    const { sender, guess } = stage();
    sender.behaviour = () => Promise.resolve(no);
    await Promise.all(Array.from({ length: 120 }, () => guess('wrong')));
    expect(sender.requests).toHaveLength(FREE);
  });

  test.each([500, 503, 429])('are not counted where the hook fails with %i', async (status) => {
    const { sender, guess } = stage();
    sender.behaviour = () => json({}, status);
    for (let tries = 0; tries < 20; tries++) expect(await guess('right')).toMatchObject({ refused: 0x86 });
    sender.behaviour = () => json({ result: 'allow' });
    expect(await guess('right')).toMatchObject({ name: 'ada' });
  });

  test('do not hold up many clients of one name whose password is right', async () => {
    const { sender, guess } = stage();
    const all = await Promise.all(Array.from({ length: 100 }, () => guess('right')));
    expect(all.filter((answer) => 'refused' in answer)).toEqual([]);
    expect(sender.requests).toHaveLength(100);
  });

  test('are forgotten after a right one', async () => {
    const { sender, guess } = stage();
    for (let round = 0; round < 5; round++) {
      sender.behaviour = () => json({}, 401);
      for (let tries = 0; tries < FREE - 1; tries++)
        expect(await guess('wrong')).toMatchObject({ refused: 0x86 });
      sender.behaviour = () => json({ result: 'allow' });
      expect(await guess('right')).toMatchObject({ name: 'ada' });
    }
  });
});

test('guesses of a password that API keys do not take are counted as well [SEC-GUESS-7]', async () => {
  const timers = new FakeTimers();
  const key = { name: 'k', key: 'x'.repeat(40), publish: [], subscribe: [] };
  const configuration = { authenticators: [{ apiKeys: { file: 'keys.json' } }] };
  const chain = createChain(readIdentity(configuration, 'identity.json'), {
    ...{ clock: timers, timers, log: logInto([]), limiter: new GuessLimiter(timers) },
    readFile: () => JSON.stringify({ keys: [key] }),
  });
  const guess = (password: string) =>
    chain.ask({ username: 'k', password: Buffer.from(password), address: '192.0.2.1:5000' });
  for (let tries = 0; tries < FREE; tries++) expect(await guess('wrong')).toMatchObject({ refused: 0x86 });
  expect(await guess(key.key)).toMatchObject({ refused: 0x9f });
});
