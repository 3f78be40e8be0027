import { reasonOf } from '@apus/broker';
import type { ApiRequest, Transport } from './broker-api.ts';
import { OperateError } from './operate-error.ts';

/** A node answers from memory. In a deployment a ban takes most of a minute, and longer over a large table. */
const TIMEOUT_MS = 300_000;

/** Requests over HTTP to a node, or to a deployment that answers its API over HTTPS. */
export class HttpTransport implements Transport {
  readonly name: string;
  readonly #key: string | undefined;

  /** @param url of the page, such as `http://127.0.0.1:8083` */
  constructor(url: string, key: string | undefined) {
    this.name = url;
    this.#key = key;
  }

  async send({ method, path, headers, body }: ApiRequest): Promise<{ status: number; body: string }> {
    const key = this.#key;
    try {
      const response = await fetch(this.#addressOf(path), {
        method,
        headers: { ...headers, ...(key !== undefined && { authorization: `Bearer ${key}` }) },
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(body !== undefined && { body }),
      });
      return { status: response.status, body: await response.text() };
    } catch (error) {
      throw new OperateError(`Cannot reach ${this.name}: ${reasonOf(error)}`, { cause: error });
    }
  }

  /**
   * The API's path is below the page's, which may be below another path: an emulator of AWS has the URLs of functions
   * there.
   */
  #addressOf(path: string): URL {
    const base = new URL(this.name);
    base.pathname = base.pathname.replace(/(\/api\/v5)?\/*$/, '/');
    return new URL(path.slice(1), new URL(base.pathname, base));
  }
}
