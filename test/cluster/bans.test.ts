import { request } from 'node:http';
import { Built } from '@apus/cli/testing';
import type { RunningNode } from '@apus/node';
import type * as mqtt from 'mqtt';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ClusterClient } from '../support/cluster-client.ts';
import { engineOrSkip, startEngine, type TestEngine } from '../support/engine-or-skip.ts';
import { needs } from '../support/skips.ts';
import { startMember } from '../support/start-cluster.ts';
import { unique } from '../support/unique.ts';

const program = engineOrSkip();
const KEPT = { clean: false, properties: { sessionExpiryInterval: 300 } };

/** Requests at a time. A busy machine refuses more connections. */
const AT_ONCE = 100;

interface Answer {
  readonly status: number;
  readonly body: { readonly data?: readonly { readonly who: string }[]; readonly code?: string };
}

async function api(httpUrl: string, method: string, path: string, body?: object): Promise<Answer> {
  const response = await fetch(new URL(`/api/v5${path}`, httpUrl), {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}

async function bannedAt({ httpUrl }: { httpUrl: string }): Promise<string[]> {
  const { body } = await api(httpUrl, 'GET', '/banned?limit=1000');
  return (body.data ?? []).map(({ who }) => who).sort();
}

/** How the connection of a banned client ends. */
function endOf({ client }: ClusterClient): Promise<number | undefined> {
  return new Promise((resolve) => client.once('disconnect', ({ reasonCode }) => resolve(reasonCode)));
}

/** The status of a handshake. */
function handshakeAt(url: string): Promise<number | undefined> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
    'sec-websocket-protocol': 'mqtt',
  };
  return new Promise((resolve, reject) => {
    request(url.replace('ws:', 'http:'), { headers })
      .on('response', ({ statusCode }) => resolve(statusCode))
      .on('upgrade', () => resolve(101))
      .on('error', reject)
      .end();
  });
}

async function refusalAt(url: string, options: mqtt.IClientOptions): Promise<number | undefined> {
  try {
    await ClusterClient.connect(url, options);
    return undefined;
  } catch (error) {
    return (error as { readonly code?: number }).code;
  }
}

