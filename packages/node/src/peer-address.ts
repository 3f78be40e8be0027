import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import type { Log, Peer, PeerCertificate } from '@apus/broker';
import { isLoopbackHost, isLoopbackOrigin } from '@apus/door';
import { addressGroup, peerHostOf } from '@apus/identity';
import { StartError } from './start-error.ts';

/** The part of a request that says where it comes from. */
export interface Sourced {
  readonly headers: IncomingHttpHeaders;
  readonly socket: Remote;
}

/** The part of a socket that says where it comes from. */
type Remote = Partial<Pick<Socket, 'remoteAddress' | 'remotePort'>>;

/** A client's address and port. */
interface Source {
  readonly address: string;
  readonly port: number;
}

/** Headers that proxies add, in lower case. A program of this machine that connects by itself sends none of them. */
const FORWARDING = /^(?:x-forwarded-.*|forwarded|via|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/;

/** Tells where a request comes from, also through proxies that are known: at both doors and for HTTP. [SEC-GUESS-5] */
export class PeerAddresses {
  readonly #proxies = new BlockList();
  readonly #hasProxies: boolean;
  /** What the PROXY protocol has said of connections. */
  readonly #sources = new WeakMap<object, Source>();
  readonly #certificates = new WeakMap<object, PeerCertificate>();

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
  of(request: Sourced): Peer {
    const forwarded = this.#forwardedFor(request);
    const known = this.ofSocket(request.socket);
    if (isIP(forwarded ?? '') === 0) return known;
    const { certificate } = known;
    return { ...peerOf(forwarded ?? '', forwarded ?? ''), ...(certificate && { certificate }) };
  }

  /** The same for a connection without a request. */
  ofSocket(socket: Remote): Peer {
    const source = this.#sourceOf(socket);
    if (source === undefined) return { address: 'unknown' };
    const { address, port } = source;
    const certificate = this.#certificates.get(socket);
    const named = peerOf(address, `${address.includes(':') ? `[${address}]` : address}:${port}`);
    return certificate === undefined ? named : { ...named, certificate };
  }

  /** A trusted proxy has said whose connection this is. */
  learn(socket: object, source: Source): void {
    this.#sources.set(socket, source);
  }

  /** A socket of TLS, over one whose client may be known. @param certificate the client's, verified */
  inherit(secure: object, socket: object, certificate: PeerCertificate | undefined): void {
    const source = this.#sources.get(socket);
    if (source !== undefined) this.#sources.set(secure, source);
    if (certificate !== undefined) this.#certificates.set(secure, certificate);
  }

  /** Whether a trusted proxy has opened the connection. */
  isProxy({ remoteAddress = '' }: Remote): boolean {
    return this.#isProxy(remoteAddress);
  }

  #sourceOf(socket: Remote): Source | undefined {
    const { remoteAddress, remotePort = 0 } = socket;
    const own = remoteAddress === undefined ? undefined : { address: remoteAddress, port: remotePort };
    return this.#sources.get(socket) ?? own;
  }

  /**
   * For whom a socket counts whose request has not been read: its address. A trusted proxy's counts for itself alone, as
   * its client is not known.
   */
  holderOf(socket: Remote): string {
    const { address, port } = this.#sourceOf(socket) ?? { address: 'unknown', port: 0 };
    return this.#isProxy(address) ? `${address} ${port}` : addressGroup(address);
  }

  /**
   * Whether a program of this machine sends the request, or a page that this machine served. A request that a proxy of
   * this machine has forwarded is a stranger's, unless a trusted one names an address of this machine [SEC-LOCAL-1].
   * A foreign Host leads here through a proxy, or is a page's that has pointed its own name here (DNS rebinding)
   * [SEC-ORIGIN-2].
   */
  isLocal(request: Sourced): boolean {
    const { headers, socket } = request;
    if (!isLoopbackHost((headers.host ?? '').replace(/:\d+$/, ''))) return false;
    const forwarded = this.#forwardedFor(request);
    if (forwarded !== undefined) return isLoopbackHost(peerHostOf(forwarded) ?? '');
    const isForwarded = Object.keys(headers).some((name) => FORWARDING.test(name));
    return !isForwarded && this.isLocalSocket(socket);
  }

  /** The same for a connection without a request: a proxy of this machine says whose it is. */
  isLocalSocket(socket: Remote): boolean {
    return isLoopbackHost(peerHostOf(this.#sourceOf(socket)?.address) ?? '');
  }

  /** Whether `isLocal`, and no page of another site sends the request. */
  isLocalPage(request: Sourced): boolean {
    const { origin } = request.headers;
    return (origin === undefined || isLoopbackOrigin(origin)) && this.isLocal(request);
  }

  /** Logs a request that names another address but does not come from a trusted proxy. */
  noteForwardedInVain({ socket, headers }: Sourced, address: string, log: Log): void {
    if (headers['x-forwarded-for'] === undefined || this.#isProxy(this.#sourceOf(socket)?.address ?? ''))
      return;
    const reason = 'X-Forwarded-For counts only where --trusted-proxy names who sends it';
    log.info('forwarded-for-ignored', { address, reason });
  }

  /**
   * What a trusted proxy says, perhaps no address: the last entry that is no trusted proxy's, or else the first. Each
   * proxy appends its peer, and the client may forge earlier entries.
   */
  #forwardedFor({ headers, socket }: Sourced): string | undefined {
    if (!this.#isProxy(this.#sourceOf(socket)?.address ?? '')) return undefined;
    const header = [headers['x-forwarded-for'] ?? []].flat().join(',');
    if (header === '') return undefined;
    const addresses = header.split(',').map((address) => address.trim());
    return addresses.findLast((address) => !this.#isProxy(address)) ?? addresses[0];
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
