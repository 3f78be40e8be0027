import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Built } from './support/built.ts';
import { runInThisProcess } from './support/in-this-process.ts';

const built = new Built();
const OUT = [{ filter: 'a/#' }];

function file(value: unknown): string {
  const directory = mkdtempSync(join(tmpdir(), 'apus-bridge-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'bridges.json');
  writeFileSync(path, JSON.stringify(value));
  return path;
}

describe('apus bridge check', () => {
  test('prints what a file declares', async () => {
    const path = file({ bridges: [{ name: 'plant', mqtt: { url: 'mqtt://broker.example' }, out: OUT }] });
    expect(await runInThisProcess(['bridge', 'check', path])).toMatchObject({
      code: 0,
      stdout: 'plant  mqtt://broker.example  in: 0, out: 1\n',
    });
  });

  test('names the place of an error, as `apus serve` does before it starts', async () => {
    const path = file({ bridges: [{ name: 'plant', mqtt: { url: 'broker' }, out: OUT }] });
    const message = `apus: ${path}: bridges[0].mqtt.url has to be a URL that begins with mqtt:, mqtts:, ws: or wss:.\n`;
    expect(await runInThisProcess(['bridge', 'check', path])).toMatchObject({ code: 1, stderr: message });
    expect(await built.run(['serve', '--port', '0', '--no-gateway', '--bridges', path])).toMatchObject({
      code: 1,
      stderr: message,
    });
  });

  test('works in the built command for a bridge to Kafka', async () => {
    const kafka = { brokers: ['127.0.0.1:1'] };
    const path = file({
      bridges: [{ name: 'market', kafka, in: [{ topic: 'prices', to: 'prices/{key}' }] }],
    });
    expect((await runInThisProcess(['bridge', 'check', path])).stdout).toBe(
      'market  kafka 127.0.0.1:1  in: 1, out: 0\n',
    );
    const { pageUrl, stop } = await built.serve(['--bridges', path]);
    const response = await fetch(new URL('/api/v5/bridges', pageUrl));
    expect(await response.json()).toMatchObject({ data: [{ name: 'market', type: 'kafka' }] });
    expect(await stop()).toMatchObject({ code: 0 });
  });

  test('needs a file, and has a help', async () => {
    expect(await runInThisProcess(['bridge', 'check'])).toMatchObject({ code: 2 });
    expect((await runInThisProcess(['bridge', '--help'])).stdout).toContain('apus bridge check FILE');
  });
});
