import type { ClientEvent, ClientEventKind } from '@apus/api';
import { type Clock, shortText } from '@apus/broker';
import { addressGroup, ipOf } from '@apus/identity';
import { TENANT } from '../auth/anonymous.ts';

/** Events of all clients, some 200 bytes each. */
export const EVENTS_MAX = 20_000;

/** Events of one client that are answered, and kept when there is no room. */
export const EVENTS_PER_CLIENT_MAX = 50;

/** A full history makes room for so many at a time, as it looks through all of them. */
const FORGOTTEN_AT_ONCE = 5_000;

/** Characters of a client identifier, a name or a reason. */
const TEXT_LENGTH_MAX = 200;

/** Refusals of one kind count as one event for this long, so that a flood of them hides no other event. */
const REPEATED_WITHIN_MS = 600_000;

/** The lines of the log that are about a client, by their event. */
const KINDS: ReadonlyMap<string, ClientEventKind> = new Map([
  ['connected', 'connected'],
  ['disconnected', 'disconnected'],
  ['client-expelled', 'kicked'],
  ['connect-refused', 'refused'],
  ['handshake-refused', 'refused'],
  ['token-refused', 'refused'],
  ['holding-quota-exceeded', 'refused'],
  ['publish-refused', 'denied'],
  ['subscribe-refused', 'denied'],
  ['subscriptions-ended', 'denied'],
  ['protocol-violation', 'fault'],
  ['message-rate-too-high', 'fault'],
  ['inbound-overload', 'fault'],
  ['outbound-overload', 'fault'],
]);

/** Sentences for lines that have no reason. */
const REASONS: Readonly<Record<string, string>> = {
  'subscribe-refused': 'The rules do not allow this subscription',
  'subscriptions-ended': 'The rules have changed: subscriptions have ended',
  'message-rate-too-high': 'The client sent more than its quotas allow',
  'inbound-overload': 'Too many bytes of the client waited to be handled',
  'outbound-overload': 'The client left too many bytes unread',
};

export type Fields = Readonly<Record<string, unknown>>;

interface Happened {
  readonly tenant: string;
  readonly kind: ClientEventKind;
  readonly clientId: string | null;
  readonly name: string | null;
  readonly reason: string | null;
  readonly reasonCode: number | null;
  /** With its port. */
  readonly address: string | null;
}

interface Kept extends Omit<Happened, 'tenant' | 'address'> {
  readonly holder: Holder;
  /** The same in all repetitions. Undefined: each counts by itself. */
  readonly key: string | undefined;
  readonly atMs: number;
  address: string | null;
  lastAtMs: number;
  count: number;
}

/** An identity, or an address, that has caused events. */
interface Holder {
  readonly tenant: Tenant;
  readonly name: string;
  size: number;
}

interface Tenant {
  readonly name: string;
  readonly holders: Map<string, Holder>;
  size: number;
  /** Events of the holder that has most, when room was made last. */
  most: number;
}

/**
 * The history of clients: connected, disconnected, refused and so on, as the log names it. Events are written often and
 * read seldom: they stand in one list, through which a reader looks. A full history forgets the oldest event of the
 * identity that has most, in the tenant that has most [SEC-GROWTH-10].
 */
