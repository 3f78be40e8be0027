import {
  type GivenQuotaScopes,
  type Identity,
  NO_QUOTAS,
  type QuotaScopes,
  type StreamDeclarations,
  withQuotas,
} from '@apus/broker';
import { createDynamoDb } from '@apus/emulated-aws';
import { type DynamoStores, defineTable, leanClient } from '@apus/store-dynamodb';
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { generate } from 'mqtt-packet';
import { aroundCalls } from '../../../../test/support/around-calls.ts';
import { connect, type Fields, publish, subscribe } from '../../../../test/support/text-client.ts';
import type { RequestContext } from '../../src/events/gateway.ts';
import type { SqsBatchResponse, SqsRecord } from '../../src/events/sqs.ts';
import type { FanOutCounts } from '../../src/fan-out/metrics.ts';
import { createFanOutWorker, type FanOutWorker } from '../../src/fan-out/worker.ts';
import type { FanOutWorkerLimits } from '../../src/fan-out/worker-limits.ts';
import { type Cloud, composeCloud } from '../../src/lambda/compose.ts';
import { meteredLog } from '../../src/lambda/metered-log.ts';
import type { Meter } from '../../src/metrics/meter.ts';
import type { MetricName } from '../../src/metrics/metric-names.ts';
import type { PostAttempts, Poster } from '../../src/posts/poster.ts';
import type { RuleQueue } from '../../src/rules/rule-outlet.ts';
import { decodePackets, FakeGateway, type ReceivedPacket, readReply } from './fake-gateway.ts';
import { FakeQueue } from './fake-queue.ts';
import { FakeTime } from './fake-time.ts';

export const TABLE = 'apus';
export const SESSIONS_TABLE = 'apus-sessions';

/** A call of a worker to DynamoDB: it reads of a shard or of sessions, or it writes how far it has come, or else. */
export type Call = 'read' | 'claim' | 'other';

/** Run by a test before and after a worker's calls. The worker gets an error that a hook throws. */
export interface Hooks {
  before?(call: Call): Promise<void> | void;
  /** The call has had its effect. */
  after?(call: Call): Promise<void> | void;
}

export interface ProcessOptions {
  readonly name?: string;
  readonly hooks?: Hooks;
  readonly limits?: Partial<FanOutWorkerLimits>;
  /** @default any number */
  readonly deliveriesPerMinuteMax?: number | undefined;
  /** @default any number */
  readonly quotas?: GivenQuotaScopes;
  /** With this every subscriber that joins a shard counts it. @default the store's own, of which one in 32 counts */
  readonly shardSubscribers?: number;
  /** The remaining time of the function, in milliseconds. @default 30 s from the first call on */
  readonly remainingMs?: () => number;
  readonly wrap?: (poster: Poster & PostAttempts) => Poster & PostAttempts;
  /** @default none */
  readonly rules?: RuleQueue;
  /** @default none */
  readonly streams?: StreamDeclarations;
}

/** One execution environment: stores, broker and worker of its own. */
export interface Process {
  readonly cloud: Cloud;
  readonly counts: FanOutCounts[];
  readonly log: { readonly level: string; readonly event: string; readonly fields: unknown }[];
  readonly givenBack: { readonly messageIds: string[]; readonly afterSeconds: number }[];
  work(records: readonly SqsRecord[]): Promise<SqsBatchResponse>;
  /** Ids of the records that come again. */
  failuresOf(records: readonly SqsRecord[]): Promise<string[]>;
}

type WorldOptions = Pick<ProcessOptions, 'deliveriesPerMinuteMax' | 'quotas' | 'shardSubscribers'>;

function quotasOf({ deliveriesPerMinuteMax, quotas }: ProcessOptions): QuotaScopes | undefined {
  if (quotas !== undefined) return withQuotas(NO_QUOTAS, quotas);
  if (deliveriesPerMinuteMax === undefined) return undefined;
  return withQuotas(NO_QUOTAS, { identity: { deliveriesPerMinuteMax } });
}

/** `NAME`, or `TENANT/NAME`. */
function identityOf(username: string): Identity {
  const [name = '', tenant = 'default'] = username.split('/').reverse();
  return { tenant, name };
}

const FUNCTION_MS = 30_000;

/** A table, a gateway, a queue; and as many processes over them as a test wants. */
export class World {
  readonly time = new FakeTime();
  readonly gateway = new FakeGateway();
  readonly queue = new FakeQueue(this.time);
  readonly deadLetters = new FakeQueue(this.time);
  /** All processes call over one client: see `aroundCalls`. */
  readonly #client = leanClient(createDynamoDb().clientConfig());
  readonly #door: Process;
  #ids = 0;
  #connections = 0;
  readonly #versions = new Map<string, number>();
  readonly #addresses = new Map<string, string>();
  readonly #counted = new Map<MetricName, number>();

