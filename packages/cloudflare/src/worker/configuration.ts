import { parseJson } from '@apus/broker';
import { type AllowedOrigins, LOOPBACK_ORIGINS, originProblem } from '@apus/door';
import {
  ConfigurationError,
  checkCookieOrigins,
  DEFAULT_TENANT,
  type IdentityConfiguration,
  isTenant,
  parseIdentity,
} from '@apus/identity';
import type { HubOptions } from '../options.ts';

/** Texts of the Worker's environment: a variable, and secrets. */
export interface WorkerTexts {
  /** JSON: see `Configuration`. @default no option */
  readonly CONFIGURATION?: string | undefined;
  /** The clients that may connect, as the file of `--identity` says it to a node. @default every client */
  readonly IDENTITY?: string | undefined;
  /** JSON: the text of each file that `IDENTITY` names. */
  readonly FILES?: string | undefined;
  /** The key of the HTTP API. Absent: it is closed. */
  readonly API_KEY?: string | undefined;
  /** Set: without `IDENTITY` no client may connect, as its secret may not have come yet. */
  readonly CLOSED?: string | undefined;
}

/** Options of a hub that JSON can say, and those of the Worker in front. */
interface Configuration extends Pick<HubOptions, (typeof HUB_FIELDS)[number]> {
  readonly allowedOrigins?: AllowedOrigins | undefined;
  /** Tenants whose clients may show their credentials in CONNECT, beside those that `IDENTITY` names. */
  readonly tenants?: readonly string[] | undefined;
  /** Where new hubs are created: a hint, as `weur`, or a jurisdiction: `eu`, `fedramp`. */
  readonly location?: string | undefined;
}

export interface WorkerConfiguration {
  readonly hub: HubOptions;
  readonly identity: IdentityConfiguration | undefined;
  readonly allowedOrigins: AllowedOrigins;
  /** Tenants at whose URL a client may connect that shows nothing in its handshake. */
  readonly openTenants: ReadonlySet<string>;
  readonly location: string | undefined;
  readonly apiKey: string | undefined;
}

const HUB_FIELDS = [
  ...['streams', 'quotas', 'overlapping', 'responseInformation', 'presenceGraceSeconds'],
  ...['receiveMaximum', 'maximumPacketSize', 'topicAliasMaximum', 'inflightMessagesMax', 'queueLengthMax'],
  ...['queueWhenFull', 'subscriptionsPerSessionMax', 'sessionExpirySecondsMax', 'serverKeepAliveSecondsMax'],
  ...['retainedMessagesMax', 'connectTimeoutSeconds', 'tenantQueueBytesMax'],
] as const satisfies readonly (keyof HubOptions)[];

const OWN_FIELDS = ['allowedOrigins', 'tenants', 'location'];

const NO_TOPICS =
  'a hub checks no payloads against schemas of "topics": a node does, and a deployment on AWS.';

const LOCATION = /^(?:wnam|enam|sam|weur|eeur|apac|oc|afr|me|eu|fedramp)$/;

/** Characters of an API key: 16 random bytes in base64, or more. */
const API_KEY_LENGTH_MIN = 22;

/** @throws {ConfigurationError} in a sentence for the operator */
export function readConfiguration(texts: WorkerTexts): WorkerConfiguration {
  const given = objectIn(texts.CONFIGURATION, 'CONFIGURATION') as Configuration;
  const unknown = Object.keys(given).find(
    (name) => ![...HUB_FIELDS, ...OWN_FIELDS].some((one) => one === name),
  );
  if (unknown === 'topics') throw new ConfigurationError(`CONFIGURATION: ${NO_TOPICS}`);
  if (unknown !== undefined) throw new ConfigurationError(`CONFIGURATION has no field "${unknown}".`);
  if (texts.CLOSED !== undefined && texts.IDENTITY === undefined)
    throw new ConfigurationError('The secret IDENTITY is missing: no client may connect.');
  const { allowedOrigins = 'any', tenants = [], location, ...options } = given;
  const files = objectIn(texts.FILES, 'FILES') as Readonly<Record<string, string>>;
  const identity = texts.IDENTITY === undefined ? undefined : parseIdentity(texts.IDENTITY, 'IDENTITY');
  checkOrigins(allowedOrigins);
  if (identity !== undefined)
    checkCookieOrigins(identity, allowedOrigins, '"allowedOrigins" of the configuration');
  if (!tenants.every(isTenant))
    throw new ConfigurationError('tenants: each has up to 64 letters, digits, ".", "_" and "-".');
  if (location !== undefined && !LOCATION.test(location))
    throw new ConfigurationError(`location is no hint and no jurisdiction of Cloudflare: "${location}".`);
  const { API_KEY: apiKey } = texts;
  if (apiKey !== undefined && apiKey.length < API_KEY_LENGTH_MIN)
    throw new ConfigurationError(`API_KEY has at least ${API_KEY_LENGTH_MIN} characters.`);
  const openTenants = new Set([DEFAULT_TENANT, ...tenants, ...tenantsIn(identity, files)]);
  return { hub: { ...options, identity, files }, identity, allowedOrigins, openTenants, location, apiKey };
}

/** Tenants that the configuration of identities names, and the lists of keys that it names. */
function tenantsIn(
  identity: IdentityConfiguration | undefined,
  files: Readonly<Record<string, string>>,
): readonly string[] {
  const found: string[] = [];
  const look = (key: string, value: unknown): unknown => {
    if (key === 'tenant' && isTenant(value)) found.push(value);
    return value;
  };
  JSON.stringify(identity?.given, look);
  for (const text of Object.values(files)) if (text.trimStart().startsWith('{')) JSON.parse(text, look);
  return found;
}

function checkOrigins(origins: AllowedOrigins): void {
  if (origins === 'any') return;
  const problem = Array.isArray(origins)
    ? origins
        .map((each) => (each === LOOPBACK_ORIGINS ? undefined : originProblem(String(each))))
        .find(Boolean)
    : 'a list of origins is asked for';
  if (problem !== undefined) throw new ConfigurationError(`allowedOrigins: ${problem}`);
}

function objectIn(text: string | undefined, where: string): object {
  if (text === undefined) return {};
  try {
    const value = parseJson(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Told below: the message of the parser quotes the text, which may contain a secret.
  }
  throw new ConfigurationError(`${where} is no JSON object.`);
}
