import type { SiteApi } from '../../state/endpoints.ts';

/** What the broker's API answers, as far as it is shown here. Times are RFC 3339. */
export interface Client {
  readonly clientid: string;
  readonly username: string | null;
  readonly connected: boolean;
  readonly connected_at: string;
  readonly disconnected_at: string | null;
  readonly door: 'node' | 'gateway' | null;
  readonly ip_address: string | null;
  readonly proto_ver: number | null;
  readonly expiry_interval: number;
  readonly subscriptions_cnt: number;
  readonly mqueue_len: number;
}

export interface HeldSubscription {
  readonly clientid: string;
  readonly topic: string;
  readonly qos: number;
  readonly nl: 0 | 1;
  readonly rap: 0 | 1;
  readonly id: number | null;
}

export interface Retained {
  readonly topic: string;
  readonly qos: number;
  readonly payload_bytes: number;
  readonly expires_at: string | null;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly meta: {
    readonly page: number;
    readonly limit: number;
    readonly count: number;
    readonly hasnext: boolean;
  };
}

/** By the API's own names, as `live_connections.count`. */
export type Figures = Readonly<Record<string, number | undefined>>;

/** Why the API did not answer: `key` where it wants one or another one. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly kind: 'key' | 'refused' | 'unreachable';

  constructor(kind: ApiError['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** The broker's API. The key is kept as long as the page is open, and goes to the page's own server alone. */
export class AdminApi {
  readonly #site: SiteApi;
  readonly #key: string | undefined;

  constructor(site: SiteApi, key: string | undefined) {
    this.#site = site;
    this.#key = key;
  }

  /** @throws {ApiError} */
  async figures(path: 'stats' | 'metrics', signal: AbortSignal): Promise<Figures> {
    const [figures] = (await this.#ask('GET', `/${path}`, signal)) as readonly Figures[];
    return figures ?? {};
  }

  /** @throws {ApiError} */
  async page<T>(
    path: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Page<T>> {
    return (await this.#ask('GET', `${path}?${new URLSearchParams(query)}`, signal)) as Page<T>;
  }

  /** @throws {ApiError} */
  async remove(path: string): Promise<void> {
    await this.#ask('DELETE', path);
  }

  async #ask(method: 'GET' | 'DELETE', path: string, signal?: AbortSignal): Promise<unknown> {
    const headers = this.#key === undefined ? {} : { Authorization: `Bearer ${this.#key}` };
    let response: Response;
    try {
      response = await fetch(`${this.#site.url}${path}`, { method, headers, ...(signal && { signal }) });
    } catch (error) {
      throw new ApiError('unreachable', error instanceof Error ? error.message : String(error));
    }
    if (response.status === 401) throw new ApiError('key', await messageOf(response));
    if (!response.ok) throw new ApiError('refused', await messageOf(response));
    return response.status === 204 ? undefined : await response.json();
  }
}

async function messageOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // Something between the page and the broker has answered.
  }
  return `HTTP ${response.status}`;
}
