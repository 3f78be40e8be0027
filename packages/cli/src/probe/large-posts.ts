import { reasonOf } from '@apus/broker';
import { differs, type Finding, notTried, type ProbeContext, type ProbeItem, passed, until } from './item.ts';
import { ProbeClient, ProbeError } from './probe-client.ts';

/** Bytes of payload: in base64 just above 32 KB, 64 KB, and nearly the 128 KB that a post may have. */
const PAYLOAD_BYTES = [25_000, 49_200, 98_000];
const WAIT_MS_MAX = 10_000;

/** A client cannot send that much in a frame, so the probe publishes it over HTTP. */
export const largePosts: ProbeItem = {
  name: 'large-posts',
  summary: 'a post of 32 to 128 KB arrives as one message',
  billedMessages: PAYLOAD_BYTES.length * 4 + 6,
  seconds: 5,
  run: async (context) => {
    if (context.publish === undefined) {
      return notTried(
        'a message that large can only be published over HTTP: give --publish-url and --publish-key (`npm run deploy -- --http-publish keys`).',
      );
    }
    const subscriber = await ProbeClient.connect(context, 'large');
    try {
      return await compare(context, subscriber);
    } finally {
      await subscriber.end();
    }
  },
};

async function compare(context: ProbeContext, subscriber: ProbeClient): Promise<Finding> {
  const topic = `apus-probe/${context.name}/large`;
  await subscriber.subscribe(topic);
  const sizes: string[] = [];
  for (const bytes of PAYLOAD_BYTES) {
    const before = subscriber.messages.length;
    await publish(context, topic, Buffer.alloc(bytes, 'apus').toString());
    await until(() => subscriber.messages.length > before, WAIT_MS_MAX, context.sleep);
    const [text = '', ...more] = subscriber.messages.slice(before);
    const kilobytes = Math.round(text.length / 1_024);
    if (more.length > 0) return differs(`A post for ${bytes} bytes came as ${more.length + 1} messages.`);
    if (subscriber.published.at(-1)?.payload.length !== bytes)
      return differs(`A post for ${bytes} bytes came as ${kilobytes} KB that are not what was sent.`);
    sizes.push(`${kilobytes} KB`);
  }
  return passed(`posts of ${sizes.join(', ')} came as one message each.`);
}

/** The path is below that of the URL: a function's URL has none, a proxy's may have one. */
function addressOf(publishUrl: string): URL {
  const { origin, pathname } = new URL(publishUrl);
  return new URL(`${pathname.replace(/\/(api\/v5\/publish\/?)?$/, '')}/api/v5/publish`, origin);
}

async function publish({ publish: target }: ProbeContext, topic: string, payload: string): Promise<void> {
  if (target === undefined) return;
  const { url, key } = target;
  const response = await fetch(addressOf(url), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({ topic, payload, qos: 1 }),
  }).catch((error: unknown) => {
    throw new ProbeError(`${url} cannot be reached: ${reasonOf(error)}.`);
  });
  if (response.status !== 200)
    throw new ProbeError(`${url} has not published: HTTP ${response.status} ${await response.text()}`);
}