  private constructor(options: WorldOptions) {
    this.#door = this.process({ name: 'door', ...options });
  }

  static async create(options: WorldOptions = {}): Promise<World> {
    const world = new World(options);
    for (const name of [TABLE, SESSIONS_TABLE])
      await world.#client.send(new CreateTableCommand(defineTable(name)));
    return world;
  }

  get stores(): DynamoStores {
    return this.#door.cloud.stores;
  }

  /** The count of a metric, over all processes. */
  counted(name: MetricName): number {
    return this.#counted.get(name) ?? 0;
  }

  process(options: ProcessOptions = {}): Process {
    const {
      name = `worker-${this.#ids++}`,
      hooks,
      limits,
      shardSubscribers,
      wrap = (poster) => poster,
    } = options;
    const shardOptions = shardSubscribers === undefined ? {} : { shardSubscribers, random: () => 0 };
    const log: Process['log'] = [];
    const logAt = (level: string) => (event: string, fields?: unknown) =>
      void log.push({ level, event, fields });
    const meter: Meter = {
      add: (name, count = 1) => void this.#counted.set(name, this.counted(name) + count),
    };
    const logger = meteredLog(
      { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') },
      meter,
    );
    const poster = wrap(this.gateway.posterOf(name));
    const counts: FanOutCounts[] = [];
    const givenBack: Process['givenBack'] = [];
    const world = {
      clock: this.time,
      sleep: this.time.sleep,
      random: () => 0.5,
      randomId: () => `id-${(this.#ids++).toString(36).padStart(8, '0')}`,
      log: logger,
    };
    const cloud = composeCloud({
      ...world,
      dynamo: this.#hooked(hooks),
      tableName: TABLE,
      sessionsTableName: SESSIONS_TABLE,
      fanOut: { queue: this.queue, backlog: { isFull: async () => false } },
      timers: { set: () => {}, cancel: () => {} },
      poster,
      authenticator: { authenticate: ({ username = '' }) => identityOf(username) },
      authorizer: { mayPublish: () => true, maySubscribe: () => true },
      stores: { inlineSubscribersMax: 1, ...shardOptions },
      quotas: quotasOf(options),
      rules: options.rules,
      streams: options.streams && { declared: options.streams, tableName: TABLE },
      meter,
    });
    const worker: FanOutWorker = createFanOutWorker({
      ...world,
      environment: cloud.environment,
      poster,
      subscriptions: cloud.stores.subscriptions,
      progress: cloud.stores.fanOutProgress,
      deadLetters: this.deadLetters,
      visibility: {
        giveBack: async (records, afterSeconds) =>
          void givenBack.push({ messageIds: records.map(({ messageId }) => messageId), afterSeconds }),
      },
      metrics: { record: (each) => void counts.push(each) },
      ...(limits !== undefined && { limits }),
    });
    const work = (records: readonly SqsRecord[]) => {
      const endMs = this.time.nowMs + FUNCTION_MS;
      const { remainingMs = () => endMs - this.time.nowMs } = options;
      return worker({ Records: records }, { getRemainingTimeInMillis: remainingMs });
    };
    return {
      cloud,
      counts,
      log,
      givenBack,
      work,
      failuresOf: async (records) =>
        (await work(records)).batchItemFailures.map(({ itemIdentifier }) => itemIdentifier),
    };
  }

  /** The status of a handshake with the process that handles the frames. */
  async handshake(): Promise<number> {
    const requestContext = contextOf('CONNECT', `connection-${this.#connections++}`, this.time.nowMs);
    const withAddress = { ...requestContext, identity: { sourceIp: ADDRESS } };
    const headers = { 'Sec-WebSocket-Protocol': 'mqtt-text-v1' };
    return (await this.#door.cloud.routes.connect({ headers, requestContext: withAddress })).statusCode;
  }

  /** Sends one frame of these packets and answers the packets of its reply. */
  async frame(connectionId: string, ...packets: Fields[]): Promise<ReceivedPacket[]> {
    return await this.#frameTo(this.#door, connectionId, packets);
  }

  async #frameTo(door: Process, connectionId: string, packets: readonly Fields[]): Promise<ReceivedPacket[]> {
    const [{ protocolVersion = this.#versions.get(connectionId) ?? 5 } = {}] = packets;
    this.#versions.set(connectionId, Number(protocolVersion));
    const address = this.#addresses.get(connectionId);
    const bytes = Buffer.concat(
      packets.map((packet) => generate(packet as never, { protocolVersion } as never)),
    );
    const { body = '' } = await door.cloud.routes.default(
      {
        requestContext: {
          ...contextOf('MESSAGE', connectionId, this.time.nowMs),
          ...(address !== undefined && { identity: { sourceIp: address } }),
        },
        body: bytes.toString('base64'),
      },
      { getRemainingTimeInMillis: () => 5_000 },
    );
    return body === '' ? [] : decodePackets(readReply(body));
  }

  /** Sends one packet, and answers the reason codes of its SUBACK or UNSUBACK. */
  async codesOf(connectionId: string, packet: Fields): Promise<readonly number[]> {
    return (await this.frame(connectionId, packet))[0]?.granted ?? [];
  }

  /** With a user name the handshake has authenticated the client, as a token does. `address`: the client's address. */
  async connect(fields: Fields = {}, address?: string): Promise<string> {
    const connectionId = `connection-${this.#connections++}`;
    if (address !== undefined) this.#addresses.set(connectionId, address);
    const { username } = fields;
    if (typeof username === 'string')
      await this.stores.links.save(connectionId, { phase: 'new', identity: identityOf(username) });
    await this.frame(connectionId, connect({ clientId: connectionId, ...fields }));
    return connectionId;
  }

  /** Clients that hold the filter; the first of all stands in its head, the others in its shards. */
  async subscribers(
    count: number,
    options: Fields = { qos: 1 },
    fields: Fields = {},
    filter = 'wide',
  ): Promise<string[]> {
    const connectionIds: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const connectionId = await this.connect(fields);
      await this.frame(connectionId, subscribe(filter, options));
      connectionIds.push(connectionId);
    }
    return connectionIds;
  }

  /** Publishes, a frame for each text. */
  async publish(texts: readonly string[], fields: Fields = { qos: 1 }, topic = 'wide'): Promise<void> {
    const connectionId = await this.connect();
    for (const text of texts) await this.publishFrom(connectionId, [text], fields, topic);
  }

  /** Publishes one frame. */
  async publishFrom(
    connectionId: string,
    texts: readonly string[],
    fields: Fields = { qos: 1 },
    topic = 'wide',
  ): Promise<ReceivedPacket[]> {
    const packets = texts.map((text, index) => publish(topic, text, { messageId: index + 1, ...fields }));
    return await this.frame(connectionId, ...packets);
  }

  /** Publishes one frame that a process of the test's choice handles. */
  async publishThrough(
    door: Process,
    connectionId: string,
    texts: readonly string[],
    topic: string,
    fields: Fields = { qos: 1 },
  ): Promise<ReceivedPacket[]> {
    const packets = texts.map((text, index) => publish(topic, text, { messageId: index + 1, ...fields }));
    return await this.#frameTo(door, connectionId, packets);
  }

  /** A client with a persistent session is back, and fetches its queue. */
  async returns(clientId: string): Promise<{ readonly present: boolean; readonly queue: readonly string[] }> {
    const connectionId = `connection-${this.#connections++}`;
    const properties = { sessionExpiryInterval: 3_600 };
    const [connack, ...first] = await this.frame(
      connectionId,
      connect({ clientId, clean: false, properties }),
    );
    return { present: connack?.sessionPresent === true, queue: first.map(({ text }) => text) };
  }

  #hooked(hooks?: Hooks): DynamoDBClient {
    if (hooks === undefined) return this.#client;
    return aroundCalls(this.#client, async (operation, input, send) => {
      if (isBansRead(input)) return await send();
      const call = callOf(operation, input);
      await hooks.before?.(call);
      const answer = await send();
      await hooks.after?.(call);
      return answer;
    });
  }
}

/** Where handshakes come from. */
const ADDRESS = '192.0.2.7';

function contextOf(eventType: 'CONNECT' | 'MESSAGE', connectionId: string, nowMs: number): RequestContext {
  return {
    routeKey: eventType === 'CONNECT' ? '$connect' : '$default',
    eventType,
    connectionId,
    requestId: 'request',
    apiId: 'api',
    stage: 'mqtt',
    domainName: 'example.com',
    connectedAt: nowMs,
    requestTimeEpoch: nowMs,
  };
}

/** Once in half a minute, however much a worker does. */
function isBansRead(input: object): boolean {
  return JSON.stringify(input).includes('"s":{"S":"bans"}');
}

function callOf(operation: string, input: object): Call {
  if (operation === 'Query' || operation === 'BatchGetItem') return 'read';
  return operation === 'PutItem' && JSON.stringify(input).includes('"progress"') ? 'claim' : 'other';
}

/** A process that is dead does not go on. */
export function never(): Promise<never> {
  return new Promise(() => {});
}
