import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import {
  matches,
  parseShared,
  parseTopicFilter,
  Violation,
  validateTopicFilter,
  validateTopicName,
} from '../src/index.ts';
import { filter, name } from './arbitraries.ts';
import { naiveMatches } from './naive.ts';

const TOPIC_FILTER_INVALID = 0x8f;
const TOPIC_NAME_INVALID = 0x90;

function expectBoth(topic: string, isValid: boolean): void {
  expect(validateTopicName(topic)?.reasonCode).toBe(isValid ? undefined : TOPIC_NAME_INVALID);
  expect(validateTopicFilter(topic)?.reasonCode).toBe(isValid ? undefined : TOPIC_FILTER_INVALID);
}

describe('topic names and filters', () => {
  it('[MQTT-4.7.3-1] have at least one character', () => {
    expectBoth('', false);
    for (const topic of ['/', ' ', 'a', '//', 'Accounts payable', '$SYS']) expectBoth(topic, true);
  });

  it('[MQTT-4.7.3-2] have no U+0000', () => {
    expectBoth('a\0b', false);
  });

  it('[MQTT-4.7.3-3] have at most 65,535 bytes', () => {
    expectBoth('a'.repeat(65_535), true);
    expectBoth('a'.repeat(65_536), false);
    expectBoth(`${'€'.repeat(21_844)}abc`, true);
    expectBoth('€'.repeat(21_845), true);
    expectBoth(`${'€'.repeat(21_845)}a`, false);
  });

  it('have no unpaired surrogate, which UTF-8 cannot say', () => {
    expectBoth('\ud83e', false);
    expectBoth('\udd85\ud83e', false);
    expectBoth('\ud83e\udd85', true);
  });

  it('have at most as many levels as the caller allows', () => {
    const limits = { topicLevelsMax: 3 };
    expect(validateTopicName('a/b/c', limits)).toBeUndefined();
    expect(validateTopicName('a/b/c/', limits)?.reasonCode).toBe(TOPIC_NAME_INVALID);
    expect(validateTopicFilter('a/+/#', limits)).toBeUndefined();
    expect(validateTopicFilter('a/+/c/#', limits)?.reasonCode).toBe(TOPIC_FILTER_INVALID);
  });

  it('[MQTT-4.7.0-1] have wildcards in filters only', () => {
    for (const topic of ['+', '#', 'a/+', 'a#', 'a+b']) {
      expect(validateTopicName(topic)?.reasonCode).toBe(TOPIC_NAME_INVALID);
    }
  });

  it('say what is wrong and show no more than a line of it', () => {
    const violation = validateTopicName('x'.repeat(70_000));
    expect(violation?.reason).toContain('65535 bytes');
    expect(violation?.reason.length).toBeLessThan(200);
  });
});

describe('wildcards', () => {
  it.each(['#', '/#', 'a/#', 'a/b/#', '+/#'])('[MQTT-4.7.1-1] in %s stand right', (topic) => {
    expect(validateTopicFilter(topic)).toBeUndefined();
  });

  it.each(['a#', '#/a', 'a/#/b', '##', '#/', 'a/b#', '+#', '#+'])(
    '[MQTT-4.7.1-1] in %s stand wrong',
    (topic) => {
      expect(validateTopicFilter(topic)?.reasonCode).toBe(TOPIC_FILTER_INVALID);
    },
  );

  it.each(['+', '+/', '/+', '+/a/+', 'a/+/b', '+/+/+'])('[MQTT-4.7.1-2] in %s stand right', (topic) => {
    expect(validateTopicFilter(topic)).toBeUndefined();
  });

  it.each(['a+', '+a', 'a/b+', 'a/+b/c', '++'])('[MQTT-4.7.1-2] in %s stand wrong', (topic) => {
    expect(validateTopicFilter(topic)?.reasonCode).toBe(TOPIC_FILTER_INVALID);
  });
});

