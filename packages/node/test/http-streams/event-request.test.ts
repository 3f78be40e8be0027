import { readStreams } from '@apus/broker';
import { describe, expect, test } from 'vitest';
import {
  EVENT_FILTERS_MAX,
  type EventRequest,
  readEventRequest,
  startOf,
} from '../../src/http-streams/event-request.ts';

const streams = readStreams(
  [
    { name: 'chat', topicFilter: 'chat/#' },
    { name: 'prices', topicFilter: 'prices/+', snapshot: true },
  ],
  'streams',
);

const read = (query: string, lastEventId?: string): EventRequest =>
  readEventRequest(query, lastEventId, { streams, topicLevelsMax: 5 });

const startsOf = (query: string, lastEventId?: string) => {
  const { filters, since } = read(query, lastEventId);
  return filters.map((filter) => startOf(filter, since));
};

describe('the request for an event stream', () => {
  test('names its filters, in which + stands for itself', () => {
    expect(read('topic=a/+/b&token=x&topic=with%20space/%2B/%23').filters).toEqual([
      { requested: 'a/+/b', read: undefined },
      { requested: 'with space/+/#', read: undefined },
    ]);
  });

  test('reads a stream that keeps everything that a filter matches', () => {
    expect(read('topic=chat/a&topic=prices/+&topic=%23&topic=$share/g/chat/b').filters).toEqual([
      { requested: 'chat/a', read: 'chat/a' },
      { requested: 'prices/+', read: 'prices/+' },
      { requested: '#', read: undefined },
      { requested: '$share/g/chat/b', read: undefined },
    ]);
    expect(read('topic=$stream/chat/chat/a').filters).toEqual([
      { requested: '$stream/chat/chat/a', read: 'chat/a' },
    ]);
    expect(read('topic=$s/prices').filters).toEqual([{ requested: '$s/prices', read: 'prices/+' }]);
  });

  test.each([
    ['', 'Name a topic filter'],
    ['topic=', 'has at least one character'],
    ['topic=a/%23/b', 'has # only as its whole last level'],
    ['topic=a/b/c/d/e/f', 'levels'],
    ['topic=$share/g', 'behind its group'],
    ['topic=$stream/none', 'there is no stream "none" here'],
    ['topic=$stream/prices/a/b', 'matches topics that the stream prices (prices/+) has not'],
    ['topic=chat/a&topic=chat/%23', '"chat/a" and "chat/#" have topics of a stream in common'],
    [
      'topic=a&'.repeat(EVENT_FILTERS_MAX + 1),
      `At most ${EVENT_FILTERS_MAX} topic filters, not ${EVENT_FILTERS_MAX + 1}.`,
    ],
  ])('is refused with a sentence: %s', (query, sentence) => {
    expect(() => read(query)).toThrow(sentence);
  });

  test(`has up to ${EVENT_FILTERS_MAX} filters`, () => {
    expect(read('topic=a&'.repeat(EVENT_FILTERS_MAX)).filters).toHaveLength(EVENT_FILTERS_MAX);
  });
});

describe('a stream begins', () => {
  test('now, and by its name with what a reader is sent at first', () => {
    expect(startsOf('topic=chat/a&topic=b&topic=$stream/prices')).toEqual([
      [['stream-offset', 'latest']],
      [],
      [],
    ]);
  });

  test('behind the last event', () => {
    expect(startsOf('topic=chat/a', 'e-7')).toEqual([[['stream-position', 'e-7']]]);
    expect(startsOf('topic=chat/%23&topic=b&topic=prices/+', 'e-7 chat/a f-9 prices/x e-8 chat/b')).toEqual([
      [
        ['stream-position', 'e-7 chat/a'],
        ['stream-position', 'e-8 chat/b'],
      ],
      [],
      [['stream-position', 'f-9 prices/x']],
    ]);
  });

  test('with its oldest message, where none had come', () => {
    expect(startsOf('topic=chat/a', '0')).toEqual([[['stream-offset', 'earliest']]]);
    expect(startsOf('topic=chat/%23&topic=prices/+', 'e-7 chat/a')[1]).toEqual([
      ['stream-offset', 'earliest'],
    ]);
  });

  test('now, where the last event says nothing', () => {
    expect(read('topic=chat/%23', 'e-7').since).toBe('unknown');
    expect(startsOf('topic=chat/%23', 'e-7')).toEqual([[['stream-offset', 'latest']]]);
    expect(read('topic=chat/%23', '').since).toBeUndefined();
  });
});
