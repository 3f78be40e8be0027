import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { isRunning } from '../../../test/support/is-running.ts';
import { onLinux } from '../../../test/support/skips.ts';
import { folderForTest } from '../../test/support.ts';
import { CannotInstall } from '../brokers/broker.ts';
import { once, run } from '../install.ts';
import { BrokerFailed, startBroker } from '../running-broker.ts';

// Programs are started, and one that ignores SIGTERM is killed after some seconds.
vi.setConfig({ testTimeout: 120_000 });

/** A program of Node.js as a broker; `PORT` in it is the port. */
const program = (code: string) => ({
  version: '1',
  launch: ({ port }: { readonly port: number }) => ({
    command: process.execPath,
    args: ['-e', code.replaceAll('PORT', String(port))],
  }),
});

const LISTENS = "require('node:net').createServer((s) => s.destroy()).listen(PORT, '127.0.0.1')";

// The benchmark reads what a broker uses from /proc, which only Linux has.
describe('a broker of the benchmark', onLinux, () => {
  it('is used when it listens, and has ended when it is stopped, even if it ignores SIGTERM', async () => {
    const folder = folderForTest();
    const file = join(folder, 'pid');
    const stubborn = `process.on('SIGTERM', () => {}); require('node:fs').writeFileSync(${JSON.stringify(file)}, String(process.pid)); ${LISTENS}`;
    const broker = await startBroker(program(stubborn));
    expect(broker.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/mqtt$/);
    expect(broker.use().residentBytes).toBeGreaterThan(0);
    const pid = Number(readFileSync(file, 'utf8'));
    expect(isRunning(pid)).toBe(true);
    await broker.stop();
    expect(isRunning(pid)).toBe(false);
    expect(() => broker.use()).toThrow(BrokerFailed);
    await broker.stop();
  });

  it('that does not start is reported with its last output', async () => {
    await expect(startBroker(program("console.error('no wings'); process.exit(3)"))).rejects.toThrow(
      /it ended at once: no wings/,
    );
    const missingProgram = {
      version: '1',
      launch: () => ({ command: '/nowhere/broker', args: [] }),
    };
    await expect(startBroker(missingProgram)).rejects.toThrow(/ENOENT/);
  });
});

describe('installing', () => {
  const place = (folder: string) => ({
    folder,
    root: folder,
    program: undefined,
    say: () => {},
    stop: new AbortController().signal,
  });

  it('happens once for each version, and again if it failed', async () => {
    const folder = folderForTest();
    let times = 0;
    const work = (fails: boolean) => async () => {
      times += 1;
      if (fails) throw new CannotInstall('no');
    };
    await expect(once(place(folder), '1.0', 'it', work(true))).rejects.toThrow(CannotInstall);
    await once(place(folder), '1.0', 'it', work(false));
    await once(place(folder), '1.0', 'it', work(false));
    expect(times).toBe(2);
    await once(place(folder), '1.1', 'it', work(false));
    expect(times).toBe(3);
  });

  it('reports the installer’s output, and which program is missing', async () => {
    const cwd = folderForTest();
    const node = (code: string) => ({ command: process.execPath, args: ['-e', code], cwd });
    expect(await run(node("console.log('fine')"))).toBe('fine\n');
    await expect(run(node("console.error('404 Not Found'); process.exit(1)"))).rejects.toThrow(
      /404 Not Found/,
    );
    expect(await run({ ...node("console.log('help'); process.exit(3)"), fineCodes: [3] })).toBe('help\n');
    await expect(run({ command: 'no-such-program', args: [], cwd })).rejects.toThrow(/no such program here/);
  });
});
