import { matches, type QoS } from '@apus/mqtt';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { type Identity, type Rule, rulesAuthorizer } from '../src/index.ts';

const CLIENT = 'ada-phone';

/** As EMQX writes it. */
const placeholder = (name: string) => `\${${name}}`;

const ada = (...rules: readonly Rule[]): Identity => ({ tenant: 't', name: 'ada', rules });
const allow = (action: Rule['action'], ...topicFilters: string[]): Rule => ({
  effect: 'allow',
  action,
  topicFilters,
});
const deny = (action: Rule['action'], ...topicFilters: string[]): Rule => ({
  effect: 'deny',
  action,
  topicFilters,
});

function mayPublish(identity: Identity, topic: string, terms: { qos?: QoS; retain?: boolean } = {}) {
  return rulesAuthorizer.mayPublish(identity, CLIENT, topic, { qos: 0, retain: false, ...terms });
}

function maySubscribe(identity: Identity, filter: string, terms: { qos?: QoS; shareGroup?: string } = {}) {
  return rulesAuthorizer.maySubscribe(identity, CLIENT, filter, { qos: 0, shareGroup: undefined, ...terms });
}

/** A message of the topic that a subscription has brought. */
function mayReceive(identity: Identity, topic: string, shareGroup?: string) {
  return rulesAuthorizer.maySubscribe(identity, CLIENT, topic, { qos: undefined, shareGroup });
}

describe('without rules', () => {
  test('an anonymous client may do everything, and a name nothing', () => {
    expect(mayPublish({ tenant: 't', name: '' }, 'a')).toBe(true);
    expect(maySubscribe({ tenant: 't', name: '' }, '#')).toBe(true);
    expect(mayPublish({ tenant: 't', name: 'ada' }, 'a')).toBe(false);
    expect(maySubscribe({ tenant: 't', name: 'ada' }, 'a')).toBe(false);
  });

  test('that apply, every request is denied, to an anonymous client as well', () => {
    expect(mayPublish({ tenant: 't', name: '', rules: [allow('publish', 'b')] }, 'a')).toBe(false);
    expect(maySubscribe(ada(allow('publish', 'a')), 'a')).toBe(false);
  });
});

describe('the first rule that applies decides', () => {
  const identity = ada(deny('all', 'a/secret/#'), allow('all', 'a/#'), deny('all', 'a/late'));

  test.each([
    ['a/other', true],
    ['a/+/x', false],
    ['a/#', false],
    ['a/+', false],
    ['a/other/#', true],
    ['a/late', true],
    ['b', false],
    ['#', false],
  ])('about a filter, which a deny refuses where they have a topic in common: %s: %s', (filter, expected) => {
    expect(maySubscribe(identity, filter)).toBe(expected);
  });
});

describe('`eq a/#`', () => {
  test('allows the filter and none of its topics', () => {
    const identity = ada(allow('all', 'eq a/#', 'eq b'));
    expect(maySubscribe(identity, 'a/#')).toBe(true);
    expect(maySubscribe(identity, 'a/x')).toBe(false);
    expect(mayPublish(identity, 'a/x')).toBe(false);
    expect(mayPublish(identity, 'b')).toBe(true);
    expect(mayPublish(identity, 'xb')).toBe(false);
  });

  test('denies the filter and none of its topics', () => {
    const identity = ada(deny('subscribe', 'eq #', 'eq secret'), allow('subscribe', '#'));
    expect(maySubscribe(identity, '#')).toBe(false);
    expect(maySubscribe(identity, 'a/#')).toBe(true);
    expect(maySubscribe(identity, 'a')).toBe(true);
    // It names a topic, which `+` would bring as well.
    expect(maySubscribe(identity, '+')).toBe(false);
  });

  test('does not replace placeholders', () => {
    const identity = ada(allow('publish', `eq a/${placeholder('username')}`, 'eq b/%u'));
    expect(mayPublish(identity, `a/${placeholder('username')}`)).toBe(true);
    expect(mayPublish(identity, 'b/%u')).toBe(true);
    expect(mayPublish(identity, 'a/ada')).toBe(false);
  });

  test('lets the messages in that it has brought', () => {
    expect(mayReceive(ada(allow('subscribe', 'eq a/#')), 'a/x')).toBe(true);
    expect(mayReceive(ada(allow('subscribe', 'eq a/#')), 'b')).toBe(false);
  });
});

