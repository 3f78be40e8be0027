import type { Delivery, MessageId, SessionRef } from '@apus/broker';
import { createDiskStores, type DiskStores } from '@apus/store-disk';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runs } from '../../../test/support/runs.ts';
import { Database } from '../src/database.ts';
import { Kind } from '../src/keys.ts';
import { temporaryDirectory } from './support/directory.ts';
import {
  attachmentOf,
  deliveryTo,
  detachOf,
  messageId,
  messageOf,
  NOW_MS,
  openedOf,
  openOf,
  PAGE,
  ROOMY,
} from './support/values.ts';

const WILL = { topic: 'w', payload: Buffer.from('w'), qos: 2, retain: false, properties: {} } as const;
const SHARE = { shareGroup: 'g', topicFilter: '#' };
const MESSAGE = messageOf(1, { qos: 2 });

let directory: string;
let stores: DiskStores;
let connections = 0;

beforeEach(begin);
afterEach(async () => await stores.close());

async function begin(): Promise<void> {
  await stores?.close();
  directory = temporaryDirectory();
  stores = await createDiskStores({ directory, clock: { now: () => NOW_MS } });
}

async function reopen(): Promise<void> {
  await stores.close();
  stores = await createDiskStores({ directory, clock: { now: () => NOW_MS } });
}

async function open(clientId: string, will?: typeof WILL): Promise<SessionRef> {
  connections += 1;
  const attachment = attachmentOf(`${clientId}:${connections}`);
  return openedOf(await stores.sessions.open(openOf(clientId, { attachment, will }))).session;
}

async function end(clientId: string): Promise<void> {
  const session = await open(clientId);
  await stores.sessions.detach(detachOf(session, { expirySeconds: 0 }));
  expect(await stores.sessions.remove(session)).toBe(true);
  await stores.queues.clear(session);
}

/** Hands a message of QoS 2 to clients. Returns those whose queues have taken a copy. */
async function fanOut(clients: readonly string[], fields: Partial<Delivery> = {}, message = MESSAGE) {
  const before = await Promise.all(clients.map(waitingOf));
  const deliveries = await Promise.all(
    clients.map(async (clientId) => deliveryTo(await open(clientId), { qos: 2, copy: '', ...fields })),
  );
  // All wait: a client is sent a message when it takes what waits for it.
  await stores.queues.offer(message, deliveries, ROOMY, new Set(deliveries));
  const after = await Promise.all(clients.map(waitingOf));
  return clients.filter((_, index) => (after[index] ?? 0) > (before[index] ?? 0));
}

async function waitingOf(clientId: string): Promise<number> {
  return await stores.queues.length(await open(clientId));
}

/** The client is sent all that waits for it, and acknowledges it. Returns the ids of these messages. */
async function takeAll(clientId: string): Promise<MessageId[]> {
  const session = await open(clientId);
  const taken: MessageId[] = [];
  for (const queued of await stores.queues.next(session, PAGE, NOW_MS)) {
    const { packetId } = queued.type === 'publish' ? queued.delivery : queued;
    if (queued.type === 'publish') taken.push(queued.message.id);
    if (queued.type === 'publish' && queued.delivery.qos === 2)
      await stores.queues.release(session, packetId);
    await stores.queues.complete(session, packetId);
  }
  return taken;
}

async function storedCopies(): Promise<number> {
  await stores.close();
  const database = await Database.open(directory);
  const { length } = [...database.scan(Kind.CompletedCopy)];
  await database.close();
  stores = await createDiskStores({ directory, clock: { now: () => NOW_MS } });
  return length;
}

describe('a fan-out that a crash has cut short is repeated after a second crash', () => {
  const beginReceipt = async (id: MessageId) =>
    await stores.received.begin(await open('publisher'), 7, id, 10);

  beforeEach(async () => {
    await beginReceipt(MESSAGE.id);
  });

  it.each([1, 2] as const)('not to a session that has acknowledged its copy at QoS %i', async (qos) => {
    await fanOut(['had'], { qos });
    await reopen();
    expect(await takeAll('had')).toEqual([MESSAGE.id]);
    await reopen();
    expect(await beginReceipt(messageId(2))).toEqual({ state: 'pending', messageId: MESSAGE.id });
    expect(await fanOut(['had', 'other'], { qos })).toEqual(['other']);
  });

  it('not to a session that acknowledged its copy before the first crash, while others waited', async () => {
    await fanOut(['had']);
    expect(await takeAll('had')).toEqual([MESSAGE.id]);
    await reopen();
    expect(await fanOut(['had', 'other'])).toEqual(['other']);
  });

  it('not to a share group of which a member has acknowledged it, though its session has ended', async () => {
    await fanOut(['member'], { share: SHARE });
    await reopen();
    expect(await takeAll('member')).toEqual([MESSAGE.id]);
    await end('member');
    await reopen();
    expect(await fanOut(['another'], { share: SHARE })).toEqual([]);
    expect(await fanOut(['another'], { share: { ...SHARE, shareGroup: 'h' } })).toEqual(['another']);
  });

  it('but to a session that is another under the same Client Identifier', async () => {
    await fanOut(['had']);
    await takeAll('had');
    await end('had');
    await reopen();
    expect(await fanOut(['had'])).toEqual(['had']);
  });

  it.each([
    ['the message is delivered', async () => stores.received.markDelivered(await open('publisher'), 7)],
    ['its receipt is released', async () => stores.received.release(await open('publisher'), 7)],
    ['the session of its publisher ends', () => end('publisher')],
  ])('and leaves nothing on the disk when %s', async (_, ends) => {
    await fanOut(['had']);
    await takeAll('had');
    expect(await storedCopies()).toBe(1);
    await ends();
    expect(await storedCopies()).toBe(0);
  });
});

