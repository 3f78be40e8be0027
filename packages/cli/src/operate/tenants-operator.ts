import { type Ended, pathWith } from '@apus/api';
import type { TenantEntry } from '@apus/identity';
import type { BrokerApi } from './broker-api.ts';

/** The register of tenants of a broker. */
export class TenantsOperator {
  readonly #api: BrokerApi;

  constructor(api: BrokerApi) {
    this.#api = api;
  }

  list(): AsyncIterable<TenantEntry> {
    return this.#api.pages('/tenants');
  }

  async get(name: string): Promise<TenantEntry | undefined> {
    return await this.#api.find('GET', pathOf(name));
  }

  /** @throws {OperateError} if a tenant has this name */
  async create(entry: object): Promise<TenantEntry> {
    return await this.#api.call('POST', '/tenants', entry);
  }

  /** Undefined if there is no such tenant. */
  async change(name: string, change: object): Promise<(TenantEntry & Ended) | undefined> {
    return await this.#api.find('PUT', pathOf(name), change);
  }

  /** False if there was none. */
  async remove(name: string): Promise<boolean> {
    return await this.#api.change('DELETE', pathOf(name));
  }
}

function pathOf(name: string): string {
  return pathWith('/tenants/:name', { name });
}
