import { describe, expect, it } from 'vitest';
import { BanEntryError, banEntryOf, peerHostOf, readBan, readBanName } from '../../src/index.ts';

const NOW_MS = Date.UTC(2026, 0, 31, 12);
const CONTEXT = { tenant: 'default', by: 'mgmt_api', nowMs: NOW_MS };

describe('a ban as EMQX words it', () => {
  it('has defaults for all other fields: it begins now and never ends', () => {
    const ban = readBan({ as: 'clientid', who: 'phone' }, CONTEXT);
    expect(ban).toEqual({
      as: 'clientid',
      who: 'phone',
      tenant: 'default',
      by: 'mgmt_api',
      reason: '',
      atMs: NOW_MS,
    });
    expect(banEntryOf(ban)).toEqual({
      as: 'clientid',
      who: 'phone',
      by: 'mgmt_api',
      reason: '',
      at: '2026-01-31T12:00:00.000Z',
      until: 'infinity',
    });
  });

  it.each([
    ['2026-01-31T15:00:00+02:00', NOW_MS + 3_600_000],
    [NOW_MS / 1_000 + 60, NOW_MS + 60_000],
    ['infinity', undefined],
  ])('ends at %s', (until, untilMs) => {
    expect(readBan({ as: 'token', who: 'jti', until }, CONTEXT).untilMs).toBe(untilMs);
  });

  it('of a name can apply to what was issued before a moment', () => {
    const ban = readBan({ as: 'username', who: 'anna', issued_before: '2026-01-31T12:00:00Z' }, CONTEXT);
    expect(ban.issuedBeforeMs).toBe(NOW_MS);
    expect(banEntryOf(ban).issued_before).toBe('2026-01-31T12:00:00.000Z');
  });

  it.each([
    ['nothing', undefined],
    ['a list', []],
    ['no kind', { who: 'x' }],
    ['an unknown kind', { as: 'clientid_re', who: 'x' }],
    ['an empty name', { as: 'clientid', who: '' }],
    ['a name that is too long', { as: 'clientid', who: 'x'.repeat(1_025) }],
    ['no address', { as: 'peerhost', who: 'localhost' }],
    ['an unknown field', { as: 'clientid', who: 'x', why: 'spam' }],
    ['a time that is none', { as: 'clientid', who: 'x', until: 'tomorrow' }],
    ['a time that is over', { as: 'clientid', who: 'x', until: NOW_MS / 1_000 }],
    ['a reason that is too long', { as: 'clientid', who: 'x', reason: 'x'.repeat(201) }],
    ['issued_before for no name', { as: 'clientid', who: 'x', issued_before: NOW_MS / 1_000 }],
  ])('is refused with a sentence where it is %s', (_what, value) => {
    expect(() => readBan(value, CONTEXT)).toThrow(BanEntryError);
    expect(() => readBan(value, CONTEXT)).toThrow(/\w+ .*\.$/);
  });
});

describe('an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['192.0.2.1:5000', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s is %s', (address, host) => {
    expect(peerHostOf(address)).toBe(host);
  });

  it('is banned in one spelling, for every tenant', () => {
    expect(readBanName('peerhost', '2001:0DB8::0001', 'default')).toEqual({
      as: 'peerhost',
      who: '2001:db8::1',
      tenant: '',
    });
  });
});
