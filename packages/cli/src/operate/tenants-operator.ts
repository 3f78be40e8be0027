import type { TenantEntry } from '@apus/identity';
import type { NodeApi } from './node-api.ts';
import { OperateError } from './operator.ts';
import type { StackOperator } from './stack-operator.ts';

/** The result of a change: undefined if there is no such tenant. */
export interface ChangedTenant {
  readonly tenant: TenantEntry;
  /** The number of clients that the suspension has disconnected; undefined if the broker does not say. */
  readonly expelled?: number;
  /** False: some may be left until the next sweep finds them. */
  readonly isComplete?: boolean;
}

/** The register of tenants of a broker. */
export interface TenantsOperator {
  list(): AsyncIterable<TenantEntry>;
  get(name: string): Promise<TenantEntry | undefined>;
  /** @throws {OperateError} if a tenant has this name */
  create(entry: object): Promise<TenantEntry>;
  change(name: string, change: object): Promise<ChangedTenant | undefined>;
  /** False if there was none. */
  remove(name: string): Promise<boolean>;
}

/** The register of a node, through its `/api/v5/tenants`. */
export class NodeTenants implements TenantsOperator {
  readonly #api: NodeApi;

  constructor(api: NodeApi) {
    this.#api = api;
  }

  async *list(): AsyncGenerator<TenantEntry> {
    // A node without a register answers 404 with that reason.
    const { status, body } = await this.#api.call('GET', 'tenants?limit=1');
    if (status === 404) throw new OperateError((body as { readonly message: string }).message);
    yield* this.#api.pages<TenantEntry>('tenants', {});
  }

  async get(name: string): Promise<TenantEntry | undefined> {
    return (await this.#found('GET', pathOf(name))) as TenantEntry | undefined;
  }

  async create(entry: object): Promise<TenantEntry> {
    const { status, body } = await this.#api.call('POST', 'tenants', entry);
    if (status !== 404) return body as TenantEntry;
    throw new OperateError((body as { readonly message: string }).message);
  }

  async change(name: string, change: object): Promise<ChangedTenant | undefined> {
    const tenant = (await this.#found('PUT', pathOf(name), change)) as TenantEntry | undefined;
    return tenant && { tenant };
  }

  async remove(name: string): Promise<boolean> {
    return (await this.#api.call('DELETE', pathOf(name))).status !== 404;
  }

  async #found(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await this.#api.call(method, path, body);
    return answer.status === 404 ? undefined : answer.body;
  }
}

function pathOf(name: string): string {
  return `tenants/${encodeURIComponent(name)}`;
}

/** The register of a deployment, through the operator's function. */
export class StackTenants implements TenantsOperator {
  readonly #operator: Pick<StackOperator, 'invoke'>;

  constructor(operator: Pick<StackOperator, 'invoke'>) {
    this.#operator = operator;
  }

  async *list(): AsyncGenerator<TenantEntry> {
    let after: string | undefined;
    do {
      const page: { tenants: readonly TenantEntry[]; next?: string } = await this.#operator.invoke({
        action: 'tenants',
        after,
      });
      yield* page.tenants;
      after = page.next;
    } while (after !== undefined);
  }

  async get(name: string): Promise<TenantEntry | undefined> {
    return (await this.#ask({ action: 'tenant', name }))?.tenant;
  }

  async create(entry: object): Promise<TenantEntry> {
    const { tenant } = await this.#operator.invoke<{ tenant: TenantEntry }>({
      action: 'create-tenant',
      entry,
    });
    return tenant;
  }

  async change(name: string, change: object): Promise<ChangedTenant | undefined> {
    return await this.#ask({ action: 'change-tenant', name, change });
  }

  async remove(name: string): Promise<boolean> {
    return (await this.#operator.invoke<{ removed: boolean }>({ action: 'remove-tenant', name })).removed;
  }

  async #ask(request: object): Promise<ChangedTenant | undefined> {
    const answer = await this.#operator.invoke<{ tenant: TenantEntry | null }>(request);
    return answer.tenant === null ? undefined : (answer as ChangedTenant);
  }
}
