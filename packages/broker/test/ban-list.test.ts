import { describe, expect, it } from 'vitest';
import { BANS_MAX, type Ban, BanList, type Identity } from '../src/index.ts';

const NOW_MS = 1_700_000_000_000;

function banOf(fields: Partial<Ban>): Ban {
  return { as: 'clientid', who: 'c', tenant: 'default', by: '', reason: '', atMs: NOW_MS, ...fields };
}

function listOf(...bans: Ban[]) {
  const clock = { nowMs: NOW_MS, now: () => clock.nowMs };
  return { clock, list: new BanList(clock, bans) };
}

const ANNA: Identity = { tenant: 'default', name: 'anna', tokenId: 'jti-1', issuedAtMs: NOW_MS };

describe('the list of bans', () => {
  it.each([
    ['clientid', 'phone'],
    ['username', 'anna'],
    ['token', 'jti-1'],
  ] as const)('finds a client by its %s, in its tenant alone', (as, who) => {
    const ban = banOf({ as, who });
    const { list } = listOf(ban);
    expect(list.banOn(ANNA, 'phone', undefined)).toBe(ban);
    expect(list.banOn({ ...ANNA, tenant: 'other' }, 'phone', undefined)).toBeUndefined();
    expect(
      list.banOn({ tenant: 'default', name: 'bert', tokenId: 'jti-2' }, 'tv', undefined),
    ).toBeUndefined();
  });

  it('finds an address in every tenant', () => {
    const ban = banOf({ as: 'peerhost', who: '192.0.2.1', tenant: '' });
    const { list } = listOf(ban);
    expect(list.banOn(ANNA, 'phone', '192.0.2.1')).toBe(ban);
    expect(list.banOnHost('192.0.2.1')).toBe(ban);
    expect(list.banOnHost('192.0.2.2')).toBeUndefined();
    expect(list.banOnHost(undefined)).toBeUndefined();
  });

  it('refuses tokens of one name that were issued before a moment, or have no time of issue', () => {
    const ban = banOf({ as: 'username', who: 'anna', issuedBeforeMs: NOW_MS });
    const { list } = listOf(ban);
    expect(list.banOn({ ...ANNA, issuedAtMs: NOW_MS - 1 }, 'phone', undefined)).toBe(ban);
    expect(list.banOn({ tenant: 'default', name: 'anna' }, 'phone', undefined)).toBe(ban);
    expect(list.banOn(ANNA, 'phone', undefined)).toBeUndefined();
  });

  it('forgets a ban to the millisecond', () => {
    const { list, clock } = listOf(banOf({ as: 'username', who: 'anna', untilMs: NOW_MS + 1_000 }));
    clock.nowMs += 999;
    expect(list.banOn(ANNA, 'phone', undefined)).toBeDefined();
    clock.nowMs += 1;
    expect(list.banOn(ANNA, 'phone', undefined)).toBeUndefined();
    expect(list.all()).toEqual([]);
  });

  it('has one ban of a name in each tenant, the last', () => {
    const { list } = listOf(
      banOf({ reason: 'first' }),
      banOf({ tenant: 'other' }),
      banOf({ reason: 'last' }),
    );
    expect(list.all()).toHaveLength(2);
    expect(list.get(banOf({}))?.reason).toBe('last');
    expect(list.remove(banOf({}))).toBe(true);
    expect(list.remove(banOf({}))).toBe(false);
    expect(list.all()).toMatchObject([{ tenant: 'other' }]);
  });

  it('is bounded, and bans that have ended make room', () => {
    const { list, clock } = listOf();
    for (let index = 0; index < BANS_MAX - 1; index += 1)
      expect(list.add(banOf({ who: `${index}` }))).toBe(true);
    expect(list.add(banOf({ who: 'short', untilMs: NOW_MS + 1 }))).toBe(true);
    expect(list.add(banOf({ who: 'one more' }))).toBe(false);
    expect(list.add(banOf({ who: '0', reason: 'replaced' }))).toBe(true);
    clock.nowMs += 1;
    expect(list.add(banOf({ who: 'one more' }))).toBe(true);
    expect(list.all()).toHaveLength(BANS_MAX);
  });
});
