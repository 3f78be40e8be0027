import { expect, test } from 'vitest';
import { BoundedMessageLog } from '../../../src/engine/log/message-log.ts';
import { HISTORY_MAX } from '../../../src/features/tree/limits.ts';
import { TopicHistory } from '../../../src/features/tree/topic-history.ts';
import { messageFields } from '../message.ts';

const texts = (history: TopicHistory): string[] => history.messages.map((message) => message.text());

function log(messagesMax = 1_000): BoundedMessageLog {
  return new BoundedMessageLog({ messagesMax, bytesMax: 1_000_000 });
}

test('a history begins with what the log holds of its topic, oldest first', () => {
  const messages = log();
  messages.append(['1', '2', '3'].map((text) => messageFields(text === '2' ? 'b' : 'a', text)));
  expect(texts(new TopicHistory('a', messages))).toEqual(['1', '3']);
});

test('a history goes on with what comes for its topic, and not with what was published from here', () => {
  const messages = log();
  const history = new TopicHistory('a', messages);
  messages.onAppend((added) => history.take(added));
  messages.append([
    messageFields('a', '1'),
    messageFields('b', '2'),
    messageFields('a', '3', { direction: 'published' }),
  ]);
  expect(texts(history)).toEqual(['1']);
});

test('a history keeps no more than its limit, the newest', () => {
  const messages = log();
  const history = new TopicHistory('a', messages);
  messages.onAppend((added) => history.take(added));
  for (let number = 0; number <= HISTORY_MAX; number += 1)
    messages.append([messageFields('a', String(number))]);
  expect(history.messages).toHaveLength(HISTORY_MAX);
  expect(texts(history).at(0)).toBe('1');
});

test('a history holds on to nothing that the log has let go, but for the last two', () => {
  const messages = log(4);
  const history = new TopicHistory('a', messages);
  messages.onAppend((added) => history.take(added));
  messages.append(['1', '2', '3'].map((text) => messageFields('a', text)));
  messages.append(['4', '5', '6', '7'].map((text) => messageFields('b', text)));
  expect(texts(history)).toEqual(['2', '3']);
});
