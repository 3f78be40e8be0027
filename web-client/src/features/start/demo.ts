import { create } from 'zustand';
import { newId, newSubscription } from '../../engine/new-profile.ts';
import type {
  ConnectionProfile,
  LiveConnection,
  LoggedMessage,
  LoggedPacket,
  Outcome,
  Qos,
  Trouble,
} from '../../engine/types.ts';
import { connections } from '../../state/connections.ts';
import { secretsOf } from '../../state/secrets.ts';
import { useStore } from '../../state/store.ts';

/**
 * The two clients of the example. They are ordinary connections, except that the list does not show them, and they end
 * with it.
 */
export const CLIENT_A = 'example-a';
export const CLIENT_B = 'example-b';

/**
 * QoS 1 comes before QoS 0: where a rule forbids the topic, an acknowledgement says so, and a message of QoS 0 is lost
 * without a word.
 */
export const STEPS = ['subscribe', 'qos1', 'qos0', 'qos2', 'retain', 'newcomer'] as const;
export type DemoStep = (typeof STEPS)[number];

/** Messages that each client shows. */
const SHOWN_MAX = 6;

/** A pause between the steps, so that users can follow. */
const PACE_MS = 350;

/** How long the server keeps the retained message, with MQTT 5. */
const KEPT_SECONDS = 3_600;

/** How long a step may take. */
const STEP_TIMEOUT_MS = 10_000;

/** How long a message that was sent may take to come back to client A, which has subscribed to it. */
const RETURN_TIMEOUT_MS = 5_000;

export interface DemoState {
  readonly phase: 'idle' | 'running' | 'done' | 'failed';
  readonly topic: string;
  /** How long each step took that is done. */
  readonly done: Readonly<Partial<Record<DemoStep, number>>>;
  readonly trouble: Trouble | undefined;
  readonly failed: DemoStep | undefined;
  readonly receivedA: readonly LoggedMessage[];
  readonly receivedB: readonly LoggedMessage[];
}

/** A topic of its own for each page, so that two of them do not disturb each other. */
const DEFAULT_TOPIC = `apus/example/${newId().slice(0, 6)}`;

const IDLE: Omit<DemoState, 'topic'> = {
  phase: 'idle',
  done: {},
  trouble: undefined,
  failed: undefined,
  receivedA: [],
  receivedB: [],
};

export const useDemo = create<DemoState>(() => ({ ...IDLE, topic: DEFAULT_TOPIC }));

/** Where the example publishes, as a rule of the broker may want. A run that has begun ends. */
export async function chooseTopic(topic: string): Promise<void> {
  await stopDemo();
  useDemo.setState({ topic });
}

const encoder = new TextEncoder();
let run = 0;

/** The reason why a run stops early: the user began another one, or left. */
class Superseded extends Error {}

class StepFailed extends Error {
  readonly trouble: Trouble | undefined;

  constructor(trouble: Trouble | undefined) {
    super('a step of the example failed');
    this.trouble = trouble;
  }
}

export async function runDemo(profile: ConnectionProfile): Promise<void> {
  run += 1;
  const mine = run;
  useDemo.setState({ ...IDLE, phase: 'running' });
  const step = async (name: DemoStep, work: () => Promise<unknown>): Promise<void> => {
    const startedAt = performance.now();
    useDemo.setState({ failed: name });
    await work();
    if (mine !== run) throw new Superseded();
    const ms = performance.now() - startedAt;
    useDemo.setState(({ done }) => ({ done: { ...done, [name]: ms } }));
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
    if (mine !== run) throw new Superseded();
  };
  try {
    await step('subscribe', () => join(CLIENT_A, profile));
    await step('qos1', () => say('This one was acknowledged', 1, false));
    await step('qos0', () => say('This one was sent once and not acknowledged', 0, false));
    await step('qos2', () => say('This one came exactly once', 2, false));
    await step('retain', () => say('This one is kept for those who come later', 1, true));
    await step('newcomer', () => join(CLIENT_B, profile));
    useDemo.setState({ phase: 'done', failed: undefined });
  } catch (error) {
    if (error instanceof Superseded || mine !== run) return;
    useDemo.setState({ phase: 'failed', trouble: error instanceof StepFailed ? error.trouble : undefined });
  }
}

