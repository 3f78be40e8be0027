import type { SiteApi } from '../../state/endpoints.ts';
import { sumOfFigures } from './sum-figures.ts';

/** The answers of the broker's API, reduced to the fields that are shown. Times are RFC 3339. */
export interface Client {
  /** The process that has it: `apus` where there is one. */
  readonly node?: string;
  readonly clientid: string;
  readonly username: string | null;
  readonly connected: boolean;
  readonly connected_at: string;
  readonly disconnected_at: string | null;
  readonly door: 'node' | 'gateway' | null;
  readonly ip_address: string | null;
  readonly proto_ver: number | null;
  /** Null, like the fields below, if a deployment does not tell it. */
  readonly expiry_interval: number | null;
  readonly subscriptions_cnt: number | null;
  readonly mqueue_len: number | null;
  /** Absent for a broker that does not count them. */
  readonly 'send_msg.dropped'?: number | null;
}

/** The fields of one client that the list leaves out. */
export interface ClientDetails extends Client {
  readonly connected_seconds: number | null;
  readonly port: number | null;
  readonly keepalive: number | null;
  readonly recv_maximum: number | null;
  readonly will: string | null;
  readonly mqueue_dropped?: number | null;
  /** Absent for a broker that does not tell them, like the fields below. */
  readonly inflight_cnt?: number | null;
  /** Of this connection; null at a door that does not count them. */
  readonly recv_msg?: number | null;
  readonly recv_oct?: number | null;
  readonly send_msg?: number | null;
  readonly send_oct?: number | null;
  readonly identity?: {
    readonly source: string | null;
    readonly client_ids: readonly string[] | null;
    readonly rules: readonly unknown[] | null;
    readonly issued_at: string | null;
    readonly expires_at: string | null;
    readonly token_id: string | null;
    readonly key_id: string | null;
  };
  /** By name; 0 means no limit. */
  readonly quotas?: Readonly<Record<string, number>>;
}

export const BAN_KINDS = ['clientid', 'username', 'peerhost', 'token'] as const;

export type BanKind = (typeof BAN_KINDS)[number];

export interface BanEntry {
  readonly as: BanKind;
  readonly who: string;
  readonly by: string;
  readonly reason: string;
  readonly at: string;
  /** Or `infinity`. */
  readonly until: string;
  readonly issued_before?: string;
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

export interface TenantEntry {
  readonly name: string;
  readonly state: 'active' | 'suspended';
  readonly reason?: string;
  readonly createdAt: string;
}

/** A stream, and what it holds. */
export interface StreamEntry {
  readonly name: string;
  readonly topic_filter: string;
  readonly topics: number;
  readonly messages: number;
  readonly bytes: number;
}

/** The usage of a tenant in an hour, or a day. */
export interface UsageLine {
  readonly tenant: string;
  /** `2026-11-25T18` or `2026-11-25`. */
  readonly time: string;
  readonly connectionMs: number;
  readonly messagesIn: number;
  readonly bytesIn: number;
  readonly messagesOutQos0: number;
  readonly messagesOutQos1: number;
  readonly messagesOutQos2: number;
  readonly bytesOut: number;
}

/** The breaker of a deployment. */
export interface BreakerState {
  readonly state: 'closed' | 'tripped';
  readonly since: string | null;
  readonly closes_at: string | null;
  readonly frames_per_second_max: number;
  readonly messages_per_minute_max: number;
  /** Null: CloudWatch has none of the last minutes. */
  readonly messages_last_minute: number | null;
  readonly last_minute_at: string | null;
}

/** A limit, and its present use. */
export interface QuotaEntry {
  readonly scope: 'identity' | 'tenant' | 'broker';
  readonly name: string;
  readonly max: number;
  /** Null: it is not counted here, or each identity counts separately. */
  readonly used: number | null;
}

export interface Page<T> {
  readonly data: readonly T[];
  readonly meta: {
    readonly limit: number;
    readonly hasnext: boolean;
    /** Of all pages; absent at a deployment, which does not count them. */
    readonly count?: number;
    /** `after` of the next page, at a deployment. */
    readonly next?: string | null;
  };
}

/** By the API's own names, as `live_connections.count`. */
export type Figures = Readonly<Record<string, number | null | undefined>>;

/** Why the API did not answer: `key` if it needs a key, or another one. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly kind: 'key' | 'refused' | 'unreachable';
  /** Of HTTP; undefined where there was no answer. */
  readonly status: number | undefined;

