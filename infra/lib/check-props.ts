import {
  type BrokerLimits,
  DEFAULT_LIMITS,
  GATEWAY_QUOTAS,
  type GivenQuotaScopes,
  LIMIT_RANGES,
  parseQuotas,
  ruleFilterProblem,
} from '@apus/broker';
import {
  API_KEYS_MAX,
  CONNECT_IN_HANDSHAKE,
  CUT_AFTER_MS_MAX,
  EXTENSIONS,
  KEY_SHA256,
  METERED_TENANTS_MAX,
  RESUME_SECONDS_MAX,
} from '@apus/cloud/lambda';
import { isTenant } from '@apus/identity';
import { Token } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';
import type { Authentication } from './authentication-props.ts';
import { checkIdentity } from './check-identity.ts';
import { POSTS_PER_SECOND_MAX } from './defaults.ts';
import { checkDescribedTopics } from './described-topics.ts';
import { checkIotCore } from './iot-core.ts';
import { checkKafka } from './kafka.ts';
import { checkTopics } from './payload-checks.ts';
import type { ApusBrokerProps } from './props.ts';
import { checkRange, PropsError } from './props-error.ts';
import { ROTATION_DAYS_MAX } from './rotation.ts';
import { checkRules } from './rules.ts';
import { checkStreams } from './streams.ts';
import { READS_PER_WRITE, tableMaximumOf } from './table-maximum.ts';
import { checkUsageExport } from './usage-export.ts';

/** The most requests a second of an account: no larger quota is known. */
const REQUESTS_PER_SECOND_MAX = 1_000_000;
const QUOTA_HINT =
  'They draw on the requests that an account may make, 10,000 a second unless that was raised.';

/**
 * Checks that are possible at synthesis.
 *
 * @throws {PropsError}
 */
export function checkProps(scope: IConstruct, props: ApusBrokerProps): void {
  checkNumbers(scope, props);
  checkAuthentication(scope, props.authentication);
  checkIdentity(scope, props);
  checkPublishTenants(scope, props);
  checkDefaultRules(scope, props);
  checkOrigins(scope, props.allowedOrigins ?? []);
  checkLimits(scope, props.limits ?? {});
  checkTableMaximum(scope, props);
  checkAdopted(scope, props);
  checkCompliance(scope, props);
  checkRollback(scope, props);
  checkPublish(scope, props);
  checkHttpApi(scope, props);
  checkQuotas(scope, props.quotas ?? {});
  checkNames(scope, props);
  checkStreams(scope, props.streams ?? []);
  checkTopics(scope, props.topics);
  if (props.httpApi) checkDescribedTopics(scope, props.topics);
  checkUsageExport(scope, props);
  checkOtlp(scope, props.otlpUrl);
  checkKafka(scope, props.kafka ?? []);
  checkIotCore(scope, props.iotCore ?? []);
  checkRules(scope, props.rules ?? []);
}

function checkOtlp(scope: IConstruct, url: string | undefined): void {
  if (url === undefined || Token.isUnresolved(url)) return;
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return;
  throw new PropsError(scope, `otlpUrl is a URL, as https://collector.example.com, not "${url}".`);
}

