import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { ClientEvents, EVENTS_MAX, EVENTS_PER_CLIENT_MAX } from '../../src/observing/client-events.ts';
import { FakeScheduler } from '../support/fake-scheduler.ts';

const ANN = { tenant: 'default', name: 'ann', clientId: 'sensor', address: '192.0.2.1:5000' };

function history() {
  const clock = new FakeScheduler();
  return { clock, events: new ClientEvents(clock) };
}

describe('the history of a client', () => {
  test('has what the log says about it, the newest first', () => {
    const { clock, events } = history();
    events.note('connected', ANN);
    clock.advance(1_000);
    events.note('disconnected', { ...ANN, address: undefined, reason: 'keepalive_timeout' });
    events.note('certificates-read', { files: [] });
    expect(events.newest('default', 'sensor')).toEqual([
      expect.objectContaining({ event: 'disconnected', reason: 'keepalive_timeout', ip_address: null }),
      expect.objectContaining({ event: 'connected', username: 'ann', ip_address: '192.0.2.1', count: 1 }),
    ]);
    expect(events.newest('default', 'another')).toEqual([]);
  });

  test('is another one in each tenant', () => {
    const { events } = history();
    events.note('connected', ANN);
    events.note('connected', { ...ANN, tenant: 'acme' });
    expect(events.newest('acme', undefined)).toHaveLength(1);
    expect(events.newest('acme', 'sensor')).toHaveLength(1);
    expect(events.newest('others', 'sensor')).toEqual([]);
  });

  test('counts refusals of one kind within ten minutes as one: whoever knows an identifier hides nothing', () => {
    const { clock, events } = history();
    events.note('connected', ANN);
    for (let attempt = 0; attempt < 1_000; attempt += 1) {
      clock.advance(10);
      const reasonCode = attempt % 2 === 0 ? 0x86 : 0x87;
      events.note('connect-refused', {
        clientId: 'sensor',
        address: '203.0.113.9:1',
        reasonCode,
        reason: 'no',
      });
    }
    const found = events.newest('default', 'sensor');
    expect(found.map(({ event, count }) => [event, count])).toEqual([
      ['refused', 500],
      ['refused', 500],
      ['connected', 1],
    ]);
    clock.advance(600_001);
    events.note('connect-refused', {
      clientId: 'sensor',
      address: '203.0.113.9:1',
      reasonCode: 0x86,
      reason: 'no',
    });
    expect(events.newest('default', 'sensor')).toHaveLength(4);
  });

  test('has the newest events of a client that comes and goes', () => {
    const { clock, events } = history();
    for (let turn = 0; turn < EVENTS_PER_CLIENT_MAX; turn += 1) {
      clock.advance(1);
      events.note('connected', ANN);
      events.note('disconnected', ANN);
    }
    expect(events.newest('default', 'sensor')).toHaveLength(EVENTS_PER_CLIENT_MAX);
  });

  test('keeps a handshake that was refused, under its address', () => {
    const { events } = history();
    events.note('token-refused', {
      address: '[2001:db8::1]:5000',
      status: 401,
      reason: 'The token has expired.',
    });
    expect(events.newest('default', undefined)).toEqual([
      expect.objectContaining({
        clientid: null,
        event: 'refused',
        ip_address: '2001:db8::1',
        reason_code: 401,
      }),
    ]);
  });
});

describe('[SEC-GROWTH-10] a full history', () => {
  test('forgets the oldest of the identity that has most, and nothing of the others', () => {
    const { events } = history();
    events.note('connected', ANN);
    for (let id = 0; id < EVENTS_MAX + 2_000; id += 1)
      events.note('connected', { tenant: 'default', name: 'mallory', clientId: `flood-${id}` });
    expect(events.size).toBeLessThanOrEqual(EVENTS_MAX);
    expect(events.newest('default', 'sensor')).toHaveLength(1);
    expect(events.newest('default', 'flood-0')).toEqual([]);
    expect(events.newest('default', `flood-${EVENTS_MAX + 1_999}`)).toHaveLength(1);
  });

  test('forgets the oldest of the tenant that has most, whatever names its clients have', () => {
    const { events } = history();
    events.note('connected', ANN);
    for (let id = 0; id < EVENTS_MAX + 2_000; id += 1)
      events.note('connected', { tenant: 'acme', name: `user-${id}`, clientId: `flood-${id}` });
    expect(events.size).toBeLessThanOrEqual(EVENTS_MAX);
    expect(events.newest('default', 'sensor')).toHaveLength(1);
  });

  test('keeps long identifiers and reasons short, and finds them again', () => {
    const { events } = history();
    const long = 'x'.repeat(60_000);
    events.note('connected', { ...ANN, name: long, clientId: long });
    events.note('connected', { ...ANN, clientId: `${long}y` });
    events.note('protocol-violation', { ...ANN, clientId: long, reason: long });
    const found = events.newest('default', long);
    expect(found).toHaveLength(2);
    for (const { clientid, username, reason } of found)
      expect(`${clientid}${username}${reason}`.length).toBeLessThan(700);
  });

  test('holds no more of a long identifier in memory than it shows', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const { events } = history();
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let id = 0; id < 1_000; id += 1) {
      const clientId = Buffer.alloc(60_000, `${id} `).toString();
      events.note('connected', { ...ANN, clientId });
    }
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
    expect(events.size).toBe(1_000);
  });

  test('keeps the newest events of a client that fills it, and all of others of the same identity', () => {
    const { events } = history();
    events.note('connected', ANN);
    for (let turn = 0; turn < EVENTS_MAX; turn += 1)
      events.note('connected', { ...ANN, clientId: 'flapping' });
    expect(events.size).toBe(EVENTS_PER_CLIENT_MAX + 1);
    expect(events.newest('default', 'sensor')).toHaveLength(1);
  });

  test('makes room where each tenant has one event', () => {
    const { events } = history();
    for (let id = 0; id <= EVENTS_MAX; id += 1) events.note('connected', { ...ANN, tenant: `tenant-${id}` });
    expect(events.size).toBeLessThanOrEqual(EVENTS_MAX);
    expect(events.newest(`tenant-${EVENTS_MAX}`, 'sensor')).toHaveLength(1);
    expect(events.newest('tenant-0', 'sensor')).toEqual([]);
  });
});
