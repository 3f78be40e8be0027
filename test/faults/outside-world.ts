import { resume } from '@apus/client/resume';
import type { InProcessEmulator } from '@apus/emulated-aws';
import { KAFKA_FUNCTION, type Outside } from '../cloud/outside.ts';
import { type Books, SESSION_SECONDS } from './cast.ts';
import type { FaultPlan } from './fault-plan.ts';
import { Ledger, type Problem } from './ledger.ts';
import { SimClient, type SimClientOptions } from './sim-client.ts';
import type { End } from './steps.ts';

const READER = 'outside-reader';
/** It reads the records as a stream, with `resume`. */
const RESUMING = 'outside-resuming';
const RECORDS = 'prices';
const KEYS = ['k0', 'k1', 'k2'];
const LEAVING = 'news/#';
/** Records of an event at most. */
const EVENT_RECORDS_MAX = 10;
const POLL_MS = 100;
const RETRY_MS = 500;
/** How long it does not answer, each time that it becomes unavailable. */
const AWAY_MS = 2_500;
/** A call takes its time. */
const CALL_MS = 5;

const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

interface KafkaRecord {
  readonly key: string;
  readonly number: number;
}

/**
 * Another system beside a deployment, like Kafka: a partition of records, which Lambda's event source mapping passes to
 * the function and commits; and the target of a rule for all of the publishers' messages. Both fail, repeat and become
 * unavailable.
 */
export class OutsideWorld implements Outside {
  readonly filter = LEAVING;
  readonly records = { topic: RECORDS, to: `${RECORDS}/{key}` };
  readonly #plan: FaultPlan;
  readonly #published: Ledger;
  readonly #ledger = new Ledger(() => ({ names: [READER, RESUMING], isGroup: false }));
  readonly #partition: KafkaRecord[] = [];
  readonly #next = new Map<string, number>();
  /** Messages by topic, in the order in which they came. */
  readonly #taken = new Map<string, number[]>();
  readonly #problems: Problem[] = [];
  #committed = 0;
  #awayUntilMs = 0;
  #isOver = false;
  #clients: readonly SimClient[] = [];

  /** @param published knows what publishers were answered */
  constructor(plan: FaultPlan, published: Ledger) {
    this.#plan = plan;
    this.#published = published;
  }

  get clients(): readonly SimClient[] {
    return this.#clients;
  }

