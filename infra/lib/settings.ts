import { GATEWAY_QUOTAS, type Quotas } from '@apus/broker';

/** One setting of the app: a flag of `npm run deploy`, and a key of the CDK context under its name in camel case. */
export interface Setting {
  readonly kind: 'text' | 'count' | 'switch' | 'choice';
  /** The placeholder of the value in the help. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly help: string;
  readonly preset?: string;
}

/** Quotas of clients, each for an identity, a tenant, and all together. */
const QUOTA_TEXTS = {
  framesPerSecondMax: 'Frames a second',
  publishesPerSecondMax: 'PUBLISH packets a second',
  bytesPerSecondMax: 'Bytes a second',
  writesPerMinuteMax: 'Filters and kilobytes of retained messages a minute',
  deliveriesPerMinuteMax: 'Deliveries a minute',
  messagesPerMinuteMax: 'Messages a minute as the breaker counts them',
  connectionsMax: 'Connections',
  sessionsMax: 'Sessions',
  retainedMessagesMax: 'Retained messages',
  retainedBytesMax: 'Bytes of retained messages',
} as const;

const SCOPE_TEXTS = { identity: 'of one identity', tenant: 'of one tenant', broker: 'of all' } as const;

export type QuotaScopeName = keyof typeof SCOPE_TEXTS;
export type QuotaName = keyof typeof QUOTA_TEXTS;
type QuotaSetting = `${QuotaScopeName}${Capitalize<QuotaName>}`;

export const QUOTA_SCOPES = Object.keys(SCOPE_TEXTS) as readonly QuotaScopeName[];
export const QUOTA_NAMES = Object.keys(QUOTA_TEXTS) as readonly QuotaName[];

/** `identity`, `framesPerSecondMax` → `identityFramesPerSecondMax`. */
export function quotaSetting(scope: QuotaScopeName, name: QuotaName): QuotaSetting {
  return `${scope}${name.charAt(0).toUpperCase()}${name.slice(1)}` as QuotaSetting;
}

/** `limits.sessionsMax` bounds the sessions of all together. */
const QUOTA_PRESETS: { readonly [S in QuotaScopeName]: Partial<Quotas> } = GATEWAY_QUOTAS;

const QUOTA_SETTINGS = Object.fromEntries(
  QUOTA_SCOPES.flatMap((scope) =>
    QUOTA_NAMES.filter((name) => QUOTA_PRESETS[scope][name] !== undefined).map((name): [string, Setting] => [
      quotaSetting(scope, name),
      {
        kind: 'count',
        value: 'COUNT',
        help: `${QUOTA_TEXTS[name]} ${SCOPE_TEXTS[scope]}. 0: any number.`,
        preset: String(QUOTA_PRESETS[scope][name]),
      },
    ]),
  ),
) as Record<QuotaSetting, Setting>;

/** Every setting, in the order of the help. `props.ts` explains each of them in full. */
export const SETTINGS = {
  name: {
    kind: 'text',
    value: 'NAME',
    help: 'Name of the CloudFormation stack; two brokers in one account and Region have two.',
    preset: 'apus',
  },
  account: { kind: 'text', value: 'ID', help: 'Refuses to deploy to another account than this one.' },
  region: { kind: 'text', value: 'REGION', help: 'Where to deploy.', preset: "your credentials' Region" },
  authentication: {
    kind: 'choice',
    choices: ['generated-secret', 'iam', 'anonymous'],
    help: 'Who may connect. iam: who signs with credentials of AWS. anonymous: everybody, at your cost.',
    preset: 'generated-secret',
  },
  tokenSecretArn: {
    kind: 'text',
    value: 'ARN',
    help: 'A secret of yours signs tokens (HS256, 32 bytes or more).',
  },
  identity: {
    kind: 'text',
    value: 'FILE',
    help: 'Who may connect, in full: JSON as apus serve --identity takes it.',
  },
  jwksUrl: {
    kind: 'text',
    value: 'URL',
    help: "Tokens are an identity provider's; its keys. Needs --issuer as well.",
  },
  issuer: { kind: 'text', value: 'ISS', help: 'The issuer that tokens have to name.' },
  audience: { kind: 'text', value: 'AUD', help: 'The audience that tokens have to name.' },
  tokenPublish: {
    kind: 'text',
    value: 'FILTERS',
    help: 'Where a token may publish that says nothing itself: topic filters with commas between. %u is its subject.',
  },
  tokenSubscribe: {
    kind: 'text',
    value: 'FILTERS',
    help: 'Where a token may subscribe that says nothing itself.',
  },
  allowedOrigins: {
    kind: 'text',
    value: 'ORIGINS',
    help: 'Web pages that may connect, as https://app.example.com with commas between.',
    preset: 'any',
  },
  httpPublish: {
    kind: 'choice',
    choices: ['iam', 'keys', 'none'],
    help: 'How backends publish over HTTPS.',
    preset: 'none',
  },
  publishReservedConcurrency: {
    kind: 'count',
    value: 'COUNT',
    help: 'Environments that are kept for it, and the most that it gets.',
    preset: "none; an account's ten allow none",
  },
  framesPerSecond: { kind: 'count', value: 'COUNT', help: 'Frames a second of all clients.', preset: '500' },
  burstFrames: {
    kind: 'count',
    value: 'COUNT',
    help: 'Frames that may come at once.',
    preset: 'twice --frames-per-second',
  },
  maxPostsPerSecond: {
    kind: 'count',
    value: 'COUNT',
    help: 'Posts a second of all fan-out workers.',
    preset: '1000',
  },
  messagesPerMinuteMax: {
    kind: 'count',
    value: 'COUNT',
    help: 'Messages a minute, in and out, beyond which the breaker trips.',
    preset: '100000',
  },
  breakerResetMinutes: {
    kind: 'count',
    value: 'MINUTES',
    help: 'After which a tripped breaker closes by itself; 0: never.',
    preset: '20',
  },
  ...QUOTA_SETTINGS,
  connectTimeoutSeconds: {
    kind: 'count',
    value: 'SECONDS',
    help: 'From the handshake to CONNECT.',
    preset: '30',
  },
  resumeSeconds: {
    kind: 'count',
    value: 'SECONDS',
    help: 'A client that has lost its connection may go on with its session so long. 0: not at all.',
    preset: '60',
  },
  alarmEmail: { kind: 'text', value: 'ADDRESS', help: 'Who gets a mail from each alarm.' },
  dashboard: { kind: 'switch', help: 'A dashboard; an account has three for nothing.', preset: 'true' },
  domainName: { kind: 'text', value: 'HOST', help: 'A name of yours. Needs --certificate-arn as well.' },
  certificateArn: { kind: 'text', value: 'ARN', help: 'Its certificate, in the same Region.' },
  hostedZoneId: { kind: 'text', value: 'ID', help: "Makes the name's record in this zone of Route 53." },
  retainData: {
    kind: 'switch',
    help: 'The tables and the secrets outlive the stack. false: they are deleted with it.',
    preset: 'true',
  },
  pointInTimeRecovery: { kind: 'switch', help: 'Restores the tables to any second.', preset: 'false' },
  deletionProtection: { kind: 'switch', help: 'Refuses to delete the tables.', preset: 'false' },
  maxReadRequestUnits: {
    kind: 'count',
    value: 'UNITS',
    help: 'Read units a second beyond which each of the two tables throttles everybody. 0: no maximum.',
    preset: '8 a frame, 4 a post',
  },
  maxWriteRequestUnits: {
    kind: 'count',
    value: 'UNITS',
    help: 'The same for write units.',
    preset: '4 a frame, 2 a post',
  },
  memorySizeMegabytes: { kind: 'count', value: 'MB', help: 'Memory of the functions.', preset: '512' },
  logLevel: {
    kind: 'choice',
    choices: ['error', 'warn', 'info', 'debug'],
    help: 'The least that is logged.',
    preset: 'warn',
  },
  accessLogs: { kind: 'switch', help: 'A line for each frame.', preset: 'false' },
  tracing: { kind: 'switch', help: 'Traces in X-Ray, sampled.', preset: 'false' },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof SETTINGS;

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[];

/** A setting by its name, as the plain interface. */
export function settingOf(name: SettingName): Setting {
  return SETTINGS[name];
}

/** `framesPerSecond` → `--frames-per-second`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
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
    if (value === undefined || value === null || value === '') return undefined;
    const { choices } = settingOf(name);
    const text = String(value);
    if (choices === undefined || choices.includes(text)) return text;
    throw new SettingError(`${flagOf(name)} is one of ${choices.join(', ')}, not "${text}".`);
  }

  count(name: SettingName): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (/^\d+$/.test(text)) return Number(text);
    throw new SettingError(`${flagOf(name)} is a whole number, not "${text}".`);
  }

  switch(name: SettingName): boolean | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    if (text === 'true' || text === 'false') return text === 'true';
    throw new SettingError(`${flagOf(name)} is true or false, not "${text}".`);
  }
}
