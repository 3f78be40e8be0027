import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { GivenIotCoreBridge, GivenKafkaBridge, GivenRule } from '@apus/bridges/lambda';
import type { GivenQuotaScopes, GivenStream } from '@apus/broker';
import type { GivenTopics } from '@apus/topics';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { HostedZone } from 'aws-cdk-lib/aws-route53';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { Authentication, IdentityProps, TokenRulesProps } from './authentication-props.ts';
import { closestTo } from './closest.ts';
import type { ApusBrokerProps, BudgetProps, DomainProps, HttpApiProps } from './props.ts';
import {
  flagOf,
  QUOTA_NAMES,
  QUOTA_SCOPES,
  type QuotaScopeName,
  quotaSetting,
  SETTING_NAMES,
  SETTINGS,
  SettingError,
  type SettingName,
  Settings,
} from './settings.ts';
import type { AdoptedTables } from './table-props.ts';

/** CloudFormation's rule for names of stacks. */
const STACK_NAME = /^[A-Za-z][A-Za-z0-9-]{0,127}$/;
const STACK_NAME_DEFAULT = 'apus';
const ACCOUNT_ID = /^\d{12}$/;

/** ARN settings, each with an example. A secret's ARN ends in six characters that Secrets Manager has added. */
const SECRET_ARN = {
  pattern: /^arn:aws[\w-]*:secretsmanager:[\w-]+:\d{12}:secret:.+-\w{6}$/,
  example: 'arn:aws:secretsmanager:eu-west-1:123456789012:secret:NAME-a1B2c3',
} as const;
const ARNS = {
  tokenSecretArn: SECRET_ARN,
  publishKeysSecretArn: SECRET_ARN,
  encryptionKeyArn: {
    pattern: /^arn:aws[\w-]*:kms:[\w-]+:\d{12}:key\/.+$/,
    example: 'arn:aws:kms:eu-west-1:123456789012:key/ID',
  },
  certificateArn: {
    pattern: /^arn:aws[\w-]*:acm:[\w-]+:\d{12}:certificate\/.+$/,
    example: 'arn:aws:acm:eu-west-1:123456789012:certificate/ID',
  },
} as const;

/** The settings whose resources have to be in the Region of the deployment. */
export const REGIONAL_SETTINGS = Object.keys(ARNS) as readonly (keyof typeof ARNS)[];

/** The target of the deployment. */
export interface Target {
  readonly stackName: string;
  readonly account: string | undefined;
  readonly region: string | undefined;
}

/**
 * The settings in the context (`-c name=value`, cdk.json).
 *
 * @throws {SettingError} for an unknown name: CDK ignores it, and the deployment would not be as intended
 */
export function settingsOf(scope: Construct): Settings {
  requireKnown(Object.keys(scope.node.getAllContext()));
  return new Settings((name) => scope.node.tryGetContext(name));
}

function requireKnown(names: readonly string[]): void {
  const known: readonly string[] = SETTING_NAMES;
  // Keys of CDK and of other libraries contain a colon or a slash: `aws:cdk:bundling-stacks`, `@aws-cdk/core:…`.
  const unknown = names.find((name) => !/[:/]/.test(name) && !known.includes(name));
  if (unknown === undefined) return;
  const meant = closestTo(unknown, known);
  const hint = meant === undefined ? 'npm run deploy -- --help shows all.' : `Did you mean "${meant}"?`;
  throw new SettingError(`The context has "${unknown}", which is no setting of Apus. ${hint}`);
}

export function targetOf(settings: Settings): Target {
  const stackName = settings.text('name') ?? STACK_NAME_DEFAULT;
  if (!STACK_NAME.test(stackName)) {
    throw new SettingError(
      `--name begins with a letter and has up to 128 letters, digits and -; it is not "${stackName}".`,
    );
  }
  const account = settings.text('account');
  if (account !== undefined && !ACCOUNT_ID.test(account)) {
    throw new SettingError(`--account is the twelve digits of an account, not "${account}".`);
  }
  return { stackName, account, region: settings.text('region') };
}

/**
 * The bridges of the file, by their source. A bridge of an unknown kind is read as Kafka, whose reader reports the
 * error.
 */
