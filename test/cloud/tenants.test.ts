import type { CloudOptions } from '@apus/aws/lambda';
import { rulesAuthorizer } from '@apus/broker';
import { connect as connectInTextFrames } from '@apus/client';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ACCESSES, TENANT_STREAMS, type Tenancy } from '../support/tenants/accesses.ts';
import { tenantsByUsername } from '../support/tenants/program.ts';
import { SESSIONS_TABLE, STREAMS_TABLE, TABLE } from './names.ts';
import { type CloudWorld, startCloud } from './start-cloud.ts';

// All of a deployment is of this process: on a busy machine its tests take many seconds.
vi.setConfig({ testTimeout: 240_000 });

/**
 * A connection that is given up loses messages meanwhile, and its client is told so: here only a broken one is given
 * up.
 */
const PATIENT = { replyTimeoutSeconds: 60 };

/** Names that occur nowhere else in a key. */
const OWN = 'tenant-of-acme';
const OTHER = 'tenant-of-others';
/** Two tenants that come after those. */
const LATER = ['tenant-three', 'tenant-four'] as const;
/** Filters that the trials subscribe to beside names: `#`, `news/+`, and the members of a room. */
const SHAPES = ['#', '.+', '..+'];

/**
 * Items of connections, whose tenant CONNECT determines, and items that all tenants share: the number of sessions,
 * bans, the sweep's progress.
 */
const WITHOUT_TENANT = /^(C\0|N\0\0|Y)/;

let world: CloudWorld;
/** Requests to DynamoDB, while they are collected. */
let requests: string[] | undefined;

beforeEach(async () => {
  requests = undefined;
  world = await startCloud({
    seed: 3,
    tenants: [OWN, OTHER, ...LATER],
    shapes: SHAPES,
    authenticator: tenantsByUsername,
    authorizer: rulesAuthorizer,
    streams: TENANT_STREAMS,
    presence: true,
    alterations: { dynamo: collecting },
  });
});
afterEach(async () => {
  await world.stop();
  expect(world.failures).toEqual([]);
});

/** Notes each request before it is sent. */
function collecting(client: CloudOptions['dynamo']): CloudOptions['dynamo'] {
  return new Proxy(client, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (name !== 'send') return typeof value === 'function' ? value.bind(target) : value;
      return (command: { readonly input: object }, ...rest: unknown[]) => {
        requests?.push(JSON.stringify(command.input));
        return (value as (...given: unknown[]) => unknown).call(target, command, ...rest);
      };
    },
  });
}

/** Client identifiers of all that have connected. */
const connected = new Set<string>();

function tenancy(own = OWN, other = OTHER): Tenancy {
  return {
    connectMqtt: (options) => {
      const client = connectInTextFrames(mqtt, world.url, options, PATIENT);
      if (client.options.clientId) connected.add(client.options.clientId);
      return client;
    },
    own,
    other,
    delivered: () => world.emulator.quiet(),
  };
}

/** The partitions of all tables. */
async function partitions(): Promise<readonly string[]> {
  const client = new DynamoDBClient(world.dynamoDb.clientConfig());
  const tables = await Promise.all(
    [TABLE, SESSIONS_TABLE, STREAMS_TABLE].map((TableName) => client.send(new ScanCommand({ TableName }))),
  );
  return tables.flatMap(({ Items = [] }) => Items.map(({ p }) => p?.S ?? ''));
}

describe('a client of another tenant sees nothing in a deployment', () => {
  it.each(Object.entries(ACCESSES))('by %s [SEC-TENANT-2]', async (_, tryAccess) => {
    await tryAccess(tenancy());
  });
});

it('each request to DynamoDB for a client, and each item, names the tenant of that client [SEC-TENANT-3]', async () => {
  // A room that clients have left is told of it seconds later, by a request in the name of its own tenant.
  const earlier = tenancy();
  const clients: mqtt.MqttClient[] = [];
  const connectMqtt: Tenancy['connectMqtt'] = (options) => {
    const client = earlier.connectMqtt(options);
    clients.push(client);
    return client;
  };
  for (const [name, tryAccess] of Object.entries(ACCESSES))
    if (!name.startsWith('a room')) await tryAccess({ ...earlier, connectMqtt });
  // None of them acknowledges anything later.
  await Promise.all(clients.map((client) => client.endAsync()));
  await world.emulator.quiet();
  const before = [...connected];
  requests = [];
  for (const tryAccess of Object.values(ACCESSES)) await tryAccess(tenancy(...LATER));
  await world.emulator.quiet();
  expect(requests.length).toBeGreaterThan(100);
  expect(requests.filter((request) => request.includes(LATER[0])).length).toBeGreaterThan(100);
  const ofOthers = requests.filter((request) => request.includes(OWN) || request.includes(OTHER));
  // A timer of a client that was there before may be due now: it names its own tenant.
  expect(ofOthers.filter((request) => !before.some((clientId) => request.includes(clientId)))).toEqual([]);
  const found = (await partitions()).filter((p) => !WITHOUT_TENANT.test(p));
  expect(new Set(found.map((p) => p[0])).size).toBeGreaterThan(8);
  const hasTenant = (p: string) => [OWN, OTHER, ...LATER].some((tenant) => p.includes(`\0${tenant}`));
  expect(found.filter((p) => !hasTenant(p))).toEqual([]);
});
