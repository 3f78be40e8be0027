import { OPERATION_IDS, OPERATIONS, type OperationId } from '@apus/api';
import { startDoors } from '@apus/cli';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answered, callApi, type Described, Document, type Trial } from './document.ts';
import { type FurnishedNode, KEY, startFurnishedNode } from './furnished-node.ts';
import { type Found, RULE, TENANT_NAME, TRIALS } from './trials.ts';

const [OWN, OTHER, EMPTY] = ['acme', 'others', 'empty'];

/** Answers that no request of these tests causes. */
const OUT_OF_REACH = [
  // Only a bug causes it.
  ...OPERATION_IDS.map((id) => `${id} 500`),
  // Only a deployment (test/cloud/api.test.ts) or a cluster (test/cluster/api.test.ts) gives it.
  ...OPERATION_IDS.flatMap((id) => [`${id} 429`, `${id} 503`]),
  ...OPERATION_IDS.filter((id) => OPERATIONS[id].doors?.includes('node') === false).flatMap((id) =>
    Object.keys(OPERATIONS[id].answers).map((status) => `${id} ${status}`),
  ),
  // Only a deployment gives it, for what a node alone answers.
  ...OPERATION_IDS.filter((id) => OPERATIONS[id].doors?.includes('deployment') === false).map(
    (id) => `${id} 501`,
  ),
  // Only a hub gives it.
  'getAsyncApi 501',
  // Only a deployment without presence, without usage or with too many sessions gives it.
  ...['listMembers 501', 'getUsage 501', 'listTopics 501'],
];

const KEYED = { authorization: `Bearer ${KEY}` };

