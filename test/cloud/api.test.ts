import { OPERATION_IDS, OPERATIONS, type OperationId } from '@apus/api';
import type { ApiFunction } from '@apus/aws/lambda';
import { rulesOfLists } from '@apus/broker';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Answered, Document, type Trial } from '../api/document.ts';
import { call, KEY, KEYS } from './api-caller.ts';
import { type ApiParts, bridgesOf, countersOver, describedFor, FakeStage, rulesBeside } from './api-parts.ts';
import { type Found, LETTERS, PASSWORD, trialsOf } from './api-trials.ts';
import { Program } from './program.ts';
import { type InProcessWorld, startCloudInProcess } from './start-cloud-in-process.ts';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const [OWN, OTHER, EMPTY] = ['acme', 'others', 'empty'];

/** Operations that ask another service, which may not answer. */
const AWAITED: readonly OperationId[] = ['listRules', 'getMetrics', 'getPrometheus', 'getBreaker'];

/** Whether the target of the rule takes messages from now on. */
const takes = (isTaken: boolean) => {
  outside.target.takes = isTaken;
};
/** Which further parts the functions have from now on. */
const has = (some: 'all' | 'none') => {
  parts = some === 'all' ? whole : {};
};

function isOfNode(id: OperationId): boolean {
  return OPERATIONS[id].doors?.includes('deployment') === false;
}

/** Answers that these tests cannot cause. */
const OUT_OF_REACH = [
  // Caused by a bug, or by a table that is too large for the time.
  ...OPERATION_IDS.flatMap((id) => [`${id} 500`, ...(AWAITED.includes(id) ? [] : [`${id} 503`])]),
  // Returned by a node for an operation that only a deployment answers.
  ...OPERATION_IDS.filter((id) => OPERATIONS[id].doors?.includes('node') === false).map((id) => `${id} 501`),
  // Answered by a node alone.
  ...OPERATION_IDS.filter(isOfNode).flatMap((id) =>
    Object.keys(OPERATIONS[id].answers).map((status) => `${id} ${status}`),
  ),
  // Returned by a hub, or by a node without a users file.
  ...['getAsyncApi 501', 'listUsers 501', 'addUser 501', 'changeUser 501', 'removeUser 501'],
  ...['publishBulk 200', 'publishBulk 413', 'publishBulk 415'],
  // Returned by a node without a register.
  ...['listTenants 404', 'createTenant 404'],
];

const TRIALS = trialsOf({ takes, has });

let world: InProcessWorld;
const programs: Program[] = [];
let document: Document;
let found: Found;
let outside: Awaited<ReturnType<typeof rulesBeside>>;
let whole: ApiParts;
let parts: ApiParts;

beforeAll(async () => {
  world = await startCloudInProcess({
    ...{ seed: 7, streams: [{ name: 'chat', topicFilter: 'chat/#' }], presence: true, usage: true },
    authenticator: {
      authenticate: ({ username: tenant = 'default' }) => ({
        ...{ tenant, name: 'ann', tokenId: 't-1', clientIds: ['+'] },
        rules: rulesOfLists(['#', '$presence/#'], ['#']),
      }),
    },
  });
  outside = await rulesBeside(['default', OWN], LETTERS);
  whole = {
    rules: outside.rules,
    counters: countersOver(Date.UTC(2026, 10, 27, 12), 5),
    described: describedFor(['default', OWN]),
    bridges: bridgesOf(['default', OWN]),
    breaker: new FakeStage().breaker(),
  };
  parts = whole;
  await furnish('default');
  await furnish(OWN);
  const openApi = await call(newFunction(), { method: 'GET', path: '/openapi.json' });
  document = new Document(openApi.body);
  const { body: messages } = await ask('listStreamMessages', {
    path: { name: 'chat' },
    query: '?topic=chat/a',
  });
  const [message] = (messages as { readonly data: readonly { readonly position: string }[] }).data;
  found = { position: message?.position ?? '' };
});

afterAll(async () => {
  for (const { mqtt } of programs) await mqtt.endAsync(true);
  world.stop();
  expect(world.failures).toEqual([]);
});

/** A table with this many sessions of the default tenant. */
function scanOf(sessions: number): NonNullable<ApiParts['scan']> {
  const found = Array.from({ length: sessions }, (_, index) => ({
    ...{ kind: 'session', tenant: 'default', clientId: `c${index}`, incarnation: 'i' },
  }));
  return { page: async () => ({ found, next: undefined }) } as unknown as NonNullable<ApiParts['scan']>;
}

