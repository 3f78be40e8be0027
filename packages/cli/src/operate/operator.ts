import {
  type Client,
  type Ended,
  type MemberLine,
  pathWith,
  type StreamLine,
  type StreamPage,
} from '@apus/api';
import type { UsageLine } from '@apus/broker';
import type { BanEntry } from '@apus/identity';
import type { BrokerApi } from './broker-api.ts';

/** A request for a ban: the fields of `POST /api/v5/banned`. */
export type BanRequest = Pick<BanEntry, 'as' | 'who'> & Partial<Omit<BanEntry, 'at'>>;

/** A client: connected, or with a session only. */
export interface ClientLine {
  readonly clientId: string;
  readonly username: string | null;
  readonly token: string | null;
  readonly isConnected: boolean;
  readonly connectedAt: string | null;
}

/** The selection of messages of a stream; the fields are named like the parameters of the API. */
export interface StreamQuestion {
  readonly topic?: string | undefined;
  readonly since?: string | undefined;
  readonly limit?: number | undefined;
  readonly reverse?: boolean | undefined;
}

/** A question in the form that `readUsageQuestion` of `@apus/broker` reads. */
export type UsageFields = Readonly<Record<'tenant' | 'from' | 'to' | 'by', string | undefined>>;

export interface UsageAnswer {
  readonly data: readonly UsageLine[];
  /** The hours of the report, in UTC: from the first one, up to but without the second. */
  readonly meta: { readonly from: string; readonly to: string; readonly by: string };
}

/** A broker as its operator sees it: a node, or a deployment. */
export class Operator {
  readonly #api: BrokerApi;

  constructor(api: BrokerApi) {
    this.#api = api;
  }

  /** All clients, or those of one name; the caller stops when it has enough. */
  async *clients(username: string | undefined): AsyncGenerator<ClientLine> {
    for await (const client of this.#api.pages<Client>('/clients', {}, given({ username })))
      yield {
        clientId: client.clientid,
        username: client.username,
        token: client.token_id,
        isConnected: client.connected,
        connectedAt: client.connected_at,
      };
  }

  /** False if no such client is connected. */
  async kick(clientid: string): Promise<boolean> {
    return await this.#api.change('DELETE', pathWith('/clients/:clientid', { clientid }));
  }

  async ban(request: BanRequest): Promise<BanEntry & Ended> {
    return await this.#api.call('POST', '/banned', request);
  }

  /** False if there was no such ban. */
  async unban(as: string, who: string): Promise<boolean> {
    return await this.#api.change('DELETE', pathWith('/banned/:as/:who', { as, who }));
  }

  bans(): AsyncIterable<BanEntry> {
    return this.#api.pages('/banned');
  }

  async streams(): Promise<readonly StreamLine[]> {
    return (await this.#api.call<{ readonly data: readonly StreamLine[] }>('GET', '/streams')).data;
  }

  members(room: string): AsyncIterable<MemberLine> {
    return this.#api.pages('/presence/:room', { room });
  }

  async streamMessages(name: string, question: StreamQuestion): Promise<StreamPage> {
    const path = pathWith('/streams/:name/messages', { name }, given(question));
    const { data: messages, meta } = await this.#api.call<{
      readonly data: StreamPage['messages'];
      readonly meta: Pick<StreamPage, 'next'>;
    }>('GET', path);
    return { messages, next: meta.next };
  }

  async usage(fields: UsageFields): Promise<UsageAnswer> {
    return await this.#api.call('GET', pathWith('/usage', {}, given(fields)));
  }
}

/** The parameters that have a value. */
function given(query: object): Readonly<Record<string, string>> {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
}
