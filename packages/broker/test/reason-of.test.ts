import { reasonOf } from '@apus/broker';
import { describe, expect, it } from 'vitest';

const refused = (address: string) => new Error(`connect ECONNREFUSED ${address}`);

describe('the reason of an error', () => {
  it('is its message', () => {
    expect(reasonOf(new Error('no space left on device'))).toBe('no space left on device');
    expect(reasonOf('thrown as text')).toBe('thrown as text');
  });

  it('has the innermost cause, which fetch hides', () => {
    const cause = new Error('between', { cause: refused('127.0.0.1:1') });
    expect(reasonOf(new TypeError('fetch failed', { cause }))).toBe('connect ECONNREFUSED 127.0.0.1:1');
    expect(reasonOf(new Error('The keys cannot be read now', { cause }))).toBe(
      'The keys cannot be read now: connect ECONNREFUSED 127.0.0.1:1',
    );
  });

  it('has each address that was tried, and no empty message', () => {
    const both = new AggregateError([refused('::1:1'), refused('127.0.0.1:1'), refused('::1:1')]);
    expect(reasonOf(both)).toBe('connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1');
    expect(reasonOf(new Error('Cannot connect.', { cause: both }))).toBe(
      'Cannot connect: connect ECONNREFUSED ::1:1; connect ECONNREFUSED 127.0.0.1:1',
    );
    expect(reasonOf(new TypeError())).toBe('TypeError');
  });

  it('says nothing twice, and ends with causes that are each their own', () => {
    expect(reasonOf(new Error('a file cannot be read: gone', { cause: new Error('gone') }))).toBe(
      'a file cannot be read: gone',
    );
    const endless = new Error('endless');
    endless.cause = endless;
    expect(reasonOf(endless)).toBe('endless');
  });
});
