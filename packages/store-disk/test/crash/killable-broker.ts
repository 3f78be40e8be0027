import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { buildCommand } from '../../../../test/support/build-command.ts';
import { freePort } from '../../../../test/support/free-port.ts';

/** Room for all that is published while a subscriber is away. */
const FLAGS = [
  '--no-gateway',
  '--log-level',
  'error',
  '--queue-length-max',
  '1000000',
  '--queue-bytes-max',
  '1000000000',
];

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** `apus serve --data`, built as users run it, always at the same port and directory. */
export class KillableBroker {
  readonly url: string;
  readonly #command: readonly string[];
  #child: ChildProcess | undefined;
  #errors = '';

  private constructor(command: readonly string[], port: number) {
    this.#command = [...command, '--port', String(port)];
    this.url = `ws://127.0.0.1:${port}/mqtt`;
  }

  /** `wrapper` is put before the command, to run it under some limit. */
  static async build(dataDirectory: string, wrapper: readonly string[] = []): Promise<KillableBroker> {
    const built = await buildCommand();
    const serve = [process.execPath, join(built, 'apus.js'), 'serve', '--data', dataDirectory, ...FLAGS];
    const broker = new KillableBroker([...wrapper, ...serve], await freePort());
    onTestFinished(async () => {
      await broker.kill();
      rmSync(built, { recursive: true, force: true });
    });
    return broker;
  }

  /** What it has written to standard error. */
  get errors(): string {
    return this.#errors;
  }

  /** Returns when it listens. */
  async start(): Promise<void> {
    const [program = '', ...args] = this.#command;
    const child = spawn(program, args);
    this.#child = child;
    child.stderr.on('data', (data) => {
      this.#errors += data;
    });
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('Stop it')) return;
    }
    throw new Error(`the broker did not start: ${this.#errors}`);
  }

  /** kill -9, and nothing else, of the process that was started here. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  stop(): Promise<Exit | undefined> {
    return this.#end('SIGTERM');
  }

  /** Waits for its own end. */
  async ended(): Promise<Exit> {
    const child = this.#child;
    if (child === undefined) throw new Error('the broker has not been started');
    return await exitOf(child);
  }

  async #end(signal: NodeJS.Signals): Promise<Exit | undefined> {
    const child = this.#child;
    if (child === undefined) return undefined;
    child.kill(signal);
    return await exitOf(child);
  }
}

async function exitOf(child: ChildProcess): Promise<Exit> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return { code: child.exitCode, signal: child.signalCode };
}