function bridgesOf(settings: Settings): Pick<ApusBrokerProps, 'kafka' | 'iotCore'> {
  const bridges = jsonIn<{ readonly bridges: readonly (GivenKafkaBridge | GivenIotCoreBridge)[] }>(
    settings,
    'bridges',
  )?.bridges;
  if (!Array.isArray(bridges)) return {};
  const iotCore = bridges.filter((bridge): bridge is GivenIotCoreBridge => 'iotCore' in Object(bridge));
  const kafka = bridges.filter((bridge): bridge is GivenKafkaBridge => !('iotCore' in Object(bridge)));
  return {
    ...((kafka.length > 0 || iotCore.length === 0) && { kafka }),
    ...(iotCore.length > 0 && { iotCore }),
  };
}

/** The settings as props. Existing resources of the account are imported into `scope`. */
export function propsOf(scope: Construct, settings: Settings): ApusBrokerProps {
  const alarmEmail = settings.text('alarmEmail');
  const domain = domainOf(scope, settings);
  const httpPublish = settings.text('httpPublish') as 'iam' | 'keys' | 'none' | undefined;
  return definedOf({
    authentication: authenticationOf(scope, settings),
    identity: jsonIn<IdentityProps>(settings, 'identity'),
    streams: streamsIn(settings),
    topics: jsonIn<GivenTopics>(settings, 'topics'),
    ...bridgesOf(settings),
    rules: jsonIn<{ readonly rules: readonly GivenRule[] }>(settings, 'rules')?.rules,
    presence: settings.switch('presence'),
    usage: settings.switch('usage'),
    tenantMetrics: settings.count('tenantMetrics'),
    usageExport: settings.text('usageExport') as ApusBrokerProps['usageExport'],
    tokenDefaultRules: defaultRulesOf(settings),
    allowedOrigins: settings.text('allowedOrigins')?.split(','),
    httpPublish: httpPublish === 'none' ? false : httpPublish,
    httpApi: httpApiOf(settings),
    apiReservedConcurrency: settings.count('apiReservedConcurrency'),
    publishKeysSecret: secretOf(scope, 'OwnPublishKeys', arnOf(settings, 'publishKeysSecretArn')),
    publishReservedConcurrency: settings.count('publishReservedConcurrency'),
    throttle: definedOf({
      framesPerSecond: settings.count('framesPerSecond'),
      burstFrames: settings.count('burstFrames'),
    }),
    fanOut: definedOf({ maxPostsPerSecond: settings.count('maxPostsPerSecond') }),
    breaker: definedOf({
      messagesPerMinuteMax: settings.count('messagesPerMinuteMax'),
      resetMinutes: settings.count('breakerResetMinutes'),
    }),
    quotas: quotasOf(settings),
    connectTimeoutSeconds: settings.count('connectTimeoutSeconds'),
    resumeSeconds: settings.count('resumeSeconds'),
    cutAfterMs: settings.count('cutAfterMs'),
    withoutExtensions: settings.text('withoutExtensions')?.split(','),
    alarms: definedOf({
      email: alarmEmail,
      frameMilliseconds: settings.count('alarmFrameMilliseconds'),
      sweepMissing: settings.switch('alarmSweepMissing'),
    }),
    rotateTokenSecretDays: settings.count('rotateTokenSecretDays'),
    rollbackOnAlarm: settings.switch('rollbackOnAlarm'),
    budget: budgetOf(settings),
    reservedConcurrency: settings.count('reservedConcurrency'),
    compliance: settings.switch('compliance'),
    encryptionKey: keyOf(scope, arnOf(settings, 'encryptionKeyArn')),
    dashboard: settings.switch('dashboard'),
    domain,
    removalPolicy: settings.switch('retainData') === false ? RemovalPolicy.DESTROY : undefined,
    table: definedOf({
      adopt: adoptedOf(settings),
      pointInTimeRecovery: settings.switch('pointInTimeRecovery'),
      deletionProtection: settings.switch('deletionProtection'),
      maxReadRequestUnits: settings.count('maxReadRequestUnits'),
      maxWriteRequestUnits: settings.count('maxWriteRequestUnits'),
    }),
    memorySizeMegabytes: settings.count('memorySizeMegabytes'),
    logLevel: settings.text('logLevel') as ApusBrokerProps['logLevel'],
    accessLogs: settings.switch('accessLogs'),
    tracing: settings.switch('tracing'),
    otlpUrl: settings.text('otlpUrl'),
  });
}

