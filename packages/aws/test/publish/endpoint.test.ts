import { MessageClock } from '@apus/broker';
import { Violation } from '@apus/mqtt';
import { beforeEach, describe, expect, it } from 'vitest';
import { QueueUnavailable } from '../../src/fan-out/job-queue.ts';
import type { MakeBroker } from '../../src/index.ts';
import { type Hooks, type Process, World } from '../support/fan-out.ts';
import { KEY, PublishEndpoint } from '../support/publish.ts';

const DEEP = '['.repeat(20_000) + ']'.repeat(20_000);
const BACKEND = 'arn:aws:sts::123456789012:assumed-role/backend/i-1';

let world: World;
let hooks: { before?: Hooks['before'] };
let process: Process;
let endpoint: PublishEndpoint;

beforeEach(async () => {
  world = await World.create();
  hooks = {};
  process = world.process({ name: 'publish', hooks: { before: (call) => hooks.before?.(call) } });
  endpoint = new PublishEndpoint(world, process);
});

/** Clients that hold the filter; a filter's head holds one of them, and the others wait for workers. */
const subscribers = (filter: string, count = 1, qos: 0 | 1 | 2 = 1) =>
  world.subscribers(count, { qos }, {}, filter);

const failing = () => {
  hooks.before = () => {
    throw Object.assign(new Error('slow down'), { name: 'ProvisionedThroughputExceededException' });
  };
};

describe('POST /api/v5/publish', () => {
  it('answers 200 with the id of a message that a subscriber was posted', async () => {
    const [connectionId = ''] = await subscribers('a/+');
    const { status, body } = await endpoint.publish({ topic: 'a/b', payload: 'hello', qos: 1 });
    expect([status, body]).toEqual([200, { id: expect.stringMatching(/^\w+-/) }]);
    expect(world.gateway.packetsTo(connectionId)).toMatchObject([{ cmd: 'publish', qos: 1, text: 'hello' }]);
  });

  it('answers 202 when there are no subscribers, and retains the message as requested', async () => {
    const { status, body } = await endpoint.publish({ topic: 'a', payload: 'kept', retain: true });
    expect([status, body]).toEqual([202, { reason_code: 16, message: 'no_matching_subscribers' }]);
    const connectionId = await world.connect();
    const reply = await world.frame(connectionId, {
      cmd: 'subscribe',
      messageId: 1,
      subscriptions: [{ topic: 'a', qos: 0 }],
    });
    expect(reply).toMatchObject([{ cmd: 'suback' }, { cmd: 'publish', text: 'kept', retain: true }]);
  });

  it('answers 200 when a message for many is in the queue of the workers', async () => {
    await subscribers('wide', 3);
    const { status } = await endpoint.publish({ topic: 'wide', payload: 'all', qos: 1 });
    expect(status).toBe(200);
    expect(world.queue.entries.length).toBeGreaterThan(0);
    expect(await process.failuresOf(world.queue.receive())).toEqual([]);
    expect(
      world.gateway.posts.filter(({ packets }) => packets.some(({ text }) => text === 'all')),
    ).toHaveLength(3);
  });

  it('waits for the posts', async () => {
    const [connectionId] = await subscribers('a');
    let post: (() => void) | undefined;
    world.gateway.answer = () => new Promise((resolve) => (post = () => resolve('sent')));
    let isAnswered = false;
    const answer = endpoint.publish({ topic: 'a', payload: 'x' }).then((each) => {
      isAnswered = true;
      return each;
    });
    while (post === undefined) await new Promise(setImmediate);
    expect([isAnswered, world.gateway.attempts.at(-1)?.connectionId]).toEqual([false, connectionId]);
    post();
    expect((await answer).status).toBe(200);
  });

  it('answers 503 with Retry-After while DynamoDB is throttled, and has sent nothing', async () => {
    const [connectionId = ''] = await subscribers('a');
    failing();
    const { status, headers, body } = await endpoint.publish({ topic: 'a', payload: 'x', qos: 1 });
    expect([status, headers['retry-after'], body.reason_code]).toEqual([503, '1', 0x97]);
    expect(body.message).toMatch(/^DynamoDB refused .*; try again later$/);
    expect(world.gateway.textsTo(connectionId)).toEqual([]);
    hooks = {};
    expect((await endpoint.publish({ topic: 'a', payload: 'x', qos: 1 })).status).toBe(200);
    expect(world.gateway.textsTo(connectionId)).toEqual(['x']);
  });

  it('answers 503 when the queue of the workers does not take it', async () => {
    await subscribers('wide', 3);
    const send = world.queue.send.bind(world.queue);
    world.queue.send = () => Promise.reject(new QueueUnavailable(4, 'it is down'));
    expect((await endpoint.publish({ topic: 'wide', payload: 'x', qos: 1 })).status).toBe(503);
    world.queue.send = send;
    // The next request does not send the message that failed.
    await endpoint.publish({ topic: 'other', payload: 'y' });
    expect(world.queue.entries).toEqual([]);
  });

  it('answers 429 when the key has caused as many deliveries as it may', async () => {
    const limited = world.process({ name: 'limited', deliveriesPerMinuteMax: 3 });
    const [connectionId = ''] = await subscribers('a');
    const backend = new PublishEndpoint(world, limited);
    const statuses: number[] = [];
    for (let index = 0; index < 10; index += 1)
      statuses.push((await backend.publish({ topic: 'a', payload: 'x' })).status);
    const delivered = world.gateway.textsTo(connectionId).length;
    expect(statuses).toEqual([...Array(delivered).fill(200), ...Array(10 - delivered).fill(429)]);
    expect(delivered).toBeGreaterThan(0);
    expect(delivered).toBeLessThan(10);
  });

  it('answers 429 when the broker has a limit of its own', async () => {
    const { environment } = process.cloud;
    const makeBroker: MakeBroker = (outbox, kind) => {
      const made = environment.makeBroker(outbox, kind);
      return { ...made, broker: { ...made.broker, publish: () => new Violation(0x97, 'that is enough') } };
    };
    const limited = new PublishEndpoint(world, process, { environment: { ...environment, makeBroker } });
    const { status, headers, body } = await limited.publish({ topic: 'b', payload: 'x', retain: true });
    expect([status, headers['retry-after'], body]).toEqual([
      429,
      '1',
      { reason_code: 0x97, message: 'that is enough' },
    ]);
  });

  it.each([
    [{ topic: 'a/#', payload: '' }, 400, 0x90],
    [{ topic: 'a' }, 400, 0x83],
    [{ topic: 'a', payload: 'x'.repeat(98_300) }, 413, 0x95],
    [{ topic: '$SYS/broker', payload: '' }, 403, 0x87],
  ])('answers an invalid message with its reason', async (message, status, reasonCode) => {
    const answer = await endpoint.publish(message);
    expect([answer.status, answer.body.reason_code]).toEqual([status, reasonCode]);
  });
});

