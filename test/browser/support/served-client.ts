import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { preview } from 'vite';
import { buildCommand } from '../../support/build-command.ts';

/** The built command line and web client, as `npm start` runs them. */
export class BuiltClient {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async build(): Promise<BuiltClient> {
    return new BuiltClient(await buildCommand());
  }

  /** The page's files. */
  get page(): string {
    return join(this.directory, 'page');
  }

  async serve(flags: readonly string[] = []): Promise<Served> {
    return await Served.start(join(this.directory, 'apus.js'), flags);
  }

  /** The page alone, from a server of static files, below the folder `base`. */
  async serveFiles(base = '/'): Promise<StaticSite> {
    const common = { root: this.directory, base, configFile: false, logLevel: 'error' } as const;
    const where = { host: '127.0.0.1', port: 0 };
    const site = await preview({ ...common, build: { outDir: this.page }, preview: where });
    return { url: site.resolvedUrls?.local[0] ?? '', stop: () => site.close() };
  }
}

/** Serves the page without a broker behind it. */
export interface StaticSite {
  readonly url: string;
  stop(): Promise<void>;
}

/** A running broker with both doors and the page. */
export class Served {
  readonly nodeUrl: string;
  readonly gatewayUrl: string;
  readonly pageUrl: string;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, urls: Readonly<Record<string, string>>) {
    this.#process = process;
    this.nodeUrl = urls.MQTT ?? '';
    this.gatewayUrl = urls.gateway ?? '';
    this.pageUrl = urls.page ?? '';
  }

  static async start(command: string, flags: readonly string[]): Promise<Served> {
    const ports = ['--port', '--gateway-port'].flatMap((flag) => (flags.includes(flag) ? [] : [flag, '0']));
    const child = spawn(process.execPath, [command, 'serve', ...ports, ...flags], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const urls: Record<string, string> = {};
    for await (const line of createInterface({ input: child.stdout })) {
      const [, name, url] = /^\s+(MQTT|gateway|page)\s+(\S+)/.exec(line) ?? [];
      if (name !== undefined && url !== undefined) urls[name] = url;
      if (line.startsWith('Stop it')) return new Served(child, urls);
    }
    throw new Error(`the broker did not start with ${flags.join(' ')}`);
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await ended;
  }
}