/** A client with a subscription, a member, a retained message, one of a stream, a ban, and a user. */
async function furnish(tenant: string): Promise<void> {
  const kept = { clean: false, properties: { sessionExpiryInterval: 300 } };
  const { mqtt } = new Program(world.emulator, 'ann', { ...kept, username: tenant });
  programs.push({ mqtt } as Program);
  await mqtt.subscribeAsync(['news/#', '$share/g/work/+'], { qos: 1 });
  await mqtt.publishAsync('$presence/room/ann', 'here', { qos: 1 });
  await mqtt.publishAsync('state', 'kept', { qos: 1, retain: true });
  await mqtt.publishAsync('chat/a', 'said', { qos: 1 });
  const body = { as: 'username', who: 'eve', reason: 'spam' };
  const headers = { 'apus-tenant': tenant };
  expect((await call(newFunction(), { method: 'POST', path: '/banned' }, { headers, body })).status).toBe(
    200,
  );
  const user = { name: 'bob', password: PASSWORD, publish: [], subscribe: [] };
  const added = await call(newFunction(), { method: 'POST', path: '/users' }, { headers, body: user });
  expect(added.status).toBe(204);
}

/** In a new environment, whose rate limits are unused. */
function newFunction(): ApiFunction {
  return world.apiFunction({ keysSha256: KEYS }, parts);
}

async function ask(id: OperationId, trial: Omit<Trial, 'status'> = {}): Promise<Answered> {
  return await call(newFunction(), document.operation(id), trial);
}

describe('the API of a deployment, for an empty tenant beside one with all kinds of data', () => {
  const questions = () =>
    document.operations.filter(
      ({ operationId, method, 'x-apus-scope': scope }) =>
        scope === 'tenant' && method === 'GET' && !isOfNode(operationId as OperationId),
    );
  const successOf = (id: OperationId) => TRIALS[id]?.(found).find(({ status }) => status < 300);
  const tell = async (tenant: string): Promise<Readonly<Record<string, unknown>>> => {
    const answers: Record<string, unknown> = {};
    for (const { operationId } of questions()) {
      const { path = {}, query = '' } = successOf(operationId as OperationId) ?? {};
      const answer = await ask(operationId as OperationId, {
        path,
        query,
        headers: { 'apus-tenant': tenant },
      });
      answers[operationId] = { status: answer.status, body: answer.body };
    }
    return answers;
  };

  it('returns nothing of the other tenant [SEC-TENANT-4]', async () => {
    const [own, other, empty] = [await tell(OWN), await tell(OTHER), await tell(EMPTY)];
    expect(other).toEqual(empty);
    for (const { operationId } of questions())
      expect(own[operationId], operationId).not.toEqual(other[operationId]);
  });

  it('changes and removes nothing of the other tenant [SEC-TENANT-4]', async () => {
    const before = await tell(OWN);
    for (const { operationId, method, 'x-apus-scope': scope } of document.operations) {
      if (method === 'GET' || scope !== 'tenant') continue;
      const { path = {}, body } = successOf(operationId as OperationId) ?? {};
      await ask(operationId as OperationId, { path, body, headers: { 'apus-tenant': OTHER } });
      expect(await tell(OWN), operationId).toEqual(before);
    }
  });
});