describe('POST /api/v5/publish/bulk', () => {
  const message = (topic: string, payload = topic) => ({ topic, payload, qos: 1 });

  it('publishes in the order of the list, and answers in it', async () => {
    const [connectionId = ''] = await subscribers('a');
    const { status, body } = await endpoint.bulk([message('a', '1'), message('nobody'), message('a', '2')]);
    expect(status).toBe(202);
    expect(body).toEqual([
      { id: expect.any(String) },
      { reason_code: 16, message: expect.any(String) },
      { id: expect.any(String) },
    ]);
    expect(world.gateway.textsTo(connectionId)).toEqual(['1', '2']);
    expect((await endpoint.bulk([message('a')])).status).toBe(200);
  });

  it('validates all messages before it publishes any', async () => {
    const [connectionId = ''] = await subscribers('a');
    const { status, body } = await endpoint.bulk([message('a'), message('a/#')]);
    expect([status, body.reason_code]).toEqual([400, 0x90]);
    expect(body.message).toMatch(/^Message 1 of the list: /);
    expect(world.gateway.textsTo(connectionId)).toEqual([]);
  });

  it.each([[[]], [{ topic: 'a', payload: '' }], [Array.from({ length: 101 }, () => message('a'))]])(
    'takes a list of 1 to 100 messages and nothing else',
    async (body) => {
      const answer = await endpoint.bulk(body);
      expect([answer.status, answer.body.code]).toEqual([400, 'BAD_REQUEST']);
    },
  );

  it('takes a hundred', async () => {
    const answer = await endpoint.bulk(Array.from({ length: 100 }, () => message('a')));
    expect([answer.status, answer.body.length]).toEqual([202, 100]);
  });

  it('refuses the messages behind a refused one, as they would overtake it', async () => {
    const [connectionId = ''] = await subscribers('+');
    let reads = 0;
    let remainingMs = 29_000;
    hooks.before = () => {
      reads += 1;
      if (reads > 2) remainingMs = 7_000;
    };
    const answer = await endpoint.bulk([message('a'), message('b'), message('c')], {
      remainingMs: () => remainingMs,
    });
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('1');
    const taken = answer.body.filter((each: object) => 'id' in each).length;
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(3);
    expect(answer.body.slice(taken)).toEqual(
      Array.from({ length: 3 - taken }, () => ({
        reason_code: 0x89,
        message: 'not taken: there is no time left for it; send it again',
      })),
    );
    expect(world.gateway.textsTo(connectionId)).toEqual(['a', 'b', 'c'].slice(0, taken));
  });

  it('matches a topic once, however often the list has it', async () => {
    await subscribers('a');
    await endpoint.publish(message('a'));
    let reads = 0;
    hooks.before = () => {
      reads += 1;
    };
    await endpoint.bulk([message('a')]);
    const once = reads;
    reads = 0;
    await endpoint.bulk(Array.from({ length: 10 }, () => message('a')));
    expect(reads).toBe(once);
  });
});

