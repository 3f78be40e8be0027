import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@apus/broker';
import { JwtAuthenticator, storedSecrets } from '@apus/identity';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CommandError } from '../src/commands/command.ts';
import { UsageError } from '../src/commands/flags.ts';
import { token } from '../src/commands/token.ts';
import { commandsForTests } from './support/commands.ts';
import { type OperatedStack, startOperatorServices, TOKEN_SECRET_ARN } from './support/operator-services.ts';

const SECRET = '0123456789abcdef0123456789abcdef';
const commands = commandsForTests();

async function run(...args: string[]): Promise<string> {
  return (await commands(token, ...args)).join('\n');
}

function secretFile(content = `${SECRET}\n`) {
  const directory = mkdtempSync(join(tmpdir(), 'apus-secret-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'secret');
  writeFileSync(path, content, { mode: 0o640 });
  return { path, directory };
}

/** A broker that reads the secret like `secretFile` and `secretArn`, and counts the reads. */
class Checker {
  nowMs = Date.now();
  reads = 0;
  readonly #authenticator: JwtAuthenticator;

  constructor(read: () => string) {
    const clock: Clock = { now: () => this.nowMs };
    const counted = async () => {
      this.reads += 1;
      return read();
    };
    const keys = storedSecrets({ what: 'the secret', read: counted, clock });
    this.#authenticator = new JwtAuthenticator({ source: 'jwt', tenant: 'default', clock, keys });
  }

  async takes(text: string): Promise<boolean> {
    return 'tenant' in (await this.#authenticator.verify(text));
  }
}

function claimsOf(text: string) {
  const [header = '', payload = ''] = text.split('.');
  return [header, payload].map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()));
}

describe('apus token', () => {
  it('names the key and the token, so that either can be revoked', async () => {
    const { path } = secretFile();
    const tokens = [
      await run('--sub', 'ada', '--secret-file', path),
      await run('--sub', 'ada', '--secret-file', path),
    ];
    const [[header, one], [otherHeader, other]] = tokens.map(claimsOf) as [object[], object[]];
    expect(header).toMatchObject({ kid: expect.stringMatching(/^[0-9a-f]{8}$/) });
    expect(otherHeader).toEqual(header);
    expect(one).toMatchObject({ jti: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect((one as { jti: string }).jti).not.toBe((other as { jti: string }).jti);
    const checker = new Checker(() => readFileSync(path, 'utf8'));
    expect(await checker.takes(tokens[0] ?? '')).toBe(true);
  });
});

describe('apus token rotate, of a file', () => {
  it('keeps the tokens of the former key valid until the rotation is finished [SEC-TOKEN-8]', async () => {
    const { path, directory } = secretFile();
    const checker = new Checker(() => readFileSync(path, 'utf8'));
    const mint = () => run('--sub', 'ada', '--secret-file', path, '--expires', '30d');
    const former = await mint();
    expect(await checker.takes(former)).toBe(true);
    const said = await run('rotate', '--secret-file', path);
    expect(said).toContain('stay valid');
    const next = await mint();
    expect(claimsOf(next)[0].kid).not.toBe(claimsOf(former)[0].kid);
    expect(said).toContain(`"${claimsOf(next)[0].kid}"`);
    checker.nowMs += 10_000;
    expect([await checker.takes(next), await checker.takes(former)]).toEqual([true, true]);
    expect(await run('rotate', '--finish', '--secret-file', path)).toContain('are refused five minutes');
    checker.nowMs += 5 * 60_000;
    expect([await checker.takes(next), await checker.takes(former)]).toEqual([true, false]);
    expect(readdirSync(directory)).toEqual(['secret']);
    expect(statSync(path).mode & 0o777).toBe(0o640);
  });

  it('has two keys at most: the second rotation drops the first key', async () => {
    const { path } = secretFile();
    const first = await run('--sub', 'ada', '--secret-file', path, '--expires', '30d');
    await run('rotate', '--secret-file', path);
    const second = await run('--sub', 'ada', '--secret-file', path, '--expires', '30d');
    expect(await run('rotate', '--secret-file', path)).toContain(`"${claimsOf(first)[0].kid}" are refused`);
    const checker = new Checker(() => readFileSync(path, 'utf8'));
    expect([await checker.takes(first), await checker.takes(second)]).toEqual([false, true]);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toHaveLength(2);
  });

  it('is noticed at the first token of the new key, and invented keys cause at most one read in ten seconds', async () => {
    const { path } = secretFile();
    const checker = new Checker(() => readFileSync(path, 'utf8'));
    expect(await checker.takes(await run('--sub', 'ada', '--secret-file', path))).toBe(true);
    await run('rotate', '--secret-file', path);
    const next = await run('--sub', 'ada', '--secret-file', path);
    expect(await checker.takes(next)).toBe(false);
    checker.nowMs += 10_000;
    expect(await checker.takes(next)).toBe(true);
    expect(checker.reads).toBe(2);
    const { path: foreign } = secretFile(`${SECRET.toUpperCase()}\n`);
    const madeUp = await run('--sub', 'ada', '--secret-file', foreign);
    for (let attempt = 0; attempt < 100; attempt += 1) expect(await checker.takes(madeUp)).toBe(false);
    expect(checker.reads).toBe(2);
    checker.nowMs += 10_000;
    for (let attempt = 0; attempt < 100; attempt += 1) expect(await checker.takes(madeUp)).toBe(false);
    expect(checker.reads).toBe(3);
  });

  it('leaves a file alone that contains no secret, and says what is missing', async () => {
    const { path } = secretFile('sesame\n');
    await expect(run('rotate', '--secret-file', path)).rejects.toThrow('6 bytes; HS256 needs at least 32');
    expect(readFileSync(path, 'utf8')).toBe('sesame\n');
    await expect(run('rotate')).rejects.toThrow(UsageError);
    await expect(run('rotate', '--secret-file', '/nowhere/secret')).rejects.toThrow(CommandError);
    const { path: single } = secretFile();
    await expect(run('rotate', '--finish', '--secret-file', single)).rejects.toThrow('no former one to drop');
  });
});

describe('apus token rotate, of a deployment', () => {
  async function deployment(): Promise<OperatedStack> {
    const operated: OperatedStack = {
      stack: 'Mine',
      functionName: 'Mine-Operator',
      answer: () => ({}),
      secret: SECRET,
    };
    await startOperatorServices(operated);
    return operated;
  }

  it('finds the secret by its stack, and the functions accept tokens of both keys', async () => {
    const operated = await deployment();
    const checker = new Checker(() => operated.secret ?? '');
    const former = await run('--sub', 'ada', '--stack', 'Mine', '--expires', '30d');
    expect(await checker.takes(former)).toBe(true);
    await run('rotate', '--stack', 'Mine');
    const next = await run('--sub', 'ada', '--secret-id', TOKEN_SECRET_ARN, '--expires', '30d');
    checker.nowMs += 10_000;
    expect([await checker.takes(former), await checker.takes(next)]).toEqual([true, true]);
    await run('rotate', '--finish', '--secret-id', TOKEN_SECRET_ARN);
    expect(JSON.parse(operated.secret ?? '')).toMatchObject([{ kid: claimsOf(next)[0].kid }]);
  });

  it('reports in a sentence what is missing', async () => {
    await deployment();
    await expect(run('rotate', '--stack', 'Other')).rejects.toThrow('knows no such stack');
    await expect(run('rotate', '--secret-id', 'other')).rejects.toThrow("can't find the specified secret");
  });
});
