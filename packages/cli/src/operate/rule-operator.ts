import type { NodeApi } from './node-api.ts';
import { OperateError } from './operator.ts';

/** The outcome of sending dead letters again. */
export interface Resent {
  readonly sent: number;
  readonly error?: string;
}

/** Rules, and the messages that they have given up, at either door. */
export interface RuleOperator {
  rules(): AsyncIterable<object>;
  /** @param id @default all */
  deadLetters(name: string, id: string | undefined): AsyncIterable<object>;
  send(name: string, id: string | undefined): Promise<Resent>;
  discard(name: string, id: string | undefined): Promise<void>;
}

/** The rules of a node, through its `/api/v5`. */
export class NodeRules implements RuleOperator {
  readonly #api: NodeApi;

  constructor(api: NodeApi) {
    this.#api = api;
  }

  async *rules(): AsyncGenerator<object> {
    yield* ((await this.#api.call('GET', 'rules')).body as { readonly data: readonly object[] }).data;
  }

  async *deadLetters(name: string, id: string | undefined): AsyncGenerator<object> {
    if (id !== undefined) yield (await this.#found('GET', pathOf(name, id))) as object;
    else {
      // The node reports an unknown rule before a page is requested.
      await this.#found('GET', `${pathOf(name)}?limit=1`);
      yield* this.#api.pages<object>(pathOf(name), {});
    }
  }

  async send(name: string, id: string | undefined): Promise<Resent> {
    return (await this.#found('POST', `${pathOf(name, id)}/send`)) as Resent;
  }

  async discard(name: string, id: string | undefined): Promise<void> {
    await this.#found('DELETE', pathOf(name, id));
  }

  async #found(method: string, path: string): Promise<unknown> {
    const { status, body } = await this.#api.call(method, path);
    if (status !== 404) return body;
    throw new OperateError((body as { readonly message?: string } | undefined)?.message ?? 'Not found.');
  }
}

function pathOf(name: string, id?: string): string {
  const path = `rules/${encodeURIComponent(name)}/dead_letters`;
  return id === undefined ? path : `${path}/${encodeURIComponent(id)}`;
}
