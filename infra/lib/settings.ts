import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ValueOf } from '@apus/aws/function-options';
import type { GivenIotCoreBridge, GivenKafkaBridge } from '@apus/bridges/lambda';
import { ALARMS, BREAKER, FAN_OUT, type Row, type Rows, TABLE, THROTTLE } from './option-groups.ts';
import { BROKER } from './options.ts';
import { QUOTA_SETTINGS } from './quota-settings.ts';

/** One setting of the app: a flag of `npm run deploy`, and a key of the CDK context under its name in camel case. */
export interface Setting extends Row {
  readonly help: string;
  /** Where its value is in the props: `throttle.framesPerSecond`. Absent: `propsOf` has code for it. */
  readonly prop?: string;
}

type FlagOf<Name, R> = R extends { readonly help: string }
  ? R extends { readonly flag: infer Flag extends string }
    ? Flag
    : Name
  : never;

/** The rows of a table that have a flag, by its name. */
type Flagged<Table> = { readonly [Name in keyof Table as FlagOf<Name, Table[Name]>]: Table[Name] };

function settingsOf<Table extends Rows>(table: Table, group?: string): Flagged<Table> {
  const settings = Object.entries<Row>(table).map(([name, row]) => {
    const prop = group === undefined ? name : `${group}.${name}`;
    return [row.flag ?? name, { ...row, prop }] as const;
  });
  return Object.fromEntries(
    settings.filter(([, { help }]) => help !== undefined),
  ) as object as Flagged<Table>;
}

/** The rule of an ARN that is named in full. */
function arnOf(service: string, resource: string, example: string): readonly [RegExp, string] {
  return [
    new RegExp(`^arn:aws[\\w-]*:${service}:[\\w-]+:\\d{12}:${resource}$`),
    `is a whole ARN, as arn:aws:${service}:eu-west-1:123456789012:${example},`,
  ];
}

/** Secrets Manager adds six characters to the name. */
const SECRET_ARN = arnOf('secretsmanager', 'secret:.+-\\w{6}', 'secret:NAME-a1B2c3');

/** Settings that are no props, or from which code makes one (`propsOf`). */
const OTHERS = {
  name: {
    ...{ kind: 'text', value: 'NAME', preset: 'apus' },
    rule: [
      /^[A-Za-z][A-Za-z0-9-]{0,127}$/,
      'begins with a letter and has up to 128 letters, digits and -; it is',
    ],
    help: 'Name of the CloudFormation stack. A second broker in the same account and Region needs another name.',
  },
  account: {
    ...{ kind: 'text', value: 'ID', rule: [/^\d{12}$/, 'is the twelve digits of an account,'] },
    help: 'The account to deploy to; the command refuses any other.',
  },
  region: { kind: 'text', value: 'REGION', help: 'Where to deploy.', preset: "your credentials' Region" },
  authentication: {
    choices: ['generated-secret', 'iam', 'anonymous'],
    ...{ kind: 'choice', preset: 'generated-secret' },
    help: 'How clients authenticate. iam: they sign the handshake with AWS credentials. anonymous: every client may connect, at your cost.',
  },
  tokenSecretArn: {
    ...{ kind: 'text', value: 'ARN', rule: SECRET_ARN },
    help: 'Your secret that signs tokens (HS256, 32 bytes or more).',
  },
  jwksUrl: {
    ...{ kind: 'text', value: 'URL' },
    help: 'The URL of the keys of the identity provider that issues the tokens (JWKS). Needs --issuer as well.',
  },
  issuer: { kind: 'text', value: 'ISS', help: 'Tokens must have this issuer (iss).' },
  audience: { kind: 'text', value: 'AUD', help: 'Tokens must have this audience (aud).' },
  tokenPublish: {
    ...{ kind: 'list', value: 'FILTERS' },
    help: 'Topic filters to which clients may publish if their token has no rules of its own, separated by commas. %u is the subject of the token.',
  },
  tokenSubscribe: {
    ...{ kind: 'list', value: 'FILTERS' },
    help: 'Topic filters to which clients may subscribe if their token has no rules of its own, separated by commas.',
  },
  bridges: {
    ...{ kind: 'json', within: 'bridges', type: [] as readonly (GivenKafkaBridge | GivenIotCoreBridge)[] },
    help: 'Records of Kafka and messages of IoT Core become messages: JSON, as apus serve --bridges takes it (docs/bridges.md).',
  },
  publishKeysSecretArn: {
    ...{ kind: 'text', value: 'ARN', rule: SECRET_ARN },
    help: 'Your secret that holds the keys of backends. Needs --http-publish keys.',
  },
  httpApi: {
    ...{ kind: 'choice', choices: ['iam'], none: true, type: false as 'iam' | false, preset: 'none' },
    help: 'How operators call the HTTP API over HTTPS, where requests are signed (docs/generated/api.md).',
  },
  httpApiKeySha256: {
    ...{ kind: 'list', value: 'HEX' },
    help: 'Operators call the HTTP API over HTTPS with the key of which this is the SHA-256; several are separated by commas.',
  },
  budgetDollars: {
    ...{ kind: 'count', value: 'DOLLARS', preset: 'none' },
    help: 'A monthly AWS budget for the broker, which sends mail at 80 % and when the forecast exceeds it. Needs --alarm-email.',
  },
  domainName: {
    ...{ kind: 'text', value: 'HOST' },
    help: 'Your own domain name for the broker. Needs --certificate-arn.',
  },
  certificateArn: {
    ...{ kind: 'text', value: 'ARN', rule: arnOf('acm', 'certificate/.+', 'certificate/ID') },
    help: 'Certificate of the domain name, in the same Region.',
  },
  hostedZoneId: {
    ...{ kind: 'text', value: 'ID' },
    help: 'Creates the record of the domain name in this hosted zone of Route 53.',
  },
  retainData: {
    ...{ kind: 'switch', preset: 'true' },
    help: 'Keeps the tables and the secrets when the stack is deleted. false: deletes them with it.',
  },
  encryptionKeyArn: {
    ...{ kind: 'text', value: 'ARN', preset: 'keys that AWS owns' },
    rule: arnOf('kms', 'key/.+', 'key/ID'),
    help: 'Your KMS key for the tables, the queues and the generated secrets. $1.00 a month, and $0.03 for 10,000 requests.',
  },
  tags: {
    ...{ kind: 'text', value: 'TAGS' },
    help: 'Tags of everything that can be tagged, as team=iot,cost-center=42.',
  },
  adoptTable: {
    ...{ kind: 'text', value: 'NAME' },
    help: 'Reuses the table of messages that a destroyed broker has left. Needs --adopt-sessions-table.',
  },
  adoptSessionsTable: {
    ...{ kind: 'text', value: 'NAME' },
    help: 'Reuses the table of sessions that a destroyed broker has left. Needs --adopt-table.',
  },
  adoptStreamsTable: {
    ...{ kind: 'text', value: 'NAME' },
    help: 'Reuses the table of streams and rooms that it has left. Needs --streams or --presence, and the other two.',
  },
} as const satisfies Readonly<Record<string, Setting>>;

