import type { Identity, Peer, Publisher, RetainedHolder } from './ports/index.ts';
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
 * The publisher without its rules, which have allowed the message already: for quotas of a message that is delivered
 * later. It survives JSON.
 */
export function chargedPublisher({ identity, clientId }: Publisher): Publisher {
  const { tenant, name, address, quotas, plan } = identity;
  return {
    identity: {
      ...{ tenant, name },
      ...(address !== undefined && { address }),
      ...(quotas !== undefined && { quotas }),
      ...(plan !== undefined && { plan }),
    },
    clientId,
  };
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
