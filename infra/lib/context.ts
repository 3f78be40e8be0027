import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { HostedZone } from 'aws-cdk-lib/aws-route53';
import { type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { Authentication, TokenRulesProps } from './authentication-props.ts';
import { closestTo } from './closest.ts';
import type { ApusBrokerProps, BudgetProps, DomainProps, HttpApiProps } from './props.ts';
import { flagOf, SETTING_NAMES, SettingError, type SettingName, Settings, settingOf } from './settings.ts';
import type { AdoptedTables } from './table-props.ts';

const STACK_NAME_DEFAULT = 'apus';

/** The settings whose resources have to be in the Region of the deployment. */
export const REGIONAL_SETTINGS = SETTING_NAMES.filter((name) => name.endsWith('Arn'));

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
  const stackName = settings.value('name') ?? STACK_NAME_DEFAULT;
  return { stackName, account: settings.value('account'), region: settings.value('region') };
}

/** The settings as props. Existing resources of the account are imported into `scope`. */
export function propsOf(scope: Construct, settings: Settings): ApusBrokerProps {
  const values = [
    ...SETTING_NAMES.map((name) => [settingOf(name).prop, settings.value(name)] as const),
    ...Object.entries(importedOf(scope, settings)),
  ];
  return values.reduce<Props>(
    (props, [path, value]) =>
      path === undefined || value === undefined ? props : withValue(props, path.split('.'), value),
    {},
  );
}

type Props = Readonly<Record<string, unknown>>;

function withValue(props: Props, [name = '', ...rest]: readonly string[], value: unknown): Props {
  if (rest.length === 0) return { ...props, [name]: value };
  return { ...props, [name]: withValue((props[name] ?? {}) as Props, rest, value) };
}

/** The props that more than one setting makes, or an existing resource. */
function importedOf(scope: Construct, settings: Settings) {
  return {
    authentication: authenticationOf(scope, settings),
    ...bridgesOf(settings),
    tokenDefaultRules: defaultRulesOf(settings),
    httpApi: httpApiOf(settings),
    publishKeysSecret: secretOf(scope, 'OwnPublishKeys', settings.value('publishKeysSecretArn')),
    budget: budgetOf(settings),
    encryptionKey: keyOf(scope, settings.value('encryptionKeyArn')),
    domain: domainOf(scope, settings),
    removalPolicy: settings.value('retainData') === false ? RemovalPolicy.DESTROY : undefined,
    'table.adopt': adoptedOf(settings),
  } satisfies { readonly [Name in keyof ApusBrokerProps | 'table.adopt']?: unknown };
}

/**
 * The bridges of the file, by their source. A bridge of an unknown kind is read as Kafka, whose reader reports the
 * error.
 */
function bridgesOf(settings: Settings): Pick<ApusBrokerProps, 'kafka' | 'iotCore'> {
  const bridges = settings.value('bridges');
  if (!Array.isArray(bridges)) return {};
  const iotCore = bridges.filter((bridge) => 'iotCore' in Object(bridge));
  const kafka = bridges.filter((bridge) => !('iotCore' in Object(bridge)));
  return {
    ...((kafka.length > 0 || iotCore.length === 0) && { kafka }),
    ...(iotCore.length > 0 && { iotCore }),
  };
}

function httpApiOf(settings: Settings): HttpApiProps | undefined {
  const given = settings.value('httpApi');
  const keysSha256 = settings.value('httpApiKeySha256');
  if (keysSha256 === undefined) return given;
  if (given === undefined) return { keysSha256 };
  throw new SettingError('Only one of --http-api and --http-api-key-sha256 can be given.');
}

function authenticationOf(scope: Construct, settings: Settings): Authentication | undefined {
  const given = settings.value('authentication');
  const secretArn = settings.value('tokenSecretArn');
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
  const dollarsPerMonth = settings.value('budgetDollars');
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
  return settings.text('streams') !== undefined || settings.value('presence') === true;
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

/** With IAM authentication the filters are not token rules, but the rules of all signing clients. */
function defaultRulesOf(settings: Settings): TokenRulesProps | undefined {
  return settings.text('authentication') === 'iam' ? undefined : filtersIn(settings);
}

function filtersIn(settings: Settings): TokenRulesProps | undefined {
  const publish = settings.value('tokenPublish');
  const subscribe = settings.value('tokenSubscribe');
  if (publish === undefined && subscribe === undefined) return undefined;
  return { ...(publish && { publish }), ...(subscribe && { subscribe }) };
}

function domainOf(scope: Construct, settings: Settings): DomainProps | undefined {
  const domainName = settings.text('domainName');
  const certificateArn = settings.value('certificateArn');
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

/** Refuses settings that have no effect without another one. */
function requireAbsent(settings: Settings, names: readonly SettingName[], needed: string): void {
  const given = names.find((name) => settings.text(name) !== undefined);
  if (given !== undefined) throw new SettingError(`${flagOf(given)} means nothing without ${needed}.`);
}
