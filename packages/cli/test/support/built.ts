import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { beforeAll, onTestFinished } from 'vitest';
import { buildCommand } from '../../../../test/support/build-command.ts';

/** A few seconds, and several times as many if the machine is busy. */
const BUILD_MS_MAX = 180_000;

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Serving {
  readonly url: string;
  readonly pageUrl: string;
  readonly process: ChildProcess;
  /** Ends the process with a signal and returns how it ended. */
  stop(signal?: NodeJS.Signals): Promise<Outcome>;
}

/** The command, built as `npm run build` does. */
export class Built {
  #directory = '';

  constructor() {
    beforeAll(async () => {
      this.#directory = await buildCommand();
    }, BUILD_MS_MAX);
  }

  get directory(): string {
    return this.#directory;
  }

  start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    const child = spawn('node', [join(this.#directory, 'apus.js'), ...args], {
      env: { ...process.env, ...env },
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  }

  /** Runs a command to its end. */
  async run(
    args: readonly string[],
    input: string | Buffer = '',
    env: Readonly<Record<string, string>> = {},
  ): Promise<Outcome> {
    const child = this.start(args, env);
    child.stdin?.end(input);
    return outcomeOf(child);
  }

  /** `apus serve` at a free port. */
  async serve(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<Serving> {
    const port = args.includes('--port') ? [] : ['--port', '0'];
    const child = this.start(['serve', ...port, '--no-gateway', ...args], env);
    const ended = outcomeOf(child);
    const urls: Record<string, string> = {};
    const { stdout } = child;
    if (stdout === null) throw new Error('the process has no standard output');
    for await (const line of createInterface({ input: stdout })) {
      const [, name, url] = /^\s+(MQTT|page)\s+(\S+)/.exec(line) ?? [];
      if (name !== undefined && url !== undefined) urls[name] = url;
      if (line.startsWith('Stop it')) break;
    }
    if (urls.MQTT === undefined || urls.page === undefined) {
      throw new Error(`apus serve has not said where it listens: ${(await ended).stderr}`);
    }
    const stop = (signal: NodeJS.Signals = 'SIGTERM'): Promise<Outcome> => {
      child.kill(signal);
      return ended;
    };
    return { url: urls.MQTT, pageUrl: urls.page, process: child, stop };
  }
}

export async function outcomeOf(child: ChildProcess): Promise<Outcome> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the process has no standard output');
  const [out, err, [code]] = await Promise.all([text(stdout), text(stderr), once(child, 'exit')]);
  return { code, stdout: out, stderr: err };
}