describe('a request', () => {
  it.each([
    [{ path: '/api/v5/clients' }, 404, 'NOT_FOUND'],
    [{ path: '/' }, 404, 'NOT_FOUND'],
    [{ method: 'GET' }, 405, 'METHOD_NOT_ALLOWED'],
    [{ method: 'OPTIONS' }, 405, 'METHOD_NOT_ALLOWED'],
    [{ headers: { 'content-type': 'text/plain' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [{ headers: { 'content-type': 'application/jsonp' } }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    [{ body: '{"topic"' }, 400, 'BAD_REQUEST'],
    [{ body: '' }, 400, 'BAD_REQUEST'],
    // As deep as a stack [SEC-WORK-4].
    [{ body: DEEP }, 400, 'BAD_REQUEST'],
    [{ body: `{"topic":"a","payload":${DEEP}}` }, 400, 'BAD_REQUEST'],
    [{ path: '/api/v5/publish/bulk', body: `[{"topic":${DEEP}}]` }, 400, 'BAD_REQUEST'],
    [{ body: ' '.repeat(4 * 1024 * 1024 + 1) }, 413, 'PAYLOAD_TOO_LARGE'],
  ])('that is wrong as a whole says what is wrong: %#', async (call, status, code) => {
    const answer = await endpoint.publish({ topic: 'a', payload: 'x' }, call);
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.body.message).toMatch(/^[A-Z].*\.$/s);
    expect(answer.headers['content-type']).toBe('application/json');
  });

  it('may say that its JSON is UTF-8', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    expect((await endpoint.publish({ topic: 'a', payload: 'x' }, { headers })).status).toBe(202);
  });

  it("carries the clock of the last answer, so that a backend's retained message is always newer than its last one", async () => {
    const aheadClock = new MessageClock({ now: () => world.time.nowMs + 2_900 }, 'other');
    aheadClock.next();
    const ahead = { headers: { 'apus-clock': aheadClock.read() } };
    const first = await endpoint.publish({ topic: 'a', payload: '1', retain: true }, ahead);
    const headers = { 'apus-clock': first.headers['apus-clock'] ?? '' };
    expect(headers['apus-clock'] > aheadClock.read()).toBe(true);
    const elsewhere = new PublishEndpoint(world, world.process());
    await elsewhere.publish({ topic: 'a', payload: '2', retain: true }, { headers });
    const connectionId = await world.connect();
    const subscribe = { cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'a', qos: 0 }] };
    expect(await world.frame(connectionId, subscribe)).toMatchObject([{}, { text: '2' }]);
  });

  it.each(['', 'not a clock', 'z'.repeat(13)])('with the clock %j is taken all the same', async (clock) => {
    const headers = { 'apus-clock': clock };
    const answer = await endpoint.publish({ topic: 'a', payload: 'x' }, { headers });
    expect([answer.status, answer.headers['apus-clock']?.slice(0, 1)]).toEqual([202, '0']);
  });
});

