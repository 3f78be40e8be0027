import { beforeEach, expect, it } from 'vitest';
import { type Process, World } from '../support/fan-out.ts';
import { type Call, KEY, PublishEndpoint } from '../support/publish.ts';

/** So few that each is taken from the account, and three messages to one subscriber are a minute's. */
const PER_MINUTE = 3;
const OTHER_KEY = 'o'.repeat(40);
const ROLE = 'arn:aws:sts::123456789012:assumed-role/backend';
const MESSAGE = { topic: 'a', payload: 'x', qos: 1 };

let world: World;
let process: Process;
let subscriber: string;

beforeEach(async () => {
  world = await World.create();
  process = world.process({ deliveriesPerMinuteMax: PER_MINUTE });
  [subscriber = ''] = await world.subscribers(1, { qos: 1 }, {}, 'a');
});

const bearer = (key: string): Call => ({ headers: { authorization: `Bearer ${key}` } });
const basic = (name: string, key: string): Call => ({
  headers: { authorization: `Basic ${Buffer.from(`${name}:${key}`).toString('base64')}` },
});

/** The statuses of one message after another, and those that have reached the subscriber. */
async function publishAs(endpoint: PublishEndpoint, calls: readonly Call[]): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const call of calls) statuses.push((await endpoint.publish(MESSAGE, call)).status);
  return statuses;
}

it('a key is refused with 429 when it has caused a minute of deliveries, and let in again when that is over', async () => {
  const backend = new PublishEndpoint(world, process);
  const calls = Array.from({ length: 8 }, () => bearer(KEY));
  const statuses = await publishAs(backend, calls);
  expect(statuses.at(0)).toBe(200);
  expect(statuses.at(-1)).toBe(429);
  expect(world.gateway.textsTo(subscriber)).toHaveLength(statuses.filter((each) => each === 200).length);
  expect(world.counted('IdentitiesLimited')).toBe(statuses.filter((each) => each === 429).length);
  world.time.nowMs += 60_000;
  expect(await publishAs(backend, [bearer(KEY)])).toEqual([200]);
});

it('each key has one account, across all processes', async () => {
  const keys = [
    { name: 'orders', key: KEY },
    { name: 'prices', key: OTHER_KEY },
  ];
  const options = { readKeys: async () => JSON.stringify({ keys }) };
  await publishAs(new PublishEndpoint(world, process, options), Array(8).fill(bearer(KEY)));
  const elsewhere = world.process({ deliveriesPerMinuteMax: PER_MINUTE });
  const endpoint = new PublishEndpoint(world, elsewhere, options);
  expect(await publishAs(endpoint, [bearer(KEY), bearer(OTHER_KEY)])).toEqual([429, 200]);
  expect(elsewhere.log).toContainEqual({
    level: 'warn',
    event: 'identity-limited',
    fields: expect.objectContaining({ tenant: 'default', kind: 'identity', name: 'orders' }),
  });
});

it('a key without a name has one account, for any name that is shown with it', async () => {
  const backend = new PublishEndpoint(world, process);
  await publishAs(backend, Array(8).fill(bearer(KEY)));
  expect(await publishAs(backend, [basic('another', KEY), basic('and-another', KEY)])).toEqual([429, 429]);
});

it('a signed request is charged to the ARN of its signer', async () => {
  const signed = new PublishEndpoint(world, process, { readKeys: undefined });
  await publishAs(signed, Array(8).fill({ signedBy: `${ROLE}/i-1` }));
  expect(await publishAs(signed, [{ signedBy: `${ROLE}/i-1` }, { signedBy: `${ROLE}/i-2` }])).toEqual([
    429, 200,
  ]);
});

it('a bulk is charged message by message', async () => {
  const backend = new PublishEndpoint(world, process);
  const { status, body } = await backend.bulk(Array(8).fill(MESSAGE));
  const taken = body.filter((each: object) => 'id' in each).length;
  expect([status, taken]).toEqual([429, world.gateway.textsTo(subscriber).length]);
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThan(8);
});