/** Publishes as client A. Resolves when the message has come back: no acknowledgement proves that it was delivered. */
export async function say(text: string, qos: Qos, retain: boolean): Promise<void> {
  const topic = `${useDemo.getState().topic}/${retain ? 'kept' : `qos${qos}`}`;
  // A page that is closed has no time to clean up.
  const properties = retain ? { messageExpiryIntervalSeconds: KEPT_SECONDS } : {};
  const client = connections.get(CLIENT_A);
  const returned = comesBack(client, topic);
  try {
    checkOutcome(await client.publish({ topic, payload: encoder.encode(text), qos, retain, properties }));
    await returned.promise;
  } finally {
    returned.stop();
  }
}

/** Waits for the next message to the topic. */
function comesBack(client: LiveConnection, topic: string) {
  let stop = (): void => {};
  const promise = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new StepFailed(undefined)), RETURN_TIMEOUT_MS);
    const ignore = client.messages.onAppend((messages) => {
      if (messages.some((message) => message.direction === 'received' && message.topic === topic)) resolve();
    });
    stop = () => {
      clearTimeout(timer);
      ignore();
    };
  });
  return { promise, stop: () => stop() };
}

/**
 * Removes the retained message and ends both clients. Their messages belong to that broker, and are removed at once.
 */
export async function stopDemo(): Promise<void> {
  if (useDemo.getState().phase === 'idle') return;
  run += 1;
  const mine = run;
  const a = connections.get(CLIENT_A);
  const { topic, done } = useDemo.getState();
  useDemo.setState(IDLE);
  a.packets.clear();
  const clear = { topic: `${topic}/kept`, payload: new Uint8Array(), qos: 1, retain: true } as const;
  if (done.qos1 !== undefined) await a.publish(clear);
  // Another run has begun meanwhile, with the same two clients.
  if (mine !== run) return;
  connections.get(CLIENT_B).close();
  a.close();
}

/** The last packets between client A and the server, oldest first. Pings and the handshake tell nothing here. */
export function ladder(countMax: number): readonly LoggedPacket[] {
  const log = connections.get(CLIENT_A).packets;
  const packets: LoggedPacket[] = [];
  if (useDemo.getState().phase === 'idle') return packets;
  for (let at = log.endSequence - 1; at >= log.firstSequence && packets.length < countMax; at -= 1) {
    const packet = log.at(at);
    if (packet !== undefined && packet.type < 12) packets.unshift(packet);
  }
  return packets;
}

async function join(id: string, profile: ConnectionProfile): Promise<void> {
  const connection = connections.get(id);
  const subscription = { ...newSubscription(`${useDemo.getState().topic}/#`), qos: 2 as const };
  connection.messages.clear();
  connection.packets.clear();
  follow(id);
  const { will: _will, ...bare } = profile;
  connection.open(
    {
      ...bare,
      id,
      name: id,
      clientId: '',
      cleanStart: true,
      reconnect: false,
      hearsOfDrops: false,
      subscriptions: [subscription],
    },
    secretsOf(profile.id),
  );
  await subscribed(id, subscription.id);
}

const following = new Set<string>();

/** Keeps the last messages of a client. Its log lives as long as the page does. */
function follow(id: string): void {
  if (following.has(id)) return;
  following.add(id);
  connections.get(id).messages.onAppend((messages) => {
    // Messages that still come while they end belong to no example.
    if (useDemo.getState().phase === 'idle') return;
    const received = messages.filter(({ direction }) => direction === 'received');
    const key = id === CLIENT_A ? 'receivedA' : 'receivedB';
    useDemo.setState((state) => ({ [key]: [...state[key], ...received].slice(-SHOWN_MAX) }));
  });
}

/** Resolves when the server has granted the subscription; rejects if it will not. */
function subscribed(id: string, subscriptionId: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (end: () => void): void => {
      clearTimeout(timer);
      stop();
      end();
    };
    const look = (): void => {
      const status = useStore.getState().statuses[id];
      const subscription = status?.subscriptions[subscriptionId];
      if (subscription?.status === 'granted') finish(resolve);
      else if (subscription?.status === 'refused') finish(() => reject(new StepFailed(subscription.trouble)));
      else if (status?.phase === 'failed') finish(() => reject(new StepFailed(status.trouble)));
    };
    const timer = setTimeout(() => finish(() => reject(new StepFailed(undefined))), STEP_TIMEOUT_MS);
    const stop = useStore.subscribe(look);
  });
}

function checkOutcome({ trouble }: Outcome): void {
  if (trouble !== undefined) throw new StepFailed(trouble);
}
