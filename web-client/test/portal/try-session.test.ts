import { describe, expect, test } from 'vitest';
import type { PortalServer } from '../../src/portal/document/portal-document.ts';
import { MESSAGES_MAX, MESSAGES_SHOWN } from '../../src/portal/limits.ts';
import type { TryClient, TryListener } from '../../src/portal/try/try-client.ts';
import { inWords, type Refusal, TryError } from '../../src/portal/try/try-error.ts';
import { TrySession } from '../../src/portal/try/try-session.ts';

const server: PortalServer = { name: 'node', url: 'ws://h/mqtt', door: 'node', asksForToken: true };
const place = { server, credentials: { username: '', password: 'secret' } };
const message = { topic: 'a/b', payload: '1', contentType: 'application/json' };
const MARKS = { isRetained: false, isPast: false };
const refused = (code: number, reason?: string): Refusal => ({ is: 'refused', code, reason });

/** A client of a broker that refuses what the test says. */
function fake(refusals: { connect?: Refusal; subscribe?: Refusal; publish?: Refusal } = {}) {
  const listeners: TryListener[] = [];
  const calls: string[] = [];
  const answer = async (call: string, refusal: Refusal | undefined) => {
    calls.push(call);
    if (refusal !== undefined) throw new TryError(refusal);
    return 0;
  };
  const client = {
    subscribe: (filter: string, rewind?: string) =>
      answer(`subscribe ${filter} ${rewind}`, refusals.subscribe),
    unsubscribe: (filter: string) => answer(`unsubscribe ${filter}`, undefined),
    publish: (topic: string) => answer(`publish ${topic}`, refusals.publish),
    end: () => calls.push('end'),
  } as unknown as TryClient;
  const session = new TrySession(async (_server, _credentials, listener) => {
    await answer('open', refusals.connect);
    listeners.push(listener);
    return client;
  });
  return { session, listeners, calls };
}

describe('a topic that floods', () => {
  test('is left after so many messages, of which the last are kept', async () => {
    const { session, listeners, calls } = fake();
    await session.subscribe(place, '#', undefined);
    for (let count = 0; count < 100 * MESSAGES_MAX; count++)
      listeners[0]?.message('a', new TextEncoder().encode(String(count)), MARKS);
    expect(calls).toEqual(['open', 'subscribe # undefined', 'end']);
    const { messages, listening, status } = session.state();
    expect(messages).toHaveLength(MESSAGES_SHOWN);
    expect(messages[0]?.payload).toBe(String(MESSAGES_MAX - 1));
    expect([listening, status]).toEqual([undefined, `Stopped after ${MESSAGES_MAX} messages.`]);
  });

  test('has payloads that are cut, or said to be no text', async () => {
    const { session, listeners } = fake();
    await session.subscribe(place, '#', undefined);
    for (const payload of [new Uint8Array(5_000_000).fill(97), Uint8Array.of(0xff), new Uint8Array()])
      listeners[0]?.message('a', payload, MARKS);
    await expect.poll(() => session.state().messages.length).toBe(3);
    expect(session.state().messages.map(({ payload }) => payload.length)).toEqual([7, 26, 4_001]);
  });
});

describe('what the broker refuses is said in words', () => {
  test.each([
    [
      { connect: refused(0x87) },
      'The broker refuses the connection: Not authorised: your token does not allow it (0x87).',
    ],
    [
      { publish: refused(0x99, '/celsius must be number') },
      'The broker refuses the message to a/b: Payload format invalid: the schema of the topic does not allow this payload (0x99). /celsius must be number',
    ],
    [{ publish: refused(0x97) }, 'The broker refuses the message to a/b: Quota exceeded (0x97).'],
    [{ connect: { is: 'silent' } satisfies Refusal }, 'The broker does not answer.'],
  ])('%j', async (refusals, words) => {
    const { session } = fake(refusals);
    await session.publish(place, message);
    expect(session.state()).toMatchObject({ status: words, isError: true, isBusy: false });
  });

  test('a subscription', async () => {
    const { session } = fake({ subscribe: refused(0x87) });
    await session.subscribe(place, 'a/+', '50');
    expect(session.state().status).toContain('refuses the subscription to a/+: Not authorised');
    expect(session.state().listening).toBeUndefined();
  });

  test('a message is published also where its topic may not be subscribed', async () => {
    const { session, calls } = fake({ subscribe: refused(0x87) });
    await session.publish(place, message);
    expect(calls).toContain('publish a/b');
    expect(session.state().status).toMatch(
      /^The broker has accepted .* refuses the subscription to a\/b: Not auth/,
    );
    expect(session.state().isError).toBe(false);
  });

  test('a connection that ends', async () => {
    const { session, listeners, calls } = fake();
    await session.subscribe(place, 'a', undefined);
    listeners[0]?.ended(refused(0x98));
    expect(session.state()).toMatchObject({
      status: `The broker has ended the connection: ${inWords(refused(0x98))}`,
      listening: undefined,
    });
    await session.subscribe(place, 'a', undefined);
    expect(calls.filter((call) => call === 'open')).toHaveLength(2);
  });

  test.each(['', 'a/+', '#', 'a\0'])('no topic: %j', async (topic) => {
    const { session, calls } = fake();
    await session.publish(place, { ...message, topic });
    expect(session.state().isError).toBe(true);
    expect(calls).toEqual([]);
  });
});

test('a message comes back on a subscription, and another filter takes its place', async () => {
  const { session, calls } = fake();
  await session.publish(place, message);
  await session.publish(place, message);
  await session.publish(place, { ...message, topic: 'c' });
  await session.subscribe(place, 'a/+', '50');
  await session.publish(place, message);
  expect(calls).toEqual([
    ...['open', 'subscribe a/b undefined', 'publish a/b', 'publish a/b'],
    ...['unsubscribe a/b', 'subscribe c undefined', 'publish c'],
    ...['unsubscribe c', 'subscribe a/+ 50', 'publish a/b'],
  ]);
});

test('another token is another connection', async () => {
  const { session, calls } = fake();
  await session.subscribe(place, 'a', undefined);
  await session.subscribe({ server, credentials: { username: '', password: 'other' } }, 'a', undefined);
  expect(calls).toEqual(['open', 'subscribe a undefined', 'end', 'open', 'subscribe a undefined']);
});
