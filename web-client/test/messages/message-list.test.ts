import { describe, expect, test } from 'vitest';
import { BoundedMessageLog } from '../../src/engine/log/message-log.ts';
import { jsonPathPredicate } from '../../src/features/messages/json-path-predicate.ts';
import { compileFilter, type MessageFilter, NO_FILTER } from '../../src/features/messages/message-filter.ts';
import { MessageList } from '../../src/features/messages/message-list.ts';
import { messageFields } from '../features/message.ts';

function setUp(messagesMax = 100) {
  const log = new BoundedMessageLog({ messagesMax, bytesMax: 1_000_000 });
  const waiting: (() => void)[] = [];
  const list = new MessageList(
    log,
    (callback) => void waiting.push(callback),
    () => 0,
  );
  const detach = list.attach();
  const runAll = (): void => {
    while (waiting.length > 0) waiting.shift()?.();
  };
  return { log, list, runAll, detach };
}

function topics(list: MessageList): (string | undefined)[] {
  return Array.from({ length: list.size }, (_, index) => list.at(index)?.topic);
}

describe('a message list', () => {
  test('shows the newest first, and not messages that the log has dropped', () => {
    const { log, list } = setUp(3);
    log.append(['a', 'b', 'c', 'd'].map((topic) => messageFields(topic)));
    expect(topics(list)).toEqual(['d', 'c', 'b']);
  });

  test('shows old and new messages that match its filter', () => {
    const { log, list, runAll } = setUp();
    log.append(['a/1', 'b/1', 'a/2'].map((topic) => messageFields(topic)));
    list.setFilter(({ topic }) => topic.startsWith('a/'));
    log.append(['b/2', 'a/3'].map((topic) => messageFields(topic)));
    runAll();
    expect(topics(list)).toEqual(['a/3', 'a/2', 'a/1']);
    expect(list.isScanning).toBe(false);
    list.setFilter(undefined);
    expect(list.size).toBe(5);
  });

  test('with a filter it drops the messages that the log drops', () => {
    const { log, list, runAll } = setUp(4);
    log.append(['a1', 'b', 'a2'].map((topic) => messageFields(topic)));
    list.setFilter(({ topic }) => topic.startsWith('a'));
    runAll();
    log.append(['a3', 'b', 'a4'].map((topic) => messageFields(topic)));
    expect(topics(list)).toEqual(['a4', 'a3', 'a2']);
    log.append(['b', 'b', 'b'].map((topic) => messageFields(topic)));
    expect(topics(list)).toEqual(['a4']);
  });

  test('paused, it stands still and counts new messages; resumed, it goes on', () => {
    const { log, list } = setUp(2);
    log.append([messageFields('a'), messageFields('b')]);
    list.hold();
    log.append([messageFields('c'), messageFields('d')]);
    expect(topics(list)).toEqual(['b', 'a']);
    expect(list.newWhileHeld).toBe(2);
    list.release();
    expect(topics(list)).toEqual(['d', 'c']);
    expect(list.newWhileHeld).toBe(0);
  });

  test('paused with a filter, it counts only messages that match', () => {
    const { log, list, runAll } = setUp();
    list.setFilter(({ topic }) => topic === 'a');
    runAll();
    log.append([messageFields('a')]);
    list.hold();
    log.append([messageFields('a'), messageFields('b')]);
    expect(list.newWhileHeld).toBe(1);
  });

  test('finds a message again, and not one that does not match', () => {
    const { log, list, runAll } = setUp();
    log.append(['a', 'b', 'a', 'b', 'a'].map((topic) => messageFields(topic)));
    list.setFilter(({ topic }) => topic === 'a');
    runAll();
    const [oldest, other] = [log.at(0), log.at(1)];
    expect(oldest && list.indexOf(oldest)).toBe(2);
    expect(other && list.indexOf(other)).toBeUndefined();
  });

  test('is empty after its log is cleared', () => {
    const { log, list, runAll } = setUp();
    log.append([messageFields('a')]);
    list.setFilter(() => true);
    runAll();
    list.hold();
    log.clear();
    expect(list.size).toBe(0);
    log.append([messageFields('b')]);
    expect(topics(list)).toEqual(['b']);
  });

  test('attached again, it shows the messages that came meanwhile', () => {
    const { log, list, runAll, detach } = setUp();
    list.setFilter(({ topic }) => topic === 'a');
    detach();
    log.append([messageFields('a'), messageFields('b')]);
    list.attach();
    runAll();
    expect(topics(list)).toEqual(['a']);
  });

  test('starts over when its filter changes while old messages are searched', () => {
    const { log, list, runAll } = setUp();
    log.append(['a', 'b', 'c'].map((topic) => messageFields(topic)));
    list.setFilter(({ topic }) => topic === 'a');
    list.setFilter(({ topic }) => topic === 'b');
    runAll();
    expect(topics(list)).toEqual(['b']);
  });
});

