import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { needs } from '../../../test/support/skips.ts';
import { quoted, shellWord } from '../../src/portal/snippets/literals.ts';
import { LANGUAGES, type Wanted } from '../../src/portal/snippets/snippet.ts';
import { snippetsFor } from '../../src/portal/snippets/snippets.ts';

const PACKAGES = 'https://h.example/portal/packages/';

/** Texts that end a quote, a line or a paste, or look like another text. */
const HOSTILE = [
  "'; touch /tmp/pasted; '",
  '"$(touch /tmp/pasted)`id`"',
  '\\',
  "\\'",
  "'''",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is one where it is not quoted
  '${process.exit(7)}',
  'a\nb\rc\td',
  '\u001b[201~\u0003rm -rf /\r',
  '\u202Edrowssap\u2066',
  'line\u2028separator\u2029',
  'half \ud800 pair',
  '🐦 Temperatur °C',
  '-m',
  '%s %n \\x41',
  '</script><!--',
];
/** Half of a pair is no text of MQTT, and no program gets it across. */
const WHOLE = HOSTILE.filter((text) => !/\p{Cs}/u.test(text));

const answering = (names: readonly string[]) =>
  names.find((name) => {
    try {
      execFileSync(name, ['-c', ''], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
const bash = answering(['bash']);
const python = answering(['python3', 'python']);

describe('texts of a description in a program', () => {
  test.each(WHOLE)('are themselves to a shell: %j', needs('bash', bash), async (text) => {
    const { stdout } = await promisify(execFile)(bash ?? '', ['-c', `printf %s ${shellWord(text)}`]);
    expect(stdout).toBe(text);
  });

  test.each(HOSTILE)('are themselves to JavaScript: %j', async (text) => {
    const code = `process.stdout.write(JSON.stringify(${quoted(text)}))`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', code]);
    expect(JSON.parse(stdout)).toBe(text);
  });

  test.each(HOSTILE)('are themselves to Python: %j', needs('python', python), async (text) => {
    const code = `import json; print(json.dumps(${quoted(text)}))`;
    const { stdout } = await promisify(execFile)(python ?? '', ['-c', code]);
    expect(JSON.parse(stdout)).toBe(text);
  });

  test('are seen as what they are', () => {
    for (const language of LANGUAGES)
      for (const text of HOSTILE) {
        const server = { name: 'x', url: 'ws://h/mqtt', door: 'node', asksForToken: true } as const;
        const wanted: Wanted = {
          server,
          filter: text,
          topic: text,
          rewind: text,
          payload: text,
          contentType: text,
          packagesUrl: PACKAGES,
        };
        const { receive, publish } = snippetsFor(language, wanted) ?? {};
        expect(`${receive?.code}${publish?.code}`).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u);
      }
  });
});

test('no program holds a token, and none names credentials where the server asks for none', () => {
  for (const language of LANGUAGES)
    for (const asksForToken of [true, false]) {
      const server = { name: 'x', url: 'wss://h.example/a/mqtt', door: 'node', asksForToken } as const;
      const wanted: Wanted = {
        server,
        filter: 'a',
        topic: 'a',
        rewind: '50',
        payload: '1',
        contentType: 'application/json',
        packagesUrl: PACKAGES,
      };
      const { receive, publish } = snippetsFor(language, wanted) ?? {};
      for (const code of [receive?.code, publish?.code])
        if (asksForToken) expect(code).toMatch(/APUS_PASSWORD|YOUR-TOKEN|--username=token/);
        else expect(code).not.toMatch(/username|password|token/i);
    }
});

test('at a gateway door there are the languages for which there is a transport', () => {
  const server = { name: 'x', url: 'wss://h.example/prod', door: 'gateway', asksForToken: true } as const;
  const wanted: Wanted = {
    server,
    filter: 'a',
    topic: 'a',
    rewind: undefined,
    payload: '1',
    contentType: 'text/plain',
    packagesUrl: PACKAGES,
  };
  for (const language of ['javascript', 'react'] as const)
    expect(snippetsFor(language, wanted)?.receive.install).toContain(`${PACKAGES}apus-client-0.1.0.tgz`);
  expect(LANGUAGES.filter((language) => snippetsFor(language, wanted) !== undefined)).toEqual([
    'javascript',
    'react',
  ]);
});
