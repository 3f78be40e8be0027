import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GatewayCounters } from '@apus/cost';
import { hashPassword } from '@apus/identity';
import { freePort } from '../support/free-port.ts';
import type { Hook } from './hook.ts';
import type { Target } from './raw-client.ts';

/** What the broker may keep for clients. */
export const MEMORY_BYTES_MAX = 256 * 1024 ** 2;

const START_MS_MAX = 30_000;
const LOOK_MS = 100;
const LAST_LOG_CHARACTERS = 2_000;

export interface Counters {
  readonly gateway: { readonly counters: GatewayCounters };
  readonly process: { readonly cpuMicroseconds: number; readonly residentBytes: number };
}

/** `apus serve` with both doors, and users whose passwords are their names: in a file, or known to a hook. */
export class Broker {
  readonly targets: readonly Target[];
  logBytes = 0;
  /** The end of the output, for the error of a start that fails. */
  #lastLog = '';
  readonly #child: ChildProcess;
  readonly #directory: string;
  readonly #countersUrl: string;

  static async start(program: string, users: readonly string[], hook: Hook): Promise<Broker> {
    const directory = mkdtempSync(join(tmpdir(), 'apus-soak-'));
    writeFileSync(
      join(directory, 'users.json'),
      JSON.stringify({ users: await Promise.all(users.map(userOf)) }),
    );
    writeFileSync(join(directory, 'identity.json'), JSON.stringify(hook.identity('users.json')));
    const streams = [{ name: 'feed', topicFilter: 'mallory/stream/#' }];
    writeFileSync(join(directory, 'streams.json'), JSON.stringify({ streams }));
    const [port, gatewayPort] = [await freePort(), await freePort()];
    const child = spawn(
      process.execPath,
      [
        program,
        'serve',
        '--port',
        port,
        '--gateway-port',
        gatewayPort,
        '--counters',
        '--identity',
        'identity.json',
        '--streams',
        'streams.json',
        '--memory-bytes-max',
        MEMORY_BYTES_MAX,
      ].map(String),
      { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    const broker = new Broker(child, directory, port, gatewayPort);
    await broker.#listens();
    return broker;
  }

  private constructor(child: ChildProcess, directory: string, port: number, gatewayPort: number) {
    this.#child = child;
    this.#directory = directory;
    this.#countersUrl = `http://127.0.0.1:${port}/counters`;
    this.targets = [
      { door: 'node', url: `ws://127.0.0.1:${port}/mqtt` },
      { door: 'gateway', url: `ws://127.0.0.1:${gatewayPort}/mqtt` },
    ];
    child.stderr?.on('data', (chunk: Buffer) => {
      this.logBytes += chunk.length;
      this.#lastLog = (this.#lastLog + chunk).slice(-LAST_LOG_CHARACTERS);
    });
    process.once('exit', () => child.kill('SIGKILL'));
  }

  async counters(): Promise<Counters> {
    const response = await fetch(this.#countersUrl, { signal: AbortSignal.timeout(10_000) });
    if (!response.ok) throw new Error(`the broker answers ${response.status} for its counters`);
    return (await response.json()) as Counters;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null) {
      this.#child.kill('SIGTERM');
      await once(this.#child, 'close');
    }
    rmSync(this.#directory, { recursive: true });
  }

  async #listens(): Promise<void> {
    const endMs = Date.now() + START_MS_MAX;
    while (Date.now() < endMs && this.#child.exitCode === null) {
      if (
        await this.counters().then(
          () => true,
          () => false,
        )
      )
        return;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    throw new Error(`the broker does not start: ${this.#lastLog.trim()}`);
  }
}

async function userOf(name: string) {
  const own = name === 'mallory' ? `${name}/#` : 'honest/%u/#';
  return { name, password: await hashPassword(Buffer.from(name)), publish: [own], subscribe: [own] };
}
