import { QUOTA_NAMES, USAGE_FIELDS, USAGE_STEPS, type UsageField } from '@apus/broker';
import { TENANT_KEYS_MAX, TENANT_STATES } from '@apus/identity';
import { METRICS, type MetricName } from '../metric-names.ts';
import {
  closedObject,
  count,
  figures,
  list,
  nullable,
  object,
  oneOf,
  ref,
  type Schema,
  text,
  time,
  type ValueOf,
} from '../schema.ts';
import { ended } from './users.ts';

const USAGE_TEXTS: Readonly<Record<UsageField, string>> = {
  connectionMs: 'Milliseconds of connections.',
  messagesIn: 'Messages from clients and backends.',
  bytesIn: 'Bytes of MQTT packets from clients, and payloads from backends.',
  messagesOutQos0: 'Messages to clients at QoS 0.',
  messagesOutQos1: 'Messages to clients at QoS 1; a repetition counts again.',
  messagesOutQos2: 'Messages to clients at QoS 2; a repetition counts again.',
  bytesOut: 'Bytes of MQTT packets to clients.',
  framesIn: 'Frames from clients of the gateway door, by 32 KB begun.',
  framesOut: 'Frames to clients of the gateway door, by 32 KB begun.',
  storageByteSeconds: 'Bytes of retained and waiting messages, times the seconds that they were kept.',
  uncertainMs: 'Milliseconds in which more may have been used than was counted.',
};

const counters = Object.fromEntries(
  Object.entries(figures(METRICS)).map(([name, each]) => [name, nullable(each)]),
) as Record<MetricName, Schema<number | null>>;

const orNull = (schema: Schema): Schema => ({ oneOf: [schema, { type: 'null' }] });

/** The fields of a tenant besides its name, each with its schema. */
const tenant = {
  state: oneOf(TENANT_STATES),
  reason: text('For people: why it is suspended.', { maxLength: 200 }),
  plan: ref('TenantPlan'),
  keys: list(ref('PublicKey'), 'Tokens that they sign are of this tenant.', { maxItems: TENANT_KEYS_MAX }),
  provider: ref('TenantProvider'),
  defaultRules: ref('DefaultRules'),
} as const;

const optional = Object.fromEntries(Object.entries(tenant).map(([name, schema]) => [`${name}?`, schema]));

const name = text('Up to 64 letters, digits, ".", "_" and "-".', { pattern: '^[A-Za-z0-9._-]{1,64}$' });

export const operatorSchemas = {
  TenantPlan: closedObject(
    Object.fromEntries(QUOTA_NAMES.map((quota) => [`${quota}?`, count()])),
    'Quotas where they differ from those of every tenant; 0 stands for any number.',
  ),
  PublicKey: { ...object({ kid: text() }, 'A JSON Web Key, or {"kid", "pem"}.'), additionalProperties: true },
  TenantProvider: closedObject({
    jwksUrl: text(),
    issuer: text(),
    audience: { oneOf: [text(), list(text())] },
  }),
  DefaultRules: closedObject(
    { 'publish?': list(text()), 'subscribe?': list(text()) },
    'For tokens that bring no rules.',
  ),
  Tenant: object({ name, ...optional, state: tenant.state, createdAt: time(), ...ended }),
  NewTenant: closedObject({ name, ...optional }),
  TenantChange: closedObject(
    Object.fromEntries(Object.entries(tenant).map(([field, schema]) => [`${field}?`, orNull(schema)])),
    'The fields to be set; null takes one away.',
  ),
  UsageLine: object({
    tenant: text(),
    time: text('2026-11-25T18, 2026-11-25, 2026-11, or the beginning of the question.'),
    ...figures(Object.fromEntries(USAGE_FIELDS.map((field) => [field, USAGE_TEXTS[field]]))),
  }),
  UsageReport: object({
    data: list(ref('UsageLine')),
    meta: object({ from: text(), to: text(), by: oneOf(USAGE_STEPS) }),
  }),
  Stats: object(
    {
      node: text(),
      'connections.count': count('Sessions, connected or waiting for their client.'),
      'live_connections.count': count('Connected clients.'),
      'sessions.count': count('Sessions, connected or waiting for their client.'),
      'subscriptions.count': nullable(count()),
      'subscriptions.shared.count': nullable(count()),
      'retained.count': nullable(count()),
      'retained.max': nullable(count()),
      'web_sockets.node_door.count': nullable(count('Of all tenants.')),
      'web_sockets.node_door.max': nullable(count()),
    },
    'Null: a deployment does not count them.',
  ),
  Metrics: object(
    {
      node: text(),
      uptime_seconds: count(
        'Since when it counts: since the start of a node, or since the month of a deployment began.',
      ),
      ...counters,
    },
    'Null: a deployment does not count it.',
  ),
};

type Schemas = typeof operatorSchemas;
export type StatsLine = ValueOf<Schemas['Stats']>;
export type MetricsLine = ValueOf<Schemas['Metrics']>;
