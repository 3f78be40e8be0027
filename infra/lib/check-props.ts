import { API_KEYS_MAX, KEY_SHA256, originProblem } from '@apus/aws/lambda';
import {
  type BrokerLimits,
  DEFAULT_LIMITS,
  GATEWAY_QUOTAS,
  type GivenQuotaScopes,
  LIMIT_RANGES,
  parseQuotas,
  ruleFilterProblem,
} from '@apus/broker';
import { isTenant } from '@apus/identity';
import { Token } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';
import { checkIdentity } from './check-identity.ts';
import { checkDescribedTopics } from './described-topics.ts';
import { checkIotCore } from './iot-core.ts';
import { checkKafka } from './kafka.ts';
import { GROUPS, type Rows } from './option-groups.ts';
import { BROKER } from './options.ts';
import { checkTopics } from './payload-checks.ts';
import type { ApusBrokerProps } from './props.ts';
import { checkRange, PropsError } from './props-error.ts';
import { checkRules } from './rules.ts';
import { checkStreams } from './streams.ts';
import { READS_PER_WRITE, tableMaximumOf } from './table-maximum.ts';

/**
 * Checks that are possible at synthesis.
 * @throws {PropsError}
 */
export function checkProps(scope: IConstruct, props: ApusBrokerProps): void {
  checkTable(scope, BROKER, props);
  for (const [group, table] of Object.entries(GROUPS))
    checkTable(scope, table, props[group as keyof typeof GROUPS] || {}, `${group}.`);
  for (const [isWrong, sentence] of contradictionsIn(props))
    if (isWrong) throw new PropsError(scope, sentence);
  checkLists(scope, props);
  checkIdentity(scope, props);
  checkLimits(scope, props.limits ?? {});
  checkTableMaximum(scope, props);
  checkQuotas(scope, props.quotas ?? {});
  checkStreams(scope, props.streams ?? []);
  checkTopics(scope, props.topics);
  if (props.httpApi) checkDescribedTopics(scope, props.topics);
  checkKafka(scope, props.kafka ?? []);
  checkIotCore(scope, props.iotCore ?? []);
  checkRules(scope, props.rules ?? []);
}

function checkTable(scope: IConstruct, table: Rows, given: object, path = ''): void {
  const values = new Map<string, unknown>(Object.entries(given));
  for (const [key, { kind, range, choices = [], hint, rule }] of Object.entries(table)) {
    const [name, value] = [`${path}${key}`, values.get(key)];
    if (value === undefined || value === false || Token.isUnresolved(value)) continue;
    if (range !== undefined)
      checkRange(scope, name, Number(value), { least: range[0], most: range[1], hint });
    if (rule !== undefined && !rule[0].test(String(value)))
      throw new PropsError(scope, `${name} ${rule[1]} not "${value}".`);
    if (kind === 'choice' && !choices.includes(String(value)))
      throw new PropsError(scope, `${name} is one of ${choices.join(', ')}.`);
    const wrong =
      kind === 'list' && choices.length > 0 && (value as string[]).find((each) => !choices.includes(each));
    if (wrong)
      throw new PropsError(
        scope,
        `${name} has names of ${choices.join(', ')}, not ${JSON.stringify(wrong)}.`,
      );
  }
}

