import { type Rule, rulesOfLists } from '@apus/broker';
import { describe, expect, test } from 'vitest';
import { RULES_BYTES_MAX, RULES_MAX, readRules, TOPIC_FILTERS_MAX } from '../../src/index.ts';

/** As EMQX writes it. */
const placeholder = (name: string) => `\${${name}}`;

const filters = (count: number, filter = 'a') => Array.from({ length: count }, () => filter);
const RULE: Rule = { effect: 'allow', action: 'all', topicFilters: ['a'] };

describe('lists of topic filters', () => {
  test('allow what they list', () => {
    expect(readRules({ publish: ['a/%u'], subscribe: ['#'] })).toEqual(rulesOfLists(['a/%u'], ['#']));
    expect(readRules({ publish: ['a'] })).toEqual(rulesOfLists(['a'], []));
    expect(readRules({})).toEqual([]);
  });

  test.each([
    [{ publish: ['a', 'a/#/b'] }, /^publish\[1\]: .*# only as its whole last level: "a\/#\/b"\.$/],
    [{ subscribe: ['a/b+'] }, /^subscribe\[0\]: .*\+ only as a whole level: "a\/b\+"\.$/],
    [{ publish: [''] }, /^publish\[0\]: .*at least one character/],
    [{ publish: ['%u+'] }, /^publish\[0\]: .*\+ only as a whole level/],
    [{ publish: ['eq a/#/b'] }, /^publish\[0\]: .*"a\/#\/b"\.$/],
    [{ publish: 'a' }, /^publish has to be a list of at most 100 topic filters\.$/],
    [{ publish: null }, /^publish has to be a list/],
    [{ subscribe: [1] }, /^subscribe\[0\] has to be a string, a topic filter\.$/],
    [{ subscribe: ['$share/g/a'] }, /^subscribe\[0\]: A rule has the filter alone, without \$share\//],
    [{ subscribe: ['$share/g'] }, /^subscribe\[0\]: A rule has the filter alone/],
    [{ publish: [`a/${placeholder('zone')}`] }, /^publish\[0\]: "\$\{zone\}" is no placeholder/],
    [{ publish: ['a/${username'] }, /^publish\[0\]: "\$\{username" is no placeholder/],
  ])('that make no sense are refused with the place: %j [SEC-RULES-3]', (sources, sentence) => {
    expect(readRules(sources)).toMatch(sentence);
  });

  test('may hold a placeholder of EMQX, and everything to the letter', () => {
    const publish = [`a/${placeholder('username')}/#`, `eq a/${placeholder('zone')}`, 'eq a/#'];
    expect(readRules({ publish })).toEqual(rulesOfLists(publish, []));
  });
});

describe('`rules`', () => {
  test('are used as they are, before all others', () => {
    const rules: readonly Rule[] = [
      { effect: 'deny', action: 'publish', topicFilters: ['a'], qos: [0, 2], retain: true },
      { effect: 'allow', action: 'subscribe', topicFilters: ['b/#'], share: ['g'] },
      { effect: 'allow', action: 'all', topicFilters: [], retain: false, share: true },
    ];
    expect(readRules({ publish: ['c'], rules })).toEqual([...rules, ...rulesOfLists(['c'], [])]);
  });

  test.each([
    [{}, /^rules\[0\]\.action has to be one of publish, subscribe, all\.$/],
    ['allow', /^rules\[0\] has to be an object with the fields effect, action, topicFilters/],
    [[], /^rules\[0\] has to be an object/],
    [{ ...RULE, effect: 'Allow' }, /^rules\[0\]\.effect has to be one of allow, deny\.$/],
    [{ ...RULE, action: 'pub' }, /^rules\[0\]\.action has to be one of/],
    [{ ...RULE, topicFilters: 'a' }, /^rules\[0\]\.topicFilters has to be a list/],
    [{ ...RULE, topicFilters: ['a/#/b'] }, /^rules\[0\]\.topicFilters\[0\]: .*"a\/#\/b"/],
    [{ ...RULE, qos: 1 }, /^rules\[0\]\.qos has to be a list of 0, 1 and 2/],
    [{ ...RULE, qos: [] }, /^rules\[0\]\.qos has to be/],
    [{ ...RULE, qos: [3] }, /^rules\[0\]\.qos has to be/],
    [{ ...RULE, retain: 1 }, /^rules\[0\]\.retain has to be true or false/],
    [{ ...RULE, action: 'subscribe', retain: true }, /^rules\[0\]\.retain is a condition on messages/],
    [{ ...RULE, action: 'publish', share: true }, /^rules\[0\]\.share is a condition on subscriptions/],
    [{ ...RULE, share: [] }, /^rules\[0\]\.share has to be true, false, or a list/],
    [{ ...RULE, share: ['a/b'] }, /^rules\[0\]\.share has to be/],
    [{ ...RULE, share: ['+'] }, /^rules\[0\]\.share has to be/],
    [{ ...RULE, share: filters(21) }, /^rules\[0\]\.share has to be a list of at most 20/],
    [
      { ...RULE, QoS: [1] },
      /^rules\[0\] has no field "QoS": it has effect, action, topicFilters, qos, retain, share/,
    ],
  ])('that make no sense are refused with the place: %j', (rule, sentence) => {
    expect(readRules({ rules: [rule] })).toMatch(sentence);
  });
});

describe("EMQX's `acl`", () => {
  test('with three lists allows what they list', () => {
    const acl = {
      pub: [`testpub1/${placeholder('username')}`, `eq testpub2/${placeholder('username')}`],
      sub: ['testsub2/#'],
      all: [`testall2/${placeholder('clientid')}`],
    };
    expect(readRules({ acl })).toEqual([
      { effect: 'allow', action: 'publish', topicFilters: acl.pub },
      { effect: 'allow', action: 'subscribe', topicFilters: acl.sub },
      { effect: 'allow', action: 'all', topicFilters: acl.all },
    ]);
    expect(readRules({ acl: {} })).toEqual([]);
  });

  test('with rules becomes rules of Apus', () => {
    const acl = [
      { permission: 'allow', action: 'publish', topic: `t/${placeholder('clientid')}` },
      { permission: 'allow', action: 'subscribe', topic: 'eq t/1/#', qos: [1], retain: true },
      { permission: 'deny', action: 'pub', topics: ['t/2', 't/3'], qos: 2, retain: true },
      { permission: 'deny', action: 'all', topic: '#' },
    ];
    expect(readRules({ acl })).toEqual([
      { effect: 'allow', action: 'publish', topicFilters: [`t/${placeholder('clientid')}`] },
      { effect: 'allow', action: 'subscribe', topicFilters: ['eq t/1/#'], qos: [1] },
      { effect: 'deny', action: 'publish', topicFilters: ['t/2', 't/3'], qos: [2], retain: true },
      { effect: 'deny', action: 'all', topicFilters: ['#'] },
    ]);
  });

  const ENTRY = { permission: 'deny', action: 'all', topic: 'a' };
  test.each([
    [{ publish: ['a'] }, /^acl has no field "publish": it has pub, sub, all\.$/],
    [{ sub: ['a/#/b'] }, /^acl\.sub\[0\]: .*"a\/#\/b"/],
    ['a', /^acl has to be an object/],
    [null, /^acl has to be an object/],
    [[{ ...ENTRY, permission: 'no' }], /^acl\[0\]\.permission has to be one of allow, deny/],
    [[{ ...ENTRY, topics: ['b'] }], /^acl\[0\] has to have either topic or topics/],
    [[{ permission: 'deny', action: 'all' }], /^acl\[0\] has to have either topic or topics/],
    [[{ ...ENTRY, topic: 'a/#/b' }], /^acl\[0\]\.topic: .*"a\/#\/b"/],
    [[{ ...ENTRY, qos: '1' }], /^acl\[0\]\.qos has to be/],
    [[{ ...ENTRY, ipaddr: '10.0.0.0/8' }], /^acl\[0\] has no field "ipaddr"/],
  ])('that makes no sense, or whose conditions would not be kept, is refused: %j', (acl, sentence) => {
    expect(readRules({ acl })).toMatch(sentence);
  });
});

describe('the limits allow', () => {
  test(`${TOPIC_FILTERS_MAX} topic filters in all`, () => {
    const half = filters(TOPIC_FILTERS_MAX / 2);
    expect(readRules({ publish: half, subscribe: half })).toEqual(rulesOfLists(half, half));
    expect(readRules({ publish: [...half, 'b'], subscribe: half })).toBe(
      'there are 101 topic filters; 100 are the most.',
    );
  });

  test(`${RULES_MAX} rules`, () => {
    const rules = Array.from({ length: RULES_MAX }, () => RULE);
    expect(readRules({ rules })).toEqual(rules);
    expect(readRules({ rules: [...rules, RULE] })).toBe('rules has to be a list of at most 100 rules.');
    expect(readRules({ rules, acl: { all: [] } })).toBe('there are 101 rules; 100 are the most.');
  });

  test(`${RULES_BYTES_MAX} bytes of rules`, () => {
    const empty = JSON.stringify(rulesOfLists([''], [])).length;
    const publish = ['a'.repeat(RULES_BYTES_MAX - empty)];
    expect(readRules({ publish })).toEqual(rulesOfLists(publish, []));
    expect(readRules({ publish: [`${publish[0]}a`] })).toBe('the rules take 8193 bytes; 8192 are the most.');
  });
});

test('the place begins with the prefix', () => {
  expect(readRules({ publish: 'a' }, 'users[0].')).toMatch(/^users\[0\]\.publish has to be/);
});
