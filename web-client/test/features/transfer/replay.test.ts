import { describe, expect, it, test } from 'vitest';
import type { Outcome, PublishRequest } from '../../../src/engine/types.ts';
import { REPLAY_OUTSTANDING_MAX } from '../../../src/features/transfer/limits.ts';
import type { FiledMessage } from '../../../src/features/transfer/message-record.ts';
import { messagesFile } from '../../../src/features/transfer/messages-file.ts';
import { readText } from '../../../src/features/transfer/read-file.ts';
import {
  type Pace,
  type ReplayPlan,
  type ReplayProgress,
  replayDurationMs,
  startReplay,
} from '../../../src/features/transfer/replay.ts';
import { profileFor, startBroker, subscriptionFor, TestConnection, urlOf } from '../../support/engine.ts';
import { message } from '../message.ts';

const OK: Outcome = { ok: true, reasonCode: 0, trouble: undefined, durationMs: 1 };
const OFFLINE: Outcome = {
  ok: false,
  reasonCode: undefined,
  trouble: { kind: 'offline', code: undefined, detail: '', atMs: 0 },
  durationMs: 0,
};

/** A replay on a clock that the test moves. */
class Stage {
  readonly published: { readonly request: PublishRequest; readonly atMs: number }[] = [];
  readonly progress: ReplayProgress[] = [];
  readonly stop: () => void;
  #nowMs = 0;
  #next: (() => void) | undefined;

