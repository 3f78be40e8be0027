import { type Identity, type Refusal, rulesAuthorizer, rulesOfLists } from '@apus/broker';
import { Handshakes, handshakeAuthenticator } from '@apus/identity';
import { afterAll, expect, it } from 'vitest';
import { connect, type Fields, payloads, publish, subscribe, TextClient } from '../support/text-client.ts';
import type { CloudWorldOptions } from './options.ts';
import { type CloudWorld, startCloud } from './start-cloud.ts';

const OFFER = '(nudge,move)';

/** A deployment for all tests with the same options: the first SUBSCRIBE of a shape waits for two seconds. */
const worlds = new Map<Partial<CloudWorldOptions>, CloudWorld>();
let world: CloudWorld;

afterAll(async () => {
  for (const each of worlds.values()) {
    await each.stop();
    expect(each.failures).toEqual([]);
  }
});

const OPEN: Partial<CloudWorldOptions> = {};

async function start(options = OPEN): Promise<void> {
  world = worlds.get(options) ?? (await startCloud({ seed: 1, ...options }));
  worlds.set(options, world);
}

interface Moving {
  readonly client: TextClient;
  /** Proves that its holder is this client. */
  readonly ticket: string;
}

/** A client that may move, and has subscribed to `news` at QoS 1. */
async function movable(fields: Fields = {}, url = world.url): Promise<Moving> {
  const client = await TextClient.open(url, 5, OFFER);
  const reply = await client.exchange(connect(fields));
  await client.exchange(subscribe('news', { qos: 1 }));
  return { client, ticket: ticketOf(reply.move) };
}

function ticketOf(move: string | undefined): string {
  const [ticket = '', seconds] = (move ?? '').split(',');
  expect(seconds).toBe('7200');
  return ticket;
}

/** The move field of the reply to a move to this connection. */
async function askedOn(client: TextClient, ticket: string): Promise<string | undefined> {
  client.sendText(`~${ticket}`);
  return (await client.replies.next()).move;
}

async function pushedTo(client: TextClient): Promise<string[]> {
  return payloads((await client.pushes.next()).packets);
}

/** Publishes to `news` as another client. */
async function publishNews(payload: string, url = world.url): Promise<void> {
  const { client } = await TextClient.connect(url);
  await client.exchange(publish('news', payload, { qos: 1 }));
  client.close();
}

/** Expects that the client still has its session on its former connection. */
async function expectUnharmed({ client }: Moving): Promise<void> {
  await publishNews('still there');
  expect(await pushedTo(client)).toEqual(['still there']);
  expect((await client.exchange({ cmd: 'pingreq' })).packets).toMatchObject([{ cmd: 'pingresp' }]);
}

it('moves subscriptions and cuts the old connection, whose frames have no effect any more', async () => {
  await start();
  const { client: old, ticket } = await movable({ clientId: 'c' });
  const now = await TextClient.open(world.url);
  const next = ticketOf(await askedOn(now, ticket));
  expect(await old.expectClose()).toBe(1000);
  await publishNews('after');
  expect(await pushedTo(now)).toEqual(['after']);
  expect(next).not.toBe(ticket);
  const third = await TextClient.open(world.url);
  ticketOf(await askedOn(third, next));
  expect(await now.expectClose()).toBe(1000);
  await publishNews('again');
  expect(await pushedTo(third)).toEqual(['again']);
});

it('answers a repeated frame with the same ticket, and changes nothing', async () => {
  await start();
  const { ticket } = await movable({ clientId: 'c' });
  const now = await TextClient.open(world.url);
  const first = await askedOn(now, ticket);
  await now.exchange(subscribe('more', { qos: 1 }));
  expect(await askedOn(now, ticket)).toBe(first);
  await publishNews('after');
  expect(await pushedTo(now)).toEqual(['after']);
});

it.each([
  ['a forged secret', (ticket: string) => `${ticket.slice(0, -4)}AAAA`],
  ['no secret', (ticket: string) => ticket.split('.')[0] ?? ''],
  ['a connection that never was', (ticket: string) => `AAAAAAAAAAAAAAA=.${ticket.split('.')[1]}`],
])('refuses a ticket with %s, and leaves the connection alone [SEC-MOVE-1]', async (_what, forge) => {
  await start();
  const moving = await movable({ clientId: 'c' });
  expect(await askedOn(await TextClient.open(world.url), forge(moving.ticket))).toBe('!unknown');
  await expectUnharmed(moving);
});

it('refuses a ticket that has been used [SEC-MOVE-1]', async () => {
  await start();
  const { ticket } = await movable({ clientId: 'c' });
  const now = await TextClient.open(world.url);
  const next = ticketOf(await askedOn(now, ticket));
  expect(await askedOn(await TextClient.open(world.url), ticket)).toBe('!unknown');
  await expectUnharmed({ client: now, ticket: next });
});

