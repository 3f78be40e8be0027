import { reasonOf } from '@apus/broker';
import type { Redis } from 'iovalkey';
import { type Address, primaryOf } from './cluster-mode.ts';
import { EngineError } from './errors.ts';
import { CONNECT_TIMEOUT_MS, ENGINE_VERSION_MIN, KEEP_ALIVE_MS, RETRY_MS_MAX } from './limits.ts';
import { Publisher } from './publisher.ts';

export interface EngineOptions {
  /** The URL: `redis://:password@127.0.0.1:6379/0`, `rediss://` over TLS, or `unix:///path?password=…`. */
  readonly url: string;
  /** The prefix of every key: two clusters may share an engine. @default 'apus' */
  readonly name?: string | undefined;
}

/** A Lua script: the engine runs it as one step. */
export interface Script {
  readonly name: string;
  readonly lua: string;
}

type Argument = string | number | Buffer | Uint8Array;

/** Valkey, or another engine that speaks Redis' protocol and runs Lua. */
export class Engine {
  /** One connection: it sends commands in their order, also after a reconnect. */
  readonly client: Redis;
  readonly #prefix: string;
  readonly #scripts = new Set<string>();
  readonly #others: Redis[] = [];

  private constructor(client: Redis, prefix: string) {
    this.client = client;
    this.#prefix = prefix;
  }

  /** @throws {EngineError} if it cannot be reached, is too old, or may lose data */
  static async connect({ url, name = 'apus' }: EngineOptions): Promise<Engine> {
    // The braces keep all keys in one slot, if the engine is a cluster itself.
    const prefix = `{${name}}:`;
    const client = await open(url);
    try {
      const fields = fieldsOf(await client.info());
      checkInfo(url, fields);
      if (fields.get('cluster_enabled') !== '1') return new Engine(client, prefix);
      const primary = await primaryOf(client, prefix, shown(url));
      if (primary === undefined) return new Engine(client, prefix);
      client.disconnect();
      return new Engine(await open(url, primary), prefix);
    } catch (error) {
      client.disconnect();
      throw refusal(url, error as Error);
    }
  }

  key(...parts: readonly (string | number)[]): string {
    return this.#prefix + parts.join(':');
  }

  /** Runs a script over keys; answers come as buffers and numbers. */
  async run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    if (!this.#scripts.has(script.name)) {
      this.client.defineCommand(script.name, { lua: script.lua });
      this.#scripts.add(script.name);
    }
    const call = (this.client as unknown as Record<string, (...all: unknown[]) => Promise<unknown>>)[
      `${script.name}Buffer`
    ];
    if (call === undefined) throw new Error(`the client library has not defined ${script.name}`);
    return await call.call(this.client, keys.length, ...keys, ...args);
  }

  /**
   * Whether the engine still has all acknowledged writes after a restart. False if it does not say: a managed engine
   * may hide its settings.
   */
  async keepsAll(): Promise<boolean> {
    try {
      const [, appendOnly] = (await this.client.config('GET', 'appendonly')) as string[];
      const [, sync] = (await this.client.config('GET', 'appendfsync')) as string[];
      return appendOnly === 'yes' && sync === 'always';
    } catch {
      return false;
    }
  }

  /** How much memory it may have; 0: no limit, or it does not say. */
  async memoryBytesMax(): Promise<number> {
    return Number(fieldsOf(await this.client.info('memory')).get('maxmemory') ?? 0);
  }

  /** Calls back after each reconnect. */
  onReconnect(callback: () => void): void {
    this.client.on('ready', callback);
  }

  /** Calls `take` with each message that is published to the channel from now on, while the engine is connected. */
  async subscribe(channel: string, take: (bytes: Buffer) => void): Promise<void> {
    const client = await this.#connection({});
    client.on('messageBuffer', (_: Buffer, bytes: Buffer) => take(bytes));
    await client.subscribe(channel);
  }

  async publisher(): Promise<Publisher> {
    // Otherwise the library would send unanswered commands again.
    return new Publisher(await this.#connection({ autoResendUnfulfilledCommands: false }));
  }

  /** One more connection. */
  async #connection(options: { readonly autoResendUnfulfilledCommands?: boolean }): Promise<Redis> {
    const client = this.client.duplicate(options);
    client.on('error', () => {});
    this.#others.push(client);
    await client.connect();
    return client;
  }

  close(): void {
    for (const client of [this.client, ...this.#others]) client.disconnect();
  }
}

/** @throws {EngineError} if the engine cannot be reached */
async function open(url: string, address?: Address): Promise<Redis> {
  // Imported here, so that a broker without a cluster never loads the client library.
  const library = await import('iovalkey');
  // A CommonJS module has named exports only if Node.js finds them: in a bundle there is only `default`.
  const Client = library.Redis ?? (library.default as unknown as typeof library).Redis;
  let wasReady = false;
  let last: Error | undefined;
  const client = new Client(address === undefined ? url : urlAt(url, address), {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    keepAlive: KEEP_ALIVE_MS,
    // A command waits for the engine; a process whose lease is over stops.
    maxRetriesPerRequest: null,
    retryStrategy: (attempt) => (wasReady ? Math.min(attempt * 50, RETRY_MS_MAX) : null),
  });
  client.on('error', (error: Error) => {
    last = error;
  });
  try {
    await client.connect();
    wasReady = true;
    return client;
  } catch (error) {
    client.disconnect();
    throw refusal(url, last ?? (error as Error));
  }
}

/** The same engine, at another of its nodes. */
function urlAt(url: string, { host, port }: Address): string {
  const address = new URL(url);
  address.hostname = host.includes(':') ? `[${host}]` : host;
  address.port = String(port);
  return address.href;
}

function refusal(url: string, error: Error): EngineError {
  if (error instanceof EngineError) return error;
  return new EngineError(`The engine at ${shown(url)} cannot be used: ${reasonOf(error)}.`, { cause: error });
}

function fieldsOf(info: string): ReadonlyMap<string, string> {
  return new Map(info.split('\r\n').map((line) => line.split(':', 2) as [string, string]));
}

function checkInfo(url: string, fields: ReadonlyMap<string, string>): void {
  const version = fields.get('valkey_version') ?? fields.get('redis_version') ?? '0';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin, minorMin] = ENGINE_VERSION_MIN;
  if (major < majorMin || (major === majorMin && minor < minorMin))
    throw new EngineError(
      `The engine at ${shown(url)} has version ${version}; ${majorMin}.${minorMin} or newer is needed.`,
    );
  const policy = fields.get('maxmemory_policy') ?? 'noeviction';
  if (policy !== 'noeviction')
    throw new EngineError(
      `The engine at ${shown(url)} removes keys when its memory is full (maxmemory-policy ${policy}), and sessions would be lost. Set maxmemory-policy noeviction.`,
    );
}

/** The URL without its password. */
function shown(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${protocol === 'unix:' ? pathname : ''}`;
  } catch {
    return 'that address';
  }
}
