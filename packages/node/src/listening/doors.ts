import type { RequestListener, Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log, Peer } from '@apus/broker';
import type { AllowedOrigins, Scheduler } from '@apus/door';
import { MQTT_PATH } from '../handshake.ts';
import { closeServer, createHttpServer, HTTP_CONNECTIONS_MAX } from '../http-server.ts';
import { HttpLinks } from '../http-streams/http-links.ts';
import type { NodeLimits } from '../limits.ts';
import type { LinkContext } from '../link-context.ts';
import type { Links } from '../links.ts';
import { listen } from '../listen.ts';
import { Listener, type ListenerOptions } from '../listener.ts';
import { Places } from '../places.ts';
import type { ForwardedWire } from '../transport.ts';
import { Acceptor } from './acceptor.ts';
import { type CertificateFiles, Certificates, type ClientAuthorities } from './certificates.ts';
import { isHttp, type ListenAddress } from './listen-address.ts';

export interface DoorsOptions extends Omit<ListenerOptions, 'places'> {
  readonly limits: NodeLimits;
  /** The address of the page, the HTTP API and MQTT over WebSocket. */
  readonly host: string;
  readonly port: number;
  /** Further addresses. */
  readonly listen: readonly ListenAddress[];
  readonly certificates: readonly CertificateFiles[];
  readonly clientAuthorities: ClientAuthorities;
  readonly links: Links;
  readonly clock: Scheduler;
  readonly log: Log;
}

/** All addresses at which clients come to this node. They share its places. */
export class Doors {
  readonly #options: DoorsOptions;
  readonly #server: Server;
  readonly #listener: Listener;
  /** Those of further addresses, which get their connections from acceptors. */
  readonly #servers: Server[] = [];
  readonly #listeners: Listener[] = [];
  readonly #httpLinks: HttpLinks;
  readonly #acceptors: readonly Acceptor[];
  readonly #certificates: Certificates | undefined;

  /** @throws {StartError} where a certificate is wrong, or missing */
  constructor(options: DoorsOptions, contextFor: (places: Places) => LinkContext) {
    const { limits, addresses, log, links, clock, certificates, clientAuthorities } = options;
    this.#options = options;
    const places = new Places({ limits, addresses, log, httpConnectionsMax: HTTP_CONNECTIONS_MAX });
    const context = contextFor(places);
    this.#httpLinks = new HttpLinks({ ...options, places, cluster: context.cluster });
    const listenerAt = (server: Server, allowedOrigins: AllowedOrigins) => {
      const listener = new Listener(server, links, context, { ...options, places, allowedOrigins });
      this.#servers.push(server);
      this.#listeners.push(listener);
      return listener;
    };
    this.#server = createHttpServer(limits);
    this.#listener = listenerAt(this.#server, options.allowedOrigins);
    if (certificates.length > 0)
      this.#certificates = new Certificates(certificates, clientAuthorities, log, clock);
    this.#acceptors = options.listen.map((address) => {
      let serve = (socket: Socket) => this.#listener.serveTcp(socket);
      if (isHttp(address)) {
        const server = createHttpServer(limits);
        listenerAt(server, address.origins.length > 0 ? address.origins : options.allowedOrigins);
        serve = (socket) => {
          server.emit('connection', socket);
          socket.resume();
        };
      }
      return new Acceptor(address, {
        limits,
        places,
        addresses,
        certificates: this.#certificates,
        log,
        serve,
      });
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Where MQTT clients connect: first the WebSocket beside the page. */
  get urls(): readonly string[] {
    return [`ws://${this.#authority}${MQTT_PATH}`, ...this.#acceptors.map(({ url }) => url)];
  }

  get httpUrl(): string {
    return `http://${this.#authority}/`;
  }

  get #authority(): string {
    const { host } = this.#options;
    return `${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }

  /** Answers requests that are no handshakes. @param answerAt by the listener of the address */
  onRequest(answerAt: (listener: Listener) => RequestListener): void {
    for (const [index, listener] of this.#listeners.entries())
      this.#servers[index]?.on('request', this.#httpLinks.before(answerAt(listener), listener));
  }

  /** @throws {StartError} when it cannot listen */
  async open(): Promise<void> {
    const { host, port, log } = this.#options;
    await listen(this.#server, host, port);
    // Accepting may fail later, when open files run out: the connections that are there go on.
    this.#server.on('error', (error) => log.error('accept-failed', { error: error.message }));
    for (const acceptor of this.#acceptors) await acceptor.start();
    // A server of HTTP watches its time limits once it listens.
    for (const server of this.#servers) if (server !== this.#server) server.emit('listening');
    this.#certificates?.watch();
  }

  /** Serves a client whose connection is at another process of the cluster, or a request. */
  serve(peer: Peer, wire: ForwardedWire, socket: Duplex): void {
    if (wire === 'http') this.#httpLinks.serve(socket, peer);
    else this.#listener.serve(peer, wire, socket);
  }

  /** Reads certificates that have changed now, and not within two seconds. */
  reread(): void {
    this.#certificates?.look();
  }

  /** Refuses every further client. */
  refuse(): void {
    for (const listener of this.#listeners) listener.stop();
  }

  /** Stops listening, and closes what is no MQTT connection. */
  async close(): Promise<void> {
    this.#certificates?.stop();
    for (const acceptor of this.#acceptors) acceptor.stop();
    for (const listener of this.#listeners) listener.end();
    await Promise.all(this.#servers.map(closeServer));
  }
}