describe('shared subscriptions', () => {
  it('[MQTT-4.8.2-1] have a group', () => {
    expect(parseShared('$share/group/a/+')).toEqual({ shareGroup: 'group', topicFilter: 'a/+' });
    expect(parseShared('$share/g//')).toEqual({ shareGroup: 'g', topicFilter: '/' });
    expect(parseShared('$share//a')).toMatchObject({ reasonCode: TOPIC_FILTER_INVALID });
    expect(parseShared('$share/')).toMatchObject({ reasonCode: TOPIC_FILTER_INVALID });
  });

  it('[MQTT-4.8.2-2] have no wildcards in their group, and a filter behind it', () => {
    for (const topic of ['$share/g+/a', '$share/#/a', '$share/+/a', '$share/g', '$share/g/']) {
      expect(parseShared(topic)).toMatchObject({ reasonCode: TOPIC_FILTER_INVALID });
    }
  });

  it('are told from other filters by their whole prefix', () => {
    for (const topic of ['$share', '$shared/g/a', 'a/$share/g', '$SHARE/g/a']) {
      expect(parseShared(topic)).toEqual({ topicFilter: topic });
    }
  });

  it('are validated without their prefix', () => {
    expect(parseTopicFilter('$share/g/a/b', { topicLevelsMax: 2 })).toEqual({
      shareGroup: 'g',
      topicFilter: 'a/b',
    });
    expect(parseTopicFilter('$share/g/a/b', { topicLevelsMax: 1 })).toBeInstanceOf(Violation);
    expect(parseTopicFilter('$share/g/a#')).toBeInstanceOf(Violation);
    expect(parseTopicFilter('a/#')).toEqual({ topicFilter: 'a/#' });
  });
});

describe('matching', () => {
  it.each([
    ['sport/tennis/player1/#', 'sport/tennis/player1'],
    ['sport/tennis/player1/#', 'sport/tennis/player1/ranking'],
    ['sport/tennis/player1/#', 'sport/tennis/player1/score/wimbledon'],
    ['sport/#', 'sport'],
    ['#', 'sport/tennis'],
    ['#', '/'],
    ['sport/tennis/+', 'sport/tennis/player1'],
    ['sport/+', 'sport/'],
    ['+/+', '/finance'],
    ['/+', '/finance'],
    ['+/tennis/#', 'sport/tennis'],
    ['$SYS/#', '$SYS/broker'],
    ['$SYS/monitor/+', '$SYS/monitor/Clients'],
    ['a//b', 'a//b'],
    ['a/+/b', 'a//b'],
    ['a/$b/+', 'a/$b/c'],
  ])('takes %s for %s', (topicFilter, topicName) => {
    expect(matches(topicFilter, topicName)).toBe(true);
  });

  it.each([
    ['sport/tennis/+', 'sport/tennis/player1/ranking'],
    ['sport/+', 'sport'],
    ['+', '/finance'],
    ['a/b', 'a/b/c'],
    ['a/b/c', 'a/b'],
    ['a', 'ab'],
    ['ab', 'a'],
    ['a/+', 'b/a'],
    ['sport/#', 'sports'],
    ['a/b/#', 'a'],
  ])('does not take %s for %s', (topicFilter, topicName) => {
    expect(matches(topicFilter, topicName)).toBe(false);
  });

  it('[MQTT-4.7.2-1] does not take a leading wildcard for a topic that begins with $', () => {
    for (const topicFilter of ['#', '+', '+/monitor/Clients', '+/#']) {
      expect(matches(topicFilter, '$SYS/monitor/Clients')).toBe(false);
    }
    expect(matches('+/monitor', '$SYS/monitor')).toBe(false);
    expect(matches('+', '$SYS')).toBe(false);
  });

  it('[MQTT-4.7.3-4] takes characters as they are: case, spaces and composition count', () => {
    expect(matches('ACCOUNTS', 'Accounts')).toBe(false);
    expect(matches('a ', 'a')).toBe(false);
    expect(matches('\u00e4', 'a\u0308')).toBe(false);
  });

  it('agrees with the naive matcher', () => {
    fc.assert(
      fc.property(filter, name, (topicFilter, topicName) => {
        expect(matches(topicFilter, topicName)).toBe(naiveMatches(topicFilter, topicName));
      }),
      { numRuns: runs(10_000) },
    );
  });
});
