import { startNode } from '@apus/node';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { RawClient } from '../../../test/support/raw-client.ts';
import { createPublisher, type PublisherOptions, PublishRefused, PublishUnavailable } from '../src/index.ts';

interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of a request.
  readonly body: any;
}

type Reply = () => Response | Promise<Response>;

const json = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers });

const OK: Reply = () => json(200, { id: 'm' });
const busy: Reply = () => json(503, { reason_code: 0x97, message: 'try again' }, { 'retry-after': '1' });

/** A publisher whose endpoint gives the test's answers in their order, and then the last one again and again. */
function withReplies(replies: readonly Reply[], options: Partial<PublisherOptions> = {}) {
  const sent: Sent[] = [];
  const pauses: number[] = [];
  const publisher = createPublisher({
    url: 'https://endpoint.example/',
    fetch: async (url, init) => {
      const reply = replies[Math.min(sent.length, replies.length - 1)] ?? OK;
      sent.push({
        url: String(url),
        headers: Object.fromEntries(new Headers(init?.headers)),
        body: JSON.parse(String(init?.body)),
      });
      return await reply();
    },
    sleep: async (ms) => void pauses.push(ms),
    random: () => 0.5,
    ...options,
  });
  return { publisher, sent, pauses };
}

const failed = async (promise: Promise<unknown>): Promise<PublishRefused | PublishUnavailable> =>
  promise.then(
    () => Promise.reject(new Error('it was to fail')),
    (error) => error,
  );

describe('publish', () => {
  it('sends the properties of MQTT, binary data in base64', async () => {
    const { publisher, sent } = withReplies([OK]);
    const receipt = await publisher.publish('a/b', new Uint8Array([0, 255]), {
      qos: 1,
      retain: true,
      contentType: 'image/png',
      responseTopic: 'answers',
      correlationData: new Uint8Array([1]),
      userProperties: { tag: ['x', 'y'] },
      messageExpiryIntervalSeconds: 60,
      payloadFormatIndicator: 0,
    });
    expect(receipt).toEqual({ id: 'm', hasSubscribers: true });
    expect(sent).toEqual([
      {
        url: 'https://endpoint.example/api/v5/publish',
        headers: { 'content-type': 'application/json' },
        body: {
          topic: 'a/b',
          payload: 'AP8=',
          payload_encoding: 'base64',
          qos: 1,
          retain: true,
          properties: {
            message_expiry_interval: 60,
            content_type: 'image/png',
            response_topic: 'answers',
            correlation_data: 'AQ==',
            correlation_data_encoding: 'base64',
            user_properties: { tag: ['x', 'y'] },
            payload_format_indicator: 0,
          },
        },
      },
    ]);
  });

  it('says if the topic has no subscribers', async () => {
    const { publisher } = withReplies([
      () => json(202, { reason_code: 16, message: 'no_matching_subscribers' }),
    ]);
    expect(await publisher.publish('a', 'x')).toEqual({ id: undefined, hasSubscribers: false });
  });

  it.each([
    'https://endpoint.example',
    'https://endpoint.example/api/v5/publish',
    'https://endpoint.example/api/v5/publish/',
  ])('takes the address %s', async (url) => {
    const { publisher, sent } = withReplies([OK], { url });
    await publisher.publish('a', 'x');
    expect(sent[0]?.url).toBe('https://endpoint.example/api/v5/publish');
  });

  it('refuses an invalid address', () => {
    expect(() => createPublisher({ url: 'example' })).toThrow('not "example"');
  });

  it("sends the broker's clock from an answer with the next request", async () => {
    const { publisher, sent } = withReplies([
      () => json(200, { id: 'm' }, { 'apus-clock': '0mabc12340000' }),
      OK,
    ]);
    for (let index = 0; index < 3; index += 1) await publisher.publish('a', 'x');
    const clocks = sent.map(({ headers }) => headers['apus-clock']);
    expect(clocks).toEqual([undefined, '0mabc12340000', '0mabc12340000']);
  });
});