describe('the OpenAPI document of a node', () => {
  let furnished: FurnishedNode;
  let document: Document;
  let found: Found;
  beforeAll(async () => {
    furnished = await startFurnishedNode(['default', OWN]);
    for (const tenant of ['default', OWN]) await furnished.furnish(tenant);
    const openApi = await fetch(`${furnished.base}/openapi.json`, { headers: KEYED });
    document = new Document(await openApi.json());
    found = await lookAround();
  });
  afterAll(async () => await furnished.stop());

  const ask = async (id: OperationId, trial: Omit<Trial, 'status'> = {}): Promise<Answered> => {
    const headers = { ...KEYED, ...trial.headers };
    return await callApi(furnished.base, document.operation(id), { ...trial, headers });
  };

  async function lookAround(): Promise<Found> {
    const messages = await ask('listStreamMessages', { path: { name: 'chat' }, query: '?topic=chat/a' });
    const [message] = (messages.body as { readonly data: readonly { readonly position: string }[] }).data;
    const letters = await ask('listDeadLetters', { path: RULE });
    const { data } = letters.body as { readonly data: readonly { readonly id: string }[] };
    const token = await furnished.tokenFor('default');
    return { position: message?.position ?? '', letters: data.map(({ id }) => id), token, furnished };
  }

  /** The request of an operation that succeeds, for something that exists. */
  const successOf = (id: OperationId): Trial =>
    TRIALS[id](found).find(({ status }) => status < 300) ?? { status: 0 };

  it('names exactly the operations that exist, and each is tried below', () => {
    const ids = document.operations.map(({ operationId }) => operationId).sort();
    expect(ids).toEqual([...OPERATION_IDS].sort());
    expect(Object.keys(TRIALS).sort()).toEqual(ids);
  });

  describe('the API for an empty tenant, beside a tenant that has something of everything', () => {
    const questions = () => ofTenant(document.operations).filter(({ method }) => method === 'GET');
    const tell = async (tenant: string): Promise<Readonly<Record<string, unknown>>> => {
      const answers: Record<string, unknown> = {};
      for (const { operationId } of questions()) {
        const { path, query = '' } = successOf(operationId as OperationId);
        const own = { ...path, ...(path?.name === RULE.name && { name: `hook-${OWN}` }) };
        const { status, body } = await ask(operationId as OperationId, {
          ...{ path: own, query, headers: { 'apus-tenant': tenant } },
        });
        answers[operationId] = { status, body: withoutTimes(body) };
      }
      return answers;
    };

    it('shows nothing of the other tenant [SEC-TENANT-4]', async () => {
      const [own, other, empty] = [await tell(OWN), await tell(OTHER), await tell(EMPTY)];
      expect(other).toEqual(empty);
      for (const { operationId } of questions())
        expect(own[operationId], operationId).not.toEqual(other[operationId]);
    });

    it('changes and removes nothing of the other tenant [SEC-TENANT-4]', async () => {
      const before = await tell(OWN);
      for (const { operationId, method } of ofTenant(document.operations)) {
        if (method === 'GET') continue;
        const { path, body } = successOf(operationId as OperationId);
        const own = { ...path, ...(path?.name === RULE.name && { name: `hook-${OWN}` }) };
        const headers = { 'apus-tenant': OTHER };
        await ask(operationId as OperationId, { path: own, body, headers });
        expect(await tell(OWN), operationId).toEqual(before);
      }
    });

    it('publishes and bans by the same names for the other tenant alone [SEC-TENANT-4]', async () => {
      const before = await tell(OWN);
      const headers = { 'apus-tenant': OTHER };
      await ask('publish', { body: { topic: 'state', payload: 'of the other', retain: true }, headers });
      await ask('addBan', { body: { as: 'clientid', who: 'ann' }, headers });
      expect(await tell(OWN)).toEqual(before);
    });
  });

  it.each(Object.keys(TRIALS) as OperationId[])('describes the answers of %s', async (id) => {
    for (const trial of TRIALS[id](found)) {
      await trial.before?.();
      const answered = await ask(id, trial);
      expect(answered, `${id} ${trial.query ?? ''}`).toMatchObject({ status: trial.status });
      document.expectAnswer(id, answered);
    }
  });

  it('describes the removal of a tenant, which is suspended first', async () => {
    const path = TENANT_NAME;
    document.expectAnswer('changeTenant', await ask('changeTenant', { path, body: { state: 'suspended' } }));
    const answered = await ask('removeTenant', { path });
    expect(answered.status).toBe(204);
    document.expectAnswer('removeTenant', answered);
  });

  it('describes the answers to a caller without a key, with a wrong key, or with an invalid tenant', async () => {
    for (const { operationId, 'x-apus-scope': scope } of document.operations) {
      const id = operationId as OperationId;
      for (const [status, headers] of [
        [401, { authorization: '' }],
        [401, { authorization: 'Bearer wrong' }],
        [400, { 'apus-tenant': 'a b' }],
      ] as const) {
        if (scope === 'credential' && 'apus-tenant' in headers) continue;
        const query = scope === 'credential' ? '?topic=a' : '';
        const answered = await ask(id, { headers, query });
        expect(answered.status, operationId).toBe(status);
        document.expectAnswer(id, answered);
      }
    }
  });

  it('describes the answers to pages of other sites, and to requests for features that a plain node lacks', async () => {
    const plain = await startDoors({ port: 0, logLevel: 'silent' });
    const base = new URL('/api/v5', plain.httpUrl).href;
    try {
      for (const described of document.operations) {
        const answered = await callApi(base, described, { headers: { origin: 'https://elsewhere.example' } });
        expect(answered.status, described.operationId).toBe(403);
        document.expectAnswer(described.operationId, answered);
      }
      for (const id of ['getAsyncApi', 'listTenants', 'createTenant'] as const) {
        const answered = await callApi(base, document.operation(id), {});
        expect(answered.status, id).toBe(404);
        document.expectAnswer(id, answered);
      }
      for (const id of ['listUsers', 'addUser', 'changeUser', 'removeUser'] as const) {
        const body = id === 'addUser' || id === 'changeUser' ? {} : undefined;
        const answered = await callApi(base, document.operation(id), { body });
        expect(answered.status, id).toBe(501);
        document.expectAnswer(id, answered);
      }
    } finally {
      await plain.stop();
    }
  });

  it('has no other methods: each path answers 405 to them and names those that it takes', async () => {
    for (const path of new Set(document.operations.map((each) => each.path))) {
      const taken = document.operations.filter((each) => each.path === path).map(({ method }) => method);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        if (taken.includes(method)) continue;
        const answered = await callApi(furnished.base, { method, path }, { headers: KEYED });
        expect(answered.status, `${method} ${path}`).toBe(405);
        document.expectOther('MethodNotAllowed', answered);
      }
    }
  });

  it.each(['', '/', '/nodes', '/clients/a/b', '/Clients', '/openapi.yaml', '/clients//'])(
    'has no other paths: %s is answered with 404',
    async (path) => {
      const answered = await callApi(furnished.base, { method: 'GET', path }, { headers: KEYED });
      expect(answered.status).toBe(404);
      document.expectOther('NotFound', answered);
    },
  );

  it('has no answer that these tests do not see, except those listed above', () => {
    expect([...document.unseen()].sort()).toEqual([...OUT_OF_REACH].sort());
  });
});

/** Operations about one tenant that a node answers. */
function ofTenant(operations: readonly Described[]): readonly Described[] {
  return operations.filter(
    (each) => each['x-apus-scope'] === 'tenant' && each['x-apus-doors'].includes('node'),
  );
}

const TIMES = [
  ...['connected_seconds', 'since', 'status', 'last_error', 'timespan', 'last_update_time'],
  'last_dropped_at',
];

/** A dropped message is noted when the node next looks, some seconds later. */
const isNotedLater = (each: { readonly event?: unknown } | null) => each?.event === 'dropped';

/** Leaves out values that change by themselves. */
function withoutTimes(body: unknown): unknown {
  return JSON.parse(JSON.stringify(body ?? null), (name, value) => {
    if (TIMES.includes(name)) return 0;
    return Array.isArray(value) ? value.filter((each) => !isNotedLater(each)) : value;
  });
}
