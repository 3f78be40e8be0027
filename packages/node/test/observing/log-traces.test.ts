import { SparingLog } from '@apus/broker';
import { describe, expect, test } from 'vitest';
import type { LogEntry } from '../../src/log.ts';
import { NodeLog } from '../../src/log.ts';
import {
  LogTraces,
  TRACE_LINES_MAX,
  TRACE_LINES_PER_SECOND_MAX,
  TRACES_MAX,
} from '../../src/observing/log-traces.ts';
import { ObservedLog, Observer } from '../../src/observing/observer.ts';
import { FakeScheduler } from '../support/fake-scheduler.ts';

const OF_TOPIC = { name: 'one', type: 'topic', value: 'a/#', seconds: 60 } as const;
const LINE = { tenant: 'default', name: 'ann', clientId: 'c', address: '192.0.2.1:5000', topic: 'a/b' };

function traces() {
  const clock = new FakeScheduler();
  return { clock, traces: new LogTraces(clock) };
}

const read = (of: LogTraces, name = 'one', position = 0) => {
  const log = of.read('default', name, position);
  if (log === undefined) throw new Error('there is no such trace');
  return log;
};

describe('a trace', () => {
  test.each([
    ['topic', 'a/#', 1],
    ['topic', 'b/#', 0],
    ['clientid', 'c', 1],
    ['clientid', 'd', 0],
    ['ip_address', '192.0.2.1', 1],
    ['ip_address', '192.0.2.2', 0],
  ] as const)('by %s %s', (type, value, count) => {
    const { traces: of } = traces();
    of.start('default', { ...OF_TOPIC, type, value });
    of.note('debug', 'publish', LINE);
    expect(read(of).lines).toHaveLength(count);
  });

  test('sees no line of another tenant, and of a stranger only in the tenant `default`', () => {
    const { traces: of } = traces();
    of.start('acme', { ...OF_TOPIC, value: '#' });
    of.start('acme', { name: 'two', type: 'clientid', value: 'c', seconds: 60 });
    of.start('default', { name: 'three', type: 'clientid', value: 'c', seconds: 60 });
    of.note('debug', 'publish', LINE);
    of.note('warn', 'messages-dropped', { topic: 'a/b' });
    of.note('warn', 'connect-refused', { clientId: 'c', address: '192.0.2.1:1' });
    expect(of.read('acme', 'one', 0)?.lines).toEqual([]);
    expect(of.read('acme', 'two', 0)?.lines).toEqual([]);
    expect(of.read('default', 'three', 0)?.lines).toHaveLength(2);
    expect(of.read('acme', 'three', 0)).toBeUndefined();
    expect(of.list('acme').map(({ name }) => name)).toEqual(['one', 'two']);
    expect(of.remove('acme', 'three')).toBe(false);
  });

  test('gives each line once, behind the position of the answer before', () => {
    const { traces: of } = traces();
    of.start('default', OF_TOPIC);
    of.note('debug', 'publish', LINE);
    const { position } = read(of);
    of.note('debug', 'publish', { ...LINE, topic: 'a/c' });
    expect(read(of, 'one', position).lines.map(({ fields }) => fields.topic)).toEqual(['a/c']);
  });

  test('ends by itself, can be read for ten minutes, and is forgotten', () => {
    const { clock, traces: of } = traces();
    of.start('default', OF_TOPIC);
    of.note('debug', 'publish', LINE);
    clock.advance(60_000);
    of.look();
    expect(of.isRunning).toBe(false);
    of.note('debug', 'publish', LINE);
    expect(read(of)).toMatchObject({ status: 'stopped', lines: [expect.anything()] });
    clock.advance(600_000);
    of.look();
    expect(of.read('default', 'one', 0)).toBeUndefined();
  });

  test('on # at 5,000 lines a second keeps a hundred of each, counts the others, and holds a thousand', () => {
    const { clock, traces: of } = traces();
    of.start('default', { ...OF_TOPIC, value: '#' });
    for (let second = 0; second < 20; second += 1) {
      for (let line = 0; line < 5_000; line += 1) of.note('debug', 'publish', LINE);
      clock.advance(1_000);
    }
    const { lines, position, left_out } = read(of);
    expect(position).toBe(20 * TRACE_LINES_PER_SECOND_MAX);
    expect(lines).toHaveLength(TRACE_LINES_MAX);
    expect(left_out).toBe(20 * 5_000 - TRACE_LINES_MAX);
  });

  test('is one of five, each under its own name', () => {
    const { traces: of } = traces();
    const started = Array.from({ length: TRACES_MAX + 1 }, (_, index) =>
      of.start('default', { ...OF_TOPIC, name: `t${index}` }),
    );
    expect(started.filter(Boolean)).toHaveLength(TRACES_MAX);
    of.remove('default', 't0');
    expect(of.start('default', { ...OF_TOPIC, name: 't1' })).toBe(false);
    expect(of.start('default', { ...OF_TOPIC, name: 't0' })).toBe(true);
  });

  test('has short texts', () => {
    const { traces: of } = traces();
    of.start('default', { ...OF_TOPIC, value: '#' });
    of.note('debug', 'publish', { ...LINE, topic: `a/${'x'.repeat(60_000)}` });
    expect(JSON.stringify(read(of).lines).length).toBeLessThan(1_000);
  });
});

describe('the log of a node', () => {
  function log() {
    const clock = new FakeScheduler();
    const written: LogEntry[] = [];
    const observer = new Observer(clock);
    const node = new NodeLog('info', (entry) => written.push(entry), clock);
    return { clock, written, observer, log: new ObservedLog(observer, node, clock) };
  }

  test('writes debug lines while a trace runs, to the trace alone', () => {
    const { clock, written, observer, log: of } = log();
    expect(of.writesDebug).toBe(false);
    observer.traces.start('default', OF_TOPIC);
    expect(of.writesDebug).toBe(true);
    of.debug('publish', LINE);
    expect(written).toEqual([]);
    expect(read(observer.traces).lines).toHaveLength(1);
    clock.advance(60_000);
    observer.look();
    expect(of.writesDebug).toBe(false);
  });

  test('shows the observer lines that it leaves out itself', () => {
    const { written, observer, log: of } = log();
    for (let attempt = 0; attempt < 5; attempt += 1)
      of.warn('connect-refused', { clientId: 'c', address: '192.0.2.1:1', reasonCode: 0x86 });
    expect(of).toBeInstanceOf(SparingLog);
    expect(written).toHaveLength(1);
    expect(observer.events.newest('default', 'c')).toMatchObject([{ count: 5 }]);
  });
});