  constructor(kind: ApiError['kind'], message: string, status?: number) {
    super(message);
    this.kind = kind;
    this.status = status;
  }
}

/** Milliseconds between two requests to a node while the view is open. */
const POLL_MS = 2_000;

/**
 * The broker's API. The key is stored as long as the page is open, and is only sent to the address in `config.json`.
 */
export class AdminApi {
  readonly #site: SiteApi;
  readonly #key: string | undefined;
  /** The tenant whose clients and messages are shown. */
  readonly #tenant: string | undefined;

  /** @param tenant undefined: the default tenant */
  constructor(site: SiteApi, key: string | undefined, tenant?: string) {
    this.#site = site;
    this.#key = key;
    this.#tenant = tenant;
  }

  get isDeployment(): boolean {
    return this.#site.isDeployment;
  }

  get hasTenants(): boolean {
    return this.#site.hasTenants;
  }

  /** Undefined at a deployment: it is asked only when the user wants it, since each answer is billed. */
  get pollMs(): number | undefined {
    return this.isDeployment ? undefined : POLL_MS;
  }

  /** @throws {ApiError} */
  async figures(path: 'stats' | 'metrics', signal: AbortSignal): Promise<Figures> {
    return sumOfFigures((await this.#ask('GET', `/${path}`, signal)) as readonly Figures[]);
  }

  /**
   * Undefined if the deployment has none, or an older version.
   * @throws {ApiError}
   */
  async breaker(signal: AbortSignal): Promise<BreakerState | undefined> {
    try {
      return (await this.#ask('GET', '/breaker', signal)) as BreakerState;
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
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
  async usage(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly UsageLine[]> {
    const answer = await this.#ask('GET', `/usage?${new URLSearchParams(query)}`, signal);
    return (answer as { readonly data: readonly UsageLine[] }).data;
  }

  /** @throws {ApiError} */
  async client(clientId: string, signal: AbortSignal): Promise<ClientDetails> {
    return (await this.#ask('GET', `/clients/${encodeURIComponent(clientId)}`, signal)) as ClientDetails;
  }

  /** @throws {ApiError} */
  async subscriptionsOf(clientId: string, signal: AbortSignal): Promise<readonly HeldSubscription[]> {
    const path = `/clients/${encodeURIComponent(clientId)}/subscriptions`;
    return (await this.#ask('GET', path, signal)) as readonly HeldSubscription[];
  }

  /** @throws {ApiError} */
  async post(path: string, body: object): Promise<void> {
    await this.#ask('POST', path, undefined, JSON.stringify(body));
  }

  /** @throws {ApiError} */
  async remove(path: string): Promise<void> {
    await this.#ask('DELETE', path);
  }

  async #ask(
    method: 'GET' | 'DELETE' | 'POST',
    path: string,
    signal?: AbortSignal,
    body?: string,
  ): Promise<unknown> {
    const headers = {
      ...(this.#key !== undefined && { Authorization: `Bearer ${this.#key}` }),
      ...(this.#tenant !== undefined && { 'Apus-Tenant': this.#tenant }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    let response: Response;
    try {
      response = await fetch(`${this.#site.url}${path}`, {
        method,
        headers,
        ...(signal && { signal }),
        ...(body !== undefined && { body }),
      });
    } catch (error) {
      throw new ApiError('unreachable', error instanceof Error ? error.message : String(error));
    }
    if (response.status === 401) throw new ApiError('key', await messageOf(response), 401);
    if (!response.ok) throw new ApiError('refused', await messageOf(response), response.status);
    return response.status === 204 ? undefined : await response.json();
  }
}

async function messageOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    if (typeof message === 'string') return message;
  } catch {
    // A server between the page and the broker has answered.
  }
  return `HTTP ${response.status}`;
}
