import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls';
import type { Log } from '@apus/broker';
import type { NodeLimits } from '../limits.ts';
import { listen } from '../listen.ts';
import type { PeerAddresses } from '../peer-address.ts';
import type { Places } from '../places.ts';
import { StartError } from '../start-error.ts';
import { type Certificates, certificateOf } from './certificates.ts';
import { isTls, type ListenAddress, urlOf } from './listen-address.ts';
import { PROXY_HEADER_BYTES_MAX, readProxyHeader } from './proxy-protocol.ts';

export interface AcceptorOptions {
  readonly limits: Pick<NodeLimits, 'handshakeTimeoutSeconds'>;
  readonly places: Places;
  readonly addresses: PeerAddresses;
  /** For TLS. */
  readonly certificates: Certificates | undefined;
  readonly log: Log;
  /** Takes the connection, whose bytes are now those of MQTT or of HTTP. */
  readonly serve: (socket: Socket) => void;
}

/** A connection in its TLS handshake. */
interface Handshaking {
  readonly socket: Socket;
  /** It is pending here no more. */
  readonly passed: () => void;
}

/**
 * Listens at one address: reads the header of the PROXY protocol where there is one, does the handshake of TLS, and
 * passes the connection on. Until then it is pending, as one that has not said CONNECT [SEC-PLACE-1].
 */
export class Acceptor {
  readonly #address: ListenAddress;
  readonly #options: AcceptorOptions;
  readonly #server: Server;
  readonly #tls: TlsServer | undefined;
  /** Connections that have not been passed on. */
  readonly #pending = new Set<Socket>();
  readonly #handshaking = new Map<string, Handshaking>();
  readonly #timeoutMs: number;
  #credentials: Certificates['first'] | undefined;

  constructor(address: ListenAddress, options: AcceptorOptions) {
    this.#address = address;
    this.#options = options;
    this.#timeoutMs = options.limits.handshakeTimeoutSeconds * 1_000;
    this.#server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => this.#arrive(socket));
    if (address.connectionsMax !== undefined) this.#server.maxConnections = address.connectionsMax;
    this.#server.on('drop', (data) => {
      options.log.info('listener-full', { url: this.url, address: data?.remoteAddress });
    });
    this.#tls = isTls(address) ? this.#createTls(options.certificates) : undefined;
  }

  get url(): string {
    const address = this.#server.address() as AddressInfo | null;
    return urlOf(this.#address, address?.port ?? this.#address.port);
  }

  /** @throws {StartError} when it cannot listen */
  async start(): Promise<void> {
    const { host, port } = this.#address;
    await listen(this.#server, host, port, '--listen');
    this.#server.on('error', (error) => this.#options.log.error('accept-failed', { error: error.message }));
  }

  /** Stops listening, and cuts pending connections. */
  stop(): void {
    this.#server.close();
    for (const socket of this.#pending) socket.destroy();
  }

  #arrive(socket: Socket): void {
    const { places } = this.#options;
    places.arrive(socket);
    this.#pending.add(socket);
    const timer = setTimeout(() => socket.destroy(), this.#timeoutMs);
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(timer);
      this.#pending.delete(socket);
    });
    const passed = () => {
      clearTimeout(timer);
      this.#pending.delete(socket);
      places.leave(socket);
    };
    if (this.#address.hasProxyProtocol) this.#readProxy(socket, () => this.#begin(socket, passed));
    else this.#begin(socket, passed);
  }

  #begin(socket: Socket, passed: () => void): void {
    if (this.#tls === undefined) {
      passed();
      this.#options.serve(socket);
      return;
    }
    const name = nameOf(socket);
    this.#handshaking.set(name, { socket, passed });
    socket.once('close', () => this.#handshaking.delete(name));
    this.#renew(this.#tls);
    this.#tls.emit('connection', socket);
  }

  #createTls(certificates: Certificates | undefined): TlsServer {
    if (certificates === undefined)
      throw new StartError(`--listen ${this.url} needs a certificate: --tls-cert FILE and --tls-key FILE.`);
    if (this.#address.needsCertificate && !certificates.asksClients)
      throw new StartError(
        `--listen ${this.url} asks for certificates of clients: whose, says --tls-client-ca FILE.`,
      );
    this.#credentials = certificates.first;
    const server = createTlsServer({
      ...this.#credentials,
      // `#secured` judges the certificate of a client, and logs why it refuses one.
      ...{ requestCert: certificates.asksClients, rejectUnauthorized: false },
      handshakeTimeout: this.#timeoutMs,
      ALPNProtocols: this.#address.scheme === 'wss' ? ['http/1.1'] : ['mqtt'],
      SNICallback: (name, done) => done(null, certificates.contextFor(name)),
    });
    server.on('secureConnection', (secure) => this.#secured(secure));
    server.on('tlsClientError', ({ message }, socket) => this.#refuse(socket, message));
    return server;
  }

  /** Connections from now on get the certificates that were read last. */
  #renew(server: TlsServer): void {
    const first = this.#options.certificates?.first;
    if (first === undefined || first === this.#credentials) return;
    this.#credentials = first;
    server.setSecureContext(first);
  }

  #secured(secure: TLSSocket): void {
    const begun = this.#handshaking.get(nameOf(secure));
    if (begun === undefined) {
      secure.destroy();
      return;
    }
    const certificate = secure.getPeerX509Certificate();
    const problem =
      certificate === undefined
        ? this.#address.needsCertificate && 'it shows no certificate'
        : !secure.authorized && `its certificate is not taken: ${secure.authorizationError}`;
    if (problem !== false) {
      this.#refuse(secure, problem);
      return;
    }
    begun.passed();
    this.#options.addresses.inherit(secure, begun.socket, certificate && certificateOf(certificate));
    this.#options.serve(secure);
  }

  #refuse(socket: Socket, error: string): void {
    this.#options.log.info('tls-refused', {
      address: this.#options.addresses.ofSocket(socket).address,
      error,
    });
    socket.destroy();
  }

  /** Reads what a proxy says of its client. A stranger that sends it is cut [SEC-GUESS-5]. */
  #readProxy(socket: Socket, next: () => void): void {
    const { addresses, log } = this.#options;
    const refuse = (reason: string) => {
      log.info('proxy-refused', { address: addresses.ofSocket(socket).address, reason });
      socket.destroy();
    };
    if (!addresses.isProxy(socket)) {
      refuse('--trusted-proxy does not name it');
      return;
    }
    let bytes = Buffer.alloc(0);
    const read = (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      const header = readProxyHeader(bytes);
      if (header === 'more' && bytes.length < PROXY_HEADER_BYTES_MAX) return;
      socket.off('data', read);
      socket.pause();
      if (typeof header === 'string') {
        refuse('its connection does not begin with a header of the PROXY protocol');
        return;
      }
      if (header.source !== undefined) addresses.learn(socket, header.source);
      if (bytes.length > header.length) socket.unshift(bytes.subarray(header.length));
      next();
    };
    socket.on('data', read);
    socket.resume();
  }
}

/** The connection's name among those of a listener: TLS has another socket object for it. */
function nameOf({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  return `${remoteAddress} ${remotePort}`;
}
