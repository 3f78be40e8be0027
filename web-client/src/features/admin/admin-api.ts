import type { BreakerLine } from '@apus/api';
import type { SiteApi } from '../../state/endpoints.ts';
import { sumOfFigures } from './sum-figures.ts';

export const BAN_KINDS = ['clientid', 'username', 'peerhost', 'token'] as const;

export type BanKind = (typeof BAN_KINDS)[number];

export interface TenantEntry {
  readonly name: string;
  readonly state: 'active' | 'suspended';
  readonly reason?: string;
  readonly createdAt: string;
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
    return sumOfFigures(await this.get<readonly Figures[]>(`/${path}`, {}, signal));
  }

  /**
   * Undefined if the deployment has none, or an older version.
   * @throws {ApiError}
   */
  async breaker(signal: AbortSignal): Promise<BreakerLine | undefined> {
    try {
      return await this.get<BreakerLine>('/breaker', {}, signal);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** @throws {ApiError} */
  page<T>(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Page<T>> {
    return this.get<Page<T>>(path, query, signal);
  }

  /** @throws {ApiError} */
  async usage(query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<readonly UsageLine[]> {
    return (await this.get<{ readonly data: readonly UsageLine[] }>('/usage', query, signal)).data;
  }

  /** @throws {ApiError} */
  async get<T>(path: string, query: Readonly<Record<string, string>>, signal: AbortSignal): Promise<T> {
    const asked = new URLSearchParams(query).toString();
    const joint = asked === '' ? '' : path.includes('?') ? '&' : '?';
    return (await this.#ask('GET', `${path}${joint}${asked}`, signal)) as T;
  }

  /** @throws {ApiError} */
  async post(path: string, body: object): Promise<void> {
    await this.#ask('POST', path, undefined, JSON.stringify(body));
  }

  /** @throws {ApiError} */
  async put(path: string, body: object): Promise<void> {
    await this.#ask('PUT', path, undefined, JSON.stringify(body));
  }

  /** @throws {ApiError} */
  async remove(path: string): Promise<void> {
    await this.#ask('DELETE', path);
  }

  async #ask(
    method: 'GET' | 'DELETE' | 'POST' | 'PUT',
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
