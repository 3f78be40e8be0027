import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The repository, as seen from `src/` and from `dist/`. */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The broker with the built web client, as `npm start` runs it, at free ports. */
export class Broker {
  readonly pageUrl: string;
  readonly mqttUrl: string;
  readonly #process: ChildProcess;
  readonly #directory: string;

  private constructor(process: ChildProcess, directory: string, urls: Readonly<Record<string, string>>) {
    this.#process = process;
    this.#directory = directory;
    this.pageUrl = urls.page ?? '';
    this.mqttUrl = urls.MQTT ?? '';
    // Also where the run is ended by a signal.
    globalThis.process.once('exit', () => {
      process.kill();
      rmSync(directory, { recursive: true, force: true });
    });
  }

  /** Builds into a folder of its own: what `npm start` has built stays as it is. */
  static async start(more: readonly string[] = []): Promise<Broker> {
    // Below node_modules, so that it finds the packages that it does not contain.
    const directory = await mkdtemp(join(ROOT, 'node_modules', '.apus-soak-'));
    try {
      await promisify(execFile)(process.execPath, [join(ROOT, 'packages', 'cli', 'build.mjs'), directory]);
      const flags = ['serve', '--port', '0', '--gateway-port', '0', '--log-level', 'error', ...more];
      const child = spawn(process.execPath, [join(directory, 'apus.js'), ...flags], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      return new Broker(child, directory, await urlsOf(child.stdout));
    } catch (error) {
      await rm(directory, { recursive: true, force: true });
      throw error;
    }
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGTERM');
      await ended;
    }
    await rm(this.#directory, { recursive: true, force: true });
  }
}

async function urlsOf(output: Readable): Promise<Record<string, string>> {
  const urls: Record<string, string> = {};
  for await (const line of createInterface({ input: output })) {
    const [, name, url] = /^\s+(MQTT|page)\s+(\S+)/.exec(line) ?? [];
    if (name !== undefined && url !== undefined) urls[name] = url;
    if (line.startsWith('Stop it')) return urls;
  }
  throw new Error('the broker did not start');
}
