import { FilterTree } from '@apus/mqtt';
import type { RouteState } from './frames.ts';
import { parseRoute } from './route-name.ts';

/** Processes with subscribers of one filter. */
export interface RemoteRoute {
  readonly topicFilter: string;
  readonly plain: ReadonlySet<string>;
  /** For each share group the processes with members, and whether one of the members is connected. */
  readonly groups: ReadonlyMap<string, ReadonlyMap<string, boolean>>;
}

class Route implements RemoteRoute {
  readonly topicFilter: string;
  readonly plain = new Set<string>();
  readonly groups = new Map<string, Map<string, boolean>>();

  constructor(topicFilter: string) {
    this.topicFilter = topicFilter;
  }

  get isEmpty(): boolean {
    return this.plain.size === 0 && this.groups.size === 0;
  }

  set(process: string, group: string | undefined, isConnected: boolean): void {
    if (group === undefined) {
      this.plain.add(process);
      return;
    }
    const members = this.groups.get(group) ?? new Map<string, boolean>();
    members.set(process, isConnected);
    this.groups.set(group, members);
  }

  delete(process: string, group: string | undefined): void {
    if (group === undefined) {
      this.plain.delete(process);
      return;
    }
    const members = this.groups.get(group);
    members?.delete(process);
    if (members?.size === 0) this.groups.delete(group);
  }
}

/** Which other processes have subscribers: a tree of filters for each tenant. */
export class RemoteRoutes {
  readonly #trees = new Map<string, FilterTree<Route>>();
  /** The routes of each process, for their removal. */
  readonly #byProcess = new Map<string, Set<string>>();

  match(tenant: string, topicName: string): readonly RemoteRoute[] {
    return this.#trees.get(tenant)?.match(topicName) ?? [];
  }

  /** Processes with subscribers that are in no share group. */
  processesWith(tenant: string, topicName: string): ReadonlySet<string> {
    return new Set(this.match(tenant, topicName).flatMap(({ plain }) => [...plain]));
  }

  find(tenant: string, topicFilter: string): RemoteRoute | undefined {
    return this.#trees.get(tenant)?.get(topicFilter);
  }

  change(process: string, set: readonly RouteState[], removed: readonly string[]): void {
    for (const route of removed) this.#remove(process, route);
    for (const [route, isConnected] of set) this.#set(process, route, isConnected);
  }

  removeProcess(process: string): void {
    for (const route of this.#byProcess.get(process) ?? []) this.#remove(process, route);
    this.#byProcess.delete(process);
  }

  #set(process: string, name: string, isConnected: boolean): void {
    const { tenant, topicFilter, shareGroup } = parseRoute(name);
    let tree = this.#trees.get(tenant);
    if (tree === undefined) {
      tree = new FilterTree<Route>();
      this.#trees.set(tenant, tree);
    }
    tree.insert(topicFilter, () => new Route(topicFilter)).set(process, shareGroup, isConnected);
    const names = this.#byProcess.get(process) ?? new Set<string>();
    this.#byProcess.set(process, names.add(name));
  }

  #remove(process: string, name: string): void {
    const { tenant, topicFilter, shareGroup } = parseRoute(name);
    this.#byProcess.get(process)?.delete(name);
    const tree = this.#trees.get(tenant);
    const route = tree?.get(topicFilter);
    route?.delete(process, shareGroup);
    if (route?.isEmpty) tree?.delete(topicFilter);
    if (tree?.size === 0) this.#trees.delete(tenant);
  }
}
