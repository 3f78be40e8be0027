import { answer, json, type Operation, parameter } from '../operation.ts';
import { count, flag, list, object, ref, text } from '../schema.ts';
import { notFound } from './parameters.ts';

const tag = 'Watching';

/** A function keeps nothing between two requests, and each write to a table is billed. */
const common = { tag, doors: ['node'] } as const;
const IN_CLOUD_WATCH =
  'A deployment keeps no history of its own, which would be billed by use: CloudWatch has its figures and the log of its functions.';
const named = { name: parameter('Of the trace.', text()) } as const;

export const observingOperations = {
  listSlowSubscriptions: {
    ...common,
    method: 'GET',
    path: '/slow_subscriptions',
    summary: 'Lists clients that are behind: those whose oldest message waits longest, 100 at most.',
    answers: { 200: answer('They.', object({ data: list(ref('SlowSubscription')) })) },
    elsewhere:
      'A deployment does not look through all queues: each look would be billed. One client tells its own.',
    scope: 'tenant',
  },
  listDroppingClients: {
    ...common,
    method: 'GET',
    path: '/dropping_clients',
    summary: 'Lists the sessions that have missed most messages, by reason, 100 at most.',
    answers: { 200: answer('They.', object({ data: list(ref('DroppingClient')) })) },
    elsewhere: 'A deployment does not count drops for each client: CloudWatch counts them for all.',
    scope: 'tenant',
  },
  getMonitor: {
    ...common,
    method: 'GET',
    path: '/monitor',
    summary: 'Answers figures of the last seconds, at most a day, 360 samples at most.',
    query: {
      latest: parameter('Seconds.', count(undefined, { minimum: 1, maximum: 86_400, default: 3_600 })),
    },
    answers: { 200: answer('The oldest first.', list(ref('MonitorSample'))) },
    elsewhere: IN_CLOUD_WATCH,
    scope: 'broker',
  },
  listClientEvents: {
    ...common,
    method: 'GET',
    path: '/client_events',
    summary: 'Lists what happened to clients: connected, disconnected, refused and so on; the newest 200.',
    description:
      'A node keeps 20,000 events in memory, 50 of a client. A stranger whose tenant is not known stands in the tenant `default`.',
    query: { clientid: parameter('Of this client.', text()) },
    answers: { 200: answer('The newest first.', object({ data: list(ref('ClientEvent')) })) },
    elsewhere: IN_CLOUD_WATCH,
    scope: 'tenant',
  },
  listAlarms: {
    ...common,
    method: 'GET',
    path: '/alarms',
    summary: 'Lists alarms.',
    query: {
      activated: parameter('False: those that are over, 200 at most.', { ...flag(), default: true }),
    },
    answers: { 200: answer('The newest first.', object({ data: list(ref('Alarm')) })) },
    elsewhere: 'The alarms of a deployment are in CloudWatch: docs/runbook.md has a section for each.',
    scope: 'broker',
  },
  clearAlarms: {
    ...common,
    method: 'DELETE',
    path: '/alarms',
    summary: 'Forgets alarms that are over.',
    answers: { 204: answer('They are forgotten.') },
    elsewhere: 'The alarms of a deployment are in CloudWatch.',
    scope: 'broker',
  },
  listTraces: {
    ...common,
    method: 'GET',
    path: '/trace',
    summary: 'Lists traces: lines of the log about a client, a topic or an address.',
    answers: { 200: answer('They.', object({ data: list(ref('Trace')) })) },
    elsewhere: IN_CLOUD_WATCH,
    scope: 'tenant',
  },
  startTrace: {
    ...common,
    method: 'POST',
    path: '/trace',
    summary: 'Starts a trace, of a minute at most. A node runs five at a time.',
    description:
      'It keeps 100 lines of a second, and the newest 1,000. It ends by itself, and can be read for ten minutes after that.',
    body: json(ref('NewTrace')),
    answers: { 200: answer('It runs.', ref('Trace')) },
    elsewhere: IN_CLOUD_WATCH,
    scope: 'tenant',
  },
  removeTrace: {
    ...common,
    method: 'DELETE',
    path: '/trace/:name',
    summary: 'Stops a trace, and forgets its lines.',
    parameters: named,
    answers: { 204: answer('It is gone.'), 404: notFound },
    elsewhere: IN_CLOUD_WATCH,
    scope: 'tenant',
  },
  getTraceLog: {
    ...common,
    method: 'GET',
    path: '/trace/:name/log',
    summary: 'Answers the lines of a trace behind a position.',
    parameters: named,
    query: { position: parameter('`position` of the answer before. Without it: all that are kept.', text()) },
    answers: { 200: answer('The oldest first.', ref('TraceLog')), 404: notFound },
    elsewhere: IN_CLOUD_WATCH,
    scope: 'tenant',
  },
} as const satisfies Readonly<Record<string, Operation>>;
