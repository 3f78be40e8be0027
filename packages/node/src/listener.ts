import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Bans, Identity, Log, Peer } from '@apus/broker';
import type { AllowedOrigins } from '@apus/cloud';
import type { HandshakeRefused, Handshakes, HandshakeTaken } from '@apus/identity';
import {
  type HandshakeRefusal,
  identifiableRequest,
  refusalOf,
  refuseHandshake,
  subprotocolOf,
} from './handshake.ts';
import type { NodeLimits } from './limits.ts';
import type { Links } from './links.ts';
import { type LinkContext, NodeLink } from './node-link.ts';
import type { PeerAddresses } from './peer-address.ts';
import { PlainHandshakes } from './plain-handshakes.ts';
import type { HandshakeHead } from './web-socket/read-handshake.ts';
import { upgradeAnswer } from './web-socket/upgrade.ts';

export interface ListenerOptions {
  readonly limits: NodeLimits;
  readonly allowedOrigins: AllowedOrigins;
  readonly bans: Bans;
  /** Checks tokens of handshakes. Absent: no token is checked. */
  readonly handshakes: Handshakes | undefined;
  readonly addresses: PeerAddresses;
  readonly log: Log;
  /** Makes the id of a connection; never the same twice. */
  readonly connectionId: () => string;
}

/** Turns HTTP upgrade requests into links, or refuses them. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #links: Links;
  readonly #context: LinkContext;
  readonly #plain: PlainHandshakes;
  #stopping = false;

  constructor(server: Server, links: Links, context: LinkContext, options: ListenerOptions) {
    this.#options = options;
    this.#links = links;
    this.#context = context;
    const upgrade = (request: HandshakeHead, socket: Duplex, head: Buffer) =>
      this.#upgrade(request, socket, head);
    server.on('upgrade', upgrade);
    this.#plain = new PlainHandshakes(server, options.limits, upgrade);
  }

  /** Refuses every further handshake. */
  stop(): void {
    this.#stopping = true;
  }

  /** Ends the connections that have not begun a handshake. */
  end(): void {
    this.#plain.stop();
  }

  /** Serves a client whose handshake was at another process of the cluster. */
  serve(peer: Peer, socket: Duplex): void {
    if (this.#unavailable() !== undefined) {
      socket.destroy();
      return;
    }
    const id = this.#options.connectionId();
    const link = new NodeLink(this.#context, id, peer, socket as Socket, true);
    this.#links.add(link);
    this.#options.log.debug('opened', { connectionId: id, address: peer.address });
  }

  #upgrade(request: HandshakeHead, socket: Duplex, head: Buffer): void {
    const { handshakes, addresses, allowedOrigins } = this.#options;
    const peer = addresses.of(request);
    const refusal = this.#unavailable() ?? this.#banned(peer) ?? refusalOf(request, allowedOrigins);
    if (refusal !== undefined) {
      this.#refuse(peer, socket, refusal);
      return;
    }
    const outcome = handshakes?.identify(identifiableRequest(request, peer.address));
    if (outcome instanceof Promise) void this.#upgradeLater(request, peer, socket, head, outcome);
    else if (outcome !== undefined && 'status' in outcome)
      this.#refuse(peer, socket, outcome, 'token-refused');
    else this.#accept(request, peer, socket, head, outcome?.identity);
  }

  /** Checks a token first. Meanwhile the client may go, and the broker may stop or fill up. */
  async #upgradeLater(
    request: HandshakeHead,
    peer: Peer,
    socket: Duplex,
    head: Buffer,
    identifying: Promise<HandshakeTaken | HandshakeRefused>,
  ): Promise<void> {
    const leave = () => socket.destroy();
    socket.on('error', leave);
    socket.pause();
    const outcome = await identifying.catch((error: unknown) => this.#failed(error));
    socket.off('error', leave);
    if (socket.destroyed) return;
    const refusal = this.#unavailable();
    if (refusal !== undefined) this.#refuse(peer, socket, refusal);
    else if ('status' in outcome) this.#refuse(peer, socket, outcome, 'token-refused');
    else this.#accept(request, peer, socket, head, outcome.identity);
  }

  #failed(error: unknown): HandshakeRefusal {
    this.#options.log.error('handshake-failed', {
      error: error instanceof Error ? error.stack : String(error),
    });
    return { status: 500, reason: 'The token could not be checked.' };
  }

  #refuse(
    { address }: Peer,
    socket: Duplex,
    refusal: HandshakeRefusal,
    event: 'handshake-refused' | 'token-refused' = 'handshake-refused',
  ): void {
    this.#options.log.info(event, { address, ...refusal });
    refuseHandshake(socket, refusal);
  }

  #accept(
    request: HandshakeHead,
    peer: Peer,
    socket: Duplex,
    head: Buffer,
    identity: Identity | undefined,
  ): void {
    // The client has gone meanwhile.
    if (!socket.readable || !socket.writable) {
      socket.destroy();
      return;
    }
    socket.write(upgradeAnswer(request, subprotocolOf(request) ?? ''));
    this.#open(request, identity === undefined ? peer : { ...peer, identity }, socket as Socket, head);
  }

  #banned({ host }: Peer): { status: number; reason: string } | undefined {
    const ban = this.#options.bans.banOnHost(host);
    return ban && { status: 403, reason: 'This address has been banned.' };
  }

  #unavailable(): { status: number; reason: string } | undefined {
    if (this.#stopping) return { status: 503, reason: 'This broker is shutting down.' };
    const { connectionsMax } = this.#options.limits;
    if (this.#links.size < connectionsMax) return undefined;
    return { status: 503, reason: `This broker has ${connectionsMax} connections and takes no more.` };
  }

  #open(request: HandshakeHead, peer: Peer, socket: Socket, head: Buffer): void {
    const { addresses, log, connectionId } = this.#options;
    const id = connectionId();
    const { address } = peer;
    const link = new NodeLink(this.#context, id, peer, socket);
    this.#links.add(link);
    log.debug('opened', { connectionId: id, address });
    if (addresses.isForwardedInVain(request)) {
      const reason = 'X-Forwarded-For counts only where --trusted-proxy names who sends it';
      log.info('forwarded-for-ignored', { address, reason });
    }
    // While its token is checked the socket is not read.
    if (socket.isPaused()) socket.resume();
    link.begin(head);
  }
}
