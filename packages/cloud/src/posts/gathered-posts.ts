import type { ConnectionId } from '@apus/broker';
import type { Redirection } from '../connections/lose.ts';
import type { Frame } from '../frames/frame.ts';
import { PacketSequence } from '../frames/packet-sequence.ts';
import type { PostOutcome } from './poster.ts';

export interface FailedPost {
  readonly connectionId: ConnectionId;
  readonly outcome: Exclude<PostOutcome, 'sent'>;
  /** More than QoS 0 messages is missing. */
  readonly isLoss: boolean;
  /** Packets that did not arrive, as far as it is known. */
  readonly packets: number;
  /** Their frames. Absent where the connection was not posted to. */
  readonly missing?: readonly Frame[];
}

/** Posts the frames that an event has gathered. */
export interface Sender {
  /** Returns the connections that did not get all of theirs; a sender that ends these by itself returns none. */
  post(posts: ReadonlyMap<ConnectionId, PacketSequence>): Promise<readonly FailedPost[]>;
  /**
   * Resolves when these connections have been sent their frames, or are closed, or the time is out. Absent if `post`
   * waits for that.
   */
  hasLeft?(connectionIds: readonly ConnectionId[]): Promise<void>;
}

/**
 * Gathers the posts of an event, which leave when it has been handled. All packets for one connection leave in as few
 * posts as they fit into, one after another, which keeps their order; connections are served side by side.
 */
export class GatheredPosts {
  readonly #sender: Sender;
  #nothing = new PacketSequence();
  #connections = new Map<ConnectionId, PacketSequence>();
  /** Connections that miss a message: later messages wait for the client's return. */
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

  /** The session has moved: packets that have not arrived, and later ones, go to its new connection. */
  follow({ connectionId, missing = [] }: FailedPost, { to, unkeptAlone }: Redirection): void {
    this.#lost.delete(connectionId);
    this.#moved.set(connectionId, to);
    for (const frame of missing)
      for (const { bytes, mustArrive } of unkeptAlone ? frame.unkept : frame.outgoing)
        this.push(to, bytes, mustArrive);
  }

  /** The missing packets of this connection are kept. Packets pushed later are posted too, and kept behind those. */
  goOn(connectionId: ConnectionId): void {
    this.#lost.delete(connectionId);
  }

  #presentOf(connectionId: ConnectionId): ConnectionId {
    let present = connectionId;
    for (let hops = 0; hops < this.#moved.size; hops += 1) present = this.#moved.get(present) ?? present;
    return present;
  }

  /**
   * Takes a connection whose delivery state is unknown out of the posts. Undefined if it is already known to be lost.
   */
  lose(connectionId: ConnectionId): FailedPost | undefined {
    if (this.#lost.has(connectionId)) return undefined;
    this.#connections.delete(connectionId);
    this.#lost.add(connectionId);
    return { connectionId, outcome: 'failed', isLoss: true, packets: 1 };
  }

  /** Posts everything and waits for it. Returns the connections that did not get all of theirs. */
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
