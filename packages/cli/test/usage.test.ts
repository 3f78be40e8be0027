import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import { describe, expect, it, onTestFinished } from 'vitest';
import { UsageError } from '../src/commands/flags.ts';
import { usage } from '../src/commands/usage.ts';
import { commandsForTests } from './support/commands.ts';
import { doorsForTest } from './support/doors.ts';

const KEY = 'a-key-of-more-than-22-characters';
const commands = commandsForTests();

/** A node on which a client of a tenant has published twice, and the flags that name it. */
async function start(tenant = 'acme'): Promise<readonly string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'apus-usage-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const keyFile = join(directory, 'api-key');
  writeFileSync(keyFile, KEY);
  const doors = await doorsForTest({
    apiKey: KEY,
    authenticator: {
      authenticate: () => ({
        tenant,
        name: 'a',
        rules: [{ effect: 'allow', action: 'all', topicFilters: ['#'] }],
      }),
    },
  });
  const client = await connectAsync(doors.url, { protocolVersion: 5, username: 'a', password: 'x' });
  onTestFinished(() => client.endAsync(true));
  await client.subscribeAsync('a', { qos: 1 });
  await client.publishAsync('a', 'x', { qos: 1 });
  await client.publishAsync('a', 'x', { qos: 1 });
  return ['--url', doors.httpUrl, '--api-key-file', keyFile];
}

describe('apus usage, at a node', () => {
  it('prints a table', async () => {
    const broker = await start();
    const [text = ''] = await commands(usage, '--tenant', 'acme', ...broker);
    const [span, head, line, ...others] = text.split('\n');
    expect(span).toMatch(/^From \d{4}-\d\d-01T00 to \d{4}-\d\d-\d\dT\d\d, UTC:$/);
    expect(head).toMatch(/^tenant +time +connection-minutes +messages in +out QoS 0 +QoS 1 +QoS 2/);
    expect(line).toMatch(/^acme +\S+ +\d+\.\d +2 +0 +2 +0 /);
    expect(others).toEqual([]);
  });

  it('prints JSON and CSV', async () => {
    const broker = await start();
    const [json = ''] = await commands(usage, '--format', 'json', '--by', 'hour', ...broker);
    expect(JSON.parse(json)).toMatchObject({
      data: [{ tenant: 'acme', messagesIn: 2, messagesOutQos1: 2 }],
      meta: { by: 'hour' },
    });
    const [csv = ''] = await commands(usage, '--format', 'csv', ...broker);
    const [fields = '', values = ''] = csv.split('\r\n').map((row) => row.split(','));
    expect(Object.fromEntries([...fields].map((field, index) => [field, values[index]]))).toMatchObject({
      tenant: 'acme',
      messagesIn: '2',
      uncertainMs: '0',
    });
  });

  it('prints the lines of an invoice, with a margin', async () => {
    const broker = await start();
    const [json = ''] = await commands(usage, '--invoice', '--margin', '50', '--format', 'json', ...broker);
    const { data } = JSON.parse(json);
    expect(data[0].tenant).toBe('acme');
    expect(data[0].lines.find(({ label }: { label: string }) => label === 'Messages in')).toMatchObject({
      quantity: 2,
      usd: expect.closeTo(3e-6, 12),
    });
    const [text = ''] = await commands(usage, '--invoice', ...broker);
    expect(text).toMatch(/acme, \S+\nline +quantity +price +dollars +share\n(.*\n)*Messages out +2 /);
    const [csv = ''] = await commands(usage, '--invoice', '--format', 'csv', ...broker);
    expect(csv).toContain('tenant,time,label,quantity,unitUsd,usd\r\nacme,');
  });

  it('reports what is wrong with a question', async () => {
    const broker = await start();
    await expect(commands(usage, '--from', 'yesterday', ...broker)).rejects.toThrow(/from is a month, a day/);
    await expect(commands(usage, '--margin', '5', ...broker)).rejects.toThrow(UsageError);
    await expect(commands(usage, 'acme', ...broker)).rejects.toThrow(/takes only flags/);
  });
});
