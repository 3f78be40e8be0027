import { bench, describe } from 'vitest';
import { WebSocket } from 'ws';
import { RawClient } from '../../../test/support/raw-client.ts';
import { type RunningNode, startNode } from '../src/index.ts';

const SUBSCRIBERS = 200;
const MESSAGES = 200;
const PAYLOAD = Buffer.alloc(200, 'x');
const END = Buffer.from('the last message of a round');

/** Subscribers that look for the last message of a round, and at nothing else. */
class Audience {
  #left = 0;
  #done: () => void = () => {};

  heard(data: Buffer): void {
    if (!data.includes(END)) return;
    this.#left -= 1;
    if (this.#left === 0) this.#done();
  }

  round(): Promise<void> {
    this.#left = SUBSCRIBERS;
    return new Promise((resolve) => {
      this.#done = resolve;
    });
  }
}

async function subscribe(node: RunningNode, topic: string, audience: Audience): Promise<void> {
  const hex = (text: string) => Buffer.from(text, 'hex');
  const socket = new WebSocket(node.url, 'mqtt');
  await new Promise((resolve) => socket.once('open', resolve));
  // CONNECT with Clean Start, and SUBSCRIBE at QoS 0.
  socket.send(hex('100d00044d515454050200000000' + '00'));
  const filter = Buffer.from(topic);
  const body = Buffer.concat([hex('000100'), Buffer.from([0, filter.length]), filter, hex('00')]);
  socket.send(Buffer.concat([Buffer.from([0x82, body.length]), body]));
  socket.on('message', (data) => audience.heard(data as Buffer));
}

async function roundOf(topic: string): Promise<() => Promise<void>> {
  const node = await startNode({ port: 0, logLevel: 'silent', streams: [{ name: 's', topicFilter: 's/#' }] });
  const audience = new Audience();
  for (let count = 0; count < SUBSCRIBERS; count += 1) await subscribe(node, topic, audience);
  const { client } = await RawClient.connect(node.url);
  return async () => {
    const heard = audience.round();
    for (let count = 1; count <= MESSAGES; count += 1) {
      const payload = count === MESSAGES ? END : PAYLOAD;
      client.send({ cmd: 'publish', topic, payload, qos: 0, retain: false, dup: false, messageId: 0 });
    }
    await heard;
  };
}

// npx vitest bench --run --project node packages/node/test/stream-cost.bench.ts
describe(`${MESSAGES} messages of ${PAYLOAD.length} bytes to ${SUBSCRIBERS} subscribers`, async () => {
  const [plain, ofStream] = [await roundOf('p/a'), await roundOf('s/a')];
  bench('of a topic without a stream', plain, { time: 4000 });
  bench('of a stream', ofStream, { time: 4000 });
});
