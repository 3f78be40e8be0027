import type { CloudOptions } from '@apus/aws/lambda';
import type { Identity, Refusal } from '@apus/broker';
import { rulesAuthorizer, rulesOfLists } from '@apus/broker';
import { ManualClock } from '@apus/emulated-aws';
import { Handshakes, handshakeAuthenticator } from '@apus/identity';
import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { gate } from '../support/gate.ts';
import { connect, type Fields, payloads, publish, subscribe, TextClient } from '../support/text-client.ts';
import type { CloudWorldOptions } from './options.ts';
import { type CloudWorld, startCloud } from './start-cloud.ts';

const OFFER = '(nudge,move,resume)';

type Sender = CloudOptions['dynamo'];
type UpdateCommandInput = {
  readonly Key?: { readonly s?: { readonly S?: string } };
  readonly UpdateExpression?: string;
};

let world: CloudWorld;

afterEach(async () => {
  await world.stop();
  expect(world.failures).toEqual([]);
});

async function start(options: Partial<CloudWorldOptions> = {}): Promise<void> {
  world = await startCloud({ seed: 1, ...options });
}

interface Resumable {
  readonly client: TextClient;
  readonly ticket: string;
}

/** A client that may resume, and has subscribed to `news`. */
async function resumable(fields: Fields = {}, qos = 1, url = world.url): Promise<Resumable> {
  const client = await TextClient.open(url, 5, OFFER);
  const reply = await client.exchange(connect(fields));
  await client.exchange(subscribe('news', { qos }));
  return { client, ticket: ticketOf(reply.move) };
}

/** `missed`: gaps that the reply to a resume may report besides. */
function ticketOf(move: string | undefined, missed?: 'g'): string {
  const [ticket = '', ...rest] = (move ?? '').split(',');
  expect(rest).toEqual(['7200', '60', ...(missed === undefined ? [] : [missed])]);
  return ticket;
}

/** The network breaks, and the server notices. */
async function lose({ client }: Resumable): Promise<void> {
  await client.vanish();
  await world.emulator.quiet();
}

/** The move field of the reply to a client that resumes over this connection. */
async function askedOn(client: TextClient, ticket: string): Promise<string | undefined> {
  client.sendText(`~!${ticket}`);
  return (await client.replies.next()).move;
}

/** Goes on over a new connection, and is sent what waits. */
async function resume(ticket: string, url = world.url) {
  const client = await TextClient.open(url);
  client.sendText(`~!${ticket}`);
  const { move, packets } = await client.replies.next();
  const missed = move?.endsWith(',g') === true;
  return { client, ticket: ticketOf(move, missed ? 'g' : undefined), packets, missed };
}

async function publishNews(payload: string, qos = 1, url = world.url): Promise<void> {
  const { client } = await TextClient.connect(url);
  await client.exchange(publish('news', payload, { qos }));
  if (qos === 2) await client.exchange({ cmd: 'pubrel', messageId: 1 });
  client.close();
}

async function pushedTo(client: TextClient): Promise<string[]> {
  return payloads((await client.pushes.next()).packets);
}

it.each([true, false])(
  'goes on with a session that ends with its connection (noticed: %s)',
  async (isNoticed) => {
    await start();
    const before = await resumable({ clientId: 'c' });
    if (isNoticed) await lose(before);
    const { client, ticket, packets } = await resume(before.ticket);
    expect(packets).toEqual([]);
    if (!isNoticed) expect(await before.client.expectClose()).toBe(1000);
    await publishNews('after');
    expect(await pushedTo(client)).toEqual(['after']);
    expect(ticket).not.toBe(before.ticket);
    await lose({ client, ticket });
    const again = await resume(ticket);
    await publishNews('again');
    expect(await pushedTo(again.client)).toEqual(['again']);
  },
);

