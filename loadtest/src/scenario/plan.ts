import type { Group, Qos, Scenario } from './scenario.ts';

/** The size and share of a scenario in this run. */
export interface Size {
  /** The share of the clients in groups that scale, above 0 and up to 1. */
  readonly scale: number;
  readonly seconds: number;
  /** The part that this machine runs, from 1, and the number of parts. */
  readonly part: { readonly number: number; readonly of: number };
}

/** A group at its size. */
export interface PlannedGroup extends Group {
  /** Number of the group's first client among all clients of the run. */
  readonly firstClient: number;
  /** Topics of all its clients together. */
  readonly streams: number;
}

/** A scenario at its size, in exact numbers. */
export interface Plan {
  readonly scenario: Scenario;
  readonly size: Size;
  readonly groups: readonly PlannedGroup[];
  /** Of all parts together. */
  readonly clients: number;
  /** Publishes and deliveries a second, of all parts together. */
  readonly publishesPerSecond: number;
  readonly deliveriesPerSecond: number;
  /** Whether clients wait for their own messages instead of a clock: then the rates above are only a ratio. */
  readonly isClosedLoop: boolean;
}

/** The work of one client. */
export interface ClientPlan {
  /** Among all clients of the run. */
  readonly index: number;
  readonly group: PlannedGroup;
  /** Within its group. */
  readonly member: number;
  readonly filters: readonly string[];
  readonly subscribeQos: Qos;
  readonly topics: readonly string[];
}

export function planOf(scenario: Scenario, size: Size): Plan {
  let clients = 0;
  const groups = scenario.groups.map((group): PlannedGroup => {
    const planned = group.scales ? Math.max(1, Math.round(group.clients * size.scale)) : group.clients;
    const firstClient = clients;
    clients += planned;
    return { ...group, clients: planned, firstClient, streams: planned * (group.publish?.topics ?? 0) };
  });
  const publishesPerSecond = groups.reduce(
    (sum, { streams, publish }) => sum + streams * (publish?.perSecond ?? 0),
    0,
  );
  return {
    scenario,
    size,
    groups,
    clients,
    publishesPerSecond,
    deliveriesPerSecond: deliveriesPerSecond(groups),
    isClosedLoop: groups.some(({ publish }) => publish?.window !== undefined),
  };
}

/** Messages that each stream publishes in the whole run: at least one. */
export function messagesPerStream({ size }: Plan, perSecond: number): number {
  return Math.max(1, Math.round(perSecond * size.seconds));
}

export function clientPlan(plan: Plan, index: number): ClientPlan {
  const group = plan.groups.findLast(({ firstClient }) => firstClient <= index);
  if (group === undefined || index >= plan.clients) throw new RangeError(`there is no client ${index}`);
  const member = index - group.firstClient;
  const filled = (text: string, stream = 0) => fill(text, { plan, member, stream });
  const { subscribe, publish } = group;
  const topics = Array.from({ length: publish?.topics ?? 0 }, (_, topic) =>
    filled(publish?.topic ?? '', member * (publish?.topics ?? 0) + topic),
  );
  return {
    index,
    group,
    member,
    filters: subscribe?.filters.map((filter) => filled(filter)) ?? [],
    subscribeQos: subscribe?.qos ?? 0,
    topics,
  };
}

/** Clients of this machine's part that one of its processes runs, in the order in which they connect. */
export function* clientsOf(plan: Plan, worker: number, workers: number): Generator<ClientPlan> {
  const { number, of } = plan.size.part;
  for (const group of plan.groups) {
    for (let member = 0; member < group.clients; member += 1) {
      // By member: the publisher and the subscriber of a pair are on the same machine, and use the same clock.
      if (member % of !== number - 1) continue;
      if (Math.floor(member / of) % workers !== worker) continue;
      yield clientPlan(plan, group.firstClient + member);
    }
  }
}

export function clientsOfPart(plan: Plan): number {
  const { number, of } = plan.size.part;
  return plan.groups.reduce((sum, { clients }) => sum + Math.ceil((clients - (number - 1)) / of), 0);
}

interface Place {
  readonly plan: Plan;
  readonly member: number;
  readonly stream: number;
}

function fill(text: string, { plan, member, stream }: Place): string {
  return text
    .replaceAll('{client}', String(member))
    .replaceAll('{stream}', String(stream))
    .replaceAll(/\{client%(\d+)\}/g, (_, modulus: string) => String(member % Number(modulus)))
    .replaceAll(/\{random ([^}]*)\}/g, (_, name: string) => {
      const streams = plan.groups.find((group) => group.name === name)?.streams ?? 0;
      return String(scatter(member) % Math.max(1, streams));
    });
}

/** A pseudo-random number, the same for the same member in each run and process (Knuth). */
function scatter(member: number): number {
  return Math.imul(member + 1, 2_654_435_761) >>> 0;
}

/** The rate of deliveries, by the shapes that scenarios use: computed for one client of each group and multiplied. */
function deliveriesPerSecond(groups: readonly PlannedGroup[]): number {
  let sum = 0;
  for (const { subscribe, clients } of groups) {
    for (const filter of subscribe?.filters ?? []) sum += perFilter(filter, clients, groups);
  }
  return sum;
}

function perFilter(filter: string, clients: number, groups: readonly PlannedGroup[]): number {
  const rateOf = ({ streams, publish }: PlannedGroup) => streams * (publish?.perSecond ?? 0);
  const all = groups.reduce((sum, group) => sum + rateOf(group), 0);
  // The members of a share group take turns.
  if (filter.startsWith('$share/')) return all;
  if (filter.includes('#') || filter.includes('+')) return clients * all;
  const streams = groups.reduce((sum, group) => sum + group.streams, 0);
  return streams === 0 ? 0 : (clients * all) / streams;
}