describe('a ban at one of three processes', needs('engine', program), () => {
  let engine: TestEngine;
  let members: RunningNode[];

  beforeAll(async () => {
    engine = await startEngine(program);
    members = [];
    for (let count = 0; count < 3; count += 1) members.push(await startMember(engine.url));
  });

  afterAll(async () => {
    for (const member of members) await member.stop();
    await engine.stop();
  });

  const at = (index: number) => members[index % members.length] as RunningNode;

  it.each([0, 1, 2])(
    'ends the client at process %i before it is answered, and keeps it out of all [SEC-BAN-4]',
    async (home) => {
      const clientId = unique('pest');
      const pest = await ClusterClient.connect(at(home).url, { clientId });
      const bystander = await ClusterClient.connect(at(home).url);
      let code: number | undefined;
      void endOf(pest).then((reasonCode) => {
        code = reasonCode;
      });
      const closed = new Promise<void>((resolve) => pest.client.once('close', () => resolve()));
      const { status } = await api(at(0).httpUrl, 'POST', '/banned', { as: 'clientid', who: clientId });
      expect(status).toBe(200);
      expect((await api(at(home).httpUrl, 'GET', `/clients/${clientId}`)).status).toBe(404);
      await closed;
      expect(code).toBe(0x98);
      for (const { url } of members) expect(await refusalAt(url, { clientId })).toBe(0x8a);
      for (const member of members) expect(await bannedAt(member)).toContain(clientId);
      expect(bystander.client.connected).toBe(true);
      expect((await api(at(2).httpUrl, 'POST', '/banned', { as: 'clientid', who: clientId })).body.code).toBe(
        'ALREADY_EXISTS',
      );
      // Another process lifts the ban.
      expect((await api(at(1).httpUrl, 'DELETE', `/banned/clientid/${clientId}`)).status).toBe(204);
      for (const { url } of members) expect(await refusalAt(url, { clientId })).toBe(undefined);
    },
  );

  it('is known to a process that joins later, and expires everywhere at its time', async () => {
    const [clientId, forASecond] = [unique('pest'), unique('pest')];
    await api(at(0).httpUrl, 'POST', '/banned', { as: 'clientid', who: clientId });
    const until = new Date(Date.now() + 1500).toISOString();
    await api(at(0).httpUrl, 'POST', '/banned', { as: 'clientid', who: forASecond, until });
    const late = await startMember(engine.url);
    onTestFinished(() => late.stop());
    expect(await refusalAt(late.url, { clientId })).toBe(0x8a);
    for (const { url } of [...members, late])
      await expect.poll(() => refusalAt(url, { clientId: forASecond })).toBe(undefined);
    // An expired ban makes room in the engine when the next one is added.
    await api(late.httpUrl, 'POST', '/banned', { as: 'clientid', who: unique('pest') });
    for (const member of members) expect(await bannedAt(member)).not.toContain(forASecond);
  });

  it('leaves the same list everywhere when all of them change it at once', async () => {
    const names = Array.from({ length: 8 }, () => unique('pest'));
    const change = async (name: string, index: number) => {
      await api(at(index).httpUrl, 'POST', '/banned', { as: 'clientid', who: name });
      await Promise.all([
        api(at(index + 1).httpUrl, 'DELETE', `/banned/clientid/${name}`),
        api(at(index + 2).httpUrl, 'DELETE', `/banned/clientid/${name}`),
      ]);
      if (index % 2 === 0) await api(at(index + 1).httpUrl, 'POST', '/banned', { as: 'clientid', who: name });
    };
    await Promise.all(names.map(change));
    const lists = await Promise.all(members.map(bannedAt));
    const expected = names.filter((_, index) => index % 2 === 0).sort();
    for (const list of lists) expect(list.filter((name) => names.includes(name))).toEqual(expected);
  });

  it('is refused when the list is full, whichever process has filled it', async () => {
    const before = (await bannedAt(at(0))).length;
    const ban = (index: number) =>
      api(at(index).httpUrl, 'POST', '/banned', { as: 'clientid', who: unique(`filler-${index}`) });
    const answers: Answer[] = [];
    for (let from = 0; from < 1000 - before + 5; from += AT_ONCE) {
      const length = Math.min(AT_ONCE, 1000 - before + 5 - from);
      answers.push(...(await Promise.all(Array.from({ length }, (_, index) => ban(from + index)))));
    }
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1000 - before);
    expect(answers.filter(({ body }) => body.code === 'TOO_MANY')).toHaveLength(5);
    const [one, ...others] = await Promise.all(members.map(bannedAt));
    expect(one).toHaveLength(1000);
    for (const other of others) expect(other).toEqual(one);
    expect((await api(at(1).httpUrl, 'DELETE', '/banned')).status).toBe(204);
    for (const member of members) expect(await bannedAt(member)).toEqual([]);
  });

  it('of an address holds at all processes, and spares the sessions', async () => {
    const own = await startEngine(program);
    onTestFinished(() => own.stop());
    const [one, two] = [await startMember(own.url), await startMember(own.url)];
    onTestFinished(async () => {
      await one.stop();
      await two.stop();
    });
    const client = await ClusterClient.connect(two.url, { clientId: unique('c'), ...KEPT });
    const ended = endOf(client);
    await api(one.httpUrl, 'POST', '/banned', { as: 'peerhost', who: '127.0.0.1' });
    expect(await ended).toBe(0x98);
    expect(await handshakeAt(two.url)).toBe(403);
    await api(one.httpUrl, 'DELETE', '/banned/peerhost/127.0.0.1');
    const back = await ClusterClient.connect(two.url, {
      clientId: client.client.options.clientId ?? '',
      ...KEPT,
    });
    expect(back.client.connected).toBe(true);
  });
});

describe('a ban while a process is dead', needs('engine', program), () => {
  const built = new Built();

  it('is answered, and ends the sessions of that process at the process that takes them over', async () => {
    const engine = await startEngine(program);
    onTestFinished(() => engine.stop());
    const [dead, alive] = [
      await built.serve(['--cluster', engine.url]),
      await built.serve(['--cluster', engine.url]),
    ];
    const clientId = unique('pest');
    const pest = await ClusterClient.connect(dead.url, { clientId, ...KEPT });
    await pest.client.subscribeAsync(unique('t'), { qos: 1 });
    dead.process.kill('SIGSTOP');
    const { status } = await api(alive.pageUrl, 'POST', '/banned', { as: 'clientid', who: clientId });
    expect(status).toBe(200);
    await expect
      .poll(async () => (await api(alive.pageUrl, 'DELETE', `/banned/clientid/${clientId}`)).status)
      .toBe(204);
    const back = await ClusterClient.connect(alive.url, { clientId, ...KEPT, connectTimeout: 60_000 });
    expect((await api(alive.pageUrl, 'GET', `/clients/${clientId}/subscriptions`)).body).toEqual([]);
    expect(back.client.connected).toBe(true);
  });
});
