import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { BoundedMessageLog } from '../../src/engine/log/message-log.ts';
import type { LoggedMessage } from '../../src/engine/types.ts';
import { decodeValue } from '../../src/features/decode/decode.ts';
import { compileFilter, type MessageFilter, NO_FILTER } from '../../src/features/messages/message-filter.ts';
import { MessageList } from '../../src/features/messages/message-list.ts';
import {
  MessageSearch,
  SEARCH_DEADLINE_MS,
  SLOW_MESSAGES_MAX,
} from '../../src/features/messages/message-search.ts';
import { type Found, matcherOf, type SlowQuery } from '../../src/features/messages/query-matcher.ts';
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

  test('stands still while the pointer is over it, but not when it is empty', () => {
    const { log, list } = setUp();
    list.point();
    log.append([messageFields('a')]);
    expect(topics(list)).toEqual(['a']);
    list.point();
    log.append([messageFields('b')]);
    expect([topics(list), list.newWhileHeld, list.isPaused]).toEqual([['a'], 1, false]);
    list.unpoint();
    expect(topics(list)).toEqual(['b', 'a']);
    // What the user has paused, the pointer does not release.
    list.point();
    list.hold();
    list.unpoint();
    expect([list.isHeld, list.isPaused]).toEqual([true, true]);
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

/** A worker in which a text that says `slow` takes for ever. */
function fakeWorker() {
  let matcher: (item: unknown) => Found;
  const worker = {
    onmessage: null as ((event: MessageEvent) => void) | null,
    onerror: null,
    terminate: () => {
      worker.onmessage = null;
    },
    postMessage: (request: SlowQuery | readonly string[]) => {
      if (!('query' in request) && request.includes('slow')) return;
      if ('query' in request) matcher = matcherOf(request);
      const data = 'query' in request || request.map((item) => matcher(item));
      queueMicrotask(() => worker.onmessage?.({ data } as MessageEvent));
    },
  };
  return worker;
}

describe('a search that runs in a worker', () => {
  function setUpSearch() {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { log, list, detach } = setUp();
    const opened: unknown[] = [];
    const open = () => {
      const worker = fakeWorker();
      opened.push(worker);
      return worker;
    };
    const search = (query: string) => new MessageSearch({ kind: 'regex', query }, open);
    const append = (...texts: string[]) => log.append(texts.map((text) => messageFields(text, text)));
    return { log, list, detach, opened, search, append };
  }

  test('finds old and new messages, and drops the answers to an earlier query', async () => {
    const { list, search, append } = setUpSearch();
    append('a1', 'b1', 'a2');
    list.setFilter(undefined, search('b'));
    list.setFilter(undefined, search('^a'));
    append('b2', 'a3');
    await vi.runAllTimersAsync();
    expect(topics(list)).toEqual(['a3', 'a2', 'a1']);
    expect(list.isScanning).toBe(false);
  });

  test('leaves out the one message that takes too long, says so, and goes on', async () => {
    const { list, search, append, opened } = setUpSearch();
    list.setFilter(undefined, search('.'));
    append('a', 'slow', 'b');
    await vi.advanceTimersByTimeAsync(10 * SEARCH_DEADLINE_MS);
    append('c');
    await vi.runAllTimersAsync();
    expect(topics(list)).toEqual(['c', 'b', 'a']);
    expect([list.unsearched, list.isSearchStopped]).toEqual([1, false]);
    expect(opened.length).toBeGreaterThan(1);
  });

  test('stops where several messages take too long', async () => {
    const { list, search, append } = setUpSearch();
    list.setFilter(undefined, search('.'));
    append(...Array.from({ length: SLOW_MESSAGES_MAX + 2 }, () => 'slow'));
    await vi.runAllTimersAsync();
    expect(list.isSearchStopped).toBe(true);
  });

  test('after a pause of the view it begins again', async () => {
    const { list, search, append, detach } = setUpSearch();
    list.setFilter(undefined, search('a'));
    detach();
    append('a', 'b');
    list.attach();
    await vi.runAllTimersAsync();
    expect(topics(list)).toEqual(['a']);
  });
});

describe('the filter of messages', () => {
  const checkJsonPath = (query: string): void => void matcherOf({ kind: 'jsonpath', query });
  const log = new BoundedMessageLog({ messagesMax: 10, bytesMax: 1_000_000 });
  log.append([
    messageFields('home/kitchen/temperature', '{"value":21.5,"unit":"°C","tags":["a","b"]}', {
      subscriptionIds: ['s'],
    }),
    messageFields('home/hall/light', 'ON', { retain: true }),
    messageFields('home', '[1,2,3]', { direction: 'published' }),
  ]);

  function fitting(changes: Partial<MessageFilter>): (string | undefined)[] {
    const { predicate, slow, problem } = compileFilter({ ...NO_FILTER, ...changes }, checkJsonPath);
    expect(problem).toBeUndefined();
    const found = (message: LoggedMessage): Found => {
      if (slow === undefined) return true;
      const item =
        slow.kind === 'regex' ? message.text(1_000) : decodeValue(message.payload, 1_000, message.topic);
      return matcherOf(slow)(item);
    };
    return [0, 1, 2]
      .flatMap((sequence) => log.at(sequence) ?? [])
      .filter((message) => (predicate?.(message) ?? true) && found(message) === true)
      .map((message) => message.topic);
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
    const { problem } = compileFilter({ ...NO_FILTER, ...changes }, checkJsonPath);
    expect(problem).not.toBe('');
    expect(problem).toBeDefined();
  });
});
