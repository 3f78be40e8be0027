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
  const line = prettyLine({ ...ENTRY, fields: { clientId: `a\n${escapeCharacter}[2J` } }, false);
  expect(line).toContain('protocol-violation');
  expect(line).toContain('clientId="a\\n\\u001b[2J"');
  expect(line).not.toContain('\n');
  expect(line).not.toContain(escapeCharacter);
  expect(prettyLine(ENTRY, true)).toContain(`${escapeCharacter}[33mprotocol-violation`);
});

test('no line has a character that a terminal obeys, or that turns its text [SEC-LOG-5]', () => {
  const hostile = '\u009b2J\u007f\u202etxt\u2066\u2028';
  const entry = { ...ENTRY, fields: { clientId: hostile, reason: `about ${hostile}` } };
  for (const line of [jsonLine(entry), prettyLine(entry, false)]) {
    expect(line).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u);
    expect(line).toContain('\\u202etxt');
  }
  expect(JSON.parse(jsonLine(entry))).toMatchObject({ clientId: hostile });
});

test('a long line is cut, and still names its client', () => {
  const many = Object.fromEntries(
    [...Array(5_000).keys()].map((index) => [`field${index}`, 'x'.repeat(100)]),
  );
  const fields = { ...many, clientId: 'c'.repeat(60_000), connectionId: 'n1', reasonCode: 135 };
  const line = jsonLine({ ...ENTRY, fields });
  expect(line.length).toBeLessThan(8_192);
  expect(JSON.parse(line)).toMatchObject({
    event: 'protocol-violation',
    connectionId: 'n1',
    clientId: 'c'.repeat(200),
    reasonCode: 135,
    leftOutCharacters: expect.any(Number),
  });
  expect(prettyLine({ ...ENTRY, fields }, true).length).toBeLessThan(8_300);
});

test('no field takes the place of time, level and event', () => {
  const line = jsonLine({ ...ENTRY, fields: { time: 'never', level: 'debug', event: 'other' } });
  expect(JSON.parse(line)).toMatchObject({ level: 'warn', event: 'protocol-violation' });
});

test('a log writes the lines of its own level and of graver ones', () => {
  const events: string[] = [];
  const log = new NodeLog('warn', ({ event }) => events.push(event), { now: () => 0 });
  log.debug('debug');
  log.info('info');
  log.warn('warn');
  log.error('error');
  expect(events).toEqual(['warn', 'error']);
});
