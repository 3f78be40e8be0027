import type { ConnectionId, SessionRef, SessionStore } from '@apus/broker';
import type { DoneAfterFlush } from '../environment.ts';

/**
 * A will counts as published when its posts and jobs have left, which they do after the event: it is owed until then.
 *
 *     timer's handler                    timer again, or the sweep
 *     beginWill: message id m
 *     matches, gathers posts
 *     (were it done with here …)
 *     dies
 *                                        … there would be no will, and nobody would have got it
 *                                        beginWill: m again: it is published
 */
export class WillsAfterFlush implements SessionStore, DoneAfterFlush {
  readonly #store: SessionStore;
  #published: { readonly session: SessionRef; readonly connectionId: ConnectionId }[] = [];

  constructor(store: SessionStore) {
    this.#store = store;
  }

  open: SessionStore['open'] = (...call) => this.#store.open(...call);
  get: SessionStore['get'] = (...call) => this.#store.get(...call);
  renew: SessionStore['renew'] = (...call) => this.#store.renew(...call);
  detach: SessionStore['detach'] = (...call) => this.#store.detach(...call);
  beginWill: SessionStore['beginWill'] = (...call) => this.#store.beginWill(...call);
  discardWill: SessionStore['discardWill'] = (...call) => this.#store.discardWill(...call);
  remove: SessionStore['remove'] = (...call) => this.#store.remove(...call);
  count: SessionStore['count'] = () => this.#store.count();

  doneWill(session: SessionRef, connectionId: ConnectionId): void {
    this.#published.push({ session, connectionId });
  }

  /** Everything gathered has left. */
  async settleAll(): Promise<void> {
    const published = this.#published;
    this.#published = [];
    await Promise.all(
      published.map(({ session, connectionId }) => this.#store.doneWill(session, connectionId)),
    );
  }

  /** The event has failed: its wills are still owed. */
  drop(): void {
    this.#published = [];
  }
}
