import {
  ConfigurationError,
  readIfThere,
  readTenantEntry,
  replaceFile,
  type TenantStore,
  type TenantsPage,
} from '@apus/identity';

/**
 * The register of tenants of a node, as a file: `{"tenants": [{"name": "acme", …}]}`. The node reads it at the start,
 * and writes it with each change; an edit by hand takes effect at the next start.
 */
export class TenantsFile implements TenantStore {
  readonly #path: string;
  #tenants: ReadonlyMap<string, string>;

  /** @throws {ConfigurationError} if the file exists and is wrong */
  constructor(path: string) {
    this.#path = path;
    this.#tenants = this.#read(readIfThere(path));
  }

  get(name: string): string | undefined {
    return this.#tenants.get(name);
  }

  add(name: string, json: string): boolean {
    return this.#change((tenants) => (tenants.has(name) ? undefined : new Map(tenants).set(name, json)));
  }

  replace(name: string, before: string, json: string): boolean {
    return this.#change((tenants) =>
      tenants.get(name) === before ? new Map(tenants).set(name, json) : undefined,
    );
  }

  remove(name: string): boolean {
    return this.#change((tenants) => {
      const left = new Map(tenants);
      return left.delete(name) ? left : undefined;
    });
  }

  list(): TenantsPage {
    const names = [...this.#tenants.keys()].sort();
    return { tenants: names.map((name) => this.#tenants.get(name) ?? ''), next: undefined };
  }

  /** If `change` returns undefined there is nothing to do: the file stays unchanged, and the result is false. */
  #change(
    change: (tenants: ReadonlyMap<string, string>) => ReadonlyMap<string, string> | undefined,
  ): boolean {
    const changed = change(this.#tenants);
    if (changed === undefined) return false;
    replaceFile(this.#path, () => {
      const tenants = [...changed.values()].map((json) => JSON.parse(json) as object);
      return `${JSON.stringify({ tenants }, undefined, 2)}\n`;
    });
    this.#tenants = changed;
    return true;
  }

  #read(text: string | undefined): ReadonlyMap<string, string> {
    if (text === undefined) return new Map();
    try {
      const { tenants } = JSON.parse(text) as { readonly tenants: readonly unknown[] };
      const entries = tenants
        .map(readTenantEntry)
        .map((entry) => [entry.name, JSON.stringify(entry)] as const);
      if (new Set(entries.map(([name]) => name)).size < entries.length)
        throw new ConfigurationError('two tenants have the same name.');
      return new Map(entries);
    } catch (error) {
      throw new ConfigurationError(`${this.#path}: ${(error as Error).message}`, { cause: error });
    }
  }
}
