import type { InProcessEmulator } from '@apus/emulated-aws';
import { type Books, BRIEF_MS, SESSION_SECONDS } from './cast.ts';
import type { Problem } from './ledger.ts';
import { ProbeLedger } from './probe-ledger.ts';
import { SimClient } from './sim-client.ts';
import type { Step } from './steps.ts';

export type StepOf<Kind extends Step['kind']> = Extract<Step, { readonly kind: Kind }>;

/** The messages published until now. */
export interface Published {
  readonly stateTopics: readonly string[];
  /** The number that a topic's next message will have. */
  nextOf(topic: string): number;
  lastAcknowledged(topic: string): number;
  acknowledgedOf(topic: string): readonly number[];
  wasSentAgain(topic: string, number: number, after: number): boolean;
}

/**
 * A frame may wait 3 s for its handler, which lives for 5 s, with a clock that is a second behind: its post, or its
 * reply, arrives up to 3 s later still. A worker's post takes no longer.
 */
const EXPIRED_MS_MAX = 15_000;

/** A process uses its copy of the ban list for 30 s, a handler lives for 5 s, and a post arrives later still. */
const BANNED_MS_MAX = 45_000;

/** How long a banned client listens before it publishes: its frame closes the connection. */
const LISTENS_MS = 5_000;

/**
 * Clients that stay for a while: probes, mortals (with a will), intruders (without permission), thieves (with the
 * identifier of another client), outlaws (banned meanwhile), and clients whose identity expires.
 */
export class Guests {
  readonly clients: SimClient[] = [];
  readonly #emulator: InProcessEmulator;
  readonly #books: Books;
  readonly #published: Published;
  readonly #probes: ProbeLedger[] = [];
  readonly #probeClients: SimClient[] = [];
  #count = 0;

  constructor(emulator: InProcessEmulator, books: Books, published: Published) {
    this.#emulator = emulator;
    this.#books = books;
    this.#published = published;
  }

  get problems(): Problem[] {
    return this.#probes.flatMap((probe) => probe.problems(this.#published));
  }

  /** Connected probes: every message after their SUBACK has to reach them. */
  get owedProbes(): number {
    return this.#probes.filter(({ isOwed }) => isOwed).length;
  }

  /** Every probe sends a frame: a client whose connection the server has dropped notices it in this way. */
  askProbes(): void {
    for (const probe of this.#probeClients)
      if (probe.mqtt.connected) probe.subscribe('open/asks', 1).catch(() => {});
  }

  /** Subscribes to the retained state and stays connected. */
  probe(filter: string): void {
    const { stateTopics, lastAcknowledged, nextOf } = this.#published;
    const name = this.#name('probe');
    const ledger = new ProbeLedger(`${name} (${filter})`);
    this.#probes.push(ledger);
    const client = this.#add(
      new SimClient(
        this.#emulator,
        { clientId: name, sessionExpirySeconds: 0, isSingle: true },
        {
          connected: async () => {
            for (const topic of stateTopics) ledger.subscribes(topic, lastAcknowledged(topic));
            const code = await client.subscribe(filter, 1);
            if (code === 1) for (const topic of stateTopics) ledger.subscribed(topic, nextOf(topic));
            else ledger.broken();
          },
          message: (topic, payload, isRetained) => ledger.received(topic, Number(payload), isRetained),
          ended: () => ledger.broken(),
        },
        this.#books.trace,
      ),
    );
    this.#probeClients.push(client);
  }

