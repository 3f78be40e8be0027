import { WAYS_IN, WAYS_OUT } from '@apus/broker';
import { expect, test } from 'vitest';
import { FILES, textOf } from './repository.ts';

const page = textOf('docs/security/ways.md');

/** Calls that take a credential, and calls that send a message. */
const TAKES =
  /handshakes\??\.identify\(|authenticator\.authenticate\(|method\.(?:begin|continue)\(|options\.authenticate\(|broker\.connectionAfterMove\(|refusalOf\(request, access|gate\.admit\(/;
const SENDS =
  /connections\.publish\(message|connections\.publish\(noticeOf|[^\w]accept\(context|outlet\??\.take\(/;

/** They count what others send, or send what others have decided. */
const WRAPPERS = [
  'packages/aws/src/posts/posting-connections.ts',
  'packages/door/src/tracing/traced.ts',
  'packages/door/src/traffic-meter.ts',
];

test.each([
  ['Ways in', WAYS_IN],
  ['Ways out', WAYS_OUT],
])('the table of %s has a row for each way, and no other [SEC-WAY-3] [SEC-WAY-4]', (title, ways) => {
  const chapter = page.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = [...chapter.matchAll(/^\| ([^|]+?) \|/gm)].map(([, name]) => name);
  expect(rows.slice(1)).toEqual([...ways]);
});

test.each([
  ['takes credentials', TAKES],
  ['sends messages', SENDS],
])('each file that %s is one of the ways of the page [SEC-WAY-3] [SEC-WAY-4]', (_, pattern) => {
  const files = FILES.filter((path) => /^packages\/(?:broker|aws|door|node)\/src\/.*\.ts$/.test(path));
  const found = files.filter((path) => pattern.test(textOf(path)) && !WRAPPERS.includes(path));
  expect(found.length).toBeGreaterThan(5);
  expect(found.filter((path) => !page.includes(`](../../${path})`))).toEqual([]);
});

test('a way that is tested elsewhere has a test there, with its claim', () => {
  const rows = [...textOf('test/behaviour/ways.test.ts').matchAll(/file: '([^']+)', claim: '([^']+)'/g)];
  expect(rows.length).toBeGreaterThan(2);
  for (const [, file = '', claim = ''] of rows) {
    expect(FILES).toContain(file);
    expect(textOf(file)).toContain(`[${claim}]`);
  }
});