describe('a failed publish', () => {
  it('is not tried again if it would fail again, and its error gives the reason', async () => {
    const { publisher, sent } = withReplies([
      () => json(400, { reason_code: 0x90, message: 'the topic has no wildcards' }),
    ]);
    const error = await failed(publisher.publish('a/#', 'x'));
    expect(error).toBeInstanceOf(PublishRefused);
    expect(error).toMatchObject({ status: 400, reasonCode: 0x90, message: 'the topic has no wildcards' });
    expect(sent).toHaveLength(1);
  });

  it('is tried again while the broker is busy, after its Retry-After and a random pause', async () => {
    const { publisher, sent, pauses } = withReplies([busy, busy, OK]);
    expect(await publisher.publish('a', 'x')).toMatchObject({ id: 'm' });
    expect([sent.length, pauses]).toEqual([3, [1_250, 1_500]]);
  });

  it('is tried only a few times', async () => {
    const { publisher, sent } = withReplies([busy]);
    const error = await failed(publisher.publish('a', 'x'));
    expect(error).toBeInstanceOf(PublishUnavailable);
    expect(error).toMatchObject({ status: 503, reasonCode: 0x97, message: 'try again' });
    expect(sent).toHaveLength(4);
    const once = withReplies([busy], { attemptsMax: 1 });
    await failed(once.publisher.publish('a', 'x'));
    expect(once.sent).toHaveLength(1);
  });

  it('waits no longer than ten seconds, even if Retry-After says more', async () => {
    const { publisher, pauses } = withReplies([() => json(429, {}, { 'retry-after': '3600' }), OK]);
    await publisher.publish('a', 'x');
    expect(pauses).toEqual([10_000]);
  });

  const cut: Reply = () =>
    Promise.reject(new TypeError('fetch failed', { cause: new Error('socket hang up') }));
  const unreached: Reply = () =>
    Promise.reject(
      new TypeError('fetch failed', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }) }),
    );

  it.each([
    ['an answer that is lost at QoS 1: it may come twice', cut, 1, 2],
    ['an answer that is lost at QoS 0: it may have left, and must not come twice', cut, 0, 1],
    ['an endpoint that was not reached', unreached, 0, 2],
  ] as const)('knows %s', async (_, reply, qos, requests) => {
    const { publisher, sent } = withReplies([reply, OK]);
    await publisher.publish('a', 'x', { qos }).catch((error: unknown) => {
      expect(error).toBeInstanceOf(PublishUnavailable);
      expect((error as Error).message).toContain('has not answered: socket hang up');
    });
    expect(sent).toHaveLength(requests);
  });

  it('names the permissions that the signer may lack if AWS refuses it', async () => {
    const error = await failed(
      withReplies([() => json(403, { Message: 'Forbidden' })]).publisher.publish('a', 'x'),
    );
    expect(error).toBeInstanceOf(PublishRefused);
    expect(error.message).toBe(
      'AWS refuses the request (Forbidden): its signer needs lambda:InvokeFunctionUrl and lambda:InvokeFunction.',
    );
  });

  it('is tried again while the function may not run, as when the breaker has tripped', async () => {
    const Reason = 'ReservedFunctionConcurrentInvocationLimitExceeded';
    const stopped = () => json(429, { Reason, Type: 'User', message: 'Rate Exceeded.' });
    const { publisher, sent } = withReplies([stopped]);
    const error = await failed(publisher.publish('a', 'x'));
    expect(error).toBeInstanceOf(PublishUnavailable);
    expect([error.status, error.message, sent.length]).toEqual([429, 'Rate Exceeded.', 4]);
    expect(await withReplies([stopped, OK]).publisher.publish('a', 'x')).toMatchObject({ id: 'm' });
  });

  it('is reported if another server answers', async () => {
    for (const reply of [() => new Response('<html>', { status: 200 }), () => json(200, [])]) {
      const error = await failed(withReplies([reply]).publisher.publish('a', 'x'));
      expect(error.message).toContain('is the URL right?');
    }
  });
});

