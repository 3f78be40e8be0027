import type { BanEntry } from '@apus/identity';
import type { NodeApi } from './node-api.ts';
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

interface ApiClient {
  readonly clientid: string;
  readonly username: string | null;
  readonly connected: boolean;
  readonly connected_at: string;
}

/** A node, through its `/api/v5`. */
export class NodeOperator implements Operator {
  readonly #api: NodeApi;

  constructor(api: NodeApi) {
    this.#api = api;
  }

  async *clients(username: string | undefined): AsyncGenerator<ClientLine> {
    const query = username === undefined ? {} : { username };
    for await (const client of this.#api.pages<ApiClient>('clients', query)) {
      const { clientid: clientId, connected: isConnected, connected_at: connectedAt } = client;
      yield { clientId, username: client.username, isConnected, connectedAt };
    }
  }

  async kick(clientId: string): Promise<boolean> {
    return await this.#remove(`clients/${encodeURIComponent(clientId)}`);
  }

  async ban(request: BanRequest): Promise<Banned> {
    const ban = (await this.#api.call('POST', 'banned', request)).body as BanEntry;
    return { ban, isComplete: true };
  }

  async unban(as: string, who: string): Promise<boolean> {
    return await this.#remove(`banned/${as}/${encodeURIComponent(who)}`);
  }

  bans(): AsyncIterable<BanEntry> {
    return this.#api.pages<BanEntry>('banned', {});
  }

  async streams(): Promise<readonly StreamLine[]> {
    return ((await this.#api.call('GET', 'streams')).body as { readonly data: readonly StreamLine[] }).data;
  }

  members(room: string): AsyncIterable<MemberLine> {
    return this.#api.pages<MemberLine>(`presence/${encodeURIComponent(room)}`, {});
  }

  async streamMessages(name: string, question: StreamQuestion): Promise<StreamPage> {
    const asked = new URLSearchParams();
    for (const [parameter, value] of Object.entries(question))
      if (value !== undefined) asked.set(parameter, String(value));
    const { status, body } = await this.#api.call(
      'GET',
      `streams/${encodeURIComponent(name)}/messages?${asked}`,
    );
    const { data, meta, message } = (body ?? {}) as {
      readonly data?: StreamPage['messages'];
      readonly meta?: { readonly next: string | null };
      readonly message?: string;
    };
    if (status === 404 || data === undefined)
      throw new OperateError(message ?? `${this.#api.url} knows no stream ${name}.`);
    return { messages: data, next: meta?.next ?? null };
  }

  async #remove(path: string): Promise<boolean> {
    return (await this.#api.call('DELETE', path)).status !== 404;
  }
}
