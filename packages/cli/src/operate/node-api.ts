import { TENANT_HEADER } from '@apus/cloud';
import { OperateError } from './operator.ts';

/** Entries of a page: the most that the API gives. */
const PAGE_LENGTH = 1_000;

/** A node answers from memory. In a deployment a ban takes most of a minute, and longer over a large table. */
const TIMEOUT_MS = 300_000;

interface Page<T> {
  readonly data: readonly T[];
  /** `next`: of a deployment, which does not count pages. */
  readonly meta: { readonly hasnext: boolean; readonly next?: string | null };
}

/** Calls `/api/v5` of a node, or of a deployment that answers it over HTTPS. */
export class NodeApi {
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;

  /**
   * `url` is that of the page, such as `http://127.0.0.1:8083`; `tenant` is the node's default tenant if it is not
   * given.
   */
  constructor(url: string, key: string | undefined, tenant?: string) {
    this.url = url;
    this.#headers = {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(tenant !== undefined && { [TENANT_HEADER]: tenant }),
    };
  }

  async *pages<T>(path: string, query: Readonly<Record<string, string>>): AsyncGenerator<T> {
    let place: Readonly<Record<string, string>> | undefined = { page: '1' };
    for (let page = 2; place !== undefined; page += 1) {
      const asked = new URLSearchParams({ ...query, ...place, limit: String(PAGE_LENGTH) });
      const { data, meta } = (await this.call('GET', `${path}?${asked}`)).body as Page<T>;
      yield* data;
      const next = typeof meta.next === 'string' ? { after: meta.next } : { page: String(page) };
      place = meta.hasnext ? next : undefined;
    }
  }

  /** "Not found" is a valid answer; any other status that is no success is an error. */
  async call(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
    const response = await this.#fetch(method, path, body);
    const text = await response.text();
    const answer = jsonOf(text);
    const isOurs = answer !== undefined || (response.ok && text === '');
    if (isOurs && (response.ok || response.status === 404)) return { status: response.status, body: answer };
    const { message } = (answer ?? {}) as { readonly message?: string };
    throw new OperateError(message ?? `${this.url} has answered ${response.status}: is it Apus?`);
  }

  /**
   * The API's path is below the page's, which may be below another path: an emulator of AWS has the URLs of functions
   * there.
   */
  #addressOf(path: string): URL {
    const base = new URL(this.url);
    base.pathname = base.pathname.replace(/(\/api\/v5)?\/*$/, '/');
    return new URL(`api/v5/${path}`, new URL(base.pathname, base));
  }

  async #fetch(method: string, path: string, body: object | undefined): Promise<Response> {
    try {
      return await fetch(this.#addressOf(path), {
        method,
        headers: this.#headers,
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    } catch (error) {
      const { message, cause } = error as Error;
      const why = cause instanceof Error ? cause.message || String(cause) : message;
      throw new OperateError(`Cannot reach ${this.url}: ${why}`, { cause: error });
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