describe('with keys', () => {
  const keyed = (...keys: object[]) =>
    new PublishEndpoint(world, process, { readKeys: async () => JSON.stringify({ keys }) });
  const message = { topic: 'orders/1', payload: 'x' };

  it.each([
    undefined,
    'Bearer wrong',
    `Basic ${Buffer.from('name:wrong').toString('base64')}`,
    `Digest ${KEY}`,
  ])('a request with Authorization: %s is refused', async (authorization = '') => {
    const { status, body, headers } = await endpoint.publish(message, { headers: { authorization } });
    expect([status, body.code]).toEqual([401, 'BAD_API_KEY_OR_SECRET']);
    expect(headers['www-authenticate']).toContain('Basic');
  });

  it('Basic is taken as EMQX takes it, with the name of the key', async () => {
    const orders = keyed({ name: 'orders', key: KEY });
    const authorization = `Basic ${Buffer.from(`orders:${KEY}`).toString('base64')}`;
    expect((await orders.publish(message, { headers: { authorization } })).status).toBe(202);
    const other = `Basic ${Buffer.from(`other:${KEY}`).toString('base64')}`;
    expect((await orders.publish(message, { headers: { authorization: other } })).status).toBe(401);
  });

  it('a key publishes to topics that its filters match, and to no other', async () => {
    const orders = keyed({ name: 'orders', key: KEY, publish: ['orders/#'] });
    expect((await orders.publish(message)).status).toBe(202);
    const { status, body } = await orders.publish({ topic: 'users/1', payload: 'x' });
    expect([status, body]).toEqual([
      403,
      { reason_code: 0x87, message: 'publishing to "users/1" is not allowed' },
    ]);
    const bulk = await orders.bulk([message, { topic: 'users/1', payload: 'x' }]);
    expect([bulk.status, bulk.body.message]).toEqual([
      403,
      'Message 1 of the list: publishing to "users/1" is not allowed',
    ]);
  });

  it('a key of a tenant stays in it', async () => {
    const [connectionId = ''] = await subscribers('orders/1');
    const shop = keyed({ name: 'shop', key: KEY, tenant: 'shop' });
    expect((await shop.publish(message)).status).toBe(202);
    expect((await shop.publish(message, { headers: { 'apus-tenant': 'shop' } })).status).toBe(202);
    expect((await shop.publish(message, { headers: { 'apus-tenant': 'default' } })).status).toBe(403);
    expect(world.gateway.textsTo(connectionId)).toEqual([]);
  });

  it('a key without a tenant speaks for the default tenant, and not for one that the request names [SEC-TENANT-1]', async () => {
    await subscribers('orders/1');
    expect((await endpoint.publish(message)).status).toBe(200);
    expect((await endpoint.publish(message, { headers: { 'apus-tenant': 'default' } })).status).toBe(200);
    expect((await endpoint.publish(message, { headers: { 'apus-tenant': 'shop' } })).status).toBe(403);
    expect((await endpoint.publish(message, { headers: { 'apus-tenant': 'a b' } })).status).toBe(400);
  });

  it('answers that it cannot read them, with Retry-After', async () => {
    const broken = new PublishEndpoint(world, process, {
      readKeys: () => Promise.reject(new Error('AccessDenied')),
    });
    const { status, headers, body } = await broken.publish(message);
    expect([status, headers['retry-after'], body.code]).toEqual([503, '1', 'SERVICE_UNAVAILABLE']);
    expect(process.log).toContainEqual({
      level: 'error',
      event: 'publish-keys-unavailable',
      fields: { error: 'The secret with the keys cannot be read now: AccessDenied' },
    });
  });
});

describe('with IAM', () => {
  const message = { topic: 'a', payload: 'x' };

  it('a caller that Lambda has verified may publish everywhere', async () => {
    const signed = new PublishEndpoint(world, process, { readKeys: undefined });
    expect((await signed.publish(message, { signedBy: BACKEND })).status).toBe(202);
    const { status, body } = await signed.publish(message);
    expect([status, body.code]).toEqual([403, 'FORBIDDEN']);
  });

  it('a caller that Lambda let through speaks for the tenants that the deployment lists, and for no other [SEC-TENANT-1]', async () => {
    const call = (tenant?: string) => ({
      signedBy: BACKEND,
      ...(tenant !== undefined && { headers: { 'apus-tenant': tenant } }),
    });
    const statuses = async (tenants?: readonly [string, ...string[]]) => {
      const signed = new PublishEndpoint(world, process, { readKeys: undefined, tenants });
      const calls = [undefined, 'default', 'shop', 'bank'].map((each) => signed.publish(message, call(each)));
      return (await Promise.all(calls)).map(({ status }) => status);
    };
    expect(await statuses()).toEqual([202, 202, 403, 403]);
    expect(await statuses(['shop', 'bank'])).toEqual([202, 403, 202, 202]);
  });
});
