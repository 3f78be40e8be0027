import {
  CALLER_RATE,
  ENVIRONMENT_RATE,
  LIMITED_KEYS_MAX,
  READING_RATE,
  RequestLimiter,
  UNAUTHORIZED_RATE,
} from '@apus/door';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Process, World } from '../support/fan-out.ts';
import { type Call, KEY, PublishEndpoint } from '../support/publish.ts';

const MESSAGE = { topic: 'a', payload: 'x' };
const NEW_KEY = 'n'.repeat(40);
const WRONG: Call = { headers: { authorization: `Bearer ${'w'.repeat(40)}` }, sourceIp: '192.0.2.1' };

let world: World;
let process: Process;
let secret: string;
let reads: number;
let refused: number;

beforeEach(async () => {
  world = await World.create();
  process = world.process({ name: 'publish' });
  secret = KEY;
  reads = 0;
  refused = 0;
});

const endpoint = (rates = {}) =>
  new PublishEndpoint(world, process, {
    readKeys: async () => {
      reads += 1;
      return secret;
    },
    countRefused: () => {
      refused += 1;
    },
    rates,
  });

async function statuses(backend: PublishEndpoint, count: number, call: Call): Promise<readonly number[]> {
  const found: number[] = [];
  for (let index = 0; index < count; index += 1) found.push((await backend.publish(MESSAGE, call)).status);
  return found;
}

describe('requests without a valid key', () => {
  it('are answered 429 with Retry-After when many came from their address, and all are counted [SEC-COST-2]', async () => {
    const backend = endpoint();
    const { burst } = UNAUTHORIZED_RATE;
    expect(await statuses(backend, burst + 2, WRONG)).toEqual([...Array(burst).fill(401), 429, 429]);
    const { headers, body } = await backend.publish(MESSAGE, WRONG);
    expect([headers['retry-after'], body.code]).toEqual(['1', 'TOO_MANY_REQUESTS']);
    expect(refused).toBe(burst + 3);
  });

  it('read no secret once their address floods the endpoint [SEC-COST-2]', async () => {
    const backend = endpoint();
    await statuses(backend, UNAUTHORIZED_RATE.burst, WRONG);
    // A wrong key would make the secret be read again now.
    world.time.nowMs += 10_000;
    await statuses(backend, 10, { headers: { authorization: '' }, sourceIp: '192.0.2.1' });
    const readsBefore = reads;
    expect(await statuses(backend, 3, WRONG)).toEqual([429, 429, 429]);
    expect(reads).toBe(readsBefore);
  });

  it('are refused before their body is decoded [SEC-COST-2]', async () => {
    let wasRead = false;
    const body = {
      get length() {
        wasRead = true;
        return 2;
      },
    } as unknown as string;
    const { status } = await endpoint().call({ ...WRONG, rawBody: body });
    expect([status, wasRead]).toEqual([401, false]);
  });

  it('from one address take nothing from another, nor from a known key behind the same one', async () => {
    const backend = endpoint();
    expect((await backend.publish(MESSAGE)).status).toBe(202);
    await statuses(backend, UNAUTHORIZED_RATE.burst + 1, WRONG);
    expect((await backend.publish(MESSAGE, { sourceIp: '192.0.2.1' })).status).toBe(202);
    expect((await backend.publish(MESSAGE, { ...WRONG, sourceIp: '192.0.2.2' })).status).toBe(401);
  });

  it('are looked at again when their address has waited', async () => {
    const backend = endpoint();
    await statuses(backend, UNAUTHORIZED_RATE.burst + 1, WRONG);
    secret = NEW_KEY;
    world.time.nowMs += 10_000;
    const call = { headers: { authorization: `Bearer ${NEW_KEY}` }, sourceIp: '192.0.2.1' };
    expect((await backend.publish(MESSAGE, call)).status).toBe(202);
  });
});

