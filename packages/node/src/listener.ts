import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type Bans, banOnCaller, type Identity, type Log, type Peer } from '@apus/broker';
import type { AllowedOrigins } from '@apus/door';
import type { HandshakeRefused, Handshakes, HandshakeTaken } from '@apus/identity';
import {
  FOREIGN_REFUSAL,
  foreignRefusal,
  type HandshakeRefusal,
  identifiableRequest,
  originRefusal,
  refusalOf,
  refuseHandshake,
  subprotocolOf,
} from './handshake.ts';
import type { NodeLimits } from './limits.ts';
import type { LinkContext } from './link-context.ts';
import type { Links } from './links.ts';
import { stackOf } from './log.ts';
import { NodeLink } from './node-link.ts';
import type { PeerAddresses } from './peer-address.ts';
import type { Places } from './places.ts';
import { PlainHandshakes } from './plain-handshakes.ts';
import { problemOfHead } from './request-head.ts';
import type { Wire } from './transport.ts';
import type { HandshakeHead } from './web-socket/read-handshake.ts';
import { upgradeAnswer } from './web-socket/upgrade.ts';

export interface ListenerOptions {
  readonly limits: NodeLimits;
  readonly allowedOrigins: AllowedOrigins;
  readonly bans: Bans;
  /** Checks tokens of handshakes. Absent: no token is checked. */
  readonly handshakes: Handshakes | undefined;
  readonly addresses: PeerAddresses;
  readonly places: Places;
  /** Refuses requests that are not from this machine. */
  readonly isOpenToThisMachineOnly: boolean;
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
    server.on('upgrade', (request, socket, head) => {
      const reason = problemOfHead(request);
      if (reason === undefined) this.#answer(request, socket, head);
      else this.#refuse(options.addresses.of(request), socket, { status: 400, reason });
    });
    this.#plain = new PlainHandshakes(server, options.limits, {
      take: (...handshake) => this.#answer(...handshake),
      refuse: (socket, reason) =>
        this.#refuse(options.addresses.ofSocket(socket), socket, { status: 400, reason }),
    });
    server.on('connection', (socket) => options.places.arrive(socket));
  }

  get allowedOrigins(): AllowedOrigins {
    return this.#options.allowedOrigins;
  }

  /** Refuses every further handshake. */
  stop(): void {
    this.#stopping = true;
  }

  /** Ends the connections that have not begun a handshake. */
  end(): void {
    this.#plain.stop();
  }

  /** Serves MQTT over TCP or TLS. Its client has no handshake in which it could be told why it is refused. */
  serveTcp(socket: Socket): void {
    const { addresses, places, isOpenToThisMachineOnly, log } = this.#options;
    places.arrive(socket);
    const peer = addresses.ofSocket(socket);
    const isForeign = isOpenToThisMachineOnly && !addresses.isLocalSocket(socket);
    const refusal = this.#unavailable() ?? this.#banned(peer) ?? (isForeign ? FOREIGN_REFUSAL : undefined);
    if (refusal === undefined && this.#takePlace(socket, peer)) {
      this.#open(peer, socket, 'tcp');
      socket.resume();
      return;
    }
    log.info('handshake-refused', { address: peer.address, ...(refusal ?? this.#full) });
    socket.destroy();
  }

  /** Serves a client whose handshake was at another process of the cluster. */
  serve(peer: Peer, wire: Wire, socket: Duplex): void {
    const isTaken = this.#unavailable() === undefined && this.#takePlace(socket, peer);
    if (!isTaken) {
      socket.destroy();
      return;
    }
    this.#open(peer, socket as Socket, wire, true);
  }

  /** The sender of a request that takes the place of a handshake, or why it is refused. */
  async admit(request: HandshakeHead): Promise<Peer | HandshakeRefusal> {
    const { addresses, allowedOrigins, log } = this.#options;
    const peer = addresses.of(request);
    const { address } = peer;
    const refusal = this.#strangerRefusal(request, peer) ?? originRefusal(request, allowedOrigins);
    if (refusal !== undefined) {
      log.info('handshake-refused', { address, ...refusal });
      return refusal;
    }
    const outcome = await this.#identify(request, address);
    if ('status' in outcome) {
      log.info('token-refused', { address, ...outcome });
      return { ...outcome, isOfToken: true };
    }
    addresses.noteForwardedInVain(request, address, log);
    return outcome.identity === undefined ? peer : { ...peer, identity: outcome.identity };
  }

  async #identify(request: HandshakeHead, address: string): Promise<HandshakeTaken | HandshakeRefusal> {
    try {
      const outcome = await this.#options.handshakes?.identify(identifiableRequest(request, address));
      return outcome ?? { identity: undefined };
    } catch (error) {
      return this.#failed(error);
    }
  }

  /**
   * Serves a client that `admit` has let in. Its packets come through a stream of this process.
   *
   * @param connection the socket of its request, whose place is the stream's now. @default none: the stream outlives it
   */
  serveRequest(peer: Peer, stream: Duplex, connection?: Socket): NodeLink | HandshakeRefusal {
    const refusal = this.#unavailable() ?? (this.#takePlace(stream, peer) ? undefined : this.#full);
    if (refusal !== undefined) {
      this.#options.log.info('handshake-refused', { address: peer.address, ...refusal });
      return refusal;
    }
    if (connection !== undefined) this.#options.places.establish(connection);
    return this.#open(peer, stream as Socket, 'tcp');
  }

  /** An exception ends this connection alone. */
  #answer(request: HandshakeHead, socket: Duplex, head: Buffer): void {
    const failed = (error: unknown) => {
      this.#failed(error);
      socket.destroy();
    };
    try {
      this.#upgrade(request, socket, head)?.catch(failed);
    } catch (error) {
      failed(error);
    }
  }

  /** A promise while a token is checked. */
  #upgrade(request: HandshakeHead, socket: Duplex, head: Buffer): Promise<void> | undefined {
    const { handshakes, addresses, allowedOrigins } = this.#options;
    const peer = addresses.of(request);
    const refusal = this.#strangerRefusal(request, peer) ?? refusalOf(request, allowedOrigins);
    if (refusal !== undefined) {
      this.#refuse(peer, socket, refusal);
      return undefined;
    }
    const outcome = handshakes?.identify(identifiableRequest(request, peer.address));
    if (outcome instanceof Promise) return this.#upgradeLater(request, peer, socket, head, outcome);
    if (outcome !== undefined && 'status' in outcome) this.#refuse(peer, socket, outcome, 'token-refused');
    else this.#accept(request, peer, socket, head, outcome?.identity);
    return undefined;
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
    this.#options.log.error('handshake-failed', { error: stackOf(error) });
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
    if (!this.#takePlace(socket, peer)) {
      this.#refuse(peer, socket, this.#full);
      return;
    }
    socket.write(upgradeAnswer(request, subprotocolOf(request) ?? ''));
    const { addresses, log } = this.#options;
    const link = this.#open(
      identity === undefined ? peer : { ...peer, identity },
      socket as Socket,
      'websocket',
    );
    addresses.noteForwardedInVain(request, peer.address, log);
    // While its token is checked the socket is not read.
    if (socket.isPaused()) socket.resume();
    link.begin(head);
  }

  #strangerRefusal(request: HandshakeHead, peer: Peer): HandshakeRefusal | undefined {
    return this.#unavailable() ?? this.#banned(peer) ?? foreignRefusal(request, this.#options);
  }

  #banned({ host }: Peer): { status: number; reason: string } | undefined {
    const ban = banOnCaller(this.#options.bans, undefined, host);
    return ban && { status: 403, reason: 'This address has been banned.' };
  }

  #unavailable(): { status: number; reason: string } | undefined {
    if (this.#stopping) return { status: 503, reason: 'This broker is shutting down.' };
    return this.#options.places.isFull(this.#links.size) ? this.#full : undefined;
  }

  #takePlace(socket: Duplex, { address }: Peer): boolean {
    return this.#options.places.takeHandshake(socket, address, this.#links.size);
  }

  get #full(): HandshakeRefusal {
    const { connectionsMax } = this.#options.limits;
    return { status: 503, reason: `This broker has ${connectionsMax} connections and takes no more.` };
  }

  #open(peer: Peer, socket: Socket, wire: Wire, isForwarded = false): NodeLink {
    const id = this.#options.connectionId();
    const link = new NodeLink(this.#context, id, peer, socket, wire, isForwarded);
    this.#links.add(link);
    this.#options.log.debug('opened', { connectionId: id, address: peer.address });
    return link;
  }
}
