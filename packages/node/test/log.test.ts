import { expect, test } from 'vitest';
import { jsonLine, type LogEntry, NodeLog, prettyLine } from '../src/log.ts';

const ENTRY: LogEntry = {
  level: 'warn',
  timeMs: Date.parse('2026-03-01T12:34:56.789Z'),
  event: 'protocol-violation',
  fields: { clientId: 'a\nb', reasonCode: 130, address: undefined },
};

test('a line of JSON has time, level, event and the fields, on one line', () => {
  expect(jsonLine(ENTRY)).toBe(
    '{"time":"2026-03-01T12:34:56.789Z","level":"warn","event":"protocol-violation","clientId":"a\\nb","reasonCode":130}',
  );
});

test('a line for people shows no control characters of a client', () => {
  const escapeCharacter = String.fromCharCode(27);
  const line = prettyLine({ ...ENTRY, fields: { clientId: `a\n${escapeCharacter}[2J` } });
  expect(line).toContain('protocol-violation');
  expect(line).toContain('clientId="a\\n\\u001b[2J"');
  expect(line).not.toContain('\n');
});

test('a level takes itself and what is graver', () => {
  const events: string[] = [];
  const log = new NodeLog('warn', ({ event }) => events.push(event), { now: () => 0 });
  log.debug('debug');
  log.info('info');
  log.warn('warn');
  log.error('error');
  expect(events).toEqual(['warn', 'error']);
});
