import type { Log } from '@apus/broker';
import type { ClusterContext } from '@apus/node';
import type { ValkeyTenants } from './store/index.ts';
import { type Others, tellAll } from './tell-all.ts';

type TenantStore = NonNullable<ClusterContext['tenants']>;

/** Applies the tenant's entry at this process. Undefined: it is not in the register any more. */
export type TenantChanged = (name: string, json: string | undefined) => Promise<void>;

/**
 * One register of tenants for all processes, in the engine; each process has it in memory, and copies changes to its
 * file. A change is announced by the tenant's name, and each process reads the entry, so the order of two
 * announcements makes no difference.
 */
export class SharedTenants implements TenantStore {
  readonly #store: ValkeyTenants;
  readonly #file: TenantStore;
  readonly #others: Others;
  readonly #log: Log;
  readonly #tenants: Map<string, string>;
  #changed: TenantChanged = async () => {};
  #reading: Promise<void> = Promise.resolve();

  private constructor(
    store: ValkeyTenants,
    file: TenantStore,
    tenants: ReadonlyMap<string, string>,
    others: Others,
    log: Log,
  ) {
    this.#store = store;
    this.#file = file;
    this.#tenants = new Map(tenants);
    this.#others = others;
    this.#log = log;
  }

  /**
   * To be called by a member: it reads all earlier changes, and is told of later ones. An engine without a register
   * gets that of the file.
   */
  static async open(
    store: ValkeyTenants,
    file: TenantStore,
    others: Others,
    log: Log,
  ): Promise<SharedTenants> {
    const given = await allOf(file);
    const isNew = await store.begin(given);
    const tenants = await store.load();
    if (!isNew && !isSame(given, tenants))
      log.warn('tenants-file-not-read', {
        reason:
          'The engine has a register of tenants, which differs from that of the file. Change it with `apus tenant`.',
      });
    return new SharedTenants(store, file, tenants, others, log);
  }

  start(changed: TenantChanged): void {
    this.#changed = changed;
  }

  get(name: string): string | undefined {
    return this.#tenants.get(name);
  }

  async add(name: string, json: string): Promise<boolean> {
    return await this.#tell(name, await this.#store.add(name, json));
  }

  async replace(name: string, before: string, json: string): Promise<boolean> {
    return await this.#tell(name, await this.#store.replace(name, before, json));
  }

  async remove(name: string): Promise<boolean> {
    return await this.#tell(name, await this.#store.remove(name));
  }

  list(): { readonly tenants: readonly string[]; readonly next: undefined } {
    const names = [...this.#tenants.keys()].sort();
    return { tenants: names.map((name) => this.#tenants.get(name) ?? ''), next: undefined };
  }

  /** Another process has changed the tenant. Resolves when the change is in force here. */
  async told(name: string): Promise<void> {
    await this.#read(name);
    await this.#changed(name, this.#tenants.get(name));
  }

  async #tell(name: string, isChanged: boolean): Promise<boolean> {
    await this.#read(name);
    if (isChanged) await tellAll(this.#others, { type: 'tenant', name });
    return isChanged;
  }

  #read(name: string): Promise<void> {
    const reading = this.#reading.then(async () => {
      const json = await this.#store.get(name);
      if (json === undefined) this.#tenants.delete(name);
      else this.#tenants.set(name, json);
      await this.#copy(name, json);
    });
    this.#reading = reading.catch(() => {});
    return reading;
  }

  /** Copies the entry to the file. The register is in force even if the file cannot be written. */
  async #copy(name: string, json: string | undefined): Promise<void> {
    try {
      const copied = await this.#file.get(name);
      if (copied === json) return;
      if (json === undefined) await this.#file.remove(name);
      else if (copied === undefined) await this.#file.add(name, json);
      else await this.#file.replace(name, copied, json);
    } catch (error) {
      this.#log.error('tenants-file-not-written', { error: String(error) });
    }
  }
}

async function allOf(file: TenantStore): Promise<ReadonlyMap<string, string>> {
  const entries = new Map<string, string>();
  let after: string | undefined;
  do {
    const page = await file.list(after);
    for (const json of page.tenants) entries.set((JSON.parse(json) as { readonly name: string }).name, json);
    after = page.next;
  } while (after !== undefined);
  return entries;
}

function isSame(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([name, json]) => other.get(name) === json);
}
