import { isIPv4, isIPv6 } from 'node:net';

const IPV4_IN_IPV6 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** An IP address in the one spelling that bans use. Undefined if the text is no address. */
export function peerHostOf(address: string | undefined): string | undefined {
  if (address === undefined) return undefined;
  // The address of most clients that connect.
  if (isIPv4(address)) return address;
  const [, ipv4] = IPV4_IN_IPV6.exec(address) ?? [];
  if (ipv4 !== undefined) return ipv4;
  // A zone (`%eth0`) concerns only this machine.
  const [ip = ''] = address.split('%', 1);
  return isIPv6(ip) ? shortest(ip) : isIPv4(ip) ? ip : undefined;
}

/** URLs have one way to write an IPv6 address (RFC 5952), in brackets. */
function shortest(ip: string): string {
  return new URL(`http://[${ip}]`).hostname.slice(1, -1);
}
