import { type GivenQuotaScopes, NO_QUOTAS, withQuotas } from '@apus/broker';
import { createDynamoDb } from '@apus/emulated-aws';
import { type DynamoOptions, defineTable, type EventStores, leanClient } from '@apus/store-dynamodb';
import { type AttributeValue, CreateTableCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { generate } from 'mqtt-packet';
import { aroundCalls } from '../../../../test/support/around-calls.ts';
import { connect, type Fields, publish, subscribe } from '../../../../test/support/text-client.ts';
import type { MakeBroker } from '../../src/environment.ts';
import type { RequestContext } from '../../src/events/gateway.ts';
import type { SqsRecord } from '../../src/events/sqs.ts';
import type { JobQueue, QueueEntry } from '../../src/fan-out/job-queue.ts';
import { type Cloud, composeCloud } from '../../src/lambda/compose.ts';
import { createSweep, type Sweep, type SweepReport } from '../../src/sweep/sweep.ts';
import { createTimerHandler, type TimerHandler } from '../../src/timers/handler.ts';
import { SqsTimers } from '../../src/timers/sqs-timers.ts';
import { decodePackets, FakeGateway, type ReceivedPacket, readReply } from './fake-gateway.ts';
import { FakeQueue } from './fake-queue.ts';
import { FakeTime } from './fake-time.ts';
import { never, SESSIONS_TABLE, TABLE } from './fan-out.ts';

/** How long a message that was received and not deleted stays invisible. */
const VISIBILITY_MS = 180_000;

interface Waiting {
  readonly messageId: string;
  readonly body: string;
  visibleAtMs: number;
  receives: number;
}

/** A standard queue that delays its messages, as strict as SQS about by how much. */
export class DelayQueue implements JobQueue {
  /** Every entry that was ever sent. */
  readonly sent: QueueEntry[] = [];
  readonly #time: FakeTime;
  #waiting: Waiting[] = [];

  constructor(time: FakeTime) {
    this.#time = time;
  }

  get length(): number {
    return this.#waiting.length;
  }

  get nextVisibleAtMs(): number | undefined {
    return this.#waiting.length === 0
      ? undefined
      : Math.min(...this.#waiting.map((each) => each.visibleAtMs));
  }

  async send(entries: readonly QueueEntry[]): Promise<void> {
    for (const entry of entries) {
      const { body, delaySeconds = 0 } = entry;
      if (!Number.isInteger(delaySeconds) || delaySeconds < 0 || delaySeconds > 900)
        throw new Error(`SQS refuses a delay of ${delaySeconds} s`);
      this.sent.push(entry);
      const visibleAtMs = this.#time.nowMs + delaySeconds * 1_000;
      this.#waiting.push({ messageId: `timer-${this.sent.length}`, body, visibleAtMs, receives: 0 });
    }
  }

  receive(): SqsRecord[] {
    const visible = this.#waiting.filter(({ visibleAtMs }) => visibleAtMs <= this.#time.nowMs);
    for (const each of visible) {
      each.visibleAtMs = this.#time.nowMs + VISIBILITY_MS;
      each.receives += 1;
    }
    return visible.map(({ messageId, body, receives }) => ({
      messageId,
      receiptHandle: messageId,
      body,
      attributes: { ApproximateReceiveCount: String(receives) },
    }));
  }

  delete(messageId: string): void {
    this.#waiting = this.#waiting.filter((each) => each.messageId !== messageId);
  }
}

/** A process is killed at its nth step: before or after a call to what is outside of it. */
export class Kill {
  readonly #at: number;
  steps = 0;
  hasStruck = false;
  readonly struck: Promise<'killed'>;
  #strike: (how: 'killed') => void = () => {};

  constructor(at = Number.POSITIVE_INFINITY) {
    this.#at = at;
    this.struck = new Promise((resolve) => {
      this.#strike = resolve;
    });
  }

  /** Never resolves in a process that is dead. */
  async step(): Promise<void> {
    this.steps += 1;
    if (this.steps < this.#at) return;
    this.hasStruck = true;
    this.#strike('killed');
    await never();
  }

  async around<T>(call: () => Promise<T>): Promise<T> {
    await this.step();
    const answer = await call();
    await this.step();
    return answer;
  }
}

export interface ProcessOptions {
  readonly kill?: Kill;
  /** How far this process' clock is ahead of the world's. */
  readonly aheadMs?: number;
  readonly stores?: Partial<DynamoOptions>;
  /** @default any amount */
  readonly quotas?: GivenQuotaScopes;
  /** Of the sweep's scan. @default 1 */
  readonly segments?: number;
}

/** One execution environment of each function. */
export interface Process {
  readonly cloud: Cloud;
  readonly timers: SqsTimers;
  readonly handleTimers: TimerHandler;
  readonly sweep: Sweep;
  readonly kill: Kill;
  readonly log: { readonly level: string; readonly event: string; readonly fields: unknown }[];
}

/** A table, a gateway and a timer queue, and as many processes over them as a test wants. */
export class TimersWorld {
  readonly time = new FakeTime();
  readonly gateway = new FakeGateway();
  readonly queue = new DelayQueue(this.time);
  readonly deadLetters = new FakeQueue(this.time);
  /** All processes call over one client: see `aroundCalls`. */
  readonly #client = leanClient(createDynamoDb().clientConfig());
  /** When each connection began, by the gateway's clock. */
  readonly #connectedAtMs = new Map<string, number>();
  #ids = 0;

  static async create(): Promise<TimersWorld> {
    const world = new TimersWorld();
    for (const name of [TABLE, SESSIONS_TABLE])
      await world.#client.send(new CreateTableCommand(defineTable(name)));
    return world;
  }

  process({
    kill = new Kill(),
    aheadMs = 0,
    stores = {},
    quotas,
    segments = 1,
  }: ProcessOptions = {}): Process {
    const log: Process['log'] = [];
    const logAt = (level: string) => (event: string, fields?: unknown) =>
      void log.push({ level, event, fields });
    const clock = { now: () => this.time.nowMs + aheadMs };
    const logger = { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
    const timers = new SqsTimers({ queue: killable(this.queue, kill), clock });
    const poster = this.gateway.posterOf('process');
    const cloud = composeCloud({
      dynamo: aroundCalls(this.#client, (_operation, _input, call) => kill.around(call)),
      tableName: TABLE,
      sessionsTableName: SESSIONS_TABLE,
      fanOut: { queue: killable(new FakeQueue(this.time), kill), backlog: { isFull: async () => false } },
      timers,
      livenessTimers: timers,
      poster: {
        post: (...call) => kill.around(() => poster.post(...call)),
        delete: (...call) => kill.around(() => poster.delete(...call)),
        get: (...call) => kill.around(() => poster.get(...call)),
      },
      clock,
      sleep: this.time.sleep,
      random: () => 0.5,
      randomId: () => `id-${(this.#ids++).toString(36).padStart(8, '0')}`,
      log: logger,
      authenticator: { authenticate: () => ({ tenant: 'default', name: '' }) },
      authorizer: { mayPublish: () => true, maySubscribe: () => true },
      stores,
      ...(quotas && { quotas: withQuotas(NO_QUOTAS, quotas) }),
    });
    const { environment } = cloud;
    const deadLetters = killable(this.deadLetters, kill);
    const handleTimers = createTimerHandler({ cloud, timers, deadLetters, clock, log: logger });
    const sweep = createSweep({
      environment,
      scan: cloud.stores.sweepScan,
      sessions: cloud.stores.sessions,
      retained: cloud.stores.retained,
      holdings: cloud.stores.quotaHoldings,
      shapes: cloud.stores.shapes,
      bans: cloud.stores.bans,
      segments,
      clock,
      log: logger,
    });
    return { cloud, timers, handleTimers, sweep, kill, log };
  }

  /** One frame of a client; undefined when the process died. */
  async frame(process: Process, connectionId: string, ...packets: Fields[]): Promise<ReceivedPacket[]> {
    if (!this.#connectedAtMs.has(connectionId)) this.#connectedAtMs.set(connectionId, this.time.nowMs);
    const bytes = Buffer.concat(
      packets.map((packet) => generate(packet as never, { protocolVersion: 5 } as never)),
    );
    const requestContext = this.#contextOf(connectionId, 'MESSAGE');
    const result = await Promise.race([
      process.cloud.routes.default(
        { requestContext, body: bytes.toString('base64') },
        { getRemainingTimeInMillis: () => 5_000 },
      ),
      process.kill.struck,
    ]);
    if (result === 'killed' || result.body === undefined) return [];
    return decodePackets(readReply(result.body));
  }

  async connect(
    connectionId: string,
    fields: Fields = {},
    process = this.process(),
  ): Promise<ReceivedPacket[]> {
    return await this.frame(process, connectionId, connect({ clientId: connectionId, ...fields }));
  }

  async subscribe(connectionId: string, filter: string, qos: 0 | 1 | 2, process = this.process()) {
    await this.frame(process, connectionId, subscribe(filter, { qos }));
  }

  async publish(connectionId: string, topic: string, text: string, process = this.process()) {
    await this.frame(process, connectionId, publish(topic, text, { qos: 1, messageId: 1 }));
  }

  /** The network connection ends, and the gateway says so. */
  async disconnect(
    connectionId: string,
    disconnectStatusCode = 1006,
    process = this.process(),
  ): Promise<void> {
    const requestContext = { ...this.#contextOf(connectionId, 'DISCONNECT'), disconnectStatusCode };
    await Promise.race([process.cloud.routes.disconnect({ requestContext }), process.kill.struck]);
  }

  /** Time passes, and every timer that becomes visible is handled by a process of its own. */
  async advance(seconds: number, makeProcess = () => this.process()): Promise<void> {
    const endMs = this.time.nowMs + seconds * 1_000;
    for (;;) {
      const nextMs = this.queue.nextVisibleAtMs;
      if (nextMs === undefined || nextMs > endMs) break;
      this.time.nowMs = Math.max(this.time.nowMs, nextMs);
      await this.poll(makeProcess());
    }
    this.time.nowMs = endMs;
  }

  /** One batch of what is visible now. */
  async poll(process = this.process()): Promise<void> {
    const records = this.queue.receive();
    if (records.length === 0) return;
    const event = { Records: records };
    const answer = await Promise.race([
      process.handleTimers(event, { getRemainingTimeInMillis: () => 30_000 }),
      process.kill.struck,
    ]);
    if (answer === 'killed') return;
    const failed = new Set(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
    for (const { messageId } of records) if (!failed.has(messageId)) this.queue.delete(messageId);
  }

  /** One run; undefined when the process died. */
  async sweep(process = this.process(), remainingMs = () => 60_000): Promise<SweepReport | undefined> {
    const report = await Promise.race([
      process.sweep({}, { getRemainingTimeInMillis: remainingMs }),
      process.kill.struck,
    ]);
    return report === 'killed' ? undefined : report;
  }

  async items(): Promise<Record<string, AttributeValue>[]> {
    return (await Promise.all([TABLE, SESSIONS_TABLE].map((name) => this.#itemsOf(name)))).flat();
  }

  async #itemsOf(TableName: string): Promise<Record<string, AttributeValue>[]> {
    const items: Record<string, AttributeValue>[] = [];
    let ExclusiveStartKey: Record<string, AttributeValue> | undefined;
    do {
      const page = await this.#client.send(new ScanCommand({ TableName, ExclusiveStartKey }));
      items.push(...(page.Items ?? []));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey !== undefined);
    return items;
  }

  #contextOf(connectionId: string, eventType: RequestContext['eventType']): RequestContext {
    return {
      routeKey: eventType === 'MESSAGE' ? '$default' : '$disconnect',
      eventType,
      connectionId,
      requestId: 'request',
      apiId: 'api',
      stage: 'mqtt',
      domainName: 'example.com',
      connectedAt: this.#connectedAtMs.get(connectionId) ?? this.time.nowMs,
      requestTimeEpoch: this.time.nowMs,
    };
  }
}

function killable(queue: JobQueue, kill: Kill): JobQueue {
  return { send: (entries) => kill.around(() => queue.send(entries)) };
}

/** Alters the stores of each event that a process handles from now on. */
export function alterStores({ cloud: { environment } }: Process, alter: (stores: EventStores) => void): void {
  const { makeBroker } = environment;
  const makeAltered: MakeBroker = (outbox, kind) => {
    const made = makeBroker(outbox, kind);
    alter(made.stores as EventStores);
    return made;
  };
  Object.assign(environment, { makeBroker: makeAltered });
}

/** Lets something happen before a call, the first time that an event of the process makes it. */
export function beforeFirst(
  process: Process,
  call: 'links.load' | 'sessions.get',
  happens: () => Promise<unknown>,
) {
  let isDue = true;
  const once = async () => {
    if (!isDue) return;
    isDue = false;
    await happens();
  };
  alterStores(process, ({ links, sessions }) => {
    const [load, get] = [links.load.bind(links), sessions.get.bind(sessions)];
    if (call === 'links.load') links.load = async (...given) => once().then(() => load(...given));
    else sessions.get = async (...given) => once().then(() => get(...given));
  });
}
