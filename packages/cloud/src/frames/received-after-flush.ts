import type { ReceivedStore, SessionRef } from '@apus/broker';
import type { PacketId } from '@apus/mqtt';

/**
 * A QoS 2 message counts as handed on when its posts and jobs have left, which they do after the frame: its pending
 * mark stays until then.
 *
 *     handler A                          client, handler B
 *     begin: pending
 *     matches, gathers posts
 *     (were it settled here …)
 *     dies
 *                                        sends it again: … B would only answer, and nobody would have got it
 *                                        begin: pending, the same message id: B hands it on
 */
export class ReceivedAfterFlush implements ReceivedStore {
  readonly #store: ReceivedStore;
  #handedOn: { readonly session: SessionRef; readonly packetId: PacketId }[] = [];

  constructor(store: ReceivedStore) {
    this.#store = store;
  }

  begin: ReceivedStore['begin'] = (...call) => this.#store.begin(...call);
  hasRoom: ReceivedStore['hasRoom'] = (...call) => this.#store.hasRoom(...call);
  release: ReceivedStore['release'] = (...call) => this.#store.release(...call);
  clear: ReceivedStore['clear'] = (...call) => this.#store.clear(...call);

  settle(session: SessionRef, packetId: PacketId): void {
    this.#handedOn.push({ session, packetId });
  }

  /** Everything gathered has left. */
  async settleAll(): Promise<void> {
    const handedOn = this.#handedOn;
    this.#handedOn = [];
    await Promise.all(handedOn.map(({ session, packetId }) => this.#store.settle(session, packetId)));
  }

  /** The frame has failed: its messages stay pending. */
  drop(): void {
    this.#handedOn = [];
  }
}