  /** Has a will, and ends as the step says. */
  mortal(step: StepOf<'mortal'>): void {
    const { wills } = this.#books;
    const { qos, delaySeconds, how, returnsAfterMs } = step;
    const name = this.#name('mortal');
    const payloadOf = (connection: number) => `${name}.${connection}`;
    const mayReturn = returnsAfterMs !== undefined;
    let endedAtMs = 0;
    const client = this.#add(
      new SimClient(
        this.#emulator,
        {
          clientId: name,
          sessionExpirySeconds: mayReturn ? SESSION_SECONDS : 0,
          isSingle: true,
          // Its connection has to be cut, so its session does not move before.
          offersNothing: how === 'age',
          will: (connection) => {
            wills.begun(payloadOf(connection), qos);
            return {
              topic: 'wills/mortal',
              payload: Buffer.from(payloadOf(connection)),
              qos,
              retain: false,
              properties: { willDelayInterval: delaySeconds },
            };
          },
        },
        {
          connected: (connection, sessionPresent) => {
            // The will is due until the client ends its connection; if no process sees the end, the connection is lost.
            wills.decide(payloadOf(connection), 'owed');
            if (connection > 1) {
              const isInTime = sessionPresent && Date.now() < endedAtMs + delaySeconds * 1_000;
              wills.decide(payloadOf(connection - 1), isInTime ? 'withdrawn' : 'either');
              client.end('disconnect');
            } else if (how !== 'age') setTimeout(() => client.end(how), step.stayMs);
          },
          ended: (connection, isDisconnect) => {
            if (connection === 1) {
              endedAtMs = Date.now();
              if (how === 'age' && mayReturn) setTimeout(returns, returnsAfterMs);
            }
            const isSaid = how === 'disconnect' || connection > 1;
            if (isSaid) wills.decide(payloadOf(connection), isDisconnect ? 'withdrawn' : 'either');
          },
        },
        this.#books.trace,
      ),
    );
    const returns = (): void => {
      // It returns whether its first connection succeeded or not: whether that one's will is published is then open.
      if (client.mqtt.connected || client.connections !== 1) return;
      wills.decide(payloadOf(1), 'either');
      client.mqtt.reconnect();
    };
    if (!mayReturn || how === 'disconnect' || how === 'unplug' || how === 'age') return;
    setTimeout(returns, step.stayMs + returnsAfterMs);
  }

  /** Leaves a session with queued messages behind, and returns with Clean Start. */
  amnesiac({ awayMs, stayMs }: StepOf<'amnesiac'>): void {
    const clientId = this.#name('amnesiac');
    const options = { clientId, sessionExpirySeconds: SESSION_SECONDS, isSingle: true };
    const { trace, wrong } = this.#books;
    const first = this.#add(
      new SimClient(
        this.#emulator,
        options,
        { connected: async () => void (await first.subscribe('news/#', 1)) },
        trace,
      ),
    );
    setTimeout(() => first.stop(), stayMs);
    const begin = (): void => {
      this.#add(
        new SimClient(
          this.#emulator,
          { ...options, isClean: true },
          {
            connected: (_connection, sessionPresent) => {
              if (sessionPresent) wrong(`session: ${clientId} began anew and has its old one`, clientId);
            },
            message: (topic, payload) =>
              wrong(`leaked: ${clientId} got ${topic} ${payload} after Clean Start`, `${topic}=${payload}`),
          },
          trace,
        ),
      );
    };
    setTimeout(begin, stayMs + awayMs);
  }

  /** Sends DISCONNECT in the close, and returns without anything left of its session. */
  leaver({ awayMs, stayMs }: StepOf<'leaver'>): void {
    const clientId = this.#name('leaver');
    const options = { clientId, sessionExpirySeconds: 0, isSingle: true };
    const { trace, wrong } = this.#books;
    const first = this.#add(
      new SimClient(
        this.#emulator,
        options,
        { connected: async () => void (await first.subscribe('news/#', 1)) },
        trace,
      ),
    );
    setTimeout(() => first.end('disconnect'), stayMs);
    const begin = (): void => {
      this.#add(
        new SimClient(
          this.#emulator,
          { ...options, isClean: false },
          {
            connected: (_connection, sessionPresent) => {
              if (sessionPresent) wrong(`session: ${clientId} has a session that had ended`, clientId);
            },
            message: (topic, payload) =>
              wrong(`leaked: ${clientId} got ${topic} ${payload} after DISCONNECT`, `${topic}=${payload}`),
          },
          trace,
        ),
      );
    };
    setTimeout(begin, stayMs + awayMs);
  }

  /** Subscribes to topics that it may not read, and publishes to topics that it may not write. */
  intruder(filter: string): void {
    const name = this.#name('intruder');
    const client = this.#add(
      new SimClient(
        this.#emulator,
        { clientId: name, sessionExpirySeconds: 0, isSingle: true },
        {
          connected: async () => {
            client.publish('news/0/1', 'forged', { qos: 1 });
            client.publish('state/0/a/b', 'forged', { qos: 1, retain: true });
            const code = await client.subscribe(filter, 1);
            if (code !== undefined && code < 0x80)
              this.#books.wrong(`leaked: ${name} may read ${filter}`, name);
          },
          message: (topic, payload) =>
            this.#books.wrong(`leaked: ${name} got ${topic} ${payload}`, `${topic}=${payload}`),
        },
        this.#books.trace,
      ),
    );
  }

  /** Connects with the client identifier of another client, to get its session. */
  thief({ isClean }: StepOf<'thief'>, clientId: string): void {
    const name = this.#name('thief');
    const isStolen = (what: string) => this.#books.wrong(`stolen: ${name} ${what} ${clientId}`, name);
    this.#add(
      new SimClient(
        this.#emulator,
        { clientId, username: name, sessionExpirySeconds: SESSION_SECONDS, isSingle: true, isClean },
        { connected: () => isStolen('is let in as'), message: () => isStolen('got a message of') },
        this.#books.trace,
      ),
    );
  }

  /** Stays connected when its identity has expired, and sends nothing. */
  brief(filter: string): void {
    const name = this.#name('brief');
    let endsAtMs = Number.POSITIVE_INFINITY;
    const client = this.#add(
      new SimClient(
        this.#emulator,
        { clientId: name, sessionExpirySeconds: 0, isSingle: true },
        {
          connected: async () => {
            endsAtMs = Date.now() + BRIEF_MS + EXPIRED_MS_MAX;
            await client.subscribe(filter, 1);
          },
          message: (topic, payload) => {
            if (Date.now() <= endsAtMs) return;
            this.#books.wrong(`expired: ${name} got ${topic} ${payload}`, `${topic}=${payload}`);
          },
        },
        this.#books.trace,
      ),
    );
  }

  /** Stays connected when it has been banned, and publishes when every process has to know the ban. */
  outlaw({ filter, bannedAfterMs }: StepOf<'outlaw'>, ban: (username: string) => Promise<void>): void {
    const name = this.#name('outlaw');
    let isBannedAtMs = Number.POSITIVE_INFINITY;
    const client = this.#add(
      new SimClient(
        this.#emulator,
        { clientId: name, sessionExpirySeconds: 0, isSingle: true },
        {
          connected: async () => void (await client.subscribe(filter, 1)),
          message: (topic, payload) => {
            if (Date.now() > isBannedAtMs)
              this.#books.wrong(`banned: ${name} got ${topic} ${payload}`, `${topic}=${payload}`);
          },
        },
        this.#books.trace,
      ),
    );
    const isBanned = async (): Promise<void> => {
      await ban(name);
      isBannedAtMs = Date.now() + BANNED_MS_MAX;
      setTimeout(() => client.publish('news/0/1', 'forged', { qos: 1 }), BANNED_MS_MAX + LISTENS_MS);
    };
    setTimeout(() => void isBanned(), bannedAfterMs);
  }

  #name(kind: string): string {
    this.#count += 1;
    return `${kind}-${this.#count}`;
  }

  #add(client: SimClient): SimClient {
    this.clients.push(client);
    return client;
  }
}
