import type { Identity, Peer, Publisher, RetainedHolder } from './ports/index.ts';
import type { Quotas } from './quotas.ts';

/** The identity and tenant to which a quota counts something. */
export interface QuotaHolder {
  readonly tenant: string;
  /** An identity; or, of clients that have no name, an address or a client identifier. Never the same holder. */
  readonly kind: 'identity' | 'address' | 'client';
  readonly name: string;
}

/**
 * An anonymous client is counted by its address: it may choose any client identifier. The addresses of this machine
 * tell no clients apart, as all clients of a proxy come from there: these are counted by client identifier.
 */
export function quotaHolderOf(
  { tenant, name, address }: Pick<Identity, 'tenant' | 'name' | 'address'>,
  clientId: string,
): QuotaHolder {
  if (name !== '') return { tenant, kind: 'identity', name };
  if (address === undefined || isLoopback(address)) return { tenant, kind: 'client', name: clientId };
  return { tenant, kind: 'address', name: address };
}

/** No other holder has it, of whichever tenant. */
export function quotaHolderKey({
  tenant,
  kind,
  name,
}: { readonly [K in keyof QuotaHolder]: string }): string {
  return `${kind}\0${tenant}\0${name}`;
}

/** Both are counted together. */
export function isSameHolder(
  one: Pick<Identity, 'tenant' | 'name' | 'address'>,
  other: Pick<Identity, 'tenant' | 'name' | 'address'>,
  clientId: string,
): boolean {
  return quotaHolderKey(quotaHolderOf(one, clientId)) === quotaHolderKey(quotaHolderOf(other, clientId));
}

/** Where a client retains a message: how much its holder may have retained, by the quotas of all and its own. */
export function retainedHolderOf(quotas: Quotas, { identity, clientId }: Publisher): RetainedHolder {
  const { retainedMessagesMax, retainedBytesMax } = { ...quotas, ...identity.quotas };
  return {
    holder: quotaHolderOf(identity, clientId),
    messagesMax: retainedMessagesMax || Number.POSITIVE_INFINITY,
    bytesMax: retainedBytesMax || Number.POSITIVE_INFINITY,
  };
}

/**
 * The publisher, as far as quotas ask who it is: for a message that is delivered later. It survives JSON, and leaves out the rules,
 * by which the message was allowed when it was published.
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

/** The identity, with the address of a client that has no name. */
export function withAddress(identity: Identity, peer: Pick<Peer, 'address' | 'host'>): Identity {
  if (identity.name !== '') return identity;
  const address = networkOf(peer.host ?? peer.address);
  return address === undefined || identity.address === address ? identity : { ...identity, address };
}

const IPV4 = /^(?:::ffff:)?(\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?$/i;
const IPV6_LOOPBACK = /^::1(?::\d+)?$/;

/** Half of an IPv6 address: a customer is given at least this many, and may choose among them for each connection. */
const IPV6_GROUPS = 4;

function networkOf(peerAddress: string): string | undefined {
  const [, ipv4] = IPV4.exec(peerAddress) ?? [];
  if (ipv4 !== undefined) return ipv4;
  if (!peerAddress.includes(':')) return undefined;
  return IPV6_LOOPBACK.test(peerAddress) ? '::1' : ipv6NetworkOf(peerAddress);
}

/** A port behind the address changes nothing of its first half. */
function ipv6NetworkOf(address: string): string {
  const [head = '', tail] = address.split('::', 2);
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) while (groups.length < IPV6_GROUPS) groups.push('0');
  return groups.slice(0, IPV6_GROUPS).join(':').toLowerCase();
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}
