import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Log } from '@apus/broker';
import { addressGroup, Crowd } from '@apus/identity';
import type { NodeLimits } from './limits.ts';
import type { PeerAddresses } from './peer-address.ts';

export interface PlacesOptions {
  readonly limits: Pick<NodeLimits, 'connectionsMax' | 'pendingPerAddressMax'>;
  /** Sockets besides: pages, health checks, handshakes that are refused. */
  readonly httpConnectionsMax: number;
  readonly addresses: PeerAddresses;
  readonly log: Log;
}

/**
 * The places of a door. A socket is pending until its client's CONNECT is accepted; from then on the quotas of its
 * identity bound it. An address holds a share of the pending ones at most, beyond which its own oldest is cut; and where
 * all places are taken, the oldest of the address with most pending ones is cut: a client of another address always
 * gets in [SEC-PLACE-1].
 *
 *     attacker                           door, 3 places            another client
 *     a1, a2, a3: no CONNECT             a1 a2 a3
 *                                        a2 a3 b: cuts a1          handshake, CONNECT
 *                                        a2 a3 | b is established
 */
export class Places {
  readonly #options: PlacesOptions;
  readonly #socketsMax: number;
  readonly #perAddressMax: number;
  /** All that were accepted and are open. */
  readonly #sockets = new Set<Duplex>();
  /** Pending ones before their handshake, or with another request, and those behind it. */
  readonly #arrived = new Crowd<Duplex>();
  readonly #handshaken = new Crowd<Duplex>();
  /** One function for all sockets. */
  readonly #closed: (this: Duplex) => void;

  constructor(options: PlacesOptions) {
    const { limits, httpConnectionsMax } = options;
    this.#options = options;
    this.#socketsMax = limits.connectionsMax + httpConnectionsMax;
    this.#perAddressMax = limits.pendingPerAddressMax || Math.ceil(this.#socketsMax / 2);
    const leave = (socket: Duplex) => this.leave(socket);
    this.#closed = function closed(this: Duplex) {
      leave(this);
    };
  }

  /** A client has opened a connection. */
  arrive(socket: Socket): void {
    const holder = this.#options.addresses.holderOf(socket);
    this.#sockets.add(socket);
    this.#arrived.add(socket, holder);
    socket.on('close', this.#closed);
    this.#keepToShare(holder);
    if (this.#sockets.size > this.#socketsMax) this.#cutOldest(this.#greediest);
  }

  /** Whether a handshake would get no place. @param connections WebSockets of the door at present */
  isFull(connections: number): boolean {
    return connections >= this.#options.limits.connectionsMax && this.#handshaken.size === 0;
  }

  /**
   * A handshake takes a place. False: there is none, as all WebSockets are established, or its client has gone.
   *
   * @param address a `Peer.address`
   */
  takeHandshake(socket: Duplex, address: string, connections: number): boolean {
    if (socket.destroyed || this.isFull(connections)) return false;
    if (connections >= this.#options.limits.connectionsMax) this.#cutOldest(this.#handshaken);
    const holder = addressGroup(address);
    this.#arrived.delete(socket);
    this.#handshaken.add(socket, holder);
    // A client that another process of the cluster has passed on has not arrived here.
    if (!this.#sockets.has(socket)) socket.on('close', this.#closed);
    this.#keepToShare(holder);
    return true;
  }

  /** The socket is not pending any more: it is its identity's, or that of a program which is known. */
  establish(socket: Duplex): void {
    this.#arrived.delete(socket);
    this.#handshaken.delete(socket);
  }

  /** Until `response` closes, the socket carries the bytes of a link, which has a place itself. */
  lend(socket: Socket, response: Duplex): void {
    this.establish(socket);
    response.once('close', () => {
      if (!this.#sockets.has(socket)) return;
      const holder = this.#options.addresses.holderOf(socket);
      this.#arrived.add(socket, holder);
      this.#keepToShare(holder);
    });
  }

  get #greediest(): Crowd<Duplex> {
    return this.#arrived.most > this.#handshaken.most ? this.#arrived : this.#handshaken;
  }

  #keepToShare(holder: string): void {
    const arrived = this.#arrived.count(holder);
    const handshaken = this.#handshaken.count(holder);
    if (arrived + handshaken <= this.#perAddressMax) return;
    this.#cutOldest(arrived > handshaken ? this.#arrived : this.#handshaken, holder);
  }

  /** @param holder @default the address with most pending ones */
  #cutOldest(crowd: Crowd<Duplex>, holder?: string): void {
    const socket = crowd.oldest(holder);
    if (socket === undefined) return;
    this.#options.log.info('pending-cut', { address: crowd.holderOf(socket) });
    this.leave(socket);
    socket.destroy();
  }

  /** The socket is gone, or another one takes its place. */
  leave(socket: Duplex): void {
    this.#sockets.delete(socket);
    this.establish(socket);
  }
}
