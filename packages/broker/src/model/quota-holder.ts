import type { Identity, Peer, Publisher } from './identity.ts';

import type { Quotas } from './quotas.ts';

/** The identity and tenant to which a quota counts something. */
export interface QuotaHolder {
  readonly tenant: string;
  /**
   * An identity; or for clients without a name an address or a client identifier. Different kinds are different
   * holders.
   */
  readonly kind: 'identity' | 'address' | 'client';
  readonly name: string;
}

/**
 * An anonymous client is counted by its address, since it may choose any client identifier. All clients behind a proxy
 * on this machine have a loopback address: they are counted by client identifier.
 */
export function quotaHolderOf(
  { tenant, name, address }: Pick<Identity, 'tenant' | 'name' | 'address'>,
  clientId: string,
): QuotaHolder {
  if (name !== '') return { tenant, kind: 'identity', name };
  if (address === undefined || isLoopback(address)) return { tenant, kind: 'client', name: clientId };
  return { tenant, kind: 'address', name: address };
}

/** A key that is unique among the holders of all tenants. */
export function quotaHolderKey({
  tenant,
  kind,
  name,
}: { readonly [K in keyof QuotaHolder]: string }): string {
  return `${kind}\0${tenant}\0${name}`;
}

/** Undefined: the message is the broker's own, or an operator's. */
export function holderKeyOf(publisher: Publisher | undefined): string | undefined {
  return publisher && quotaHolderKey(quotaHolderOf(publisher.identity, publisher.clientId));
}

/** The tenant of a `quotaHolderKey`. */
export function tenantOfHolderKey(key: string): string {
  const start = key.indexOf('\0') + 1;
  return key.slice(start, key.indexOf('\0', start));
}

/** Whether both are counted together. */
export function isSameHolder(
  one: Pick<Identity, 'tenant' | 'name' | 'address'>,
  other: Pick<Identity, 'tenant' | 'name' | 'address'>,
  clientId: string,
): boolean {
  return quotaHolderKey(quotaHolderOf(one, clientId)) === quotaHolderKey(quotaHolderOf(other, clientId));
}

/** The holder for whom a client retains messages, and its limits: the identity's own, or those of all. */
export function retainedHolderOf(quotas: Quotas, { identity, clientId }: Publisher): RetainedHolder {
  const { retainedMessagesMax, retainedBytesMax } = { ...quotas, ...identity.quotas };
  return {
    holder: quotaHolderOf(identity, clientId),
    messagesMax: retainedMessagesMax || Number.POSITIVE_INFINITY,
    bytesMax: retainedBytesMax || Number.POSITIVE_INFINITY,
  };
}

/**
 * The publisher of a message that is delivered later: for quotas, and to ask then whether it is banned or its rules
 * have changed. The rules of its credential do not change, and are left out. It survives JSON.
 */
export function latePublisher({ identity, clientId }: Publisher): Publisher {
  if (identity.rules === undefined) return { identity, clientId, asksRules: true };
  const { rules: _, clientIds: __, ...lasting } = identity;
  return { identity: lasting, clientId };
}

/** The identity; of a client without a name, with its address. */
export function withAddress(identity: Identity, peer: Pick<Peer, 'address' | 'host'>): Identity {
  if (identity.name !== '') return identity;
  const address = networkOf(peer.host ?? peer.address);
  return address === undefined || identity.address === address ? identity : { ...identity, address };
}

const IPV4 = /^(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?$/i;
const IPV6_LOOPBACK = /^::1(?::\d+)?$/;

/**
 * Groups of an IPv6 address that name a network: half of it. A customer gets at least a network, and may use any
 * address in it.
 */
const IPV6_GROUPS = 4;

function networkOf(peerAddress: string): string | undefined {
  const [, ipv4] = IPV4.exec(peerAddress) ?? [];
  if (ipv4 !== undefined) return ipv4;
  if (!peerAddress.includes(':')) return undefined;
  return IPV6_LOOPBACK.test(peerAddress) ? '::1' : ipv6NetworkOf(peerAddress);
}

/** A port after the address does not change its first half. */
function ipv6NetworkOf(address: string): string {
  const [head = '', tail] = address.split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) while (groups.length < IPV6_GROUPS) groups.push('0');
  return groups.slice(0, IPV6_GROUPS).join(':').toLowerCase();
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/** The publisher of a message, for another process that delivers it too and does not know its quotas. */
export interface DeliveryPayer {
  /** The `quotaHolderKey`. Undefined: other processes do not charge the identity. */
  readonly holder: string | undefined;
  /** The cost of one delivery to the identity's account, in milliseconds; the next field has the tenant's. */
  readonly identityMs: number;
  readonly tenantMs: number;
  /** How much of a delivery the publisher has paid for in advance at the process that charges this payer: 0 to 1. */
  readonly paid: number;
}

/** How much one identity may retain. A message counts for its last publisher. */
export interface RetainedHolder {
  readonly holder: QuotaHolder;
  readonly messagesMax: number;
  readonly bytesMax: number;
  /**
   * Where a tenant of the store has messages of holders of other tenants: how much all holders of this one's tenant may
   * keep there, and never more than they leave to other tenants [SEC-POOL-1].
   */
  readonly ofTenant?: { readonly messagesMax: number; readonly bytesMax: number };
}
