import type { ConnectionId, Log } from '@apus/broker';

import type { Frame } from '../frames/frame.ts';
import { PacketSequence } from '../frames/packet-sequence.ts';
import type { PostOutcome } from './poster.ts';

export interface FailedPost {
  readonly connectionId: ConnectionId;
  readonly outcome: Exclude<PostOutcome, 'sent'>;
  /** A message above QoS 0 is missing. */
  readonly isLoss: boolean;
  /** How many packets did not arrive, as far as it is known. */
  readonly packets: number;
  /** Their frames. Absent if nothing was posted to the connection. */
  readonly missing?: readonly Frame[];
}

/** That a connection is gone is ordinary: its client is away. */
export function logFailedPost(log: Log, { missing: _, ...failure }: FailedPost): void {
  log[failure.outcome === 'gone' ? 'info' : 'warn']('post-failed', failure);
}

/** Posts the frames that an event has gathered. */
export interface Sender {
  /** Returns the connections that did not get all their packets. A sender that ends these itself returns none. */
  post(posts: ReadonlyMap<ConnectionId, PacketSequence>): Promise<readonly FailedPost[]>;
  /**
   * Resolves when the frames for these connections are sent, or the connections are closed, or the time is out. Absent
   * if `post` waits for that.
   */
  hasLeft?(connectionIds: readonly ConnectionId[]): Promise<void>;
}

/**
 * Gathers the posts of an event, which leave when it has been handled. Packets for one connection leave in as few
 * posts as they fit into, one after another, so they keep their order. Connections are served side by side.
 */
export class GatheredPosts {
  readonly #sender: Sender;
  #nothing = new PacketSequence();
  #connections = new Map<ConnectionId, PacketSequence>();
  /** Connections that miss a message: later messages wait until the client returns. */
  readonly #lost = new Set<ConnectionId>();
  /** Where sessions have moved to while this event was handled. */
  readonly #moved = new Map<ConnectionId, ConnectionId>();

  constructor(sender: Sender) {
    this.#sender = sender;
  }

  get isEmpty(): boolean {
    return this.#connections.size === 0;
  }

  push(connectionId: ConnectionId, packet: Uint8Array, mustArrive: boolean): void {
    const present = this.#presentOf(connectionId);
    if (this.#lost.has(present)) return;
    const before = this.#connections.get(present) ?? this.#nothing;
    this.#connections.set(present, before.with(packet, mustArrive));
  }

  /** The session has moved: the missing packets, and later ones, go to its new connection. */
  follow({ connectionId, missing = [] }: FailedPost, { to, unkeptAlone }: Redirection): void {
    this.#lost.delete(connectionId);
    this.#moved.set(connectionId, to);
    for (const frame of missing)
      for (const { bytes, mustArrive } of unkeptAlone ? frame.unkept : frame.outgoing)
        this.push(to, bytes, mustArrive);
  }

  /** The missing packets of this connection are kept for its client. Later packets are posted, and kept after these. */
  goOn(connectionId: ConnectionId): void {
    this.#lost.delete(connectionId);
  }

  #presentOf(connectionId: ConnectionId): ConnectionId {
    let present = connectionId;
    for (let hops = 0; hops < this.#moved.size; hops += 1) present = this.#moved.get(present) ?? present;
    return present;
  }

  /**
   * Removes a connection whose delivery state is unknown from the posts. Undefined: it is known to be lost already.
   */
  lose(connectionId: ConnectionId): FailedPost | undefined {
    if (this.#lost.has(connectionId)) return undefined;
    this.#connections.delete(connectionId);
    this.#lost.add(connectionId);
    return { connectionId, outcome: 'failed', isLoss: true, packets: 1 };
  }

  /** Posts everything and waits. Returns the connections that did not get all their packets. */
  async flush(): Promise<FailedPost[]> {
    if (this.isEmpty) return [];
    const taken = this.#connections;
    this.#connections = new Map();
    this.#nothing = new PacketSequence();
    const failed = await this.#sender.post(taken);
    for (const { connectionId, isLoss } of failed) if (isLoss) this.#lost.add(connectionId);
    return [...failed];
  }

  async hasLeft(connectionIds: readonly ConnectionId[]): Promise<void> {
    await this.#sender.hasLeft?.(connectionIds);
  }
}

/** Where packets for a connection that is gone have to go. */
export interface Redirection {
  readonly to: ConnectionId;
  /** The session was resumed there after a loss: its queue sends its messages again, so only others are posted. */
  readonly unkeptAlone: boolean;
}