/** Every setting, in the order of the help. */
export const SETTINGS = {
  ...OTHERS,
  ...settingsOf(BROKER),
  ...settingsOf(THROTTLE, 'throttle'),
  ...settingsOf(FAN_OUT, 'fanOut'),
  ...settingsOf(BREAKER, 'breaker'),
  ...QUOTA_SETTINGS,
  ...settingsOf(ALARMS, 'alarms'),
  ...settingsOf(TABLE, 'table'),
};

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** A setting by its name, as the plain interface. */
export function settingOf(name: SettingName): Setting {
  return SETTINGS[name] as Setting;
}

/** The values of a setting, for people: `iam|none`, `SECONDS`. */
export function valuesOf({ kind, value, choices = [], none }: Partial<Setting>): string {
  if (kind === 'choice') return [...choices, ...(none ? ['none'] : [])].join('|');
  if (kind === 'switch') return '[true|false]';
  return value ?? { count: 'COUNT', json: 'FILE' }[kind as string] ?? '';
}

/** `framesPerSecond` → `--frames-per-second`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The settings that a stack was deployed with, as text. */
export type Deployed = { readonly [Name in SettingName]?: string };

/** Where the template of a stack has them. */
export const SETTINGS_METADATA = 'apus:settings';

/** Undefined for a template that does not come from the app of `npm run deploy`. */
export function settingsIn(template: {
  readonly Metadata?: Readonly<Record<string, unknown>>;
}): Deployed | undefined {
  return template.Metadata?.[SETTINGS_METADATA] as Deployed | undefined;
}

/** A setting has a wrong value. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

/** Reads settings from the CDK context or from flags. */
export class Settings {
  readonly #read: (name: SettingName) => unknown;

  constructor(read: (name: SettingName) => unknown) {
    this.#read = read;
  }

  text(name: SettingName): string | undefined {
    const value = this.#read(name);
    return value === undefined || value === null || value === '' ? undefined : String(value);
  }

  /** All settings that are not defaults. */
  given(): Deployed {
    return Object.fromEntries(
      SETTING_NAMES.map((name) => [name, this.text(name)]).filter(([, text]) => text !== undefined),
    );
  }

  /** @throws {SettingError} for a text that is no value of the setting's kind */
  value<Name extends SettingName>(name: Name): ValueOf<(typeof SETTINGS)[Name]> | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : (parsed(name, text) as ValueOf<(typeof SETTINGS)[Name]>);
  }
}

function parsed(name: SettingName, text: string): unknown {
  const { kind, choices = [], none = false, within, rule } = settingOf(name);
  const refuse = (words: string): never => {
    throw new SettingError(`${flagOf(name)} ${words} not "${text}".`);
  };
  switch (kind) {
    case 'count':
      return /^\d+$/.test(text) ? Number(text) : refuse('is a whole number,');
    case 'switch':
      return text === 'true' || text === 'false' ? text === 'true' : refuse('is true or false,');
    case 'choice': {
      const texts = none ? [...choices, 'none'] : choices;
      if (!texts.includes(text)) return refuse(`is one of ${texts.join(', ')},`);
      return none && text === 'none' ? false : text;
    }
    case 'list':
      return text.split(',');
    case 'json': {
      const whole = jsonIn(name, text);
      return within === undefined ? whole : (whole as Readonly<Record<string, unknown>> | null)?.[within];
    }
    default:
      return rule === undefined || rule[0].test(text) ? text : refuse(rule[1]);
  }
}

/** The content of a file. It is checked like the prop. */
function jsonIn(name: string, path: string): unknown {
  try {
    // npm runs the command in the repository, and says where it was called.
    return JSON.parse(readFileSync(resolve(process.env.INIT_CWD ?? '.', path), 'utf8'));
  } catch (error) {
    throw new SettingError(`--${name}: ${(error as Error).message}`);
  }
}
