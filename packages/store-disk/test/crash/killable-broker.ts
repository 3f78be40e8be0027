import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
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
  readonly #serve: readonly string[];
  readonly #wrapper: readonly string[];
  readonly #port: number;
  #child: ChildProcess | undefined;
  #ended: Promise<Exit> | undefined;
  #errors = '';

  private constructor(serve: readonly string[], port: number, wrapper: readonly string[]) {
    this.#serve = serve;
    this.#port = port;
    this.#wrapper = wrapper;
    this.url = `ws://127.0.0.1:${port}/mqtt`;
    onTestFinished(async () => void (await this.kill()));
  }

  /** `wrapper` is put before the command, to run it under some limit. */
  static async build(dataDirectory: string, wrapper: readonly string[] = []): Promise<KillableBroker> {
    const built = await buildCommand();
    const serve = [process.execPath, join(built, 'apus.js'), 'serve', '--data', dataDirectory, ...FLAGS];
    return new KillableBroker(serve, await freePort(), wrapper);
  }

  /** The same program over the same directory, without what was put before it. */
  unwrapped(): KillableBroker {
    return new KillableBroker(this.#serve, this.#port, []);
  }

  /** The text that the process has written to standard error. */
  get errors(): string {
    return this.#errors;
  }

  /** Returns when it listens. */
  async start(): Promise<void> {
    const [program = '', ...args] = [...this.#wrapper, ...this.#serve, '--port', String(this.#port)];
    const child = spawn(program, args);
    this.#child = child;
    // Not before all that it has written was read.
    this.#ended = once(child, 'close').then(([code, signal]) => ({ code, signal }));
    child.stderr.on('data', (data) => {
      this.#errors += data;
    });
    let hasStarted = false;
    for await (const line of createInterface({ input: child.stdout })) {
      hasStarted = line.startsWith('Stop it');
      if (hasStarted) break;
    }
    child.stdout.resume();
    if (!hasStarted) throw new Error(`the broker did not start: ${this.#errors}`);
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
    if (this.#ended === undefined) throw new Error('the broker has not been started');
    return await this.#ended;
  }

  async #end(signal: NodeJS.Signals): Promise<Exit | undefined> {
    this.#child?.kill(signal);
    return await this.#ended;
  }
}
