import { readStreams, type StreamDeclaration } from '@apus/broker';
import { expect, test } from 'vitest';
import { STREAM_APPENDS_BYTES, STREAM_APPENDS_STEP } from '../../src/store/limits.ts';
import { GatheredAppends } from '../../src/store/streams/gathered-appends.ts';

const [ONE, TWO] = readStreams(
  [
    { name: 'one', topicFilter: 'one/#' },
    { name: 'two', topicFilter: 'two/#' },
  ],
  'streams',
).all as [StreamDeclaration, StreamDeclaration];

interface Asked {
  readonly messages: readonly unknown[];
  answer(): Promise<void>;
  fail(): Promise<void>;
}

async function turn(): Promise<void> {
  for (let left = 3; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
}

/** An engine that answers when the test lets it. */
function stage() {
  const asked: Asked[] = [];
  const ended: string[] = [];
  const appends = new GatheredAppends(
    (_tenant, _stream, _nowMs, messages) =>
      new Promise((resolve, reject) => {
        const answer = async () => {
          resolve(messages.map((each) => `${each} appended`));
          await turn();
        };
        const fail = async () => {
          reject(new Error('the engine is away'));
          await turn();
        };
        asked.push({ messages, answer, fail });
      }),
  );
  const append = (name: string, stream = ONE, bytes = 1): void => {
    appends.append('t', stream, 0, [name], bytes).then(
      (answer) => ended.push(String(answer)),
      () => ended.push(`${name} failed`),
    );
  };
  return { asked, ended, append };
}

test('messages that come while the engine is asked for a stream are its next step together', async () => {
  const { asked, ended, append } = stage();
  for (const name of ['a', 'b']) append(name);
  await turn();
  for (const name of ['c', 'd']) append(name);
  append('x', TWO);
  await turn();
  expect(asked.map(({ messages }) => messages)).toEqual([['a', 'b'], ['x']]);
  await asked[0]?.answer();
  expect(asked.at(-1)?.messages).toEqual(['c', 'd']);
  await asked.at(-1)?.answer();
  expect(ended).toEqual(['a', 'b', 'c', 'd'].map((name) => `${name} appended`));
});

test('a step that fails takes the messages behind it with it, and later ones are appended', async () => {
  const { asked, ended, append } = stage();
  append('a');
  await turn();
  append('b');
  await asked[0]?.fail();
  expect(ended).toEqual(['a failed', 'b failed']);
  append('c');
  await turn();
  expect(asked.slice(1).map(({ messages }) => messages)).toEqual([['c']]);
  await asked[1]?.answer();
  expect(ended.at(-1)).toBe('c appended');
});

test('a step has a limit of messages and of bytes, and a larger message goes alone', async () => {
  const { asked, append } = stage();
  for (let left = STREAM_APPENDS_STEP + 1; left > 0; left -= 1) append('small');
  append('large', ONE, STREAM_APPENDS_BYTES);
  append('larger', ONE, 2 * STREAM_APPENDS_BYTES);
  for (const count of [STREAM_APPENDS_STEP, 1, 1, 1]) {
    await turn();
    expect(asked.at(-1)?.messages.length).toBe(count);
    await asked.at(-1)?.answer();
  }
});