describe('requests with a key', () => {
  it('of one caller are taken up to its rate, and then answered 429 before they cost anything [SEC-COST-2]', async () => {
    const backend = endpoint({ caller: { perSecond: 2, burst: 4 } });
    expect(await statuses(backend, 6, {})).toEqual([202, 202, 202, 202, 429, 429]);
    expect(refused).toBe(2);
    world.time.nowMs += 1_000;
    expect(await statuses(backend, 3, {})).toEqual([202, 202, 429]);
  });

  it('of one caller leave another caller its share', async () => {
    const names = ['one', 'two'].map((name, index) => ({ name, key: String(index).repeat(40) }));
    secret = JSON.stringify({ keys: names });
    const backend = endpoint({ caller: { perSecond: 1, burst: 2 }, environment: { perSecond: 1, burst: 3 } });
    const callOf = (index: number): Call => ({
      headers: { authorization: `Bearer ${String(index).repeat(40)}` },
    });
    expect(await statuses(backend, 3, callOf(0))).toEqual([202, 202, 429]);
    expect(await statuses(backend, 2, callOf(1))).toEqual([202, 429]);
  });

  it('of a key leave a key of the same name of another tenant its share, for publishing and for reading [SEC-TENANT-8]', async () => {
    const keys = ['acme', 'globex'].map((tenant, index) => ({
      ...{ name: 'backend', tenant, key: String(index).repeat(40), subscribe: ['#'] },
    }));
    secret = JSON.stringify({ keys });
    const backend = endpoint({ caller: { perSecond: 1, burst: 2 } });
    const headersOf = (index: number) => ({ authorization: `Bearer ${String(index).repeat(40)}` });
    expect(await statuses(backend, 3, { headers: headersOf(0) })).toEqual([202, 202, 429]);
    expect(await statuses(backend, 3, { headers: headersOf(1) })).toEqual([202, 202, 429]);
    const read = async (index: number) => {
      const call = { method: 'GET', path: '/api/v5/streams', headers: headersOf(index) };
      return (await backend.call(call)).status;
    };
    world.time.nowMs += 60_000;
    const found: number[] = [];
    for (let count = 0; count <= READING_RATE.burst; count += 1) found.push(await read(0));
    expect(found.at(-1)).toBe(429);
    expect(await read(1)).not.toBe(429);
  });

  it('are limited with IAM by the ARN that has signed', async () => {
    const signed = new PublishEndpoint(world, process, {
      readKeys: undefined,
      rates: { caller: { perSecond: 1, burst: 1 } },
    });
    const callOf = (name: string): Call => ({ signedBy: `arn:aws:sts::123456789012:assumed-role/${name}/i` });
    expect(await statuses(signed, 2, callOf('a'))).toEqual([202, 429]);
    expect(await statuses(signed, 1, callOf('b'))).toEqual([202]);
  });
});

describe('the limiter', () => {
  it('counts the addresses of one /64 as one', () => {
    const limiter = new RequestLimiter({ now: () => 0 });
    for (let index = 0; index < UNAUTHORIZED_RATE.burst; index += 1)
      limiter.unauthorized(`2001:db8::${index.toString(16)}`);
    expect(limiter.floodSeconds('2001:db8::ffff')).toBe(1);
    expect(limiter.floodSeconds('2001:db8:0:1::1')).toBe(0);
  });

  it('forgets the address that was counted longest ago when there are too many', () => {
    const limiter = new RequestLimiter({ now: () => 0 }, { unauthorized: { perSecond: 1, burst: 1 } });
    for (let index = 0; index <= LIMITED_KEYS_MAX; index += 1) limiter.unauthorized(`address-${index}`);
    expect([limiter.floodSeconds('address-0'), limiter.floodSeconds('address-1')]).toEqual([0, 1]);
  });

  it('leaves one caller at most half of an environment', () => {
    expect(CALLER_RATE.burst * 2).toBeLessThanOrEqual(ENVIRONMENT_RATE.burst);
    expect(CALLER_RATE.perSecond * 2).toBeLessThanOrEqual(ENVIRONMENT_RATE.perSecond);
  });
});