describe('the API document at a deployment', () => {
  it('is the same as at a node, and each operation is tried', () => {
    const ids = document.operations.map(({ operationId }) => operationId);
    expect([...ids].sort()).toEqual([...OPERATION_IDS].sort());
    expect(Object.keys(TRIALS).sort()).toEqual([...OPERATION_IDS].sort());
  });

  it.each(Object.keys(TRIALS) as OperationId[])('describes the answers of %s', async (id) => {
    for (const trial of TRIALS[id]?.(found) ?? []) {
      trial.before?.();
      const answered = await ask(id, trial);
      expect(answered, `${id} ${trial.query ?? ''}`).toMatchObject({ status: trial.status });
      document.expectAnswer(id, answered);
    }
  });

  it('describes the answers if another service does not answer, and if there are too many sessions', async () => {
    const silence = new Error('it is silent');
    parts = {
      rules: { ...outside.rules, ask: () => Promise.reject(silence) },
      counters: countersOver(0, 0, true),
      scan: scanOf(2_001),
      breaker: Object.assign(new FakeStage(), { isSilent: true }).breaker(),
    };
    for (const id of AWAITED) {
      const answered = await ask(id);
      expect(answered, id).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
      document.expectAnswer(id, answered);
    }
    const answered = await ask('listTopics');
    expect(answered).toMatchObject({
      status: 501,
      body: { message: expect.stringContaining('2000 sessions') },
    });
    document.expectAnswer('listTopics', answered);
    parts = whole;
  });

  it('describes the answers of a deployment without presence and usage', async () => {
    const bare = await startCloudInProcess({ seed: 8 });
    const handler = bare.apiFunction({ keysSha256: KEYS });
    for (const id of ['listMembers', 'getUsage'] as const) {
      const answered = await call(handler, document.operation(id));
      expect(answered, id).toMatchObject({ status: 501, body: { code: 'NOT_SUPPORTED' } });
      document.expectAnswer(id, answered);
    }
    expect(await call(handler, document.operation('listStreams'))).toMatchObject({ body: { data: [] } });
    bare.stop();
    expect(bare.failures).toEqual([]);
  });

  it('describes the answers for backends at the URL of httpPublish', async () => {
    const keys = [
      { name: 'backend', key: KEY, publish: ['news/#', 'a/#'], subscribe: ['chat/#', '$presence/#'] },
    ];
    const backend = world.publishFunction(JSON.stringify({ keys })) as ApiFunction;
    const json = { 'content-type': 'application/json' };
    const trials: readonly (readonly [OperationId, Trial])[] = [
      ['publish', { status: 200, body: { topic: 'news/a', payload: 'x' }, headers: json }],
      ['publish', { status: 202, body: { topic: 'a/b', payload: 'x' }, headers: json }],
      ['publish', { status: 400, body: { topic: 'a/#', payload: 'x' }, headers: json }],
      ['publish', { status: 403, body: { topic: 'other', payload: 'x' }, headers: json }],
      ['publish', { status: 413, body: { topic: 'a/b', payload: 'x'.repeat(200_000) }, headers: json }],
      ['publish', { status: 415, body: '{}' }],
      ['publish', { status: 401, body: '{}', headers: { ...json, authorization: 'Bearer no' } }],
      ['publishBulk', { status: 202, body: [{ topic: 'a/b', payload: 'x' }], headers: json }],
      ['listStreams', { status: 200 }],
      ['listStreamMessages', { status: 200, path: { name: 'chat' }, query: '?topic=chat/a' }],
      ['listStreamMessages', { status: 404 }],
      ['listMembers', { status: 200, path: { room: 'room' } }],
      ['listMembers', { status: 400, path: { room: 'a/b' } }],
    ];
    for (const [id, trial] of trials) {
      const described = document.operation(id);
      expect(described['x-apus-roles']).toContain('backend');
      const answered = await call(backend, described, trial);
      expect(answered, `${id} ${answered.text}`).toMatchObject({ status: trial.status });
      document.expectAnswer(id, answered);
    }
  });

  it('describes the answers for callers without a key, and for invalid tenants', async () => {
    const iam = world.apiFunction({ keysSha256: undefined });
    for (const { operationId } of document.operations) {
      const id = operationId as OperationId;
      const told = async (status: number, answered: Answered) => {
        expect(answered.status, id).toBe(status);
        document.expectAnswer(id, answered);
      };
      await told(401, await ask(id, { headers: { authorization: '' } }));
      await told(401, await ask(id, { headers: { authorization: `Bearer ${KEYS[0]}` } }));
      await told(400, await ask(id, { headers: { 'apus-tenant': 'a b' } }));
      await told(403, await call(iam, document.operation(id)));
      const flood = newFunction();
      let last = await call(flood, document.operation(id), { headers: { authorization: '' } });
      for (let count = 0; count < 40; count += 1)
        last = await call(flood, document.operation(id), { headers: { authorization: '' } });
      await told(429, last);
    }
  });

  it('takes a name in the query that no path can have, and no parameter twice', async () => {
    const at = (path: string, query: string) => call(newFunction(), { method: 'GET', path }, { query });
    expect(await at('/clients/', '?clientid=ann')).toMatchObject({ status: 200, body: { clientid: 'ann' } });
    expect(await at('/clients/', '')).toMatchObject({ status: 400 });
    expect(await at('/clients', '?clientid=ann&clientid=bob')).toMatchObject({ status: 400 });
  });

  it('lists all methods and paths', async () => {
    for (const path of new Set(document.operations.map((each) => each.path))) {
      const taken = document.operations.filter((each) => each.path === path).map(({ method }) => method);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        if (taken.includes(method)) continue;
        const answered = await call(newFunction(), { method, path });
        expect(answered.status, `${method} ${path}`).toBe(405);
        document.expectOther('MethodNotAllowed', answered);
      }
    }
    for (const path of ['', '/', '/nodes', '/clients/a/b', '/openapi.yaml'])
      document.expectOther('NotFound', await call(newFunction(), { method: 'GET', path }));
  });

  it('contains no answers that these tests do not see, with a few exceptions', () => {
    const seenElsewhere = ['400', '401', '403', '429'];
    const outOfReach = OUT_OF_REACH.filter((name) => !seenElsewhere.includes(name.split(' ')[1] ?? ''));
    expect([...document.unseen()].sort()).toEqual([...new Set(outOfReach)].sort());
  });
});