function checkNumbers(scope: IConstruct, props: ApusBrokerProps): void {
  const rate = { least: 1, most: REQUESTS_PER_SECOND_MAX };
  const { throttle = {}, fanOut = {}, table = {}, breaker } = props;
  checkRange(scope, 'throttle.framesPerSecond', throttle.framesPerSecond, rate);
  checkRange(scope, 'throttle.burstFrames', throttle.burstFrames, rate);
  checkRange(scope, 'fanOut.maxPostsPerSecond', fanOut.maxPostsPerSecond, {
    least: 20,
    most: POSTS_PER_SECOND_MAX,
    hint: QUOTA_HINT,
  });
  checkRange(scope, 'connectTimeoutSeconds', props.connectTimeoutSeconds, { least: 5, most: 600 });
  checkRange(scope, 'resumeSeconds', props.resumeSeconds, { least: 0, most: RESUME_SECONDS_MAX });
  checkRange(scope, 'cutAfterMs', props.cutAfterMs, { least: 0, most: CUT_AFTER_MS_MAX });
  for (const name of props.withoutExtensions ?? [])
    if (![...EXTENSIONS, CONNECT_IN_HANDSHAKE].some((known) => known === name))
      throw new PropsError(
        scope,
        `withoutExtensions has names of ${[...EXTENSIONS, CONNECT_IN_HANDSHAKE].join(', ')}, not ${JSON.stringify(name)}.`,
      );
  checkRange(scope, 'tenantMetrics', props.tenantMetrics, { least: 1, most: METERED_TENANTS_MAX });
  checkRange(scope, 'memorySizeMegabytes', props.memorySizeMegabytes, { least: 256, most: 10_240 });
  const { frameMilliseconds } = props.alarms || {};
  checkRange(scope, 'alarms.frameMilliseconds', frameMilliseconds, { least: 10, most: 5_000 });
  checkRange(scope, 'budget.dollarsPerMonth', props.budget?.dollarsPerMonth, {
    least: 1,
    most: Number.MAX_SAFE_INTEGER,
  });
  checkRange(scope, 'rotateTokenSecretDays', props.rotateTokenSecretDays, {
    least: 1,
    most: ROTATION_DAYS_MAX,
  });
  checkRange(scope, 'reservedConcurrency', props.reservedConcurrency, { least: 1, most: 100_000 });
  checkRange(scope, 'publishReservedConcurrency', props.publishReservedConcurrency, {
    least: 1,
    most: 100_000,
  });
  checkRange(scope, 'table.warmWriteUnitsPerSecond', table.warmWriteUnitsPerSecond, {
    least: 4_000,
    most: 40_000,
  });
  if (breaker !== false) {
    checkRange(scope, 'breaker.messagesPerMinuteMax', breaker?.messagesPerMinuteMax, {
      least: 1_000,
      most: Number.MAX_SAFE_INTEGER,
      hint: 'To have no breaker, say `breaker: false`.',
    });
    checkRange(scope, 'breaker.resetMinutes', breaker?.resetMinutes, { least: 0, most: 1_440 });
  }
}

function checkCompliance(scope: IConstruct, { compliance = false, table }: ApusBrokerProps): void {
  if (!compliance || table?.pointInTimeRecovery !== false) return;
  throw new PropsError(
    scope,
    'compliance needs point-in-time recovery, and table.pointInTimeRecovery is false.',
  );
}

function checkRollback(scope: IConstruct, { rollbackOnAlarm = false, alarms }: ApusBrokerProps): void {
  if (!rollbackOnAlarm || alarms !== false) return;
  throw new PropsError(scope, 'rollbackOnAlarm needs alarms, and alarms is false.');
}

function checkPublish(scope: IConstruct, props: ApusBrokerProps): void {
  const { httpPublish = false, publishReservedConcurrency, publishKeysSecret } = props;
  if (publishReservedConcurrency !== undefined && httpPublish === false) {
    throw new PropsError(scope, 'publishReservedConcurrency means nothing without httpPublish.');
  }
  if (publishKeysSecret !== undefined && httpPublish !== 'keys') {
    throw new PropsError(scope, "publishKeysSecret means nothing without httpPublish: 'keys'.");
  }
}

function checkHttpApi(scope: IConstruct, { httpApi = false, apiReservedConcurrency }: ApusBrokerProps): void {
  if (apiReservedConcurrency !== undefined && httpApi === false)
    throw new PropsError(scope, 'apiReservedConcurrency means nothing without httpApi.');
  if (typeof httpApi !== 'object') return;
  const { keysSha256 } = httpApi;
  if (keysSha256.length === 0 || keysSha256.length > API_KEYS_MAX)
    throw new PropsError(
      scope,
      `httpApi.keysSha256 has ${keysSha256.length} keys: there are 1 to ${API_KEYS_MAX}.`,
    );
  const wrong = keysSha256.find((each) => !KEY_SHA256.test(each));
  if (wrong === undefined) return;
  throw new PropsError(
    scope,
    'httpApi.keysSha256 has what is no SHA-256 in hex: 64 digits and letters from a to f, and not the key itself.',
  );
}

