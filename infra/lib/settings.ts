import { QUOTA_SETTINGS } from './quota-settings.ts';

export * from './quota-settings.ts';

/** One setting of the app: a flag of `npm run deploy`, and a key of the CDK context under its name in camel case. */
export interface Setting {
  readonly kind: 'text' | 'count' | 'switch' | 'choice';
  /** The placeholder of the value in the help. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly help: string;
  readonly preset?: string;
}

/** Every setting, in the order of the help. `props.ts` explains each of them in full. */
export const SETTINGS = {
  name: {
    kind: 'text',
    value: 'NAME',
    help: 'Name of the CloudFormation stack. A second broker in the same account and Region needs another name.',
    preset: 'apus',
  },
  account: { kind: 'text', value: 'ID', help: 'The account to deploy to; the command refuses any other.' },
  region: { kind: 'text', value: 'REGION', help: 'Where to deploy.', preset: "your credentials' Region" },
  authentication: {
    kind: 'choice',
    choices: ['generated-secret', 'iam', 'anonymous'],
    help: 'How clients authenticate. iam: they sign the handshake with AWS credentials. anonymous: every client may connect, at your cost.',
    preset: 'generated-secret',
  },
  tokenSecretArn: {
    kind: 'text',
    value: 'ARN',
    help: 'Your secret that signs tokens (HS256, 32 bytes or more).',
  },
  identity: {
    kind: 'text',
    value: 'FILE',
    help: 'The full configuration of authentication: JSON, as apus serve --identity takes it.',
  },
  streams: {
    kind: 'text',
    value: 'FILE',
    help: 'Topics whose history is kept: JSON, as apus serve --streams takes it (docs/streams.md).',
  },
  topics: {
    kind: 'text',
    value: 'FILE',
    help: 'Payloads are checked against the schemas of their topics where the file says so: JSON, as apus serve --topics takes it (docs/portal.md).',
  },
  bridges: {
    kind: 'text',
    value: 'FILE',
    help: 'Records of Kafka and messages of IoT Core become messages: JSON, as apus serve --bridges takes it (docs/bridges.md).',
  },
  rules: {
    kind: 'text',
    value: 'FILE',
    help: 'Messages leave for webhooks, SQS, EventBridge, Lambda, IoT Core or another topic: JSON, as apus serve --rules takes it (docs/bridges.md).',
  },
  presence: {
    kind: 'switch',
    help: 'Members of rooms are kept, and backends are told of clients that come and go (docs/presence.md).',
  },
  usage: {
    kind: 'switch',
    help: 'What each tenant uses is counted, at up to six writes a minute for each tenant and environment (docs/usage.md).',
  },
  usageExport: {
    kind: 'choice',
    choices: ['csv', 'jsonl'],
    help: 'The usage of each day is written into a bucket, a line for each tenant and hour. Needs --usage (docs/usage.md).',
    preset: 'no export',
  },
  tenantMetrics: {
    kind: 'count',
    value: 'COUNT',
    help: 'Metrics and a graph of the largest tenants: so many of each minute. $0.60 a month for each.',
    preset: 'none',
  },
  jwksUrl: {
    kind: 'text',
    value: 'URL',
    help: 'The URL of the keys of the identity provider that issues the tokens (JWKS). Needs --issuer as well.',
  },
  issuer: { kind: 'text', value: 'ISS', help: 'Tokens must have this issuer (iss).' },
  audience: { kind: 'text', value: 'AUD', help: 'Tokens must have this audience (aud).' },
  tokenPublish: {
    kind: 'text',
    value: 'FILTERS',
    help: 'Topic filters to which clients may publish if their token has no rules of its own, separated by commas. %u is the subject of the token.',
  },
  tokenSubscribe: {
    kind: 'text',
    value: 'FILTERS',
    help: 'Topic filters to which clients may subscribe if their token has no rules of its own, separated by commas.',
  },
  allowedOrigins: {
    kind: 'text',
    value: 'ORIGINS',
    help: 'Origins of web pages that may connect, as https://app.example.com, separated by commas.',
    preset: 'any',
  },
  httpPublish: {
    kind: 'choice',
    choices: ['iam', 'keys', 'none'],
    help: 'How backends publish over HTTPS.',
    preset: 'none',
  },
  publishKeysSecretArn: {
    kind: 'text',
    value: 'ARN',
    help: 'Your secret that holds the keys of backends. Needs --http-publish keys.',
  },
  publishReservedConcurrency: {
    kind: 'count',
    value: 'COUNT',
    help: 'Reserved concurrency of the function: its environments are kept for it, and it never gets more.',
    preset: "none; an account's ten allow none",
  },
  httpApi: {
    kind: 'choice',
    choices: ['iam', 'none'],
    help: 'How operators call the HTTP API over HTTPS, where requests are signed (docs/api.md).',
    preset: 'none',
  },
  httpApiKeySha256: {
    kind: 'text',
    value: 'HEX',
    help: 'Operators call the HTTP API over HTTPS with the key of which this is the SHA-256; several are separated by commas.',
  },
  apiReservedConcurrency: {
    kind: 'count',
    value: 'COUNT',
    help: 'Reserved concurrency of the function of the HTTP API.',
    preset: "none; an account's ten allow none",
  },
  framesPerSecond: {
    kind: 'count',
    value: 'COUNT',
    help: 'Frames that all clients together may send in a second.',
    preset: '500',
  },
  burstFrames: {
    kind: 'count',
    value: 'COUNT',
    help: 'Frames that all clients together may send at once (burst).',
    preset: 'twice --frames-per-second',
  },
  maxPostsPerSecond: {
    kind: 'count',
    value: 'COUNT',
    help: 'Posts that all fan-out workers together send in a second.',
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
    help: 'A tripped breaker resets itself after this time; 0: never.',
    preset: '20',
  },
  ...QUOTA_SETTINGS,
  connectTimeoutSeconds: {
    kind: 'count',
    value: 'SECONDS',
    help: 'How long a client may take from the handshake to CONNECT.',
    preset: '30',
  },
  resumeSeconds: {
    kind: 'count',
    value: 'SECONDS',
    help: 'How long a client that has lost its connection may go on with its session. 0: not at all.',
    preset: '60',
  },
  cutAfterMs: {
    kind: 'count',
    value: 'MILLISECONDS',
    help: 'How long after a move the former connection of a session is cut. For an account where `apus probe` finds that a cut loses posts.',
    preset: '0: before its subscriptions move',
  },
  withoutExtensions: {
    kind: 'text',
    value: 'NAMES',
    help: 'Extensions of text-frames.md that are not taken from clients, with commas, where `probe` says that one does not work.',
    preset: 'all are taken',
  },
  reservedConcurrency: {
    kind: 'count',
    value: 'COUNT',
    help: "Reserved concurrency of the gateway's function: its environments are kept for it, and it never gets more.",
    preset: "none; an account's ten allow none",
  },
  rotateTokenSecretDays: {
    kind: 'count',
    value: 'DAYS',
    help: 'Rotates the generated secret by itself after so many days; the former key is known until the next rotation. Tokens have to end before that.',
    preset: 'by hand: apus token rotate',
  },
  alarmFrameMilliseconds: {
    kind: 'count',
    value: 'MS',
    help: 'An alarm when one frame in a hundred takes longer for five minutes. $0.10 a month.',
    preset: 'no such alarm',
  },
  alarmSweepMissing: {
    kind: 'switch',
    help: 'An alarm when no sweep has run for half an hour. $0.10 a month.',
    preset: 'false',
  },
  rollbackOnAlarm: {
    kind: 'switch',
    help: 'A deployment of new code begins with a tenth of the traffic for ten minutes, and rolls back when an alarm on errors goes off. $0.20 a month.',
    preset: 'false',
  },
  budgetDollars: {
    kind: 'count',
    value: 'DOLLARS',
    help: 'A monthly AWS budget for the broker, which sends mail at 80 % and when the forecast exceeds it. Needs --alarm-email.',
    preset: 'none',
  },
  alarmEmail: { kind: 'text', value: 'ADDRESS', help: 'Mail address that every alarm notifies.' },
  dashboard: {
    kind: 'switch',
    help: 'Creates a CloudWatch dashboard; the first three of an account are free.',
    preset: 'true',
  },
  domainName: {
    kind: 'text',
    value: 'HOST',
    help: 'Your own domain name for the broker. Needs --certificate-arn.',
  },
  certificateArn: { kind: 'text', value: 'ARN', help: 'Certificate of the domain name, in the same Region.' },
  hostedZoneId: {
    kind: 'text',
    value: 'ID',
    help: 'Creates the record of the domain name in this hosted zone of Route 53.',
  },
  retainData: {
    kind: 'switch',
    help: 'Keeps the tables and the secrets when the stack is deleted. false: deletes them with it.',
    preset: 'true',
  },
  encryptionKeyArn: {
    kind: 'text',
    value: 'ARN',
    help: 'Your KMS key for the tables, the queues and the generated secrets. $1.00 a month, and $0.03 for 10,000 requests.',
    preset: 'keys that AWS owns',
  },
  compliance: {
    kind: 'switch',
    help: 'Passes the rules of NIST 800-53 R5, HIPAA Security and PCI DSS 3.2.1 of cdk-nag: your key, or one that the stack makes, for logs and alarms too; backups of the tables. $1.00 a month, and $3.70 a GB.',
    preset: 'false',
  },
  tags: {
    kind: 'text',
    value: 'TAGS',
    help: 'Tags of everything that can be tagged, as team=iot,cost-center=42.',
  },
  adoptTable: {
    kind: 'text',
    value: 'NAME',
    help: 'Reuses the table of messages that a destroyed broker has left. Needs --adopt-sessions-table.',
  },
  adoptSessionsTable: {
    kind: 'text',
    value: 'NAME',
    help: 'Reuses the table of sessions that a destroyed broker has left. Needs --adopt-table.',
  },
  adoptStreamsTable: {
    kind: 'text',
    value: 'NAME',
    help: 'Reuses the table of streams and rooms that it has left. Needs --streams or --presence, and the other two.',
  },
  pointInTimeRecovery: {
    kind: 'switch',
    help: 'Enables point-in-time recovery of the tables.',
    preset: 'false',
  },
  deletionProtection: { kind: 'switch', help: 'Protects the tables from deletion.', preset: 'false' },
  maxReadRequestUnits: {
    kind: 'count',
    value: 'UNITS',
    help: 'Read units a second beyond which each of the two tables throttles all reads. 0: no maximum.',
    preset: '8 a frame, 4 a post',
  },
  maxWriteRequestUnits: {
    kind: 'count',
    value: 'UNITS',
    help: 'Write units a second beyond which each of the two tables throttles all writes. 0: no maximum.',
    preset: '4 a frame, 2 a post',
  },
  memorySizeMegabytes: { kind: 'count', value: 'MB', help: 'Memory of the functions.', preset: '512' },
  logLevel: {
    kind: 'choice',
    choices: ['error', 'warn', 'info', 'debug'],
    help: 'The lowest level that the functions log.',
    preset: 'warn',
  },
  accessLogs: { kind: 'switch', help: 'Logs a line for each frame at the gateway.', preset: 'false' },
  tracing: { kind: 'switch', help: 'Sends sampled traces to X-Ray.', preset: 'false' },
  otlpUrl: {
    kind: 'text',
    value: 'URL',
    help: 'Sends traces of messages whose publishers ask for it to this OTLP collector (docs/observability.md).',
  },
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
