import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { Peer } from '@apus/broker';
import { peerHostOf } from '@apus/identity';
import { StartError } from './start-error.ts';

/** Tells where a client connects from, also through proxies that are known. [SEC-GUESS-5] */
export class PeerAddresses {
  readonly #proxies = new BlockList();
  readonly #hasProxies: boolean;

  /**
   * @param proxies IP addresses and networks (`192.0.2.1`, `10.0.0.0/8`) whose `X-Forwarded-For` is believed
   * @throws {StartError} when one is neither
   */
  constructor(proxies: readonly string[]) {
    this.#hasProxies = proxies.length > 0;
    for (const proxy of proxies) {
      const [address = '', prefix, ...rest] = proxy.split('/');
      const bits = isIPv6(address) ? 128 : 32;
      const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
      if (isIP(address) === 0 || !(length <= bits) || rest.length > 0)
        throw new StartError(`"${proxy}" is no address of a proxy: it is one like 192.0.2.1 or 10.0.0.0/8.`);
      this.#proxies.addSubnet(address, length, familyOf(address));
    }
  }

  /** The address is `192.0.2.1:5000` or `[2001:db8::1]:5000`; without a port if a proxy has named it. */
  of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): Peer {
    const { remoteAddress, remotePort = 0 } = socket;
    if (remoteAddress === undefined) return { address: 'unknown' };
    const forwarded = this.#isProxy(remoteAddress) ? this.#forwardedFor(headers) : undefined;
    if (forwarded !== undefined) return peerOf(forwarded, forwarded);
    const ip = remoteAddress.includes(':') ? `[${remoteAddress}]` : remoteAddress;
    return peerOf(remoteAddress, `${ip}:${remotePort}`);
  }

  /** Whether the request names another address but does not come from a trusted proxy. */
  isForwardedInVain({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): boolean {
    return headers['x-forwarded-for'] !== undefined && !this.#isProxy(socket.remoteAddress ?? '');
  }

  /**
   * The last address that is no trusted proxy's: each proxy appends its peer, and the client may forge earlier
   * entries.
   */
  #forwardedFor(headers: IncomingMessage['headers']): string | undefined {
    const header = [headers['x-forwarded-for'] ?? []].flat().join(',');
    const addresses = header.split(',').map((address) => address.trim());
    const last = addresses.findLast((address) => !this.#isProxy(address));
    return last !== undefined && isIP(last) !== 0 ? last : undefined;
  }

  #isProxy(address: string): boolean {
    return this.#hasProxies && isIP(address) !== 0 && this.#proxies.check(address, familyOf(address));
  }
}

function peerOf(ip: string, address: string): Peer {
  const host = peerHostOf(ip);
  return { address, ...(host !== undefined && { host }) };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}