it.each([1, 2])(
  'is sent the unacknowledged messages of a persistent session again, at QoS %i',
  async (qos) => {
    await start();
    const properties = { sessionExpiryInterval: 3_600 };
    const before = await resumable({ clientId: 'c', properties }, qos);
    await publishNews('one', qos);
    expect(await pushedTo(before.client)).toEqual(['one']);
    await lose(before);
    await publishNews('two', qos);
    const { client, packets } = await resume(before.ticket);
    expect(packets).toMatchObject([
      { cmd: 'publish', dup: true },
      { cmd: 'publish', dup: false },
    ]);
    expect(payloads(packets)).toEqual(['one', 'two']);
    for (const { messageId } of packets) {
      const [answer] = (await client.exchange({ cmd: qos === 1 ? 'puback' : 'pubrec', messageId })).packets;
      if (qos === 1) expect(answer).toBeUndefined();
      else expect(answer).toMatchObject({ cmd: 'pubrel', messageId });
    }
    await publishNews('three', qos);
    expect(await pushedTo(client)).toEqual(['three']);
  },
);

it('keeps messages of QoS 2 for a session that ends with its connection', async () => {
  await start();
  const before = await resumable({ clientId: 'c' }, 2);
  await lose(before);
  await publishNews('kept', 2);
  expect(payloads((await resume(before.ticket)).packets)).toEqual(['kept']);
});

describe('messages that come for a session that ends with its connection, while its client is away', () => {
  it.each([0, 1])('are kept also where one frame posts more than once, at QoS %i', async (qos) => {
    await start();
    const before = await resumable({ clientId: 'c' });
    await lose(before);
    const { client: watcher } = await TextClient.connect(world.url);
    await watcher.exchange(subscribe('state', { qos: 1 }));
    const { client } = await TextClient.connect(world.url);
    // The frame posts its earlier messages before it retains a newer message of a topic.
    const state = (payload: string, messageId: number) =>
      publish('state', payload, { qos: 1, retain: true, messageId });
    const news = (payload: string, messageId: number) => publish('news', payload, { qos, messageId });
    await client.exchange(
      news('one', 1),
      state('on', 2),
      state('off', 3),
      news('two', 4),
      state('on', 5),
      news('three', 6),
    );
    const { packets, missed } = await resume(before.ticket);
    expect({ kept: payloads(packets), missed }).toEqual({ kept: ['one', 'two', 'three'], missed: false });
  });

  it.each([0, 1])('are in the reply to the client that resumes, in their order, at QoS %i', async (qos) => {
    await start();
    const before = await resumable({ clientId: 'c' });
    await lose(before);
    for (const payload of ['one', 'two', 'three']) await publishNews(payload, qos);
    const { client, packets } = await resume(before.ticket);
    expect(payloads(packets)).toEqual(['one', 'two', 'three']);
    await publishNews('four', qos);
    expect(await pushedTo(client)).toEqual(['four']);
  });

  it('are at most 32, and the reply says that more came', async () => {
    await start();
    const before = await resumable({ clientId: 'c' });
    await lose(before);
    for (let n = 1; n <= 33; n += 1) await publishNews(String(n));
    const { client, packets, missed } = await resume(before.ticket);
    expect(payloads(packets)).toEqual(Array.from({ length: 32 }, (_, index) => String(index + 1)));
    expect(missed).toBe(true);
    await publishNews('34');
    expect(await pushedTo(client)).toEqual(['34']);
  });

  it('are reported as missing if workers send them', async () => {
    await start({ inlineSubscribersMax: 1, shardSubscribers: 10 });
    const others = [await resumable({ clientId: 'a' }), await resumable({ clientId: 'b' })];
    const before = await resumable({ clientId: 'c' });
    await lose(before);
    await publishNews('to many');
    for (const { client } of others) expect(await pushedTo(client)).toEqual(['to many']);
    await world.emulator.quiet();
    const { client, missed } = await resume(before.ticket);
    expect(missed).toBe(true);
    await publishNews('again');
    expect(await pushedTo(client)).toEqual(['again']);
  });
});

