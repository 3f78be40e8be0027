import type { OpenedSession, OpenSession, SessionStore } from '@apus/broker';
import type { Liveness } from './liveness.ts';

/**
 * Opens sessions, and arms a liveness timer for each connection with a will. The timer is armed before the session is
 * opened: without a timer the will might wait for the sweep, while a timer without a connection ends by itself.
 */
export class LivenessSessions implements SessionStore {
  readonly #store: SessionStore;
  readonly #liveness: Liveness;

  constructor(store: SessionStore, liveness: Liveness) {
    this.#store = store;
    this.#liveness = liveness;
  }

  async open(request: OpenSession): Promise<OpenedSession | 'owned-by-another'> {
    const { tenant, clientId, attachment, will } = request;
    if (will !== undefined) await this.#liveness.arm({ tenant, clientId }, attachment.connectionId);
    return await this.#store.open(request);
  }

  get: SessionStore['get'] = (...call) => this.#store.get(...call);
  renew: SessionStore['renew'] = (...call) => this.#store.renew(...call);
  detach: SessionStore['detach'] = (...call) => this.#store.detach(...call);
  end: SessionStore['end'] = (...call) => this.#store.end(...call);
  noteReplays: SessionStore['noteReplays'] = (...call) => this.#store.noteReplays(...call);
  beginWill: SessionStore['beginWill'] = (...call) => this.#store.beginWill(...call);
  doneWill: SessionStore['doneWill'] = (...call) => this.#store.doneWill(...call);
  discardWill: SessionStore['discardWill'] = (...call) => this.#store.discardWill(...call);
  remove: SessionStore['remove'] = (...call) => this.#store.remove(...call);
  count: SessionStore['count'] = () => this.#store.count();
}