  get counts(): { readonly records: number; readonly left: number } {
    const left = [...this.#taken.values()].reduce((sum, numbers) => sum + new Set(numbers).size, 0);
    return { records: this.#partition.length, left };
  }

  /** Before the first fault: its readers have subscribed. */
  async begin(emulator: InProcessEmulator, books: Books): Promise<void> {
    const open = (clientId: string, terms: Partial<SimClientOptions>) =>
      new SimClient(emulator, { clientId, sessionExpirySeconds: 0, ...terms }, {}, books.trace);
    const reader = open(READER, { sessionExpirySeconds: SESSION_SECONDS });
    const resuming = open(RESUMING, { resubscribes: true });
    resume(resuming.mqtt, {});
    this.#clients = [reader, resuming];
    for (const { name, mqtt } of this.#clients)
      mqtt.on('message', (topic, payload) => this.#ledger.received(name, topic, Number(payload)));
    const code = await reader.subscribe(`${RECORDS}/#`, 1);
    if (code !== 1) throw new Error(`expected a subscription to be granted, got ${code}`);
    const userProperties = { 'stream-offset': 'earliest' };
    await resuming.mqtt.subscribeAsync(`${RECORDS}/#`, { qos: 0, properties: { userProperties } });
    void this.#poll(emulator);
  }

  /** A program elsewhere has produced a record. */
  produce(index: number): void {
    const key = KEYS[index % KEYS.length] ?? '';
    const number = this.#next.get(key) ?? 0;
    this.#next.set(key, number + 1);
    this.#partition.push({ key, number });
    this.#ledger.published({ topic: `${RECORDS}/${key}`, qos: 1, number });
  }

  endReader(how: Exclude<End, 'disconnect'>): void {
    for (const client of this.#clients) if (client.mqtt.connected) client.end(how);
  }

  async send(
    messages: readonly { readonly topic: string; readonly payload: Uint8Array }[],
  ): Promise<boolean> {
    await pause(CALL_MS);
    const what = messages.map(({ topic }) => topic).join(', ');
    if (this.#isAway(what) || this.#plan.strikes('target-fails', what)) return false;
    for (const { topic, payload } of messages) this.#take(topic, payload);
    return !this.#plan.strikes('target-fails-after', what);
  }

  gaveUp(topic: string, payload: Uint8Array): void {
    this.#problems.push({ what: `dead letter: ${topic} ${Buffer.from(payload)}`, about: topic });
  }

  get isWaiting(): boolean {
    return (
      this.#missing.length > 0 || this.#ledger.missing.length > 0 || this.#committed < this.#partition.length
    );
  }

  get problems(): readonly Problem[] {
    const isStuck = this.#committed < this.#partition.length;
    const left = this.#partition.length - this.#committed;
    return [
      ...this.#problems,
      ...this.#missing,
      ...[...this.#taken].flatMap(([topic, numbers]) => disorderIn(topic, numbers)),
      ...this.#ledger.problems,
      ...(isStuck ? [{ what: `stuck: ${left} records are not committed`, about: RECORDS }] : []),
    ];
  }

  stop(): void {
    this.#isOver = true;
  }

  #take(topic: string, payload: Uint8Array): void {
    const numbers = this.#taken.get(topic) ?? [];
    this.#taken.set(topic, numbers);
    numbers.push(Number(Buffer.from(payload).toString()));
  }

  /** Acknowledged messages that have not reached the target. */
  get #missing(): readonly Problem[] {
    return this.#published.topics
      .filter((topic) => topic.startsWith('news/'))
      .flatMap((topic) => {
        const taken = new Set(this.#taken.get(topic));
        const lost = this.#published.acknowledgedOf(topic).filter((number) => !taken.has(number));
        return lost.map((number) => ({
          what: `left behind: ${topic} ${number} never came to the target of the rule`,
          about: `${topic}=${number}`,
        }));
      });
  }

  /** Like an event source mapping: one event at a time, again and again until the function accepts it. */
  async #poll(emulator: InProcessEmulator): Promise<void> {
    while (!this.#isOver) {
      await pause(POLL_MS);
      const records = this.#partition.slice(this.#committed, this.#committed + EVENT_RECORDS_MAX);
      if (records.length === 0 || this.#isAway('poll')) continue;
      try {
        await emulator.invoke(KAFKA_FUNCTION, eventOf(records, this.#committed));
      } catch {
        await pause(RETRY_MS);
        continue;
      }
      // A rebalance: another consumer begins at the last committed offset.
      if (this.#plan.strikes('source-repeats', records.length)) continue;
      for (const { key, number } of records) this.#ledger.acknowledged(`${RECORDS}/${key}`, number);
      this.#committed += records.length;
    }
  }

  #isAway(what: string): boolean {
    if (this.#plan.strikes('outside-away', what)) this.#awayUntilMs = Date.now() + AWAY_MS;
    return Date.now() < this.#awayUntilMs;
  }
}

/** First receipts rise: a repetition of an older one is allowed. */
function disorderIn(topic: string, numbers: readonly number[]): readonly Problem[] {
  const first = [...new Set(numbers)];
  return first.flatMap((number, index) => {
    const before = first[index - 1] ?? -1;
    if (number > before) return [];
    const what = `order outside: ${topic} ${number} came first after ${before}`;
    return [{ what, about: `${topic}=${number}` }];
  });
}

function eventOf(records: readonly KafkaRecord[], offset: number): object {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const described = records.map(({ key, number }, index) => ({
    topic: RECORDS,
    partition: 0,
    offset: offset + index,
    key: base64(key),
    value: base64(String(number)),
    headers: [],
  }));
  return { eventSource: 'aws:kafka', records: { [`${RECORDS}-0`]: described } };
}
