import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Program } from './program.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

vi.setConfig({ testTimeout: 60_000 });

const STREAMS = [
  { name: 'chat', topicFilter: 'chat/#', messagesMax: 5, key: 'user' },
  { name: 'one', topicFilter: 'one' },
];

let world: InProcessWorld;
let publisher: Program;

beforeEach(async () => {
  world = await startCloudInProcess({ seed: 4, streams: STREAMS });
  publisher = new Program(world.emulator, 'publisher');
});

afterEach(async () => {
  await publisher.mqtt.endAsync(true);
  world.stop();
  expect(world.failures).toEqual([]);
});

async function publishAll(topic: string, payloads: readonly string[]): Promise<void> {
  const properties = { userProperties: { user: 'ann' } };
  for (const payload of payloads) await publisher.mqtt.publishAsync(topic, payload, { qos: 1, properties });
}

interface Page {
  readonly messages: readonly { readonly payload: string }[];
  readonly next: string | null;
}

async function page(fields: object) {
  const asked = { action: 'stream-messages', name: 'chat', topic: 'chat/a', ...fields };
  const answer = (await world.operate(asked)) as unknown as Page;
  const texts = answer.messages?.map(({ payload }) => Buffer.from(payload, 'base64').toString());
  return { ...answer, texts };
}

describe('the operator of a deployment', () => {
  it('lists streams, and their messages', async () => {
    await publishAll('chat/a', ['1', '22']);
    await publishAll('chat/b', ['3']);
    expect(await world.operate({ action: 'streams' })).toMatchObject({
      streams: [
        { name: 'chat', topic_filter: 'chat/#', messages_max: 5, key: 'user', topics: 2, messages: 3 },
        { name: 'one', keep_seconds: 86_400, snapshot: false, topics: 0, messages: 0, bytes: 0 },
      ],
    });
  });

  it('pages over the messages of a topic, forward and backward', async () => {
    await publishAll('chat/a', ['1', '2', '3', '4', '5', '6']);
    const first = await page({ limit: 3 });
    expect(first.texts).toEqual(['2', '3', '4']);
    expect(first.messages[0]).toMatchObject({ key: 'ann', topic: 'chat/a', qos: 1 });
    const second = await page({ limit: 3, since: first.next });
    expect([second.texts, second.next]).toEqual([['5', '6'], null]);
    const newest = await page({ limit: 3, reverse: true });
    expect(newest.texts).toEqual(['6', '5', '4']);
    const older = await page({ limit: 3, reverse: true, since: newest.next });
    expect([older.texts, older.next]).toEqual([['3', '2'], null]);
    expect((await page({ since: '2020-01-01T00:00:00Z' })).texts).toEqual(['2', '3', '4', '5', '6']);
    expect((await page({ since: Date.now() + 60_000 })).texts).toEqual([]);
  });

  it.each([
    [{ name: 'other' }, /no stream "other"/],
    [{ topic: 'elsewhere' }, /keeps chat\/#, and not elsewhere/],
    [{ topic: 'chat/+' }, /name of a topic/],
    [{ limit: 0 }, /from 1 to 1000/],
    [{ reverse: 'yes' }, /true or false/],
    [{ since: 'soon' }, /since is a position/],
    [{ since: {} }, /since is a position/],
    [{ since: 'abc-1' }, /not kept, or its epoch is over/],
  ])('is told in a sentence what is wrong with %j', async (fields, sentence) => {
    await publishAll('chat/a', ['1']);
    const asked = { action: 'stream-messages', name: 'chat', topic: 'chat/a', ...fields };
    expect(await world.operate(asked)).toEqual({ error: expect.stringMatching(sentence) });
  });

  it('is told of no streams where none is declared', async () => {
    const other = await startCloudInProcess({ seed: 4 });
    expect(await other.operate({ action: 'streams' })).toEqual({ streams: [] });
    expect(await other.operate({ action: 'stream-messages', name: 'chat' })).toEqual({
      error: 'There is no stream "chat".',
    });
    other.stop();
  });
});
