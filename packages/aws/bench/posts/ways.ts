import { createHash } from 'node:crypto';
import type { QoS } from '@apus/mqtt';
import { defineTable, leanClient } from '@apus/store-dynamodb';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import type { SqsRecord } from '../../src/events/sqs.ts';
import { GatheredJobs } from '../../src/fan-out/gathered-jobs.ts';
import type { QueueEntry } from '../../src/fan-out/job-queue.ts';
import { noCounts } from '../../src/fan-out/metrics.ts';
import { FanOutPosts, GatewayState } from '../../src/fan-out/posts.ts';
import { createFanOutWorker } from '../../src/fan-out/worker.ts';
import { type Cloud, composeCloud } from '../../src/lambda/compose.ts';
import { NO_METER } from '../../src/metrics/meter.ts';
import { DirectPosts } from '../../src/posts/direct-posts.ts';
import { GatheredPosts } from '../../src/posts/gathered-posts.ts';
import { SignedPoster } from '../../src/posts/signed-poster.ts';
import type { Endpoints } from './gateway.ts';
import { encodeMessage, FILTER, messagesOf } from './messages.ts';

/** So many messages to every connection. */
export interface Load {
  readonly messages: number;
  readonly qos: QoS;
  readonly payloadBytes: number;
}

/** A way of bringing messages to connections. */
export interface Way {
  deliver(load: Load): Promise<void>;
  /** Posts that a connection gets for a load. */
  postsEach(load: Load): number;
  close(): void;
}

const TENANT = 'default';
const log = { debug: () => {}, info: () => {}, warn: fail, error: fail };

export type Scheme = 'http' | 'https';

/** The worker's posts alone, given the connections and the packets, as the obvious way is. */
export function makePosts(endpoints: Endpoints, scheme: Scheme): Way {
  const { region, credentials, ca, connectionIds } = endpoints;
  const clock = { now: Date.now };
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const poster = new SignedPoster({ endpoint: endpoints[scheme], region, credentials, clock, sleep, ca });
  const gateway = new GatewayState(1_000_000);
  return {
    deliver: async (load) => {
      const deadlineMs = Date.now() + 30_000;
      const options = {
        poster,
        clock,
        log,
        sleep,
        random: Math.random,
        redirectionOf: async () => undefined,
      };
      const lost = {
        add: fail,
        alsoMisses: () => {},
        isOpenFor: () => false,
        isClosing: () => false,
        closed: async () => {},
        allClosed: async () => {},
      };
      const posts = new FanOutPosts(options, gateway, noCounts(), deadlineMs, lost);
      const gathered = new GatheredPosts(posts.sender(fail, 'default'));
      for (const message of messagesOf(load)) {
        const packet = encodeMessage(message);
        for (const connectionId of connectionIds) gathered.push(connectionId, packet, load.qos > 0);
      }
      await gathered.flush();
      await posts.finishRetries();
    },
    postsEach: () => 1,
    close: () => poster.close(),
  };
}

/** The posts of a frame with few recipients, given the connections and the packets. */
export function makeInline(endpoints: Endpoints, scheme: Scheme): Way {
  const { region, credentials, ca, connectionIds } = endpoints;
  const clock = { now: Date.now };
  const poster = new SignedPoster({ endpoint: endpoints[scheme], region, credentials, clock, ca });
  const posts = new GatheredPosts(new DirectPosts(poster, log, NO_METER));
  return {
    deliver: async (load) => {
      for (const message of messagesOf(load)) {
        const packet = encodeMessage(message);
        for (const connectionId of connectionIds) posts.push(connectionId, packet, load.qos > 0);
      }
      const failed = await posts.flush();
      if (failed.length > 0) fail(failed);
    },
    postsEach: () => 1,
    close: () => poster.close(),
  };
}

/** The worker as it runs: jobs decoded, shard read, slices claimed, everything routed, packed and posted. */
export async function makeWorker(endpoints: Endpoints, scheme: Scheme): Promise<Way> {
  const { region, credentials, ca, connectionIds } = endpoints;
  const clock = { now: Date.now };
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const poster = new SignedPoster({ endpoint: endpoints[scheme], region, credentials, clock, sleep, ca });
  const bodies: string[] = [];
  const fanOut = {
    queue: {
      send: async (entries: readonly QueueEntry[]) => void bodies.push(...entries.map(({ body }) => body)),
    },
    backlog: { isFull: async () => false },
  };
  const tableName = `bench-${scheme}`;
  const client = leanClient({
    endpoint: endpoints.dynamoDb,
    region,
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
  });
  await client.send(new CreateTableCommand(defineTable(tableName)));
  const world = { clock, sleep, random: Math.random, randomId: makeRandomId(), log };
  const cloud = composeCloud({
    ...world,
    dynamo: client,
    tableName,
    fanOut,
    timers: { set: () => {}, cancel: () => {} },
    poster,
    authenticator: { authenticate: () => ({ tenant: TENANT, name: '' }) },
    authorizer: { mayPublish: () => true, maySubscribe: () => true },
    stores: { inlineSubscribersMax: 1, shardSubscribers: Number.POSITIVE_INFINITY },
  });
  await fillShard(cloud, connectionIds);
  const work = createFanOutWorker({
    ...world,
    environment: cloud.environment,
    poster,
    subscriptions: cloud.stores.subscriptions,
    progress: cloud.stores.fanOutProgress,
    deadLetters: { send: fail },
    limits: { postsPerSecond: 1_000_000 },
  });
  return {
    deliver: async (load) => {
      for (const message of messagesOf(load)) {
        const jobs = new GatheredJobs(fanOut);
        await jobs.accept(message, [{ tenant: TENANT, topicFilter: FILTER, shards: 1 }]);
        await jobs.flush();
      }
      const Records = bodies.splice(0).map(recordOf);
      const { batchItemFailures } = await work({ Records }, { getRemainingTimeInMillis: () => 30_000 });
      if (batchItemFailures.length > 0) throw new Error('the worker handed records back');
    },
    postsEach: () => 1,
    close: () => {
      poster.close();
      client.destroy();
    },
  };
}

/** Subscribers at QoS 1 of sessions that end with their connections. The first stands in the head. */
async function fillShard({ stores }: Cloud, connectionIds: readonly string[]): Promise<void> {
  for (const connectionId of ['head', ...connectionIds]) {
    const opened = await stores.sessions.open({
      tenant: TENANT,
      clientId: connectionId,
      cleanStart: true,
      expirySeconds: 0,
      attachment: {
        connectionId,
        protocolVersion: 5,
        receiveMaximum: 100,
        maximumPacketSize: 0xffff_ffff,
        keepsNothing: true,
      },
      identity: { tenant: TENANT, name: '' },
      bindingRank: 0,
      will: undefined,
      nowMs: Date.now(),
      isWillOwed: () => false,
    });
    if (opened === 'owned-by-another') throw new Error('the session belongs to somebody else');
    const subscription = {
      topicFilter: FILTER,
      shareGroup: undefined,
      qos: 1 as QoS,
      noLocal: false,
      retainAsPublished: false,
      subscriptionIdentifier: undefined,
    };
    await stores.subscriptions.put(opened.session, [subscription], 100);
  }
}

function recordOf(body: string, index: number): SqsRecord {
  return { messageId: `record-${index}`, receiptHandle: '', body, attributes: {} };
}

function makeRandomId(): () => string {
  let ids = 0;
  return () => createHash('sha256').update(`${process.pid} ${ids++}`).digest('base64url').slice(0, 16);
}

function fail(...what: unknown[]): never {
  throw new Error(`not expected: ${JSON.stringify(what)}`);
}