function httpApiOf(settings: Settings): HttpApiProps | undefined {
  const given = settings.text('httpApi') as 'iam' | 'none' | undefined;
  const hashes = settings.text('httpApiKeySha256');
  if (hashes === undefined) return given === 'none' ? false : given;
  if (given !== undefined)
    throw new SettingError('Only one of --http-api and --http-api-key-sha256 can be given.');
  return { keysSha256: hashes.split(',') };
}

/** Undefined if all values are defaults. */
function quotasOf(settings: Settings): GivenQuotaScopes | undefined {
  const given: Partial<Record<QuotaScopeName, Record<string, number>>> = {};
  for (const scope of QUOTA_SCOPES) {
    for (const name of QUOTA_NAMES) {
      const setting = quotaSetting(scope, name);
      const quota = setting in SETTINGS ? settings.count(setting) : undefined;
      if (quota !== undefined) given[scope] = { ...given[scope], [name]: quota };
    }
  }
  return Object.keys(given).length === 0 ? undefined : given;
}

function authenticationOf(scope: Construct, settings: Settings): Authentication | undefined {
  const given = settings.text('authentication') as 'generated-secret' | 'anonymous' | 'iam' | undefined;
  const secretArn = arnOf(settings, 'tokenSecretArn');
  const jwksUrl = settings.text('jwksUrl');
  const choices = [given, secretArn, jwksUrl].filter((each) => each !== undefined);
  if (choices.length > 1) {
    throw new SettingError('Only one of --authentication, --token-secret-arn and --jwks-url can be given.');
  }
  const secret = secretOf(scope, 'OwnSecret', secretArn);
  if (secret !== undefined) return { secret };
  if (jwksUrl === undefined) {
    requireAbsent(settings, ['issuer', 'audience'], '--jwks-url');
    return given === 'iam' ? { iam: filtersIn(settings) ?? {} } : given;
  }
  const issuer = settings.text('issuer');
  if (issuer === undefined) throw new SettingError('--jwks-url needs --issuer: whose tokens are accepted.');
  const audience = settings.text('audience');
  if (audience === undefined) {
    throw new SettingError('--jwks-url needs --audience: the provider signs for all its customers alike.');
  }
  return { jwksUrl, issuer, audience };
}

function secretOf(scope: Construct, id: string, arn: string | undefined): ISecret | undefined {
  return arn === undefined ? undefined : Secret.fromSecretCompleteArn(scope, id, arn);
}

function keyOf(scope: Construct, arn: string | undefined): IKey | undefined {
  return arn === undefined ? undefined : Key.fromKeyArn(scope, 'OwnKey', arn);
}

function budgetOf(settings: Settings): BudgetProps | undefined {
  const dollarsPerMonth = settings.count('budgetDollars');
  if (dollarsPerMonth === undefined) return undefined;
  const email = settings.text('alarmEmail');
  if (email === undefined) throw new SettingError('--budget-dollars needs --alarm-email: a budget mails.');
  return { dollarsPerMonth, email };
}

const TAG_MAX = { keyLength: 128, valueLength: 256 } as const;

/** `team=iot,cost-center=42`. */
export function tagsOf(settings: Settings): Readonly<Record<string, string>> {
  const pairs = settings.text('tags')?.split(',') ?? [];
  const entries = pairs.map((pair) => {
    const [, key = '', value = ''] = /^\s*([^=]+)=(.*)$/.exec(pair) ?? [];
    const isTag = key !== '' && key.length <= TAG_MAX.keyLength && value.length <= TAG_MAX.valueLength;
    if (isTag && !/^(aws|apus):/.test(key)) return [key, value.trim()] as const;
    throw new SettingError(
      `--tags are as team=iot,cost-center=42, and none begins with aws: or apus:, not "${pair}".`,
    );
  });
  return Object.fromEntries(entries);
}

/** Whether the deployment has the table of streams, which has the members of rooms as well. */
export function hasStreamsTable(settings: Settings): boolean {
  return settings.text('streams') !== undefined || settings.switch('presence') === true;
}

