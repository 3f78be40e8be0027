import { expect, test } from 'vitest';
import { BoundedMessageLog } from '../../src/engine/log/message-log.ts';
import type { LogMark } from '../../src/engine/types.ts';
import { MarkedRows } from '../../src/features/messages/marked-rows.ts';
import { MessageList } from '../../src/features/messages/message-list.ts';
import { messageFields } from '../features/message.ts';

const dropped = (count: number): LogMark => ({
  kind: 'dropped',
  atMs: 0,
  count,
  reasons: { queue_full: count },
});

function setUp(messagesMax = 100) {
  const log = new BoundedMessageLog({ messagesMax, bytesMax: 1_000_000 }, () => {});
  const list = new MessageList(
    log,
    () => {},
    () => 0,
  );
  list.attach();
  const append = (topics: string, marks: readonly (readonly [row: number, count: number])[] = []) =>
    log.append(
      [...topics].map((topic) => messageFields(topic)),
      marks.map(([row, count]) => ({ row, mark: dropped(count) })),
    );
  return { log, list, append };
}

/** Topics and counts from the top. */
function shown(list: MessageList): (string | number | undefined)[] {
  const rows = new MarkedRows(list);
  return Array.from({ length: rows.size }, (_, index) => {
    const row = rows.at(index);
    if (row?.type === 'message') return row.message.topic;
    return row?.placed.mark.kind === 'dropped' ? row.placed.mark.count : undefined;
  });
}

test('a mark stands between the messages that it came between', () => {
  const { list, append } = setUp();
  append('ab', [[1, 5]]);
  append('c', [[1, 7]]);
  expect(shown(list)).toEqual([7, 'c', 'b', 5, 'a']);
  expect([0, 1, 2].map((index) => new MarkedRows(list).rowOf(index))).toEqual([1, 2, 4]);
});

test('drops without a message in between become one notice', () => {
  const { list, append } = setUp();
  append('a', [[1, 5]]);
  append('', [[0, 2]]);
  append('b');
  expect(shown(list)).toEqual(['b', 7, 'a']);
});

test('a mark stays where a filter hides what is around it', () => {
  const { list, append } = setUp();
  list.setFilter(({ topic }) => topic === 'b');
  append('abca', [[1, 5]]);
  append('b', [[0, 7]]);
  expect(shown(list)).toEqual(['b', 7, 'b', 5]);
});

test('a mark goes with the messages around it, and when the list is cleared', () => {
  const { log, list, append } = setUp(2);
  append('ab', [[1, 5]]);
  append('cd');
  expect(shown(list)).toEqual(['d', 'c']);
  append('', [[0, 1]]);
  log.clear();
  expect(shown(list)).toEqual([]);
});

test('a list that is held shows no mark that comes later', () => {
  const { list, append } = setUp();
  append('a', [[0, 5]]);
  list.hold();
  append('b', [[0, 7]]);
  expect(shown(list)).toEqual(['a', 5]);
  list.release();
  expect(shown(list)).toEqual(['b', 7, 'a', 5]);
});