/**
 * The same table in two places would mix their contents; settings for a table that is not created would have no effect.
 */
function checkAdopted(
  scope: IConstruct,
  { table = {}, streams = [], presence = false }: ApusBrokerProps,
): void {
  const { adopt, ...others } = table;
  if (adopt === undefined) return;
  const names = Object.values(adopt).filter((name) => name !== undefined && !Token.isUnresolved(name));
  if (new Set(names).size < names.length) {
    throw new PropsError(
      scope,
      'table.adopt names different tables: one holds messages, one sessions, one the history of streams and rooms.',
    );
  }
  if (adopt.streamsTableName !== undefined && streams.length === 0 && !presence)
    throw new PropsError(scope, 'table.adopt.streamsTableName means nothing without streams or presence.');
  const [given] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (given === undefined) return;
  throw new PropsError(
    scope,
    `table.${given} is for tables that the broker makes; those of table.adopt stay as they are.`,
  );
}

/** DynamoDB accepts no maximum below the warm throughput. */
function checkTableMaximum(scope: IConstruct, props: ApusBrokerProps): void {
  const { table = {} } = props;
  const range = { least: 0, most: Number.MAX_SAFE_INTEGER, hint: '0 lifts it.' };
  checkRange(scope, 'table.maxReadRequestUnits', table.maxReadRequestUnits, range);
  checkRange(scope, 'table.maxWriteRequestUnits', table.maxWriteRequestUnits, range);
  const { warmWriteUnitsPerSecond = 0 } = table;
  const { maxReadRequestUnits = Infinity, maxWriteRequestUnits = Infinity } = tableMaximumOf(props);
  if (
    maxWriteRequestUnits < warmWriteUnitsPerSecond ||
    maxReadRequestUnits < warmWriteUnitsPerSecond * READS_PER_WRITE
  ) {
    const sentence =
      'table.maxReadRequestUnits and table.maxWriteRequestUnits are not below what the table is warmed for';
    throw new PropsError(scope, `${sentence}: ${warmWriteUnitsPerSecond} writes, and 3 reads for each.`);
  }
}

function checkAuthentication(scope: IConstruct, authentication: Authentication | undefined): void {
  if (typeof authentication !== 'object' || 'secret' in authentication || 'iam' in authentication) return;
  const { jwksUrl, issuer, audience } = authentication;
  if (!Token.isUnresolved(jwksUrl) && !(URL.canParse(jwksUrl) && jwksUrl.startsWith('https://'))) {
    throw new PropsError(scope, `authentication.jwksUrl is an https:// URL, not "${jwksUrl}".`);
  }
  if (issuer === '') {
    throw new PropsError(
      scope,
      'authentication.issuer is empty: tokens of anybody who shares the keys would be accepted.',
    );
  }
  if (!audience) {
    throw new PropsError(
      scope,
      'authentication.audience is empty: tokens for other customers of the provider would be accepted.',
    );
  }
}

function checkPublishTenants(scope: IConstruct, { httpPublish, httpPublishTenants }: ApusBrokerProps): void {
  if (httpPublishTenants === undefined) return;
  if (httpPublish !== 'iam' || httpPublishTenants.length === 0) {
    throw new PropsError(scope, "httpPublishTenants is a list of tenants for httpPublish: 'iam'.");
  }
  const wrong = httpPublishTenants.find((each) => !isTenant(each));
  if (wrong === undefined) return;
  throw new PropsError(scope, `httpPublishTenants has "${wrong}", which is no name of a tenant.`);
}

