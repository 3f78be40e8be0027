import type { BrokerLimits, GivenQuotaScopes, GivenStream } from '@apus/broker';
import type { AllowedOrigins } from '@apus/door';
import { METERED_TENANTS_MAX } from './metrics/metric-names.ts';
import { CUT_AFTER_MS_MAX, RESUME_SECONDS_MAX } from './options.ts';

/** The environment variables of a function. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** An option of a deployment. Its kind says how a flag, a prop and an environment variable hold its value. */
export interface Option {
  readonly kind: 'text' | 'count' | 'switch' | 'choice' | 'list' | 'json';
  /** The bounds of a count, both included. @default any whole number */
  readonly range?: readonly [least: number, most: number];
  /** The values of a choice. */
  readonly choices?: readonly string[];
  /** Only its type counts: the type of the value, where `kind` does not say it. */
  readonly type?: unknown;
}

export type Options = Readonly<Record<string, Option>>;

/** The lowest level that is logged. Apart from the table for the function that needs no other option. */
export const LOG_LEVEL = { kind: 'choice', choices: ['error', 'warn', 'info', 'debug'] } as const;

/**
 * The options that all functions of a deployment read. A row is enough: the construct writes its variable, a function
 * reads it, and it is a member of `CloudOptions` and of `HandlerOptions`. infra/lib/options.ts adds the help.
 */
export const FUNCTION_OPTIONS = {
  /** Web pages that may connect, by origin. @default any page */
  allowedOrigins: { kind: 'list' },
  /** Seconds from the handshake to CONNECT; then the sweep cuts the connection. */
  connectTimeoutSeconds: { kind: 'count', range: [5, 600] },
  /** Seconds that a client which has lost its connection may take to resume its session. 0: it may not. @default 60 */
  resumeSeconds: { kind: 'count', range: [0, RESUME_SECONDS_MAX] },
  /** Milliseconds from a session's move to the cut of its old connection. @default 0: before its subscriptions move */
  cutAfterMs: { kind: 'count', range: [0, CUT_AFTER_MS_MAX] },
  /** Extensions of the text frames that the server does not accept. @default none */
  withoutExtensions: { kind: 'list' },
  /** The quotas that differ from the defaults, by scope. */
  quotas: { kind: 'json', type: {} as GivenQuotaScopes },
  /** The broker's limits that differ from the defaults. */
  limits: { kind: 'json', type: {} as Partial<BrokerLimits> },
  streams: { kind: 'json', type: [] as readonly GivenStream[] },
  /** Members of rooms are kept, and backends are told of clients that come and go. */
  presence: { kind: 'switch' },
  /** Counts what each tenant uses. */
  usage: { kind: 'switch' },
  /** The number of tenants, the largest of each minute, that have metrics of their own. @default none */
  tenantMetrics: { kind: 'count', range: [1, METERED_TENANTS_MAX] },
  /** A collector of traces that takes OTLP over HTTP. @default no traces */
  otlpUrl: { kind: 'text' },
  logLevel: LOG_LEVEL,
  metricsNamespace: { kind: 'text' },
} as const satisfies Options;

/** The type of an option's value. */
export type ValueOf<O> = O extends { readonly type: infer T }
  ? T
  : O extends { readonly kind: 'choice'; readonly choices: readonly (infer Choice)[] }
    ? Choice
    : O extends { readonly kind: 'count' }
      ? number
      : O extends { readonly kind: 'switch' }
        ? boolean
        : O extends { readonly kind: 'list' }
          ? readonly string[]
          : string;

/** The values of a table's options. */
export type ValuesOf<Table> = { readonly [Name in keyof Table]?: ValueOf<Table[Name]> };

/** What the owner has set. */
export type FunctionOptions = {
  readonly [Name in keyof typeof FUNCTION_OPTIONS]?: ValueOf<(typeof FUNCTION_OPTIONS)[Name]> | undefined;
};

/** Those that handlers get as they are. Of each of the others a part of the environment is made. */
export interface HandlerSettings
  extends Omit<FunctionOptions, 'allowedOrigins' | 'quotas' | 'streams' | 'presence' | 'usage'> {
  /** Web pages that may connect. @default 'any' */
  readonly allowedOrigins?: AllowedOrigins | undefined;
}

/** `otlpUrl` → `APUS_OTLP_URL`. */
export function variableOf(name: string): string {
  return `APUS_${name.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
}

/** The options of a table that are set. @throws {Error} for a value that an option cannot have */
export function readOptions<Table extends Options>(variables: Variables, table: Table): ValuesOf<Table> {
  const values = Object.entries(table).map(
    ([name, option]) => [name, readOption(variables, variableOf(name), option)] as const,
  );
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as ValuesOf<Table>;
}

export function readOption<const O extends Option>(
  variables: Variables,
  variable: string,
  option: O,
): ValueOf<O> | undefined {
  const text = variables[variable];
  if (text === undefined || (text === '' && option.kind !== 'list')) return undefined;
  const { value, problem } = parseOption(text, option);
  if (problem === undefined) return value as ValueOf<O>;
  throw new Error(`the environment variable ${variable} is ${text}: it has to be ${problem}`);
}

/** The value that a text stands for, or the values that an option may have, in words. */
function parseOption(text: string, { kind, range, choices = [] }: Option) {
  switch (kind) {
    case 'list':
      return { value: text === '' ? [] : text.split(',') };
    case 'json':
      return { value: JSON.parse(text) as unknown };
    case 'switch':
      return text === 'on' || text === 'off' ? { value: text === 'on' } : { problem: 'on or off' };
    case 'choice':
      return choices.includes(text) ? { value: text } : { problem: `one of ${choices.join(', ')}` };
    case 'count': {
      const [least, most] = range ?? [0, Number.MAX_SAFE_INTEGER];
      const value = Number(text);
      const isWithin = Number.isInteger(value) && value >= least && value <= most;
      return isWithin ? { value } : { problem: `from ${least} to ${most}` };
    }
    default:
      return { value: text };
  }
}

/** The variables of the options that `values` has, as `readOptions` reads them. */
export function writeOptions(
  values: Readonly<Record<string, unknown>>,
  table: Options,
): Readonly<Record<string, string>> {
  const texts = Object.entries(table).map(
    ([name, { kind }]) => [variableOf(name), optionText(kind, values[name])] as const,
  );
  return Object.fromEntries(texts.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function optionText(kind: Option['kind'], value: unknown): string | undefined {
  if (value === undefined || value === null || value === false) return undefined;
  if (kind === 'switch') return 'on';
  if (kind === 'json') return Array.isArray(value) && value.length === 0 ? undefined : JSON.stringify(value);
  return String(value);
}