/** The tables that an earlier broker has left. */
export function adoptedOf(settings: Settings): AdoptedTables | undefined {
  const tableName = settings.text('adoptTable');
  const sessionsTableName = settings.text('adoptSessionsTable');
  const streamsTableName = settings.text('adoptStreamsTable');
  if ((tableName ?? sessionsTableName ?? streamsTableName) === undefined) return undefined;
  if (tableName === undefined || sessionsTableName === undefined) {
    throw new SettingError(
      `--adopt-table and --adopt-sessions-table need each other${streamsTableName === undefined ? '' : ', and --adopt-streams-table both of them'}: a broker has a table of messages and one of sessions.`,
    );
  }
  if (streamsTableName === undefined) return { tableName, sessionsTableName };
  if (!hasStreamsTable(settings))
    throw new SettingError('--adopt-streams-table means nothing without --streams or --presence.');
  return { tableName, sessionsTableName, streamsTableName };
}

/** Read as `apus serve --streams` does; checked like the prop. */
function streamsIn(settings: Settings): readonly GivenStream[] | undefined {
  return jsonIn<{ readonly streams: readonly GivenStream[] }>(settings, 'streams')?.streams;
}

type JsonSetting = 'identity' | 'streams' | 'topics' | 'bridges' | 'rules';

/** A file that a setting names. Its contents are checked like the prop of the same name. */
function jsonIn<T>(settings: Settings, name: JsonSetting): T | undefined {
  const path = settings.text(name);
  if (path === undefined) return undefined;
  try {
    // npm runs the command in the repository, and says where it was called.
    return JSON.parse(readFileSync(resolve(process.env.INIT_CWD ?? '.', path), 'utf8'));
  } catch (error) {
    throw new SettingError(`--${name}: ${(error as Error).message}`);
  }
}

/** With IAM authentication the filters are not token rules, but the rules of all signing clients. */
function defaultRulesOf(settings: Settings): TokenRulesProps | undefined {
  return settings.text('authentication') === 'iam' ? undefined : filtersIn(settings);
}

function filtersIn(settings: Settings): TokenRulesProps | undefined {
  const publish = settings.text('tokenPublish')?.split(',');
  const subscribe = settings.text('tokenSubscribe')?.split(',');
  return publish === undefined && subscribe === undefined ? undefined : definedOf({ publish, subscribe });
}

function domainOf(scope: Construct, settings: Settings): DomainProps | undefined {
  const domainName = settings.text('domainName');
  const certificateArn = arnOf(settings, 'certificateArn');
  if (domainName === undefined && certificateArn === undefined) {
    requireAbsent(settings, ['hostedZoneId'], '--domain-name');
    return undefined;
  }
  if (domainName === undefined || certificateArn === undefined) {
    throw new SettingError('--domain-name and --certificate-arn need each other.');
  }
  const hostedZoneId = settings.text('hostedZoneId');
  const certificate = Certificate.fromCertificateArn(scope, 'Certificate', certificateArn);
  if (hostedZoneId === undefined) return { domainName, certificate };
  const zoneName = domainName.split('.').slice(1).join('.');
  return {
    domainName,
    certificate,
    hostedZone: HostedZone.fromHostedZoneAttributes(scope, 'Zone', { hostedZoneId, zoneName }),
  };
}

function arnOf(settings: Settings, name: keyof typeof ARNS): string | undefined {
  const arn = settings.text(name);
  const { pattern, example } = ARNS[name];
  if (arn === undefined || pattern.test(arn)) return arn;
  throw new SettingError(`${flagOf(name)} is a whole ARN, as ${example}, not "${arn}".`);
}

/** Refuses settings that have no effect without another one. */
function requireAbsent(settings: Settings, names: readonly SettingName[], needed: string): void {
  const given = names.find((name) => settings.text(name) !== undefined);
  if (given !== undefined) throw new SettingError(`${flagOf(given)} means nothing without ${needed}.`);
}

type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> };

/** The object without undefined values: for an optional prop, undefined is not allowed. */
function definedOf<T extends object>(given: T): Partial<Defined<T>> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<
    Defined<T>
  >;
}