/** Whether props do not go together, and the sentence that says so. */
function contradictionsIn(props: ApusBrokerProps): readonly (readonly [boolean, string])[] {
  const { httpPublish = false, httpPublishTenants: tenants, httpApi = false, otlpUrl, alarms } = props;
  const { authentication, tokenDefaultRules, table: { adopt, ...ofNewTables } = {} } = props;
  const keys = typeof httpApi === 'object' ? httpApi.keysSha256.length : 1;
  const signed = typeof authentication === 'object' && 'iam' in authentication;
  const provider =
    typeof authentication === 'object' && 'jwksUrl' in authentication ? authentication : undefined;
  // The same table in two places would mix their contents.
  const adopted = Object.values(adopt ?? {}).filter(
    (name) => name !== undefined && !Token.isUnresolved(name),
  );
  const [ofNew] = Object.entries(ofNewTables).find(([, value]) => value !== undefined) ?? [];
  const hasStreams = (props.streams ?? []).length > 0 || props.presence === true;
  return [
    [
      otlpUrl !== undefined && !isUrl(otlpUrl, /^https?:/),
      `otlpUrl is a URL, as https://collector.example.com, not "${otlpUrl}".`,
    ],
    [
      provider !== undefined && !isUrl(provider.jwksUrl, /^https:/),
      `authentication.jwksUrl is an https:// URL, not "${provider?.jwksUrl}".`,
    ],
    [
      provider?.issuer === '',
      'authentication.issuer is empty: tokens of anybody who shares the keys would be accepted.',
    ],
    [
      provider !== undefined && !provider.audience,
      'authentication.audience is empty: tokens for other customers of the provider would be accepted.',
    ],
    [
      tokenDefaultRules !== undefined && signed,
      'tokenDefaultRules is for tokens: authentication.iam has the rules of those who sign.',
    ],
    [
      tokenDefaultRules !== undefined && authentication === 'anonymous',
      'tokenDefaultRules is for tokens, and with authentication: anonymous no client shows one.',
    ],
    [
      tenants !== undefined && (httpPublish !== 'iam' || tenants.length === 0),
      "httpPublishTenants is a list of tenants for httpPublish: 'iam'.",
    ],
    [
      props.publishReservedConcurrency !== undefined && httpPublish === false,
      'publishReservedConcurrency means nothing without httpPublish.',
    ],
    [
      props.publishKeysSecret !== undefined && httpPublish !== 'keys',
      "publishKeysSecret means nothing without httpPublish: 'keys'.",
    ],
    [
      props.apiReservedConcurrency !== undefined && httpApi === false,
      'apiReservedConcurrency means nothing without httpApi.',
    ],
    [
      keys === 0 || keys > API_KEYS_MAX,
      `httpApi.keysSha256 has ${keys} keys: there are 1 to ${API_KEYS_MAX}.`,
    ],
    [
      new Set(adopted).size < adopted.length,
      'table.adopt names different tables: one holds messages, one sessions, one the history of streams and rooms.',
    ],
    [
      adopt?.streamsTableName !== undefined && !hasStreams,
      'table.adopt.streamsTableName means nothing without streams or presence.',
    ],
    [
      adopt !== undefined && ofNew !== undefined,
      `table.${ofNew} is for tables that the broker makes; those of table.adopt stay as they are.`,
    ],
    [
      props.compliance === true && ofNewTables.pointInTimeRecovery === false,
      'compliance needs point-in-time recovery, and table.pointInTimeRecovery is false.',
    ],
    [
      props.rollbackOnAlarm === true && alarms === false,
      'rollbackOnAlarm needs alarms, and alarms is false.',
    ],
    [
      props.usageExport !== undefined && props.usage !== true,
      'usageExport needs usage: without it there is nothing to export.',
    ],
  ];
}

function isUrl(text: string, scheme: RegExp): boolean {
  return Token.isUnresolved(text) || (URL.canParse(text) && scheme.test(new URL(text).protocol));
}

/** The entries of lists, each by itself. */
function checkLists(scope: IConstruct, props: ApusBrokerProps): void {
  const { allowedOrigins = [], httpPublishTenants = [], httpApi, tokenDefaultRules: rules = {} } = props;
  const check = (list: readonly string[], problemOf: (each: string) => string | undefined) => {
    for (const each of list) {
      const problem = Token.isUnresolved(each) ? undefined : problemOf(each);
      if (problem !== undefined) throw new PropsError(scope, `${problem}.`);
    }
  };
  const said = (name: string, problem: string | undefined) => problem && `${name}: ${problem}`;
  // A browser sends only scheme, host and port: another spelling would never match.
  check(allowedOrigins, (origin) => said('allowedOrigins', originProblem(origin)));
  check(httpPublishTenants, (tenant) =>
    isTenant(tenant) ? undefined : `httpPublishTenants has "${tenant}", which is no name of a tenant`,
  );
  check(typeof httpApi === 'object' ? httpApi.keysSha256 : [], (hash) =>
    KEY_SHA256.test(hash)
      ? undefined
      : 'httpApi.keysSha256 has what is no SHA-256 in hex: 64 digits and letters from a to f, and not the key itself',
  );
  for (const action of ['publish', 'subscribe'] as const)
    check(rules[action] ?? [], (filter) => said(`tokenDefaultRules.${action}`, ruleFilterProblem(filter)));
}

/** DynamoDB accepts no maximum below the warm throughput. */
function checkTableMaximum(scope: IConstruct, props: ApusBrokerProps): void {
  const { table = {} } = props;
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

function checkLimits(scope: IConstruct, limits: Partial<BrokerLimits>): void {
  for (const [name, value] of Object.entries(limits)) {
    const preset = new Map<string, unknown>(Object.entries(DEFAULT_LIMITS)).get(name);
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
