import type { OperationId } from '@apus/api';
import type { Trial } from '../api/document.ts';

/** Dead letters of the rule `hot`, oldest first. */
export const LETTERS = ['l1', 'l2', 'l3', 'l4', 'l5'];
const HOT = { name: 'hot' };
const letter = (index: number) => ({ ...HOT, id: LETTERS[index] ?? '' });

const TENANT = { name: 'globex', plan: { connectionsMax: 10 } };
const NAMED = { name: TENANT.name };
/** A hash that is none of any password. */
export const PASSWORD = 'scrypt:16384:8:1:c2FsdHNhbHRzYWx0c2FsdA:aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g';
const USER = { name: 'ann', password: PASSWORD, publish: ['%u/#'], subscribe: [] };

export interface Found {
  /** Of the newest message of the stream. */
  readonly position: string;
}

const cursor = (position: object) => Buffer.from(JSON.stringify(position)).toString('base64url');
/** The key from which a scan of the table may continue. */
const CURSOR = cursor({ p: 'any', s: 'session' });

const JSON_TYPE = { 'content-type': 'application/json' };

export interface TrialSetting {
  /** Whether the target of the rule takes messages from now on. */
  takes(isTaken: boolean): void;
  /** Which further parts the functions have from now on. */
  has(parts: 'all' | 'none'): void;
}

export type Trials = Readonly<Partial<Record<OperationId, (found: Found) => readonly Trial[]>>>;