  constructor(plan: Partial<ReplayPlan>, answer: Outcome | 'never' = OK) {
    this.stop = startReplay(
      { messages: [], pace: { kind: 'fast' }, topicPrefix: '', keepsRetain: true, ...plan },
      {
        publish: (request) => {
          this.published.push({ request, atMs: this.#nowMs });
          return answer === 'never' ? new Promise(() => {}) : Promise.resolve(answer);
        },
        onProgress: (progress) => this.progress.push(progress),
        now: () => this.#nowMs,
        later: (callback) => {
          this.#next = callback;
          return () => {
            this.#next = undefined;
          };
        },
      },
    );
  }

  get isWaiting(): boolean {
    return this.#next !== undefined;
  }

  get last(): ReplayProgress | undefined {
    return this.progress.at(-1);
  }

  async advance(ms: number): Promise<void> {
    this.#nowMs += ms;
    this.#next?.();
    // Answers come in turns of their own.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function filed(topic: string, atMs: number, changes: Partial<FiledMessage> = {}): FiledMessage {
  const payload = new Uint8Array();
  return { topic, atMs, direction: 'received', payload, qos: 1, retain: false, properties: {}, ...changes };
}

describe('a replay', () => {
  const messages = [filed('a', 5_000), filed('b', 5_100), filed('c', 6_000)];

  it.each<[Pace, readonly number[]]>([
    [{ kind: 'original', factor: 1 }, [0, 100, 1_000]],
    [{ kind: 'original', factor: 10 }, [0, 10, 100]],
    [{ kind: 'original', factor: 0.5 }, [0, 200, 2_000]],
    [{ kind: 'rate', perSecond: 5 }, [0, 200, 400]],
    [{ kind: 'fast' }, [0, 0, 0]],
  ])('at the pace %j publishes at %j', async (pace, times) => {
    const stage = new Stage({ messages, pace });
    for (let step = 0; step < 200; step += 1) await stage.advance(10);
    expect(stage.published.map(({ atMs }) => atMs)).toEqual(times);
    expect(stage.last).toMatchObject({ state: 'done', sent: 3, failed: 0, total: 3 });
    expect(stage.isWaiting).toBe(false);
    expect(replayDurationMs(messages, pace)).toBe(pace.kind === 'fast' ? undefined : times[2]);
  });

  it('stops when the user says so, and says how far it came', async () => {
    const stage = new Stage({ messages, pace: { kind: 'original', factor: 1 } });
    await stage.advance(150);
    stage.stop();
    await stage.advance(5_000);
    expect(stage.published).toHaveLength(2);
    expect(stage.last).toMatchObject({ state: 'stopped', sent: 2 });
    expect(stage.isWaiting).toBe(false);
  });

  it('ends with the connection', async () => {
    const stage = new Stage({ messages, pace: { kind: 'rate', perSecond: 1 } }, OFFLINE);
    await stage.advance(1);
    expect(stage.last).toMatchObject({ state: 'offline', failed: 1, firstTrouble: { kind: 'offline' } });
    expect(stage.isWaiting).toBe(false);
  });

  it('waits for a server that does not answer', async () => {
    const many = Array.from({ length: REPLAY_OUTSTANDING_MAX + 100 }, (_, index) => filed('t', index));
    const stage = new Stage({ messages: many }, 'never');
    for (let step = 0; step < 20; step += 1) await stage.advance(100);
    expect(stage.published).toHaveLength(REPLAY_OUTSTANDING_MAX);
    expect(stage.last).toMatchObject({ state: 'running', sent: 0 });
  });

  it('leaves the originals alone with a prefix, and retains only what it is told to', async () => {
    const retained = [filed('a', 0, { retain: true })];
    const stage = new Stage({ messages: retained, topicPrefix: 'replay/', keepsRetain: false });
    expect(stage.published[0]?.request).toMatchObject({ topic: 'replay/a', retain: false });
    const keeping = new Stage({ messages: retained });
    expect(keeping.published[0]?.request).toMatchObject({ topic: 'a', retain: true });
  });
});

test.each(['node', 'gateway'] as const)(
  'messages received at the %s door, exported, imported and published again, arrive byte for byte',
  async (door) => {
    const node = await startBroker();
    const subscription = subscriptionFor('#', { qos: 2 });
    const client = new TestConnection(
      profileFor(urlOf(node, door), { subscriptions: [subscription] }),
    ).open();
    await client.granted(subscription.id);
    const payloads = [
      Uint8Array.from({ length: 256 }, (_, byte) => byte),
      new Uint8Array(),
      new Uint8Array(5_000),
    ];
    for (const [index, payload] of payloads.entries()) {
      const properties = { contentType: 'x/y', userProperties: [['n', String(index)]] as const };
      await client.connection.publish({ topic: `t/${index}`, payload, qos: 2, retain: false, properties });
    }
    await client.until(({ received }) => received.length === payloads.length);
    const content = readText([...messagesFile(client.received, 'csv')].join(''));
    const messages = content.type === 'messages' ? content.messages : [];
    await new Promise<void>((resolve) => {
      startReplay(
        { messages, pace: { kind: 'fast' }, topicPrefix: 'again/', keepsRetain: true },
        {
          publish: (request) => client.connection.publish(request),
          onProgress: ({ state }) => state === 'done' && resolve(),
          now: () => performance.now(),
          later: (callback, delayMs) => {
            const timer = setTimeout(callback, delayMs);
            return () => clearTimeout(timer);
          },
        },
      );
    });
    await client.until(({ received }) => received.length === payloads.length * 2);
    const again = client.received.slice(payloads.length);
    expect(again.map(({ topic }) => topic)).toEqual(['again/t/0', 'again/t/1', 'again/t/2']);
    expect(again.map(({ payload }) => [...payload])).toEqual(payloads.map((payload) => [...payload]));
    expect(again.map(({ properties }) => properties.userProperties)).toEqual([
      [['n', '0']],
      [['n', '1']],
      [['n', '2']],
    ]);
  },
);

test('a message keeps the time at which it came, to the fraction of a millisecond', () => {
  const text = [...messagesFile([message('a', '', { atMs: 1_700_000_000_000.125 })], 'json')].join('');
  expect(readText(text)).toMatchObject({ messages: [{ atMs: 1_700_000_000_000.125 }] });
});