it.each([
  ['a forged secret', (ticket: string) => `${ticket.slice(0, -4)}AAAA`],
  ['a connection that never was', (ticket: string) => `AAAAAAAAAAAAAAA=.${ticket.split('.')[1]}`],
])('refuses a ticket with %s [SEC-MOVE-1]', async (_what, forge) => {
  await start();
  const { client, ticket } = await resumable({ clientId: 'c' });
  expect(await askedOn(await TextClient.open(world.url), forge(ticket))).toBe('!unknown');
  await publishNews('unharmed');
  expect(await pushedTo(client)).toEqual(['unharmed']);
});

it('refuses a used ticket, and does not affect the connection [SEC-MOVE-1]', async () => {
  await start();
  const { ticket } = await resumable({ clientId: 'c' });
  const { client } = await resume(ticket);
  expect(await askedOn(await TextClient.open(world.url), ticket)).toBe('!unknown');
  await publishNews('unharmed');
  expect(await pushedTo(client)).toEqual(['unharmed']);
});

it('refuses a repeated frame: the messages of the first reply would not come again', async () => {
  await start();
  const { ticket } = await resumable({ clientId: 'c' });
  const { client } = await resume(ticket);
  expect(await askedOn(client, ticket)).toBe('!unknown');
  await publishNews('once');
  expect(await pushedTo(client)).toEqual(['once']);
});

it('gives a session to one of two connections that ask at once', async () => {
  await start();
  const { ticket } = await resumable({ clientId: 'c' });
  const both = [await TextClient.open(world.url), await TextClient.open(world.url)];
  const answers = await Promise.all(both.map((each) => askedOn(each, ticket)));
  expect(answers.filter((answer) => answer === '!unknown')).toHaveLength(1);
  const winner = both[answers.findIndex((answer) => answer !== '!unknown')];
  await publishNews('once');
  expect(await pushedTo(winner as TextClient)).toEqual(['once']);
});

it('resumes a session that has moved, if its new connection is lost before the client knows of it', async () => {
  await start();
  const { ticket } = await resumable({ clientId: 'c' });
  const moved = await TextClient.open(world.url);
  moved.sendText(`~${ticket}`);
  ticketOf((await moved.replies.next()).move);
  // Not while that connection exists: then the client knows of it.
  expect(await askedOn(await TextClient.open(world.url), ticket)).toBe('!unknown');
  await lose({ client: moved, ticket });
  const { client, missed } = await resume(ticket);
  // Messages sent on the connection that the client has never used are lost.
  expect(missed).toBe(true);
  await publishNews('after');
  expect(await pushedTo(client)).toEqual(['after']);
});

it('resumes a subscription that a dead handler has not moved', async () => {
  let dies = true;
  const carriesFrom = 'contains(#entry, :from)';
  const whereMovesDie = (client: Sender): Sender => {
    const send = async (command: { input: object }) => {
      const { ConditionExpression: condition } = command.input as { ConditionExpression?: string };
      if (dies && condition === carriesFrom) throw new Error('the handler dies');
      return await (client.send as (each: typeof command) => Promise<unknown>)(command);
    };
    return { send: send as Sender['send'] };
  };
  await start({ alterations: { dynamo: whereMovesDie } });
  const { ticket } = await resumable({ clientId: 'c' });
  const moved = await TextClient.open(world.url);
  moved.sendText(`~${ticket}`);
  await expect.poll(() => world.failures.length).toBeGreaterThan(0);
  world.failures.length = 0;
  dies = false;
  await lose({ client: moved, ticket });
  expect(await subscribedConnection()).toBe(ticket.split('.')[0]);
  const { client, ticket: next } = await resume(ticket);
  // The item with the address of the new connection exists for an hour only.
  expect(await subscribedConnection()).toBe(next.split('.')[0]);
  await publishNews('after');
  expect(await pushedTo(client)).toEqual(['after']);
});