describe('the filter of messages', () => {
  const log = new BoundedMessageLog({ messagesMax: 10, bytesMax: 1_000_000 });
  log.append([
    messageFields('home/kitchen/temperature', '{"value":21.5,"unit":"°C","tags":["a","b"]}', {
      subscriptionIds: ['s'],
    }),
    messageFields('home/hall/light', 'ON', { retain: true }),
    messageFields('home', '[1,2,3]', { direction: 'published' }),
  ]);

  function fitting(changes: Partial<MessageFilter>): (string | undefined)[] {
    const { predicate, problem } = compileFilter({ ...NO_FILTER, ...changes }, jsonPathPredicate);
    expect(problem).toBeUndefined();
    return [0, 1, 2]
      .map((sequence) => log.at(sequence))
      .filter((message) => message !== undefined && (predicate?.(message) ?? true))
      .map((message) => message?.topic);
  }
  const [TEMPERATURE, LIGHT, HOME] = ['home/kitchen/temperature', 'home/hall/light', 'home'];

  test.each<[Partial<MessageFilter>, string[]]>([
    [{}, [TEMPERATURE, LIGHT, HOME]],
    [{ direction: 'published' }, [HOME]],
    [{ retainedOnly: true }, [LIGHT]],
    [{ subscriptionId: 's' }, [TEMPERATURE]],
    [{ topic: 'home/+/light' }, [LIGHT]],
    [{ topic: 'home/#' }, [TEMPERATURE, LIGHT, HOME]],
    [{ topic: 'KITCHEN' }, [TEMPERATURE]],
    [{ query: 'on' }, [LIGHT]],
    [{ query: '°c' }, [TEMPERATURE]],
    [{ kind: 'regex', query: '^O[NM]$' }, [LIGHT]],
    [{ kind: 'regex', query: '\\d\\.\\d' }, [TEMPERATURE]],
    [{ kind: 'jsonpath', query: '$.unit' }, [TEMPERATURE]],
    [{ kind: 'jsonpath', query: '$.value > 20' }, [TEMPERATURE]],
    [{ kind: 'jsonpath', query: '$.value > 20 && $.unit == "°C"' }, [TEMPERATURE]],
    [{ kind: 'jsonpath', query: '$.value > 22' }, []],
    [{ kind: 'jsonpath', query: '$.unit == "$"' }, []],
    [{ kind: 'jsonpath', query: '$[?@ == 2]' }, [HOME]],
    [{ kind: 'jsonpath', query: '$.tags[0]' }, [TEMPERATURE]],
    [{ topic: 'home/#', kind: 'jsonpath', query: '$.value', direction: 'received' }, [TEMPERATURE]],
  ])('%j', (changes, expected) => {
    expect(fitting(changes)).toEqual(expected);
  });

  test.each<Partial<MessageFilter>>([
    { kind: 'regex', query: '(' },
    { kind: 'jsonpath', query: '$.[' },
    { kind: 'jsonpath', query: '$.a >' },
  ])('reports a mistake in it: %j', (changes) => {
    const { problem } = compileFilter({ ...NO_FILTER, ...changes }, jsonPathPredicate);
    expect(problem).not.toBe('');
    expect(problem).toBeDefined();
  });
});
