import { rmSync } from 'node:fs';
import type { OperationId } from '@apus/api';
import { needsWorkerd, newFolder, startLocal } from '@apus/cloudflare/testing';
import mqtt from 'mqtt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answered, callApi, Document, type Trial } from './document.ts';
import { connectAnn, HASH, KEY, lagBehind, SECRET, tokenFor } from './furnished-node.ts';
import { type Found, RULE, TRIALS } from './trials.ts';

/** Operations for which an object has nothing: the answer to the request that succeeds at a node. */
const NOT_THERE: Partial<Record<OperationId, 404 | 501>> = {
  ...{ getAsyncApi: 501, getBreaker: 501, streamEvents: 501 },
  ...{ getMonitor: 501, listClientEvents: 501, listAlarms: 501, clearAlarms: 501 },
  ...{ listTraces: 501, startTrace: 501, getTraceLog: 501, removeTrace: 501 },
  ...{ listTenants: 404, createTenant: 404, getTenant: 404, changeTenant: 404, removeTenant: 404 },
  ...{ listDeadLetters: 404, getDeadLetter: 404, sendDeadLetter: 404, discardDeadLetter: 404 },
  ...{ sendDeadLetters: 404, discardDeadLetters: 404 },
};

const KEYED = { authorization: `Bearer ${KEY}` };

describe('the HTTP API of an object', needsWorkerd, () => {
  const ends: (() => unknown)[] = [];
  let base: string;
  let document: Document;
  let found: Found;

  const ask = async (id: OperationId, trial: Omit<Trial, 'status'> = {}): Promise<Answered> =>
    await callApi(base, document.operation(id), { ...trial, headers: { ...KEYED, ...trial.headers } });

  beforeAll(async () => {
    const folder = newFolder();
    const texts = {
      CONFIGURATION: JSON.stringify({ streams: [{ name: 'chat', topicFilter: 'chat/#' }] }),
      IDENTITY: JSON.stringify({ authenticators: [{ jwt: { secret: SECRET } }, { users: { table: true } }] }),
      API_KEY: KEY,
    };
    const workerd = await startLocal({ folder, port: 0, texts, log: () => {} });
    ends.push(
      () => workerd.stop(),
      () => rmSync(folder, { recursive: true }),
    );
    const url = `ws://127.0.0.1:${workerd.port}/mqtt`;
    base = `http://127.0.0.1:${workerd.port}/api/v5`;
    document = new Document(await (await fetch(`${base}/openapi.json`, { headers: KEYED })).json());
    const token = await tokenFor('default');
    const client = await connectAnn(url, token);
    ends.unshift(() => client.endAsync(true));
    await lagBehind(url, client, token);
    const ban = { as: 'username', who: 'eve', reason: 'spam' };
    expect((await ask('addBan', { body: ban })).status).toBe(200);
    const bob = { name: 'bob', password: HASH, publish: ['#'], subscribe: [] };
    expect((await ask('addUser', { body: bob })).status).toBe(204);
    const read = await ask('listStreamMessages', { path: { name: 'chat' }, query: '?topic=chat/a' });
    const [message] = (read.body as { readonly data: readonly { readonly position: string }[] }).data;
    found = {
      position: message?.position ?? '',
      letters: ['none', 'none'],
      token,
      furnished: { target: 200 },
    };
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  const trialsOf = (id: OperationId): readonly Trial[] => {
    const status = NOT_THERE[id];
    const trials = TRIALS[id](found);
    if (status !== undefined) return trials.slice(0, 1).map((trial) => ({ ...trial, status }));
    // There is no rule.
    return trials.filter(({ path }) => path?.clientid !== `$rule/${RULE.name}`);
  };

  it.each(Object.keys(TRIALS) as OperationId[])('answers %s as the document describes it', async (id) => {
    for (const trial of trialsOf(id)) {
      const answered = await ask(id, trial);
      expect(answered, `${id} ${trial.query ?? ''}`).toMatchObject({ status: trial.status });
      document.expectAnswer(id, answered);
    }
  });

  it('answers a caller without a key, with a wrong one, or with an invalid tenant [SEC-TENANT-10]', async () => {
    for (const { operationId } of document.operations) {
      const id = operationId as OperationId;
      // Its callers show the token of a client and no key: a hub tells all of them that it has no such stream.
      if (id === 'streamEvents') continue;
      for (const [status, headers] of [
        [401, { authorization: '' }],
        [401, { authorization: 'Bearer wrong' }],
        [400, { 'apus-tenant': 'a b' }],
        [400, { 'apus-tenant': '../default' }],
      ] as const) {
        const answered = await ask(id, { headers });
        // A flood of wrong keys from one address has to wait.
        if (answered.status === 429) continue;
        expect(answered.status, operationId).toBe(status);
        document.expectAnswer(id, answered);
      }
    }
  });

  it('shows nothing of one tenant to the operator of another [SEC-TENANT-4]', async () => {
    const headers = { 'apus-tenant': 'others' };
    await ask('publish', { body: { topic: 'of/others', payload: 'x', retain: true }, headers });
    const topics = async (more: object) => {
      const { body } = await ask('listRetained', { headers: { ...more } });
      return (body as { readonly data: readonly { readonly topic: string }[] }).data.map(
        ({ topic }) => topic,
      );
    };
    expect(await topics(headers)).toEqual(['of/others']);
    expect(await topics({})).not.toContain('of/others');
  });

  it('ends the connection of a client that is banned, and refuses it from then on [SEC-BAN-4]', async () => {
    const url = base.replace('http:', 'ws:').replace('/api/v5', '/mqtt');
    const options = {
      protocolVersion: 5,
      username: 'ann',
      password: found.token,
      reconnectPeriod: 0,
    } as const;
    const client = await mqtt.connectAsync(url, { ...options, clientId: 'ann-banned' });
    const closed = new Promise((resolve) => client.once('close', () => resolve('closed')));
    await ask('addBan', { body: { as: 'clientid', who: 'ann-banned' } });
    expect(await closed).toBe('closed');
    await expect(mqtt.connectAsync(url, { ...options, clientId: 'ann-banned' })).rejects.toThrow();
  });
});