it('a copy is not written again where its message is delivered before it is complete', async () => {
  await stores.received.begin(await open('publisher'), 7, MESSAGE.id, 10);
  await fanOut(['had']);
  await stores.received.markDelivered(await open('publisher'), 7);
  await takeAll('had');
  expect(await storedCopies()).toBe(0);
});

it('a will that two crashes have cut short is not published to a session that has acknowledged it', async () => {
  const mortal = await open('mortal', WILL);
  const connectionId = mortal.attachment?.connectionId ?? '';
  const due = { atMs: NOW_MS, isWithdrawnByReturn: false };
  await stores.sessions.detach({
    session: mortal,
    connectionId,
    expirySeconds: 60,
    nowMs: NOW_MS,
    will: due,
  });
  await stores.sessions.beginWill(mortal, connectionId, MESSAGE.id, NOW_MS);
  await fanOut(['had']);
  await reopen();
  expect(await takeAll('had')).toEqual([MESSAGE.id]);
  await reopen();
  expect(await fanOut(['had', 'other'])).toEqual(['other']);
  const { session } = (await stores.sessions.get(mortal.tenant, 'mortal')) ?? {};
  if (session === undefined) throw new Error('the session is lost');
  await stores.sessions.doneWill(session, connectionId);
  expect(await storedCopies()).toBe(0);
});

describe('over any number of crashes', () => {
  const SUBSCRIBERS = ['a', 'b'];
  const publishing = fc.record({
    do: fc.constant('publish' as const),
    packetId: fc.constantFrom(1, 2),
    reaches: fc.nat(SUBSCRIBERS.length),
    ends: fc.boolean(),
  });
  const taking = fc.record({ do: fc.constant('take' as const), client: fc.constantFrom(...SUBSCRIBERS) });
  const crash = fc.constant({ do: 'crash' as const });
  const walks = fc.array(fc.oneof(publishing, taking, crash), { minLength: 4, maxLength: 16 });
  type Step = NonNullable<ReturnType<typeof walks.generate>['value'][number]>;

  class Walk {
    readonly #taken = new Map<string, MessageId[]>(SUBSCRIBERS.map((client) => [client, []]));
    /** By packet id: the messages that are not complete. */
    readonly #sent = new Map<number, number>();
    #messages = 0;

    async run(steps: readonly Step[]): Promise<void> {
      await begin();
      for (const client of ['publisher', ...SUBSCRIBERS]) await open(client);
      for (const step of steps) {
        if (step.do === 'crash') await reopen();
        else if (step.do === 'take') await this.#take(step.client);
        else await this.#publish(step.packetId, step.reaches, step.ends);
      }
      for (const packetId of this.#sent.keys()) await this.#publish(packetId, SUBSCRIBERS.length, true);
      for (const client of SUBSCRIBERS) await this.#take(client);
      const all = Array.from({ length: this.#messages }, (_, index) => messageId(index + 1));
      for (const client of SUBSCRIBERS) expect(this.#taken.get(client)?.toSorted(), client).toEqual(all);
      expect(await storedCopies()).toBe(0);
    }

    /** Sends a message, or sends it again. `ends`: the fan-out ends, and the publisher completes the message. */
    async #publish(packetId: number, reaches: number, ends: boolean): Promise<void> {
      const number = this.#sent.get(packetId) ?? ++this.#messages;
      this.#sent.set(packetId, number);
      const publisher = await open('publisher');
      const { messageId: id } = await stores.received.begin(publisher, packetId, messageId(number), 10);
      expect(id).toBe(messageId(number));
      await fanOut(SUBSCRIBERS.slice(0, ends ? undefined : reaches), {}, messageOf(number, { qos: 2 }));
      if (!ends) return;
      await stores.received.markDelivered(publisher, packetId);
      await stores.received.release(publisher, packetId);
      this.#sent.delete(packetId);
    }

    async #take(client: string): Promise<void> {
      this.#taken.get(client)?.push(...(await takeAll(client)));
    }
  }

  it('each subscriber is sent each message at QoS 2 once [MQTT-4.3.3-10]', async () => {
    await fc.assert(
      fc.asyncProperty(walks, (steps) => new Walk().run(steps)),
      { numRuns: runs(200) },
    );
  });
});
