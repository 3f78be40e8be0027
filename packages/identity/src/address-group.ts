import { isIPv6 } from 'node:net';

/** One customer has at least this many bits of an IPv6 address: guesses from all addresses below count together. */
const IPV6_GROUPS = 4;

const IPV4_IN_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/**
 * The group of addresses that a guess is counted for: an IPv4 address, or the /64 of an IPv6 address. `address` is a `Peer.address`: an IP
 * address, or one with a port (`192.0.2.1:5000`, `[2001:db8::1]:5000`).
 */
export function addressGroup(address: string): string {
  const ip = ipOf(address);
  return ip.includes(':') && isIPv6(ip) ? `${expand(ip).slice(0, IPV6_GROUPS).join(':')}::/64` : ip;
}

/** The IP address in a `Peer.address`. A socket that listens for both families calls an IPv4 address `::ffff:192.0.2.1`. */
export function ipOf(address: string): string {
  const ip = withoutPort(address);
  return ip.includes(':') ? (IPV4_IN_IPV6.exec(ip)?.[1] ?? ip) : ip;
}

/** Most clients have an IPv4 address, which costs no regular expression here. */
function withoutPort(address: string): string {
  const colon = address.indexOf(':');
  if (colon === -1) return address;
  if (colon === address.lastIndexOf(':')) {
    const isPort = Number.isInteger(Number(address.slice(colon + 1)));
    return isPort ? address.slice(0, colon) : address;
  }
  const [, bracketed] = /^\[([^\]]*)\]/.exec(address) ?? [];
  return bracketed ?? (isIPv6(address) ? address : address.replace(/:\d*$/, ''));
}

/**
 * The eight groups of an IPv6 address, `::` filled with zeros. A zone (`%eth0`) concerns only this machine, and is left
 * out.
 */
function expand(ip: string): string[] {
  const [head = '', tail] = ip.replace(/%.*$/, '').toLowerCase().split('::', 2);
  const before = groupsOf(head);
  if (tail === undefined) return before;
  const after = groupsOf(tail);
  const zeros = new Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros, ...after];
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':').map((group) => group.replace(/^0+(?=.)/, ''));
}
