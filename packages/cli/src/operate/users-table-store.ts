import { pathWith } from '@apus/api';
import type { UserEntry } from '@apus/identity';
import type { BrokerApi } from './broker-api.ts';
import { OperateError } from './operate-error.ts';
import type { ListedUser, UserStore } from './user-store.ts';

/** The users of a deployment, which are in its table. */
export class UsersTableStore implements UserStore {
  readonly effect = 'It counts from the next CONNECT on; sessions of a user who is gone have been ended.';
  readonly #api: BrokerApi;

  constructor(api: BrokerApi) {
    this.#api = api;
  }

  async add(user: UserEntry): Promise<boolean> {
    try {
      return await this.#api.change('POST', '/users', user);
    } catch (error) {
      if (error instanceof OperateError && error.code === 'ALREADY_EXISTS') return false;
      throw error;
    }
  }

  async setPassword(name: string, password: string): Promise<boolean> {
    return await this.#api.change('PUT', pathOf(name), { password });
  }

  async remove(name: string): Promise<boolean> {
    return await this.#api.change('DELETE', pathOf(name));
  }

  list(): AsyncIterable<ListedUser> {
    return this.#api.pages('/users');
  }
}

function pathOf(name: string): string {
  return pathWith('/users/:name', { name });
}