function checkDefaultRules(
  scope: IConstruct,
  { authentication, tokenDefaultRules: rules }: ApusBrokerProps,
): void {
  if (rules === undefined) return;
  if (typeof authentication === 'object' && 'iam' in authentication) {
    throw new PropsError(
      scope,
      'tokenDefaultRules is for tokens: authentication.iam has the rules of those who sign.',
    );
  }
  if (authentication === 'anonymous') {
    const reason = 'is for tokens, and with authentication: anonymous no client shows one.';
    throw new PropsError(scope, `tokenDefaultRules ${reason}`);
  }
  for (const action of ['publish', 'subscribe'] as const) {
    for (const filter of rules[action] ?? []) {
      const problem = Token.isUnresolved(filter) ? undefined : ruleFilterProblem(filter);
      if (problem !== undefined) throw new PropsError(scope, `tokenDefaultRules.${action}: ${problem}.`);
    }
  }
}

/** A browser sends only scheme, host and port: another spelling would never match. */
function checkOrigins(scope: IConstruct, origins: readonly string[]): void {
  for (const origin of origins) {
    if (Token.isUnresolved(origin) || (URL.canParse(origin) && new URL(origin).origin === origin)) continue;
    throw new PropsError(scope, `allowedOrigins has origins as https://app.example.com, not "${origin}".`);
  }
}

function checkLimits(scope: IConstruct, limits: Partial<BrokerLimits>): void {
  for (const [name, value] of Object.entries(limits)) {
    const preset = (DEFAULT_LIMITS as unknown as Readonly<Record<string, unknown>>)[name];
    if (preset === undefined) {
      const known = Object.keys(DEFAULT_LIMITS).join(', ');
      throw new PropsError(scope, `limits.${name} is no limit of the broker. There are ${known}.`);
    }
    if (typeof preset === 'number') {
      const { least = 0, most = Number.MAX_SAFE_INTEGER } = LIMIT_RANGES[name as keyof BrokerLimits] ?? {};
      checkRange(scope, `limits.${name}`, Number(value), { least, most });
    } else if (value !== 'drop-oldest' && value !== 'drop-newest') {
      throw new PropsError(scope, `limits.${name} is drop-oldest or drop-newest, not ${String(value)}.`);
    }
  }
}

const HOLDING_LIMITS = 'sessionsMax, retainedMessagesMax, retainedBytesMax';

function checkQuotas(scope: IConstruct, quotas: GivenQuotaScopes): void {
  for (const [name, given] of Object.entries(quotas)) {
    if (!Object.keys(GATEWAY_QUOTAS).includes(name))
      throw new PropsError(scope, `quotas has identity, tenant and broker, not ${name}.`);
    const parsed = parseQuotas(given);
    if (typeof parsed === 'string') throw new PropsError(scope, `quotas.${name}: ${parsed}`);
    const presets = GATEWAY_QUOTAS[name as keyof GivenQuotaScopes];
    const held = Object.keys(parsed).find((quota) => !(quota in presets));
    if (held !== undefined)
      throw new PropsError(
        scope,
        `quotas.${name} has no ${held}: limits bound what a tenant, or all, hold (${HOLDING_LIMITS}).`,
      );
  }
}

function checkNames(scope: IConstruct, { domain, alarms, metricsNamespace }: ApusBrokerProps): void {
  const name = domain?.domainName;
  if (
    name !== undefined &&
    !Token.isUnresolved(name) &&
    !/^(?=.{1,253}$)([a-z0-9-]+\.)+[a-z]{2,}$/.test(name)
  ) {
    throw new PropsError(scope, `domain.domainName is a host name as mqtt.example.com, not "${name}".`);
  }
  const email = alarms === false ? undefined : alarms?.email;
  if (email !== undefined && !Token.isUnresolved(email) && !/^\S+@\S+$/.test(email)) {
    throw new PropsError(scope, `alarms.email is a mail address, not "${email}".`);
  }
  if (metricsNamespace === undefined || Token.isUnresolved(metricsNamespace)) return;
  if (metricsNamespace.startsWith('AWS/') || !/^[\w.\-/#:]{1,255}$/.test(metricsNamespace)) {
    const rule = 'up to 255 letters, digits and . - _ / # :, and does not begin with AWS/';
    throw new PropsError(scope, `metricsNamespace has ${rule}; it is not "${metricsNamespace}".`);
  }
}