export class ClientEvents {
  readonly #clock: Clock;
  /** The oldest first. */
  #events: Kept[] = [];
  /** Events that count their repetitions, by what is the same in them. */
  readonly #repeatable = new Map<string, Kept>();
  readonly #tenants = new Map<string, Tenant>();
  #size = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#size;
  }

  /** A line of the log. Most are not about a client: then this costs one look. */
  note(event: string, fields: Fields = {}): void {
    const kind = KINDS.get(event);
    if (kind === undefined) return;
    const { tenant, name, clientId, address, reason, reasonCode, status } = fields;
    const ofRefusal = reasonCode ?? status;
    this.add({
      kind,
      // The tenant of a refused stranger is not known.
      tenant: typeof tenant === 'string' ? tenant : TENANT,
      clientId: textOf(clientId),
      name: textOf(name),
      reason: textOf(reason) ?? REASONS[event] ?? null,
      reasonCode: typeof ofRefusal === 'number' ? ofRefusal : null,
      address: textOf(address),
    });
  }

  /** @param count what happened so many times, as messages that were dropped */
  add(event: Happened, count = 1): void {
    const nowMs = this.#clock.now();
    const { tenant, kind, reasonCode, address } = event;
    const clientId = cut(event.clientId);
    const name = cut(event.name);
    const reason = cut(event.reason);
    const holderName = name ?? addressGroup(address ?? '');
    const isRepeatable = kind !== 'connected' && kind !== 'disconnected';
    const key = isRepeatable
      ? [tenant, clientId ?? holderName, kind, reason, reasonCode, name].join('\0')
      : undefined;
    const same = key && this.#repeatable.get(key);
    if (same && nowMs - same.lastAtMs <= REPEATED_WITHIN_MS) {
      same.count += count;
      same.lastAtMs = nowMs;
      same.address = address;
      return;
    }
    const holder = this.#holderOf(tenant, holderName);
    // Written out: spreads take four times as long, and more memory.
    const kept: Kept = {
      kind,
      clientId,
      name,
      reason,
      reasonCode,
      address,
      holder,
      key,
      count,
      atMs: nowMs,
      lastAtMs: nowMs,
    };
    if (key !== undefined) this.#repeatable.set(key, kept);
    this.#events.push(kept);
    this.#size += 1;
    holder.size += 1;
    holder.tenant.size += 1;
    if (this.size > EVENTS_MAX) this.#makeRoom();
  }

  /** The newest events of a tenant, or of one of its clients; the newest first. */
  newest(tenant: string, clientId: string | undefined, limit = EVENTS_MAX): readonly ClientEvent[] {
    const id = clientId === undefined ? undefined : cut(clientId);
    return this.#events
      .filter((each) => each.holder.tenant.name === tenant && (id === undefined || each.clientId === id))
      .reverse()
      .sort((one, other) => other.lastAtMs - one.lastAtMs)
      .slice(0, id === undefined ? limit : Math.min(limit, EVENTS_PER_CLIENT_MAX))
      .map(lineOf);
  }

  #holderOf(tenantName: string, name: string): Holder {
    let tenant = this.#tenants.get(tenantName);
    if (tenant === undefined) {
      tenant = { name: tenantName, holders: new Map(), size: 0, most: 0 };
      this.#tenants.set(tenantName, tenant);
    }
    let holder = tenant.holders.get(name);
    if (holder === undefined) {
      holder = { tenant, name, size: 0 };
      tenant.holders.set(name, holder);
    }
    return holder;
  }

  #makeRoom(): void {
    this.#trimClients(largest(this.#tenants));
    while (this.size > EVENTS_MAX - FORGOTTEN_AT_ONCE) this.#takeFromLargest();
  }

  /** A client that comes and goes takes no room from others of its identity. */
  #trimClients(tenant: Tenant): void {
    const counts = new Map<string, number>();
    this.#events.reverse();
    this.#keep(({ holder, clientId }) => {
      if (holder.tenant !== tenant || clientId === null) return true;
      const count = (counts.get(clientId) ?? 0) + 1;
      counts.set(clientId, count);
      return count <= EVENTS_PER_CLIENT_MAX;
    });
    this.#events.reverse();
  }

  /** Takes the oldest of all that have at least half as many as the largest. */
  #takeFromLargest(): void {
    const { size: most } = largest(this.#tenants);
    for (const tenant of this.#tenants.values()) tenant.most = largest(tenant.holders).size;
    this.#keep(
      ({ holder }) =>
        this.size <= EVENTS_MAX - FORGOTTEN_AT_ONCE ||
        holder.tenant.size < most / 2 ||
        holder.size < holder.tenant.most / 2,
    );
  }

  #keep(isKept: (event: Kept) => boolean): void {
    this.#events = this.#events.filter((event) => isKept(event) || this.#forget(event));
  }

  #forget(event: Kept): false {
    const { holder, key } = event;
    const { tenant } = holder;
    this.#size -= 1;
    holder.size -= 1;
    tenant.size -= 1;
    if (holder.size === 0) tenant.holders.delete(holder.name);
    if (tenant.size === 0) this.#tenants.delete(tenant.name);
    if (key !== undefined && this.#repeatable.get(key) === event) this.#repeatable.delete(key);
    return false;
  }
}

/** A full history is of somebody. */
function largest<T extends { readonly size: number }>(all: ReadonlyMap<string, T>): T {
  return [...all.values()].reduce((most, each) => (each.size > most.size ? each : most));
}

function cut(text: string | null): string | null {
  return text && shortText(text, TEXT_LENGTH_MAX);
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function lineOf({
  clientId,
  name,
  kind,
  atMs,
  lastAtMs,
  count,
  reason,
  reasonCode,
  address,
}: Kept): ClientEvent {
  return {
    event: kind,
    clientid: clientId,
    username: name,
    at: new Date(atMs).toISOString(),
    last_at: new Date(lastAtMs).toISOString(),
    count,
    reason,
    reason_code: reasonCode,
    ip_address: address === null ? null : ipOf(address),
  };
}
