import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { clientFor } from '../../../extensions/bridges/test/support/bridged.ts';
import { receiver, SIMPLY_OK, status } from '../../../extensions/bridges/test/support/receiver.ts';
import { Built } from './support/built.ts';
import { runInThisProcess } from './support/in-this-process.ts';

const built = new Built();

function file(rules: readonly object[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'apus-rule-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'rules.json');
  writeFileSync(path, JSON.stringify({ rules }));
  return path;
}

function entriesOf(stdout: string): { readonly id: string }[] {
  return stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

describe('apus rule', () => {
  test('check prints what a file declares, or where it is wrong', async () => {
    const rule = { name: 'hot', filter: 's/#', to: { webhook: { url: 'https://example.com' } } };
    expect(
      await runInThisProcess(['rule', 'check', file([{ ...rule, when: 'payload.t > 80.0' }])]),
    ).toMatchObject({
      code: 0,
      stdout: 'hot  s/#  when payload.t > 80.0  → webhook\n',
    });
    const wrong = file([{ ...rule, when: 'payload.t >' }]);
    expect(await runInThisProcess(['rule', 'check', wrong])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${wrong}: rules[0].when is no CEL expression`),
    });
    expect(await built.run(['serve', '--port', '0', '--no-gateway', '--rules', wrong])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('rules[0].when is no CEL expression'),
    });
  });

  test('lists rules, and shows, sends and discards their dead letters', async () => {
    const server = await receiver(status(400));
    const webhook = { url: server.url, allowAddresses: ['127.0.0.1'] };
    const { url, pageUrl, stop } = await built.serve([
      '--rules',
      file([{ name: 'hook', filter: 'a', to: { webhook } }]),
    ]);
    const rule = async (...args: readonly string[]) =>
      await runInThisProcess(['rule', ...args, '--url', pageUrl]);
    const client = await clientFor(url);
    for (const payload of ['1', '2', '3']) await client.publishAsync('a', payload, { qos: 1 });
    await expect
      .poll(async () => entriesOf((await rule('list')).stdout), { timeout: 20_000 })
      .toMatchObject([{ name: 'hook', dead_letters: 3 }]);
    const [{ id: first } = { id: '' }] = entriesOf((await rule('dead', 'hook')).stdout);
    expect(entriesOf((await rule('dead', 'hook', first)).stdout)).toMatchObject([
      { payload: Buffer.from('1').toString('base64') },
    ]);
    expect(await rule('send', 'hook')).toMatchObject({
      ...{ code: 1, stdout: 'Sent: 0.\n' },
      stderr: 'apus: One was not sent, and is still there: answered 400: no\n',
    });
    server.answer = SIMPLY_OK;
    expect(await rule('send', 'hook', first)).toMatchObject({ code: 0, stdout: 'Sent: 1.\n' });
    const [{ id: second } = { id: '' }] = entriesOf((await rule('dead', 'hook')).stdout);
    expect(await rule('discard', 'hook', second)).toMatchObject({ code: 0 });
    expect(await rule('send', 'hook')).toMatchObject({ code: 0, stdout: 'Sent: 1.\n' });
    expect(server.payloads()).toEqual(['1', '3']);
    expect(await rule('dead', 'other')).toMatchObject({
      code: 1,
      stderr: 'apus: There is no rule "other".\n',
    });
    expect(await stop()).toMatchObject({ code: 0 });
  });

  test('needs an action with its arguments', async () => {
    expect(await runInThisProcess(['rule', 'check'])).toMatchObject({ code: 2 });
    expect(await runInThisProcess(['rule', 'fix'])).toMatchObject({ code: 2 });
    expect((await runInThisProcess(['rule', '--help'])).stdout).toContain('apus rule check FILE');
  });
});