describe('a placeholder', () => {
  test.each(['%u', placeholder('username')])('%s is the name of the identity', (text) => {
    const identity = ada(allow('all', `u/${text}/#`));
    expect(mayPublish(identity, 'u/ada/x')).toBe(true);
    expect(mayPublish(identity, 'u/bob/x')).toBe(false);
    expect(maySubscribe(identity, 'u/ada/+')).toBe(true);
    expect(maySubscribe(identity, 'u/+/x')).toBe(false);
  });

  test.each(['%c', placeholder('clientid')])('%s is the client identifier', (text) => {
    const identity = ada(allow('all', `c/${text}/#`));
    expect(mayPublish(identity, 'c/ada-phone/x')).toBe(true);
    expect(mayPublish(identity, 'c/ada-tablet/x')).toBe(false);
  });

  test('of a freely chosen client identifier allows nothing, and denies as `+` [SEC-RULES-2]', () => {
    const identity = (...rules: readonly Rule[]) => ({ ...ada(...rules), name: 'bob' });
    expect(mayPublish(identity(allow('all', 'dev/%c/#')), `dev/${CLIENT}/x`)).toBe(false);
    expect(maySubscribe(identity(allow('all', 'dev/%c/#')), `dev/${CLIENT}/x`)).toBe(false);
    const denied = identity(deny('all', 'dev/%c/#'), allow('all', '#'));
    expect(mayPublish(denied, `dev/${CLIENT}/x`)).toBe(false);
    expect(mayPublish(denied, 'dev/other/x')).toBe(false);
    expect(maySubscribe(denied, 'dev/+')).toBe(false);
    expect(mayPublish(denied, 'dev')).toBe(true);
    // Every one of a list of patterns is the identity's, unless it is a wildcard and nothing else.
    const rules = [allow('all', 'dev/%c/#')];
    expect(mayPublish({ ...ada(...rules), clientIds: ['ada-+'] }, `dev/${CLIENT}/x`)).toBe(true);
    expect(mayPublish({ ...ada(...rules), clientIds: [CLIENT] }, `dev/${CLIENT}/x`)).toBe(true);
    expect(mayPublish({ ...ada(...rules), clientIds: ['+'] }, `dev/${CLIENT}/x`)).toBe(false);
    expect(mayPublish({ tenant: 't', name: '', rules }, `dev/${CLIENT}/x`)).toBe(false);
  });

  test('is filled in anew where the rules or the client identifier are others', () => {
    const identity = ada(allow('publish', 'c/%c'));
    const terms = { qos: 0, retain: false } as const;
    expect(rulesAuthorizer.mayPublish(identity, 'ada-1', 'c/ada-1', terms)).toBe(true);
    expect(rulesAuthorizer.mayPublish(identity, 'ada-2', 'c/ada-1', terms)).toBe(false);
    expect(rulesAuthorizer.mayPublish(identity, 'ada-2', 'c/ada-2', terms)).toBe(true);
  });

  test.each(['+', '#', 'a/b', '', '+/#', '$x'])('that stands for "%s" widens no allow', (name) => {
    const identity = { ...ada(allow('subscribe', '%u/x', '%u/#')), name };
    for (const filter of ['+/x', '#', '+/#', 'a/b/x', '/x', '$x/x', 'a/x']) {
      expect(maySubscribe(identity, filter)).toBe(false);
    }
  });

  test.each(['ada-+', 'ada-#', 'ada-a/b', 'ada-/#'])(
    'that stands for the bound "%s" widens no allow',
    (clientId) => {
      const identity = ada(allow('subscribe', 'c/%c/x', 'c/%c/#'));
      for (const filter of ['c/+/x', 'c/#', 'c/+/#', `c/${clientId}/x`, 'c/ada-1/x']) {
        const terms = { qos: 0, shareGroup: undefined } as const;
        expect(rulesAuthorizer.maySubscribe(identity, clientId, filter, terms)).toBe(false);
      }
    },
  );

  test.each([
    ['+', 'u/+/x', 'u/bob/x'],
    ['a/b', 'u/a/b/x', 'u/+/b/x'],
    ['', 'u//x', 'u/+/x'],
    ['ada', 'u/ada/x', 'u/+/x'],
    ['$x', 'u/$x/x', 'u/+/x'],
  ])('that stands for "%s" narrows no deny', (name, ...denied) => {
    const identity = { ...ada(deny('subscribe', 'u/%u/x'), allow('subscribe', '#')), name };
    for (const filter of [...denied, 'u/#', '#']) expect(maySubscribe(identity, filter)).toBe(false);
    expect(maySubscribe(identity, 'v/#')).toBe(true);
  });

  test.each(['%u/#', `${placeholder('username')}/#`, '%c/#'])(
    'is a level even if its name begins as a literal filter: %s [SEC-RULES-8]',
    (filter) => {
      const names = (effect: Rule['effect']) => ({
        ...ada({ effect, action: 'all', topicFilters: [filter] }, allow('all', 'public/#')),
        name: 'eq ada',
        clientIds: ['eq ada'],
      });
      const ask = (effect: Rule['effect'], topic: string) => [
        rulesAuthorizer.mayPublish(names(effect), 'eq ada', topic, { qos: 0, retain: false }),
        rulesAuthorizer.maySubscribe(names(effect), 'eq ada', topic, { qos: 0, shareGroup: undefined }),
        rulesAuthorizer.maySubscribe(names(effect), 'eq ada', topic, {
          qos: undefined,
          shareGroup: undefined,
        }),
      ];
      for (const topic of ['ada/#', 'ada/x', 'ada'])
        expect(ask('allow', topic)).toEqual([false, false, false]);
      expect(ask('allow', 'eq ada/x')).toEqual([true, true, true]);
    },
  );

  test('denies the topics of a name that begins as a literal filter [SEC-RULES-8]', () => {
    const identity = { ...ada(deny('all', '%u/#'), allow('all', '#')), name: 'eq ada' };
    expect(mayPublish(identity, 'eq ada/x')).toBe(false);
    expect(maySubscribe(identity, 'eq ada/x')).toBe(false);
    expect(mayPublish(identity, 'ada/x')).toBe(true);
  });

  test('in a name is no placeholder', () => {
    const identity = { ...ada(allow('publish', 'u/%u')), name: '%c' };
    expect(mayPublish(identity, 'u/%c')).toBe(true);
    expect(mayPublish(identity, `u/${CLIENT}`)).toBe(false);
  });
});

