import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { DoorOfClient } from './attackers.ts';

const ARGUMENTS = ['serve', '--port', '0', '--gateway-port', '0', '--counters', '--log-level', 'silent'];

/** A broker in a process of its own, as `npm start` runs it. */
export class ApusProcess {
  readonly urls: Readonly<Record<DoorOfClient, string>>;
  readonly #process: ChildProcess;
  readonly #page: string;

  private constructor(child: ChildProcess, urls: Readonly<Record<DoorOfClient, string>>, page: string) {
    this.#process = child;
    this.urls = urls;
    this.#page = page;
  }

  /** @param program the built `apus.js` */
  static async start(program: string): Promise<ApusProcess> {
    const child = spawn(process.execPath, [program, ...ARGUMENTS], { stdio: ['ignore', 'pipe', 'inherit'] });
    const told: Record<string, string> = {};
    for await (const line of createInterface({ input: child.stdout })) {
      const [, name = '', url = ''] = /^\s+(\w+)\s+(\S+)/.exec(line) ?? [];
      told[name] = url;
      if (line.startsWith('Stop it')) break;
    }
    const { MQTT: node, gateway, page } = told;
    if (node === undefined || gateway === undefined || page === undefined)
      throw new Error(`${program} did not say where it listens`);
    return new ApusProcess(child, { node, gateway }, page);
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  async residentBytes(): Promise<number> {
    const answer = await fetch(`${this.#page}counters`);
    const { process: use } = (await answer.json()) as { process: { residentBytes: number } };
    return use.residentBytes;
  }

  async stop(): Promise<void> {
    if (!this.isRunning) return;
    this.#process.kill('SIGKILL');
    await once(this.#process, 'exit');
  }
}
