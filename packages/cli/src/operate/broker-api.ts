import { API_PATH, pathWith } from '@apus/api';
import { TENANT_HEADER } from '@apus/door';
import { OperateError } from './operate-error.ts';

/** Entries of a page: the most that the API gives. */
const PAGE_LENGTH = 1_000;

interface Page<T> {
  readonly data: readonly T[];
  /** `next`: of a deployment, which does not count pages. */
  readonly meta: { readonly hasnext: boolean; readonly next?: string | null };
}

export interface ApiRequest {
  readonly method: string;
  /** `/api/v5/…`, with its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Carries requests to a broker. */
export interface Transport {
  /** The broker, in a sentence. */
  readonly name: string;
  /** @throws {OperateError} */
  send(request: ApiRequest): Promise<{ readonly status: number; readonly body: string }>;
}

/** The HTTP API of a broker, whichever way its requests take. */
export class BrokerApi {
  readonly #transport: Transport;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param tenant of the requests. @default the broker's default tenant */
  constructor(transport: Transport, tenant?: string) {
    this.#transport = transport;
    this.#headers = tenant === undefined ? {} : { [TENANT_HEADER]: tenant };
  }

  /** @param path with its parameters, as `/presence/:room` */
  async *pages<T>(
    path: string,
    names: Readonly<Record<string, string>> = {},
    query: Readonly<Record<string, string>> = {},
  ): AsyncGenerator<T> {
    let place: Readonly<Record<string, string>> | undefined = { page: '1' };
    for (let page = 2; place !== undefined; page += 1) {
      const asked = pathWith(path, names, { ...query, ...place, limit: String(PAGE_LENGTH) });
      const { data, meta }: Page<T> = await this.call('GET', asked);
      yield* data;
      const next = typeof meta.next === 'string' ? { after: meta.next } : { page: String(page) };
      place = meta.hasnext ? next : undefined;
    }
  }

  /** The answer; "not found" is an error. */
  async call<T>(method: string, path: string, body?: object): Promise<T> {
    const answer = await this.#ask(method, path, body);
    if (answer.status !== 404) return answer.body as T;
    throw new OperateError((answer.body as { readonly message?: string }).message ?? 'Not found.');
  }

  /** The answer; undefined if the broker has not found it. */
  async find<T>(method: string, path: string, body?: object): Promise<T | undefined> {
    const answer = await this.#ask(method, path, body);
    return answer.status === 404 ? undefined : (answer.body as T);
  }

  /** False if the broker has not found it. */
  async change(method: string, path: string, body?: object): Promise<boolean> {
    return (await this.#ask(method, path, body)).status !== 404;
  }

  async #ask(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
    const { status, body: text } = await this.#transport.send({
      ...{ method, path: API_PATH + path, headers: this.#headers },
      body: body && JSON.stringify(body),
    });
    const answer = jsonOf(text);
    const isOk = status >= 200 && status < 300;
    const isOurs = answer !== undefined || (isOk && text === '');
    if (isOurs && (isOk || status === 404)) return { status, body: answer };
    const { message, code } = (answer ?? {}) as { readonly message?: string; readonly code?: string };
    throw new OperateError(message ?? `${this.#transport.name} has answered ${status}: is it Apus?`, {
      code,
    });
  }
}

function jsonOf(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
