import { GATEWAY_QUOTAS, type Identity, rulesAuthorizer, rulesOfLists } from '@apus/broker';
import { connect as connectInTextFrames } from '@apus/client';
import { Handshakes, handshakeAuthenticator, KnownTenants } from '@apus/identity';
import { createDynamoStores, leanClient } from '@apus/store-dynamodb';
import * as mqtt from 'mqtt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualTime } from '../faults/virtual-time.ts';
import { SESSIONS_TABLE, TABLE } from './names.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

/** A machine that is busy may take its time; in virtual time it takes none. */
const TIMEOUT_MS = 240_000;
const LOG = { debug() {}, info() {}, warn() {}, error() {} };

let time: VirtualTime;
let world: InProcessWorld;
const programs: Program[] = [];

beforeEach(async () => {
  time = new VirtualTime(11);
  const clock = { now: () => Date.now() };
  const tenants = new KnownTenants({ read: (name) => stores.tenants.get(name), clock, log: LOG });
  // A token is the name of its tenant: real signatures take time that a test cannot control, and are tested elsewhere.
  const chain = {
    verify: async (tenant: string) => {
      const identity: Identity = {
        ...{ tenant, name: 'ann', clientIds: ['+'], expiresAtMs: Date.now() + 3_600_000 },
        rules: rulesOfLists(['#'], ['#']),
      };
      return await tenants.planned(identity);
    },
  };
  world = await time.during(
    startCloudInProcess({
      seed: 11,
      tokens: chain,
      handshakes: new Handshakes({ chain, allowsPassword: false }),
      authenticator: handshakeAuthenticator,
      authorizer: rulesAuthorizer,
      quotas: GATEWAY_QUOTAS,
    }),
  );
  const stores = createDynamoStores({
    client: leanClient(world.dynamoDb.clientConfig()),
    ...{ tableName: TABLE, sessionsTableName: SESSIONS_TABLE, clock },
  });
});

afterEach(async () => {
  for (const program of programs.splice(0)) program.mqtt.end(true);
  await time.advance(1_000);
  world.stop();
  time.restore();
  expect(world.failures).toEqual([]);
});

const seconds = (count: number): Promise<void> => time.advance(count * 1_000);

async function createTenant(name: string, plan?: object): Promise<void> {
  const entry = { name, ...(plan !== undefined && { plan }) };
  expect(await time.during(world.operate('POST', '/tenants', { body: entry }))).toMatchObject({
    status: 201,
  });
}

const changeTenant = (name: string, body: object) =>
  time.during(world.operate('PUT', `/tenants/${name}`, { body }));

/** A program of a tenant. It reconnects by itself. */
class Program {
  readonly mqtt: mqtt.MqttClient;
  readonly received: string[] = [];
  accepted = 0;
  readonly disconnects: (number | undefined)[] = [];

  constructor(tenant: string, clientId: string) {
    this.mqtt = connectInTextFrames(
      mqtt,
      world.url,
      { protocolVersion: 5, reconnectPeriod: 1_000, clientId },
      { WebSocket: world.emulator.WebSocket, page: {}, token: () => tenant },
    );
    this.mqtt.on('error', () => {});
    this.mqtt.on('disconnect', ({ reasonCode }) => this.disconnects.push(reasonCode));
    this.mqtt.on('message', (_topic, payload) => this.received.push(payload.toString()));
    programs.push(this);
  }

  subscribe(filter: string): this {
    this.mqtt.on('connect', () => this.mqtt.subscribe(filter, { qos: 1 }));
    return this;
  }

  publish(text: string): void {
    this.mqtt.publish('news', text, { qos: 1 }, (error, packet) => {
      const { reasonCode = 0 } = (packet ?? {}) as { readonly reasonCode?: number };
      if (!error && reasonCode < 0x80) this.accepted += 1;
    });
  }
}

describe('a tenant of a deployment', () => {
  it(
    'is suspended: within a minute its clients end with 0x87, none of their messages is taken, and another tenant notices nothing [SEC-TENANT-6]',
    async () => {
      for (const name of ['acme', 'other']) await createTenant(name);
      const [acme, other] = [new Program('acme', 'phone'), new Program('other', 'phone')];
      for (const each of [acme, other]) each.subscribe('news');
      await seconds(5);
      const timer = setInterval(() => {
        for (const each of [acme, other]) each.publish('x');
      }, 1_000);
      await seconds(5);
      expect(acme.accepted).toBeGreaterThan(2);
      const startedAtMs = Date.now();
      const change = { state: 'suspended', reason: 'unpaid' };
      expect(await changeTenant('acme', change)).toMatchObject({ body: { ...change, is_complete: true } });
      expect(Date.now() - startedAtMs).toBeLessThanOrEqual(60_000);
      expect(acme.disconnects).toContain(0x87);
      const { accepted, received } = acme;
      const before = [accepted, received.length];
      await seconds(60);
      expect([acme.accepted, acme.received.length]).toEqual(before);
      expect(other.disconnects).toEqual([]);
      expect(other.accepted).toBeGreaterThan(95);
      expect(other.received.length).toBe(other.accepted);
      await changeTenant('acme', { state: 'active' });
      await seconds(180);
      clearInterval(timer);
      await seconds(5);
      expect(acme.accepted).toBeGreaterThan(accepted);
    },
    TIMEOUT_MS,
  );

  it(
    'that has used up its plan leaves the others theirs: each of their messages is taken and delivered [SEC-TENANT-8]',
    async () => {
      await createTenant('acme', { messagesPerMinuteMax: 600 });
      await createTenant('other');
      const flood = Array.from({ length: 4 }, (_, index) => new Program('acme', `flood-${index}`));
      const honest = new Program('other', 'honest').subscribe('news');
      await seconds(5);
      const minutes = 2;
      let sent = 0;
      const timers = [
        setInterval(() => {
          for (const each of flood) each.publish('flood');
        }, 50),
        setInterval(() => {
          honest.publish(`honest ${sent++}`);
        }, 1_000),
      ];
      await seconds(minutes * 60);
      for (const timer of timers) clearInterval(timer);
      await seconds(5);
      expect(sent).toBeGreaterThanOrEqual(minutes * 60 - 1);
      expect(honest.accepted).toBe(sent);
      expect(honest.received).toEqual(Array.from({ length: sent }, (_, index) => `honest ${index}`));
      expect(honest.disconnects).toEqual([]);
      // 0x96: the connections of a tenant that exceeds its rate are cut.
      expect(flood.flatMap(({ disconnects }) => disconnects)).toContain(0x96);
    },
    TIMEOUT_MS,
  );
});