describe('publishAll', () => {
  const messages = (count: number, qos: 0 | 1 = 1) =>
    Array.from({ length: count }, (_, index) => ({ topic: 'a', payload: String(index), qos }));
  const taken = (count: number) => Array.from({ length: count }, (_, index) => ({ id: `m${index}` }));

  it('sends as few requests as possible', async () => {
    const { publisher, sent } = withReplies([
      () => json(200, taken(100)),
      () => json(200, taken(100)),
      () => json(200, { id: 'last' }),
    ]);
    expect(await publisher.publishAll(messages(201))).toHaveLength(201);
    expect(sent.map(({ url }) => url.replace(/.*publish/, ''))).toEqual(['/bulk', '/bulk', '']);
    expect(sent[1]?.body[0].payload).toBe('100');
  });

  it('keeps requests below the size that the endpoint reads', async () => {
    const large = Array.from({ length: 3 }, () => ({ topic: 'a', payload: 'x'.repeat(1_900_000) }));
    const { publisher, sent } = withReplies([() => json(200, taken(2)), () => json(200, { id: 'm' })]);
    expect(await publisher.publishAll(large)).toHaveLength(3);
    expect(sent).toHaveLength(2);
  });

  it('sends only the rest again', async () => {
    const rest = { reason_code: 0x89, message: 'not taken' };
    const { publisher, sent } = withReplies([
      () => json(503, [{ id: 'm0' }, { reason_code: 16, message: '' }, rest, rest]),
      () => json(200, [{ id: 'm2' }, { id: 'm3' }]),
    ]);
    const receipts = await publisher.publishAll(messages(4));
    expect(receipts.map(({ id }) => id)).toEqual(['m0', undefined, 'm2', 'm3']);
    expect(sent[1]?.body.map(({ payload }: { payload: string }) => payload)).toEqual(['2', '3']);
  });

  it('lists the messages that had left when it gives up', async () => {
    const { publisher } = withReplies(
      [
        () => json(200, taken(100)),
        () => json(429, [{ id: 'x' }, { reason_code: 0x97, message: 'that is enough' }]),
      ],
      { attemptsMax: 1 },
    );
    const error = await failed(publisher.publishAll(messages(102)));
    expect([error.message, error.published.length]).toEqual(['that is enough', 101]);
  });

  it('sends no request for an empty list', async () => {
    const { publisher, sent } = withReplies([OK]);
    expect([await publisher.publishAll([]), sent]).toEqual([[], []]);
  });
});

describe('the credentials of a publisher', () => {
  it('are a key', async () => {
    const { publisher, sent } = withReplies([OK], { key: 'the-key', tenant: 'shop' });
    await publisher.publish('a', 'x');
    expect(sent[0]?.headers).toMatchObject({ authorization: 'Bearer the-key', 'apus-tenant': 'shop' });
  });

  it('are a signature for Lambda, in the Region of the URL', async () => {
    const credentials = { accessKeyId: 'AKIA', secretAccessKey: 'secret', sessionToken: 'token' };
    const { publisher, sent } = withReplies([OK], {
      url: 'https://abc.lambda-url.eu-west-1.on.aws/',
      aws: { credentials: async () => credentials },
    });
    await publisher.publish('a', 'x');
    const { authorization = '', ...headers } = sent[0]?.headers ?? {};
    expect(authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIA\/\d{8}\/eu-west-1\/lambda\/aws4_request, SignedHeaders=[^,]*host[^,]*, Signature=[0-9a-f]{64}$/,
    );
    expect(headers).toMatchObject({ 'x-amz-security-token': 'token', 'content-type': 'application/json' });
  });

  it('cannot be both, and the error names those that are missing to sign', async () => {
    expect(() => createPublisher({ url: 'https://a.example', key: 'k', aws: {} })).toThrow('not both');
    const credentials = { accessKeyId: 'AKIA', secretAccessKey: 'secret' };
    const { AWS_REGION: before } = process.env;
    delete process.env.AWS_REGION;
    onTestFinished(() => {
      if (before !== undefined) process.env.AWS_REGION = before;
    });
    const { publisher } = withReplies([OK], { aws: { credentials } });
    await expect(publisher.publish('a', 'x')).rejects.toThrow('pass aws.region');
  });
});

test('are accepted by a running broker, which delivers the message', async () => {
  const node = await startNode({ port: 0 });
  onTestFinished(() => node.stop());
  const { client } = await RawClient.connect(node.url);
  client.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'a/+', qos: 1 }] });
  await client.expect('suback');
  const publisher = createPublisher({ url: node.httpUrl });
  expect(await publisher.publish('a/b', new Uint8Array([0, 255]), { qos: 1 })).toMatchObject({
    hasSubscribers: true,
  });
  expect(await client.next()).toMatchObject({ topic: 'a/b', qos: 1, payload: Buffer.from([0, 255]) });
  const receipts = await publisher.publishAll([
    { topic: 'a/c', payload: '1' },
    { topic: 'nobody', payload: '2' },
  ]);
  expect(receipts.map(({ hasSubscribers }) => hasSubscribers)).toEqual([true, false]);
  await expect(publisher.publish('a/#', 'x')).rejects.toThrow(PublishRefused);
});
