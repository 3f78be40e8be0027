import type { BanEntry } from '@apus/identity';
import {
  type Banned,
  type BanRequest,
  type ClientLine,
  type MemberLine,
  OperateError,
  type Operator,
  type StreamLine,
  type StreamPage,
  type StreamQuestion,
} from './operator.ts';

/** Entries of a page: as many as the API gives. */
const PAGE_LENGTH = 1_000;

/** A node answers from memory; only a ban of very many clients takes seconds. */
const TIMEOUT_MS = 60_000;

interface Page<T> {
  readonly data: readonly T[];
  readonly meta: { readonly hasnext: boolean };
}

interface ApiClient {
  readonly clientid: string;
  readonly username: string | null;
  readonly connected: boolean;
  readonly connected_at: string;
}

/** A node, through its `/api/v5`. */
export class NodeOperator implements Operator {
  readonly #url: string;
  readonly #key: string | undefined;

  /** `url` is the page's, as `http://127.0.0.1:8083`. */
  constructor(url: string, key: string | undefined) {
    this.#url = url;
    this.#key = key;
  }

  async *clients(username: string | undefined): AsyncGenerator<ClientLine> {
    const query = username === undefined ? {} : { username };
    for await (const client of this.#pages<ApiClient>('clients', query)) {
      const { clientid: clientId, connected: isConnected, connected_at: connectedAt } = client;
      yield { clientId, username: client.username, isConnected, connectedAt };
    }
  }

  async kick(clientId: string): Promise<boolean> {
    return await this.#remove(`clients/${encodeURIComponent(clientId)}`);
  }

  async ban(request: BanRequest): Promise<Banned> {
    const ban = (await this.#call('POST', 'banned', request)).body as BanEntry;
    return { ban, isComplete: true };
  }

  async unban(as: string, who: string): Promise<boolean> {
    return await this.#remove(`banned/${as}/${encodeURIComponent(who)}`);
  }

  bans(): AsyncIterable<BanEntry> {
    return this.#pages<BanEntry>('banned', {});
  }

  async streams(): Promise<readonly StreamLine[]> {
    return ((await this.#call('GET', 'streams')).body as { readonly data: readonly StreamLine[] }).data;
  }

  members(room: string): AsyncIterable<MemberLine> {
    return this.#pages<MemberLine>(`presence/${encodeURIComponent(room)}`, {});
  }

  async streamMessages(name: string, question: StreamQuestion): Promise<StreamPage> {
    const asked = new URLSearchParams();
    for (const [parameter, value] of Object.entries(question))
      if (value !== undefined) asked.set(parameter, String(value));
    const { status, body } = await this.#call('GET', `streams/${encodeURIComponent(name)}/messages?${asked}`);
    const { data, meta, message } = (body ?? {}) as {
      readonly data?: StreamPage['messages'];
      readonly meta?: { readonly next: string | null };
      readonly message?: string;
    };
    if (status === 404 || data === undefined)
      throw new OperateError(message ?? `${this.#url} knows no stream ${name}.`);
    return { messages: data, next: meta?.next ?? null };
  }

  async *#pages<T>(path: string, query: Readonly<Record<string, string>>): AsyncGenerator<T> {
    let hasNext = true;
    for (let page = 1; hasNext; page += 1) {
      const asked = new URLSearchParams({ ...query, page: String(page), limit: String(PAGE_LENGTH) });
      const { data, meta } = (await this.#call('GET', `${path}?${asked}`)).body as Page<T>;
      yield* data;
      hasNext = meta.hasnext;
    }
  }

  async #remove(path: string): Promise<boolean> {
    return (await this.#call('DELETE', path)).status !== 404;
  }

  /** "Not found" is an answer too; anything else that is no success is an error. */
  async #call(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
    const response = await this.#fetch(method, path, body);
    const text = await response.text();
    const answer = jsonOf(text);
    if (response.ok || response.status === 404) return { status: response.status, body: answer };
    const { message } = (answer ?? {}) as { readonly message?: string };
    throw new OperateError(message ?? `${this.#url} has answered ${response.status}: is it a node of Apus?`);
  }

  async #fetch(method: string, path: string, body: object | undefined): Promise<Response> {
    try {
      return await fetch(new URL(`/api/v5/${path}`, this.#url), {
        method,
        headers: { ...(this.#key !== undefined && { authorization: `Bearer ${this.#key}` }) },
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    } catch (error) {
      const { message, cause } = error as Error;
      const why = cause instanceof Error ? cause.message || String(cause) : message;
      throw new OperateError(`Cannot reach ${this.#url}: ${why}`, { cause: error });
    }
  }
}

function jsonOf(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