describe('beside a naive model, which asks the rules topic by topic', () => {
  const LEVELS = ['a', 'b', '', '$x'];
  const TOPICS = [1, 2, 3, 4].flatMap(topicsOf).filter((topic) => topic !== '');

  function topicsOf(levels: number): string[] {
    if (levels === 1) return LEVELS;
    return topicsOf(levels - 1).flatMap((topic) => LEVELS.map((level) => `${topic}/${level}`));
  }

  const filter = fc
    .tuple(
      fc.array(fc.constantFrom('a', 'b', '', '$x', '+'), { maxLength: 2 }),
      fc.constantFrom('a', 'b', '', '+', '#'),
    )
    .map(([levels, last]) => [...levels, last].join('/'))
    .filter((text) => text !== '');
  const qos = fc.constantFrom<QoS>(0, 1, 2);
  const shareGroup = fc.constantFrom('g', 'h', undefined);
  const rule: fc.Arbitrary<Rule> = fc.record(
    {
      effect: fc.constantFrom('allow', 'allow', 'deny'),
      action: fc.constantFrom('publish', 'subscribe', 'all'),
      topicFilters: fc.array(filter, { minLength: 1, maxLength: 3 }),
      qos: fc.uniqueArray(qos, { minLength: 1 }),
      retain: fc.boolean(),
      share: fc.constantFrom(true, false, ['g']),
    },
    { requiredKeys: ['effect', 'action', 'topicFilters'] },
  );
  const rules = fc.array(rule, { maxLength: 5 });

  interface Ask {
    readonly action: 'publish' | 'subscribe';
    readonly qos: QoS;
    readonly retain?: boolean;
    readonly shareGroup?: string | undefined;
  }

  /** The verdict of the rules on one topic. */
  function naive(all: readonly Rule[], topic: string, ask: Ask): boolean {
    const applying = all.find((each) => {
      if (each.action !== 'all' && each.action !== ask.action) return false;
      if (each.qos !== undefined && !each.qos.includes(ask.qos)) return false;
      if (ask.action === 'publish' && each.retain !== undefined && each.retain !== ask.retain) return false;
      if (ask.action === 'subscribe' && !isOfGroup(each.share, ask.shareGroup)) return false;
      return each.topicFilters.some((pattern) => matches(pattern, topic));
    });
    return applying?.effect === 'allow';
  }

  function isOfGroup(share: Rule['share'], group: string | undefined): boolean {
    if (share === undefined) return true;
    if (share === true) return group !== undefined;
    if (share === false) return group === undefined;
    return group !== undefined && share.includes(group);
  }

  test('a message is decided alike', () => {
    fc.assert(
      fc.property(rules, fc.constantFrom(...TOPICS), qos, fc.boolean(), (all, topic, at, retain) => {
        const expected = naive(all, topic, { action: 'publish', qos: at, retain });
        expect(mayPublish(ada(...all), topic, { qos: at, retain })).toBe(expected);
      }),
      { numRuns: runs(5000) },
    );
  });

  test('a subscription to one topic is decided alike', () => {
    fc.assert(
      fc.property(rules, fc.constantFrom(...TOPICS), qos, shareGroup, (all, topic, at, group) => {
        const expected = naive(all, topic, { action: 'subscribe', qos: at, shareGroup: group });
        const decided = maySubscribe(ada(...all), topic, {
          qos: at,
          ...(group !== undefined && { shareGroup: group }),
        });
        expect(decided).toBe(expected);
      }),
      { numRuns: runs(5000) },
    );
  });

  test('a granted filter matches no denied topic, and its messages are let in [SEC-RULES-1]', () => {
    const tried = runs(10_000);
    let granted = 0;
    fc.assert(
      fc.property(rules, filter, qos, shareGroup, (all, requested, at, group) => {
        const identity = ada(...all);
        const terms = { qos: at, ...(group !== undefined && { shareGroup: group }) };
        if (!maySubscribe(identity, requested, terms)) return;
        granted += 1;
        for (const topic of TOPICS) {
          if (!matches(requested, topic)) continue;
          expect(naive(all, topic, { action: 'subscribe', qos: at, shareGroup: group }), topic).toBe(true);
          expect(mayReceive(identity, topic, group), topic).toBe(true);
        }
      }),
      { numRuns: tried },
    );
    // About one in ten is.
    expect(granted).toBeGreaterThan(tried / 20);
  });
});
