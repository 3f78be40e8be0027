import type { OperationId } from '@apus/api';
import type { Trial } from './document.ts';
import { type FurnishedNode, HASH } from './furnished-node.ts';

export const RULE = { name: 'hook-default' };
const TENANT = { name: 'globex', plan: { connectionsMax: 10 }, defaultRules: { publish: ['a'] } };
const LARGE = 'x'.repeat(3 * 1024 * 1024);
const NO_JSON = { 'content-type': 'text/plain' };
export const TENANT_NAME = { name: TENANT.name };

export interface Found {
  /** The position of the stream's newest message. */
  readonly position: string;
  readonly letters: readonly string[];
  /** Of a client of the default tenant, which may not read below `$`. */
  readonly token: string;
  readonly furnished: Pick<FurnishedNode, 'target'>;
}

/** Requests for each operation. Each request finds what the requests before it have made. */
export const TRIALS: Readonly<Record<OperationId, (found: Found) => readonly Trial[]>> = {
  getOpenApi: () => [{ status: 200 }],
  getAsyncApi: () => [{ status: 200 }],
  getBreaker: () => [{ status: 501 }],
  listSlowSubscriptions: () => [{ status: 200 }],
  listDroppingClients: () => [{ status: 200 }],
  getMonitor: () => [{ status: 200 }, { status: 400, query: '?latest=never' }],
  listClientEvents: () => [{ status: 200 }, { status: 200, query: '?clientid=ann' }],
  listAlarms: () => [
    { status: 200 },
    { status: 200, query: '?activated=false' },
    { status: 400, query: '?activated=1' },
  ],
  clearAlarms: () => [{ status: 204 }],
  listTraces: () => [{ status: 200 }],
  startTrace: () => [
    { status: 200, body: { name: 'two', type: 'topic', value: '#' } },
    { status: 400, body: { name: 'two', type: 'topic', value: '#' } },
    { status: 400, body: '[' },
  ],
  getTraceLog: () => [
    { status: 200, path: { name: 'of-ann' } },
    { status: 400, path: { name: 'of-ann' }, query: '?position=1' },
    { status: 404 },
  ],
  removeTrace: () => [{ status: 204, path: { name: 'of-ann' } }, { status: 404 }],
  listUsers: () => [{ status: 200 }, { status: 400, query: '?page=x' }],
  addUser: () => [
    { status: 204, body: { name: 'eve', password: HASH, publish: [], subscribe: [] } },
    { status: 400, body: { name: 'eve', password: HASH, publish: [], subscribe: [] } },
    { status: 400, body: { name: 'eve' } },
  ],
  changeUser: () => [
    { status: 204, path: { name: 'bob' }, body: { publish: ['b/#'] } },
    { status: 400, path: { name: 'bob' }, body: { publish: 'b/#' } },
    { status: 404, body: { publish: [] } },
  ],
  removeUser: () => [{ status: 200, path: { name: 'bob' } }, { status: 404 }],
  listQuotas: () => [{ status: 200 }],
  getStats: () => [{ status: 200 }],
  getMetrics: () => [{ status: 200 }],
  getPrometheus: () => [{ status: 200 }],
  listClients: () => [
    { status: 200 },
    { status: 200, query: '?limit=1&conn_state=connected&username=ann' },
    { status: 400, query: '?conn_state=gone' },
    { status: 400, query: '?page=0' },
  ],
  getClient: () => [
    { status: 200, path: { clientid: 'ann' } },
    { status: 200, path: { clientid: '$rule/hook-default' } },
    { status: 404 },
  ],
  listClientSubscriptions: () => [{ status: 200, path: { clientid: 'ann' } }, { status: 404 }],
  listSubscriptions: () => [{ status: 200 }, { status: 400, query: '?limit=1001' }],
  listTopics: () => [{ status: 200 }, { status: 400, query: '?limit=no' }],
  listRetained: () => [{ status: 200 }, { status: 400, query: '?topic=a/%23/b' }],
  getRetained: () => [{ status: 200, path: { topic: 'state' } }, { status: 404 }],
  streamEvents: ({ token }) => [
    { status: 200, query: `?topic=state&token=${token}` },
    { status: 200, query: `?topic=news/a&token=${token}`, headers: { 'last-event-id': '0' } },
    { status: 400, query: `?token=${token}` },
    { status: 401, query: '?topic=state' },
    { status: 403, query: `?topic=$SYS/%23&token=${token}` },
  ],
  listStreams: () => [{ status: 200 }],
  listStreamMessages: ({ position }) => [
    { status: 200, path: { name: 'chat' }, query: '?topic=chat/a' },
    { status: 200, path: { name: 'chat' }, query: '?topic=chat/none&reverse=true' },
    { status: 400, path: { name: 'chat' }, query: '?topic=chat/a&limit=0' },
    { status: 404 },
    { status: 410, path: { name: 'chat' }, query: `?topic=chat/a&since=${position}0` },
  ],
  listMembers: () => [
    { status: 200, path: { room: 'room' } },
    { status: 200 },
    { status: 400, query: '?page=x' },
  ],
  listBridges: () => [{ status: 200 }],
  listRules: () => [{ status: 200 }],
  listDeadLetters: () => [
    { status: 200, path: RULE },
    { status: 400, path: RULE, query: '?page=x' },
    { status: 404 },
  ],
  getDeadLetter: ({ letters: [id = ''] }) => [
    { status: 200, path: { ...RULE, id } },
    { status: 404, path: RULE },
    { status: 404 },
  ],
  getUsage: () => [{ status: 200, query: '?by=hour' }, { status: 200 }, { status: 400, query: '?by=week' }],
  listBans: () => [
    { status: 200 },
    { status: 200, query: '?username=eve' },
    { status: 400, query: '?page=x' },
  ],
  addBan: () => [
    { status: 200, body: { as: 'clientid', who: 'mallory', until: '2099-01-01T00:00:00Z' } },
    { status: 200, body: { as: 'username', who: 'mallory', issued_before: 1_700_000_000 } },
    { status: 400, body: { as: 'clientid', who: 'mallory' } },
    { status: 400, body: { as: 'nothing' } },
    { status: 400, body: '{' },
  ],
  removeBan: () => [
    { status: 204, path: { as: 'clientid', who: 'mallory' } },
    { status: 404, path: { as: 'clientid', who: 'mallory' } },
    { status: 400 },
  ],
  clearBans: () => [{ status: 204 }],
  publish: () => [
    { status: 200, body: { topic: 'news/a', payload: 'new', qos: 1 } },
    { status: 202, body: { topic: 'unheard', payload: 'YQ==', payload_encoding: 'base64' } },
    { status: 400, body: { topic: 'a/#', payload: '' } },
    { status: 400, body: '[' },
    { status: 403, body: { topic: '$SYS/a', payload: '' } },
    { status: 413, body: { topic: 'news/a', payload: LARGE } },
    { status: 415, body: '{}', headers: NO_JSON },
  ],
  publishBulk: () => [
    { status: 200, body: [{ topic: 'news/a', payload: 'new' }] },
    {
      status: 202,
      body: [
        { topic: 'news/a', payload: 'new' },
        { topic: 'unheard', payload: '' },
      ],
    },
    { status: 400, body: [] },
    { status: 400, body: [{ topic: 'news/a' }] },
    { status: 403, body: [{ topic: '$SYS/a', payload: '' }] },
    { status: 413, body: [{ topic: 'news/a', payload: LARGE }] },
    { status: 415, body: '[]', headers: NO_JSON },
  ],
  removeRetained: () => [
    { status: 204, path: { topic: 'state' } },
    { status: 404, path: { topic: 'state' } },
  ],
  createTenant: () => [
    { status: 201, body: TENANT },
    { status: 400, body: TENANT },
    { status: 400, body: { name: 'a b' } },
    { status: 400, body: '{' },
  ],
  listTenants: () => [{ status: 200 }, { status: 400, query: '?page=x' }],
  getTenant: () => [{ status: 200, path: TENANT_NAME }, { status: 404 }],
  changeTenant: () => [
    { status: 200, path: TENANT_NAME, body: { reason: 'tidying up', defaultRules: null } },
    { status: 400, path: TENANT_NAME, body: { name: 'another' } },
    { status: 404, body: {} },
  ],
  removeTenant: () => [{ status: 400, path: TENANT_NAME }, { status: 404 }],
  sendDeadLetter: ({ letters: [id = ''], furnished }) => [
    { status: 502, path: { ...RULE, id } },
    { status: 200, path: { ...RULE, id }, before: () => Object.assign(furnished, { target: 200 }) },
    { status: 404, path: { ...RULE, id } },
    { status: 404 },
  ],
  discardDeadLetter: ({ letters: [, id = ''] }) => [
    { status: 204, path: { ...RULE, id } },
    { status: 404, path: { ...RULE, id } },
  ],
  sendDeadLetters: ({ furnished }) => [
    { status: 200, path: RULE, before: () => Object.assign(furnished, { target: 400 }) },
    { status: 200, path: RULE, before: () => Object.assign(furnished, { target: 200 }) },
    { status: 404 },
  ],
  discardDeadLetters: () => [{ status: 204, path: RULE }, { status: 404 }],
  endClient: () => [{ status: 204, path: { clientid: 'ann' } }, { status: 404 }],
};
