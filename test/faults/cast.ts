import { type Authenticator, rulesOfLists } from '@apus/broker';
import type { InProcessEmulator } from '@apus/emulated-aws';
import type { GapLedger } from './gap-ledger.ts';
import type { Audience, Ledger } from './ledger.ts';
import { SimClient, type SimClientEvents, type SimClientOptions } from './sim-client.ts';
import type { Size } from './size.ts';
import { STREAM_TOPICS } from './steps.ts';
import type { PublishedToStreams } from './stream-ledger.ts';
import type { Trace } from './trace.ts';
import type { WillLedger } from './will-ledger.ts';

/** Sessions outlive every absence; only the sweep notices the longest ones. */
export const SESSION_SECONDS = 24 * 60 * 60;
/** Some subscribers have so small a Receive Maximum that messages wait for them. */
const RECEIVE_MAXIMUM_SMALL = 3;

/** How long the identity of a client lasts whose name marks it as short-lived. */
export const BRIEF_MS = 2_000;

/**
 * Every client except intruders may do everything. A client's name is its user name, or else its client identifier;
 * thieves use the identifiers of others.
 */
export const AUTHENTICATOR: Authenticator = {
  authenticate: ({ clientId, username: name = clientId }) => {
    const own = [`open/${clientId}/#`];
    const filters = name.startsWith('intruder') ? own : ['#', '$presence/#'];
    return {
      tenant: 'default',
      name,
      rules: rulesOfLists(filters, filters),
      ...(name.startsWith('thief') && { clientIds: ['+'] }),
      ...(name.startsWith('brief') && { expiresAtMs: Date.now() + BRIEF_MS }),
    };
  },
};

/** The other clients have a transport without extensions, one of them with a small Receive Maximum. */
const OFFERING_SUBSCRIBERS = 2;

/** The clients whose sessions last for the whole history. */
export interface Cast {
  readonly publishers: readonly SimClient[];
  readonly subscribers: readonly SimClient[];
  readonly members: readonly SimClient[];
  readonly watcher: SimClient;
  /** Its session ends with its connection. */
  readonly listener: SimClient;
  readonly all: readonly SimClient[];
}

export interface Books {
  readonly ledger: Ledger;
  readonly wills: WillLedger;
  /** The listener's ledger. */
  readonly gaps: GapLedger;
  readonly streams: PublishedToStreams;
  readonly trace: Trace;
  /** Reports an error that no ledger covers. */
  readonly wrong: (what: string, about: string) => void;
}

const namesOf = (kind: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${kind}-${index}`);

/** The messages that each subscriber has to receive. */
export function audienceOf(size: Size): (topic: string) => Audience {
  const subscribers = { names: namesOf('subscriber', size.subscribers), isGroup: false };
  const members = { names: namesOf('member', size.members), isGroup: true };
  const watcher = { names: ['watcher'], isGroup: false };
  return (topic) => (topic.startsWith('news/') ? subscribers : topic.startsWith('jobs/') ? members : watcher);
}

export function castOf(emulator: InProcessEmulator, size: Size, books: Books): Cast {
  const make = (clientId: string, options: Partial<SimClientOptions> = {}): SimClient => {
    const client: SimClient = new SimClient(
      emulator,
      { clientId, sessionExpirySeconds: SESSION_SECONDS, ...options },
      eventsOf(clientId, books),
      books.trace,
    );
    return client;
  };
  const publishers = namesOf('publisher', size.publishers).map((name) => make(name));
  const subscribers = namesOf('subscriber', size.subscribers).map((name, index) =>
    make(name, {
      ...(index % 2 === 1 && { receiveMaximum: RECEIVE_MAXIMUM_SMALL }),
      offersNothing: index >= OFFERING_SUBSCRIBERS,
    }),
  );
  const members = namesOf('member', size.members).map((name, index) =>
    make(name, { offersNothing: index === 0 }),
  );
  const watcher = make('watcher');
  const listener: SimClient = new SimClient(
    emulator,
    { clientId: 'listener', sessionExpirySeconds: 0 },
    listenerEvents(books, () => listener.subscribe('news/#', 1)),
    books.trace,
  );
  const all = [...publishers, ...subscribers, ...members];
  return { publishers, subscribers, members, watcher, listener, all };
}

/** It subscribes again on each connection that it notices. */
function listenerEvents({ gaps }: Books, subscribe: () => Promise<number | undefined>): SimClientEvents {
  return {
    message: (topic, payload) => {
      if (topic.startsWith('news/') && payload !== 'forged') gaps.heard(topic, Number(payload));
    },
    told: (what) => {
      if (what !== 'resumed') gaps.told(what);
    },
    connected: () => {
      gaps.told('anew');
      void subscribe().then((code) => {
        if (code === 1) gaps.told('granted');
      });
    },
  };
}

/**
 * A topic of a stream has several publishers, each of which numbers its own messages of each QoS: the ledger knows those
 * as topics of their own. Payloads there are `PUBLISHER.QOS.NUMBER`.
 */
export function ownTopic(topic: string, publisher: string, qos: string): string {
  return `${topic} of ${publisher} at QoS ${qos}`;
}

function isOfStream(topic: string): boolean {
  return (STREAM_TOPICS as readonly string[]).includes(topic);
}

/** The message in the form that the ledger uses. */
function known(topic: string, payload: string): [topic: string, number: number] {
  if (!isOfStream(topic)) return [topic, Number(payload)];
  const [publisher = '', qos = '', number] = payload.split('.');
  return [ownTopic(topic, publisher, qos), Number(number)];
}

function eventsOf(name: string, { ledger, streams, wills, wrong }: Books): SimClientEvents {
  let hasSession = false;
  return {
    message: (topic, payload) => {
      if (payload === 'forged')
        wrong(`leaked: ${name} got what an intruder published`, `${topic}=${payload}`);
      else if (topic === 'wills/mortal') wills.received(payload);
      else ledger.received(name, ...known(topic, payload));
    },
    acknowledged: (topic, payload) => {
      if (isOfStream(topic)) streams.acknowledged(topic, payload);
      ledger.acknowledged(...known(topic, payload));
    },
    sentAgain: (topic, payload) => ledger.sentAgain(...known(topic, payload)),
    connected: (_connection, sessionPresent) => {
      if (hasSession && !sessionPresent) wrong(`session: that of ${name} is gone`, name);
      hasSession = true;
    },
    wronged: (what) => wrong(`limit: ${what}`, name),
  };
}

/** All clients connect and subscribe before the first fault. */
export async function subscribeAll(
  { subscribers, members, watcher }: Cast,
  { wrong }: Pick<Books, 'wrong'>,
): Promise<void> {
  const all = [
    ...subscribers.map((each) => each.subscribe('news/#', 2)),
    ...members.map((each) => each.subscribe('$share/workers/jobs/#', 2)),
    watcher.subscribe('state/#', 2),
    watcher.subscribe('wills/#', 2),
    // A plain subscription to topics of streams: it has a queue, and must miss nothing.
    watcher.subscribe('feed/#', 2),
    watcher.subscribe('short/#', 2),
  ];
  for (const code of await Promise.all(all))
    if (code !== 2) wrong(`session: a subscription before the first fault was answered with ${code}`, '');
}
