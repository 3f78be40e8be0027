import type { Socket } from 'node:net';
import { type Clock, type ConnectionId, steadyNow } from '@apus/broker';
import type { Doorkeeper } from '@apus/emulator';
import { addressGroup, LeakyCounts } from '@apus/identity';
import { Places, type PlacesOptions } from '@apus/node';

/** Sockets besides the WebSockets: each of the handlers' environments keeps some to the @connections API. */
const HTTP_CONNECTIONS_MAX = 1_000;

/** An address with more handshakes than this, of which one is forgotten in so many ms, leaves half of the rate. */
const EAGER_FROM = 50;
const HANDSHAKE_FORGOTTEN_MS = 100;

/** Addresses that are remembered; some 200 bytes each. */
const ADDRESSES_MAX = 20_000;

export interface GatewayPlacesOptions extends Omit<PlacesOptions, 'httpConnectionsMax'> {
  readonly clock: Clock;
}

/** The places of the gateway door, shared among addresses as at the node door [SEC-PLACE-1]. */
export class GatewayPlaces implements Doorkeeper {
  readonly #places: Places;
  readonly #clock: Clock;
  readonly #pending = new Map<ConnectionId, Socket>();
  readonly #handshakes = new LeakyCounts({
    leakMs: HANDSHAKE_FORGOTTEN_MS,
    countMax: 2 * EAGER_FROM,
    keysMax: ADDRESSES_MAX,
  });

  constructor({ clock, ...options }: GatewayPlacesOptions) {
    this.#places = new Places({ ...options, httpConnectionsMax: HTTP_CONNECTIONS_MAX });
    this.#clock = clock;
  }

  arrive(socket: Socket): void {
    this.#places.arrive(socket);
  }

  isEager(address: string): boolean {
    const nowMs = steadyNow(this.#clock);
    const group = addressGroup(address);
    this.#handshakes.add(group, nowMs);
    return this.#handshakes.count(group, nowMs) > EAGER_FROM;
  }

  take(connectionId: ConnectionId, socket: Socket, address: string, connections: number): boolean {
    if (!this.#places.takeHandshake(socket, address, connections)) return false;
    this.#pending.set(connectionId, socket);
    socket.once('close', () => this.#pending.delete(connectionId));
    return true;
  }

  know(socket: Socket): void {
    this.#places.establish(socket);
  }

  /** CONNECT has been accepted. */
  connected(connectionId: ConnectionId): void {
    const socket = this.#pending.get(connectionId);
    if (socket === undefined) return;
    this.#pending.delete(connectionId);
    this.#places.establish(socket);
  }
}