it('carries the new connection where a slow handler of the lost one stores its subscription late', async () => {
  let isSlow = false;
  const reached = gate();
  const released = gate();
  const whereOneIsSlow = (client: Sender): Sender => {
    const send = async (command: { input: object }) => {
      const { Key, UpdateExpression = '' } = command.input as UpdateCommandInput;
      if (isSlow && Key?.s?.S === 'list' && UpdateExpression.includes('#subscription')) {
        isSlow = false;
        reached.open();
        await released.opened;
      }
      return await (client.send as (each: typeof command) => Promise<unknown>)(command);
    };
    return { send: send as Sender['send'] };
  };
  await start({ alterations: { dynamo: whereOneIsSlow } });
  const before = await resumable({ clientId: 'c' });
  isSlow = true;
  before.client.send([subscribe('news', { qos: 1 })]);
  await reached.opened;
  await before.client.vanish();
  const { client, ticket } = await resume(before.ticket);
  await client.exchange(subscribe('news', { qos: 1 }));
  released.open();
  await world.emulator.quiet();
  expect(await subscribedConnection()).toBe(ticket.split('.')[0]);
  await publishNews('after');
  expect(await pushedTo(client)).toEqual(['after']);
});

/** The connection that the one subscription to `news` carries. */
async function subscribedConnection(): Promise<string | undefined> {
  const client = new DynamoDBClient(world.dynamoDb.clientConfig());
  onTestFinished(() => client.destroy());
  const { Items = [] } = await client.send(new ScanCommand({ TableName: 'apus' }));
  const head = Items.find(({ p }) => p?.S?.startsWith('F\0') === true && p.S.endsWith('news'));
  const [entry = ''] = Object.values(head ?? {}).flatMap(({ S = '' }) => (S.startsWith('[') ? S : []));
  return (JSON.parse(entry) as unknown[]).find((each) => /^[\w-]+=$/.test(String(each))) as
    | string
    | undefined;
}

it('refuses a connection that has a session of its own', async () => {
  await start();
  const { ticket } = await resumable({ clientId: 'c' });
  const other = await resumable({ clientId: 'other' });
  expect(await askedOn(other.client, ticket)).toBe('!unknown');
  await publishNews('unharmed');
  expect(await pushedTo(other.client)).toEqual(['unharmed']);
});

it('refuses after another CONNECT, which finds no session that ended with its connection [MQTT-4.1.0-2]', async () => {
  await start();
  const before = await resumable({ clientId: 'c' });
  await lose(before);
  const successor = await TextClient.open(world.url);
  const { packets } = await successor.exchange(connect({ clientId: 'c', clean: false }));
  expect(packets).toMatchObject([{ cmd: 'connack', sessionPresent: false }]);
  expect(await askedOn(await TextClient.open(world.url), before.ticket)).toBe('!unknown');
  await publishNews('not subscribed');
  await successor.expectNoPush();
});

it('refuses after DISCONNECT', async () => {
  await start();
  const { client, ticket } = await resumable({ clientId: 'c' });
  await client.exchange({ cmd: 'disconnect', reasonCode: 0 });
  client.close();
  await world.emulator.quiet();
  expect(await askedOn(await TextClient.open(world.url), ticket)).toBe('!unknown');
});

it('gives no grace to a client that has not offered to resume, and ends its session with its connection', async () => {
  await start();
  const client = await TextClient.open(world.url, 5, '(move)');
  const { move = '' } = await client.exchange(connect({ clientId: 'c' }));
  const [ticket = '', ...seconds] = move.split(',');
  expect(seconds).toEqual(['7200']);
  await lose({ client, ticket });
  expect(await askedOn(await TextClient.open(world.url), ticket)).toBe('!unknown');
});

