import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { GeneratorCommand, GeneratorOptions, GeneratorReport } from './generator.ts';

type Stopped = Extract<GeneratorReport, { readonly type: 'stopped' }>;

/** The process that publishes. */
export class StreamGenerator {
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
  }

  /** Resolves when it is connected; it publishes when it is told to. */
  static async connect(options: GeneratorOptions): Promise<StreamGenerator> {
    const program = fileURLToPath(new URL('./generator.mjs', import.meta.url));
    const generator = new StreamGenerator(fork(program, [JSON.stringify(options)], { stdio: 'inherit' }));
    await once(generator.#process, 'message');
    return generator;
  }

  start(): void {
    this.#tell('start');
  }

  /** @returns when all is written, and how much that was */
  async stop(): Promise<Stopped> {
    const stopped = once(this.#process, 'message');
    this.#tell('stop');
    const [report] = (await stopped) as [Stopped];
    return report;
  }

  kill(): void {
    this.#process.kill();
  }

  #tell(command: GeneratorCommand): void {
    this.#process.send(command);
  }
}
