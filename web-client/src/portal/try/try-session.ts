import type { PortalServer } from '../document/portal-document.ts';
import { MESSAGES_MAX, MESSAGES_SHOWN, PAYLOAD_LENGTH_MAX } from '../limits.ts';
import { text, tryText } from '../strings.ts';
import type { Credentials, Marks, TryClient, TryListener } from './try-client.ts';
import { inWords, TryError } from './try-error.ts';

export interface TryMessage {
  readonly id: number;
  readonly topic: string;
  readonly payload: string;
  readonly marks: Marks;
}

export interface TryState {
  readonly status: string;
  readonly isError: boolean;
  readonly isBusy: boolean;
  /** The filter that is subscribed. */
  readonly listening: string | undefined;
  /** The newest first. */
  readonly messages: readonly TryMessage[];
}

export interface Place {
  readonly server: PortalServer;
  readonly credentials: Credentials;
}

export interface Publication {
  readonly topic: string;
  readonly payload: string;
  readonly contentType: string;
}

type Open = (server: PortalServer, credentials: Credentials, listener: TryListener) => Promise<TryClient>;

/** mqtt.js is fetched when the visitor first tries something. */
const openLater: Open = async (...given) => {
  const { TryClient } = await import('./try-client.ts');
  return await TryClient.open(...given);
};

const FLUSH_MS = 100;

const NO_SUBSCRIBERS = 0x10;

/** The visitor's tries with one topic, and their results. A store for React. */
export class TrySession {
  #state: TryState = { status: '', isError: false, isBusy: false, listening: undefined, messages: [] };
  readonly #open: Open;
  readonly #listeners = new Set<() => void>();
  #client: TryClient | undefined;
  #place = '';
  #received = 0;
  /** The visitor has asked for the filter that is subscribed. */
  #isChosen = false;
  #fresh: TryMessage[] = [];
  #flushing: ReturnType<typeof setTimeout> | undefined;

  constructor(open: Open = openLater) {
    this.#open = open;
  }

  readonly state = (): TryState => this.#state;

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Subscribes, in place of the previous subscription. */
  async subscribe(place: Place, filter: string, rewind: string | undefined): Promise<void> {
    await this.#attempt(tryText.refusedSubscribe(filter), async () => {
      const client = await this.#connect(place);
      await this.#subscribe(client, filter, rewind);
      this.#isChosen = true;
      return tryText.listening(filter);
    });
  }

  /** Publishes; unless the visitor has chosen a filter, the message comes back on a subscription to its topic. */
  async publish(place: Place, { topic, payload, contentType }: Publication): Promise<void> {
    if (topic === '' || /[+#\0]/.test(topic))
      return this.#set({ status: tryText.invalidTopic(topic), isError: true });
    await this.#attempt(tryText.refusedPublish(topic), async () => {
      const client = await this.#connect(place);
      const { listening } = this.#state;
      const isHeard = listening !== undefined && (this.#isChosen || listening === topic);
      const refused = isHeard ? '' : await this.#listenTo(client, topic);
      this.#set({ status: tryText.publishing });
      const code = await client.publish(topic, payload, contentType);
      const accepted = tryText.accepted(topic);
      const alone = code === NO_SUBSCRIBERS ? tryText.noSubscribers : '';
      return [accepted, alone, refused].filter(Boolean).join(' ');
    });
  }

  /** Ends the connection. */
  end(status: string = tryText.stopped): void {
    clearTimeout(this.#flushing);
    this.#flushing = undefined;
    this.#client?.end();
    this.#client = undefined;
    if (this.#state.listening !== undefined) this.#set({ status, isError: false, listening: undefined });
    this.#flush();
  }

  /** A visitor may publish to topics to which it may not subscribe. */
  async #listenTo(client: TryClient, topic: string): Promise<string> {
    try {
      await this.#subscribe(client, topic, undefined);
      return '';
    } catch (error) {
      if (error instanceof TryError && error.refusal.is === 'refused')
        return `${tryText.refusedSubscribe(topic)}: ${error.message}`;
      throw error;
    }
  }

  async #subscribe(client: TryClient, filter: string, rewind: string | undefined): Promise<void> {
    const { listening } = this.#state;
    if (listening !== undefined) await client.unsubscribe(listening);
    this.#received = 0;
    this.#isChosen = false;
    this.#set({ listening: undefined });
    await client.subscribe(filter, rewind);
    this.#set({ listening: filter });
  }

  async #connect({ server, credentials }: Place): Promise<TryClient> {
    const place = JSON.stringify([server, credentials]);
    if (this.#client !== undefined && place === this.#place) return this.#client;
    this.end();
    this.#set({ status: tryText.connecting });
    try {
      this.#client = await this.#open(server, credentials, {
        message: (topic, payload, marks) => this.#take(topic, payload, marks),
        ended: (why) => {
          this.#client = undefined;
          const status = why === undefined ? tryText.closed : `${tryText.ended}: ${inWords(why)}`;
          this.#set({ status, isError: true, listening: undefined });
        },
      });
    } catch (error) {
      const refused = error instanceof TryError && error.refusal.is === 'refused';
      throw refused ? new ConnectError(`${tryText.refusedConnect}: ${error.message}`) : error;
    }
    this.#place = place;
    return this.#client;
  }

  async #attempt(refusedWhat: string, work: () => Promise<string>): Promise<void> {
    if (this.#state.isBusy) return;
    this.#set({ isBusy: true, isError: false });
    try {
      this.#set({ status: await work(), isBusy: false });
    } catch (error) {
      const isAnswer = error instanceof TryError && error.refusal.is === 'refused';
      const message = error instanceof Error ? error.message : String(error);
      this.#set({ status: isAnswer ? `${refusedWhat}: ${message}` : message, isError: true, isBusy: false });
    }
  }

  #take(topic: string, payload: Uint8Array, marks: Marks): void {
    // An answer that was pending when the page stopped.
    if (this.#received >= MESSAGES_MAX) return;
    this.#received += 1;
    this.#fresh.unshift({ id: this.#received + Math.random(), topic, payload: shown(payload), marks });
    this.#fresh.length = Math.min(this.#fresh.length, MESSAGES_SHOWN);
    if (this.#received === MESSAGES_MAX) this.end(tryText.stoppedAt(MESSAGES_MAX));
    else this.#flushing ??= setTimeout(() => this.#flush(), FLUSH_MS);
  }

  /** A busy topic is drawn ten times a second. */
  #flush(): void {
    this.#flushing = undefined;
    if (this.#fresh.length === 0) return;
    const messages = [...this.#fresh, ...this.#state.messages].slice(0, MESSAGES_SHOWN);
    this.#fresh = [];
    this.#set({ messages });
  }

  #set(change: Partial<TryState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

class ConnectError extends Error {
  override readonly name = 'ConnectError';
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function shown(payload: Uint8Array): string {
  if (payload.length === 0) return text.emptyPayload;
  try {
    const all = UTF8.decode(payload);
    return all.length <= PAYLOAD_LENGTH_MAX ? all : `${all.slice(0, PAYLOAD_LENGTH_MAX)}…`;
  } catch {
    return text.binaryPayload(payload.length);
  }
}
