import { pathWith } from '@apus/api';
import type { BrokerApi } from './broker-api.ts';

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

/** The rules of a node, or of a deployment over HTTPS. */
export class ApiRules implements RuleOperator {
  readonly #api: BrokerApi;

  constructor(api: BrokerApi) {
    this.#api = api;
  }

  async *rules(): AsyncGenerator<object> {
    yield* (await this.#api.call<{ readonly data: readonly object[] }>('GET', '/rules')).data;
  }

  async *deadLetters(name: string, id: string | undefined): AsyncGenerator<object> {
    if (id === undefined) yield* this.#api.pages<object>(LETTERS, { name });
    else yield await this.#api.call<object>('GET', pathOf(name, id));
  }

  async send(name: string, id: string | undefined): Promise<Resent> {
    return await this.#api.call('POST', pathOf(name, id, '/send'));
  }

  async discard(name: string, id: string | undefined): Promise<void> {
    await this.#api.call('DELETE', pathOf(name, id));
  }
}

const LETTERS = '/rules/:name/dead_letters';

function pathOf(name: string, id: string | undefined, action = ''): string {
  return id === undefined
    ? pathWith(LETTERS + action, { name })
    : pathWith(`${LETTERS}/:id${action}`, { name, id });
}