it('ends the session when no client has resumed it for a minute', async () => {
  const clock = new ManualClock();
  await start({ clock });
  const client = await TextClient.open(world.url, 5, OFFER);
  const ticket = ticketOf((await client.exchange(connect({ clientId: 'c' }))).move);
  await lose({ client, ticket });
  await clock.advance(59_000);
  const second = await TextClient.open(world.url);
  const next = ticketOf(await askedOn(second, ticket));
  await lose({ client: second, ticket: next });
  await clock.advance(61_000);
  await world.emulator.quiet();
  expect(await askedOn(await TextClient.open(world.url), next)).toBe('!unknown');
});

/** The grace of a lost connection, in which its DISCONNECT may still be committing, and some more for its timer. */
const WILL_AFTER_SECONDS = 15;

/** All work of a second is finished before the next one begins. */
async function letSecondsPass(clock: ManualClock, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    await clock.advance(1_000);
    await world.emulator.quiet();
  }
}

/** Lets seconds pass until the reply has come: its frame needs a moment of real time. */
async function passing(clock: ManualClock, reply: Promise<unknown>): Promise<void> {
  let isThere = false;
  const seen = () => {
    isThere = true;
  };
  reply.then(seen, seen);
  while (!isThere) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    await clock.advance(1_000);
  }
  await reply;
}

it.each([true, false])(
  'withdraws the will only if the client returns in time (it does: %s)',
  async (isInTime) => {
    const clock = new ManualClock();
    await start({ clock });
    const watcher = await TextClient.open(world.url);
    await watcher.exchange(connect());
    await passing(clock, watcher.exchange(subscribe('wills', { qos: 1 })));
    const will = { topic: 'wills', payload: Buffer.from('gone'), qos: 1, retain: false };
    const client = await TextClient.open(world.url, 5, OFFER);
    const ticket = ticketOf((await client.exchange(connect({ clientId: 'c', will }))).move);
    await lose({ client, ticket });
    if (!isInTime) {
      await letSecondsPass(clock, WILL_AFTER_SECONDS);
      expect(await pushedTo(watcher)).toEqual(['gone']);
    }
    const back = await TextClient.open(world.url);
    const answer = await askedOn(back, ticket);
    if (!isInTime) return expect(answer).toBe('!unknown');
    const next = ticketOf(answer);
    await letSecondsPass(clock, WILL_AFTER_SECONDS);
    await watcher.expectNoPush();
    await lose({ client: back, ticket: next });
    await letSecondsPass(clock, WILL_AFTER_SECONDS);
    expect(await pushedTo(watcher)).toEqual(['gone']);
  },
);

/** Takes a token that is a name and the filters it may have. */
const tokens = {
  async verify(token: string): Promise<Identity | Refusal> {
    const [name = '', filter = ''] = token.split(':');
    const rules = rulesOfLists([filter], [filter]);
    return { tenant: 'default', name, rules, expiresAtMs: Date.now() + 3_600_000 };
  },
};

const withTokens: Partial<CloudWorldOptions> = {
  tokens,
  handshakes: new Handshakes({ chain: tokens, allowsPassword: true }),
  authenticator: handshakeAuthenticator,
  authorizer: rulesAuthorizer,
};

const urlOf = (token: string) => `${world.url}?token=${encodeURIComponent(token)}`;

it('goes on for the same identity alone, with the rights of its present token [SEC-MOVE-1]', async () => {
  await start(withTokens);
  const before = await resumable({ clientId: 'c' }, 1, urlOf('ada:#'));
  await before.client.exchange(subscribe('own/c', { qos: 1 }));
  for (const url of [urlOf('mallory:#'), world.url])
    expect(await askedOn(await TextClient.open(url), before.ticket)).toBe('!refused');
  await publishNews('unharmed', 1, urlOf('ada:#'));
  expect(await pushedTo(before.client)).toEqual(['unharmed']);
  await lose(before);
  const { client } = await resume(before.ticket, urlOf('ada:own/#'));
  await publishNews('no longer', 1, urlOf('ada:#'));
  const { client: publisher } = await TextClient.connect(urlOf('ada:#'));
  await publisher.exchange(publish('own/c', 'still', { qos: 1 }));
  expect(await pushedTo(client)).toEqual(['still']);
});