/** Requests for each operation of a deployment, in an order in which each finds the data that it needs. */
export function trialsOf({ takes, has }: TrialSetting): Trials {
  return {
    getOpenApi: () => [{ status: 200 }],
    publish: () => [
      { status: 202, body: { topic: 'nobody/listens', payload: 'x' }, headers: JSON_TYPE },
      { status: 400, body: { topic: 'a/+', payload: 'x' }, headers: JSON_TYPE },
      { status: 403, body: { topic: '$SYS/brokers', payload: 'x' }, headers: JSON_TYPE },
      { status: 400, body: '{', headers: JSON_TYPE },
    ],
    publishBulk: () => [
      { status: 202, body: [{ topic: 'nobody/listens', payload: 'x', qos: 1 }], headers: JSON_TYPE },
      { status: 400, body: [], headers: JSON_TYPE },
    ],
    getStats: () => [{ status: 200 }, { status: 200 }],
    listClients: () => [
      { status: 200 },
      { status: 200, query: `?limit=1&after=${CURSOR}` },
      { status: 200, query: '?clientid=ann&conn_state=connected' },
      { status: 200, query: '?username=ann&like_clientid=n' },
      { status: 400, query: '?conn_state=gone' },
      { status: 400, query: '?page=2' },
      { status: 400, query: '?limit=1001' },
      { status: 400, query: '?after=%7B' },
      { status: 400, query: `?after=${Buffer.from('{"p":1}').toString('base64url')}` },
      { status: 400, query: `?after=${Buffer.from('null').toString('base64url')}x` },
    ],
    getClient: () => [{ status: 200, path: { clientid: 'ann' } }, { status: 404 }],
    listClientSubscriptions: () => [{ status: 200, path: { clientid: 'ann' } }, { status: 404 }],
    listSubscriptions: () => [
      { status: 200 },
      { status: 200, query: '?limit=1' },
      { status: 200, query: '?clientid=ann&qos=1' },
      { status: 200, query: '?match_topic=news/a&topic=news/%23' },
      { status: 200, query: '?share_group=g' },
      { status: 400, query: '?limit=1001' },
      { status: 400, query: `?after=${cursor({ p: 'a' })}` },
      { status: 400, query: `?after=${cursor({ p: 'a', s: 's', of: 'ann' })}` },
      { status: 400, query: '?clientid=ann&after=x' },
    ],
    listTopics: () => [{ status: 200 }, { status: 400, query: '?after=x' }],
    listBridges: () => [{ status: 200 }],
    listRules: () => [{ status: 200 }],
    listDeadLetters: () => [
      { status: 200, path: HOT },
      { status: 200, path: HOT, query: '?limit=1&after=1' },
      { status: 400, path: HOT, query: '?after=x' },
      { status: 404 },
    ],
    getDeadLetter: () => [
      { status: 200, path: letter(0) },
      { status: 404, path: HOT },
      { status: 404, path: { name: 'none', id: 'l1' } },
    ],
    sendDeadLetter: () => [
      { status: 502, path: letter(0) },
      { status: 200, path: letter(0), before: () => takes(true) },
      { status: 404, path: letter(0) },
    ],
    discardDeadLetter: () => [
      { status: 204, path: letter(1) },
      { status: 404, path: letter(1) },
    ],
    sendDeadLetters: () => [
      { status: 200, path: HOT, before: () => takes(false) },
      { status: 200, path: HOT, before: () => takes(true) },
      { status: 404 },
    ],
    discardDeadLetters: () => [{ status: 204, path: HOT }, { status: 404 }],
    getBreaker: () => [
      { status: 200 },
      { status: 404, before: () => has('none') },
      { status: 200, before: () => has('all') },
    ],
    listQuotas: () => [{ status: 200 }],
    getMetrics: () => [{ status: 200 }],
    getPrometheus: () => [{ status: 200 }],
    getAsyncApi: () => [
      { status: 200 },
      { status: 404, before: () => has('none') },
      { status: 200, before: () => has('all') },
    ],
    listRetained: () => [{ status: 200 }, { status: 400, query: '?topic=a/%23/b' }],
    getRetained: () => [
      { status: 200, path: { topic: 'state' } },
      { status: 404 },
      { status: 404, path: { topic: '#' } },
    ],
    streamEvents: () => [{ status: 501, query: '?topic=a' }],
    listSlowSubscriptions: () => [{ status: 501 }],
    listDroppingClients: () => [{ status: 501 }],
    getMonitor: () => [{ status: 501 }],
    listClientEvents: () => [{ status: 501 }],
    listAlarms: () => [{ status: 501 }],
    clearAlarms: () => [{ status: 501 }],
    listTraces: () => [{ status: 501 }],
    startTrace: () => [{ status: 501, body: {} }],
    removeTrace: () => [{ status: 501 }],
    getTraceLog: () => [{ status: 501 }],
    listStreams: () => [{ status: 200 }],
    listStreamMessages: ({ position }) => [
      { status: 200, path: { name: 'chat' }, query: '?topic=chat/a' },
      { status: 400, path: { name: 'chat' }, query: '?topic=chat/a&limit=0' },
      { status: 404 },
      { status: 410, path: { name: 'chat' }, query: `?topic=chat/a&since=${position}0` },
    ],
    listMembers: () => [
      { status: 200, path: { room: 'room' } },
      { status: 400, path: { room: 'a/b' } },
      { status: 400, query: '?limit=0' },
    ],
    getUsage: () => [
      { status: 200, query: '?by=hour' },
      { status: 400, query: '?by=week' },
    ],
    addBan: () => [
      { status: 200, body: { as: 'username', who: 'mallory', until: '2099-01-01T00:00:00Z' } },
      { status: 400, body: { as: 'nothing' } },
      // The header selects the tenant: no field of the body does.
      { status: 400, body: { as: 'username', who: 'mallory', tenant: 'others' } },
      { status: 400, body: { as: 'username', who: 'mallory', action: 'kick' } },
      { status: 400, body: '{' },
      { status: 400, body: '[]' },
      { status: 400, body: `"${'x'.repeat(40_000)}"` },
    ],
    listBans: () => [
      { status: 200 },
      { status: 200, query: '?username=mallory' },
      { status: 400, query: '?after=x' },
    ],
    removeBan: () => [
      { status: 204, path: { as: 'username', who: 'mallory' } },
      { status: 404, path: { as: 'username', who: 'mallory' } },
      { status: 400 },
    ],
    clearBans: () => [{ status: 204 }],
    removeRetained: () => [
      { status: 204, path: { topic: 'state' } },
      { status: 404, path: { topic: 'state' } },
    ],
    createTenant: () => [
      { status: 201, body: TENANT },
      { status: 400, body: TENANT },
      { status: 400, body: { name: 'a b' } },
    ],
    listTenants: () => [
      { status: 200 },
      { status: 200, query: '?limit=1' },
      { status: 400, query: '?page=x' },
    ],
    getTenant: () => [{ status: 200, path: NAMED }, { status: 404 }],
    changeTenant: () => [
      { status: 200, path: NAMED, body: { state: 'suspended', reason: 'unpaid' } },
      { status: 400, path: NAMED, body: { name: 'another' } },
      { status: 404, body: {} },
    ],
    removeTenant: () => [
      { status: 204, path: NAMED },
      { status: 404, path: NAMED },
    ],
    addUser: () => [
      { status: 204, body: USER },
      { status: 400, body: USER },
      { status: 400, body: { ...USER, name: '' } },
      { status: 400, body: { ...USER, publish: ['x'.repeat(33_000)] } },
      { status: 400, body: '[]' },
    ],
    listUsers: () => [{ status: 200 }, { status: 200, query: '?limit=1' }, { status: 400, query: '?after=' }],
    changeUser: () => [
      { status: 204, path: { name: USER.name }, body: { password: USER.password } },
      { status: 400, path: { name: USER.name }, body: { password: 'plain' } },
      { status: 400, path: { name: USER.name }, body: USER },
      { status: 404, body: { password: USER.password } },
    ],
    removeUser: () => [{ status: 200, path: { name: USER.name } }, { status: 404 }],
    endClient: () => [{ status: 204, path: { clientid: 'ann' } }, { status: 404 }],
  };
}