it('gives a session to only one of two connections that ask at once', async () => {
  await start();
  const { ticket } = await movable({ clientId: 'c' });
  const both = [await TextClient.open(world.url), await TextClient.open(world.url)];
  const answers = await Promise.all(both.map((each) => askedOn(each, ticket)));
  expect(answers.filter((answer) => answer === '!unknown')).toHaveLength(1);
  const winner = both[answers.findIndex((answer) => answer !== '!unknown')];
  if (winner === undefined) throw new Error('neither has the session');
  await expectUnharmed({ client: winner, ticket });
});

it("does not move one client's session to another one's connection [SEC-MOVE-1]", async () => {
  await start();
  const moving = await movable({ clientId: 'c' });
  const other = await movable({ clientId: 'other' });
  expect(await askedOn(other.client, moving.ticket)).toBe('!unknown');
  await publishNews('to both');
  for (const { client } of [moving, other]) expect(await pushedTo(client)).toEqual(['to both']);
});

it('refuses a ticket of a session that another connection has taken over', async () => {
  await start();
  const { ticket } = await movable({ clientId: 'c' });
  const successor = await movable({ clientId: 'c' });
  expect(await askedOn(await TextClient.open(world.url), ticket)).toBe('!unknown');
  await expectUnharmed(successor);
});

it('gives a session that has moved to another CONNECT, and closes the connection that it moved to', async () => {
  await start();
  const { ticket } = await movable({ clientId: 'c' });
  const now = await TextClient.open(world.url);
  await askedOn(now, ticket);
  const successor = await movable({ clientId: 'c' });
  expect((await now.pushes.next()).packets).toMatchObject([{ cmd: 'disconnect', reasonCode: 0x8e }]);
  expect(await now.expectClose()).toBe(1000);
  await expectUnharmed(successor);
});

it('waits until the client has fetched its waiting messages', async () => {
  await start();
  const retained = await TextClient.connect(world.url);
  for (const number of [1, 2, 3])
    await retained.client.exchange(
      publish(`kept/${number}`, 'x'.repeat(15_000), { retain: true, qos: 1, messageId: number }),
    );
  const { client, ticket } = await movable({ clientId: 'c' });
  expect((await client.exchange(subscribe('kept/#', { qos: 1 }))).more).toBe(true);
  const now = await TextClient.open(world.url);
  expect(await askedOn(now, ticket)).toBe('!later');
  while ((await client.fetch()).more);
  ticketOf(await askedOn(now, ticket));
});

it('gives no ticket to a client that has not offered to move', async () => {
  await start();
  const client = await TextClient.open(world.url, 5, '(nudge)');
  expect((await client.exchange(connect())).move).toBeUndefined();
});

it.each([true, false])(
  'keeps the will of the session for its end (sent DISCONNECT: %s)',
  async (isDisconnect) => {
    await start();
    const watcher = await movable({ clientId: 'watcher' });
    const will = { topic: 'news', payload: Buffer.from('gone'), qos: 1, retain: false };
    const { client: old, ticket } = await movable({ clientId: 'c', will });
    const now = await TextClient.open(world.url);
    ticketOf(await askedOn(now, ticket));
    expect(await old.expectClose()).toBe(1000);
    // Any disconnect with 0x04 keeps the will.
    await now.exchange({ cmd: 'disconnect', reasonCode: isDisconnect ? 0 : 4 });
    now.close();
    if (!isDisconnect) expect(await pushedTo(watcher.client)).toEqual(['gone']);
    else await watcher.client.expectNoPush();
  },
);

/** Accepts a token that consists of a name and the allowed filters. */
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

it.each(['mallory:#', ''])(
  'refuses a ticket to a connection whose token is "%s" [SEC-MOVE-1]',
  async (token) => {
    await start(withTokens);
    const { client, ticket } = await movable({ clientId: 'c' }, urlOf('ada:#'));
    const url = token === '' ? world.url : urlOf(token);
    expect(await askedOn(await TextClient.open(url), ticket)).toBe('!refused');
    await publishNews('still there', urlOf('ada:#'));
    expect(await pushedTo(client)).toEqual(['still there']);
  },
);

it('ends the subscriptions that the token of the new connection does not allow [SEC-MOVE-1]', async () => {
  await start(withTokens);
  const { client: old, ticket } = await movable({ clientId: 'c' }, urlOf('ada:#'));
  await old.exchange(subscribe('own/c', { qos: 1 }));
  const now = await TextClient.open(urlOf('ada:own/#'));
  ticketOf(await askedOn(now, ticket));
  await publishNews('no longer', urlOf('ada:#'));
  const { client: publisher } = await TextClient.connect(urlOf('ada:#'));
  await publisher.exchange(publish('own/c', 'still', { qos: 1 }));
  expect(await pushedTo(now)).toEqual(['still']);
});
