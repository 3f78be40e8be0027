import { mintToken } from '@apus/cloud';
import { validateTopicFilter } from '@apus/mqtt';
import { type Command, CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { readPassword } from './read-password.ts';

const SECRET_BYTES_MIN = 32;
const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
/** A token travels in URLs, which are logged: none lives longer. */
const EXPIRES_SECONDS_MAX = 30 * 86_400;

const TOKEN: Flags = {
  sub: { value: 'NAME', help: 'Who the token stands for; %u in topic filters. Required.' },
  publish: { value: 'FILTER', multiple: true, help: 'A topic filter that may be published to.' },
  subscribe: { value: 'FILTER', multiple: true, help: 'A topic filter that may be subscribed to.' },
  expires: { value: 'TIME', help: 'How long it is valid: 30s, 15m, 12h, 7d.', default: '1h' },
  tenant: { value: 'NAME', help: 'The tenant, where a deployment has several.' },
};

const SECRET: Flags = {
  'secret-id': {
    value: 'ID',
    help: 'Reads the secret from AWS Secrets Manager, by name or ARN. Otherwise it is asked for, or read from standard input.',
  },
  region: { value: 'REGION', help: 'Region of the secret.', default: 'that of your AWS profile' },
};

export const token: Command = {
  name: 'token',
  summary: 'Makes a token for a deployment.',
  usage: '--sub NAME [--publish FILTER]… [--subscribe FILTER]… [--secret-id ID]',
  description: [
    'Prints a JSON Web Token, signed (HS256) with the secret of the deployment, whose name `npm run deploy` has printed.',
    'It allows what its filters say and nothing else: --publish and --subscribe may be given several times.',
  ].join('\n'),
  flags: { Token: TOKEN, Secret: SECRET },
  async run(values) {
    const sub = values.text('sub');
    if (sub === undefined || sub === '') throw new UsageError('`apus token` needs a name: --sub NAME.');
    const tenant = values.text('tenant');
    const claims = {
      sub,
      publish: filtersOf(values, 'publish'),
      subscribe: filtersOf(values, 'subscribe'),
      expiresInSeconds: secondsOf(values.text('expires') ?? '1h'),
      nowMs: Date.now(),
      ...(tenant !== undefined && { tenant }),
    };
    console.log(await mintToken(await secretFrom(values), claims));
    return 0;
  },
};

function filtersOf(values: Values, name: 'publish' | 'subscribe'): readonly string[] {
  const filters = values.all(name);
  for (const filter of filters) {
    const invalid = validateTopicFilter(filter);
    if (invalid !== undefined)
      throw new UsageError(`--${name} ${JSON.stringify(filter)}: ${invalid.reason}.`);
  }
  return filters;
}

function secondsOf(text: string): number {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (SECONDS_OF[unit] ?? Number.NaN);
  if (seconds > 0 && seconds <= EXPIRES_SECONDS_MAX) return seconds;
  throw new UsageError(`--expires takes a time up to 30d, such as 15m or 12h, not "${text}".`);
}

async function secretFrom(values: Values): Promise<Uint8Array> {
  const id = values.text('secret-id');
  const text =
    id === undefined ? await readPassword('Secret: ') : await fetchSecret(id, values.text('region'));
  const secret = new TextEncoder().encode(text);
  if (secret.length >= SECRET_BYTES_MIN) return secret;
  throw new CommandError(`The secret has ${secret.length} bytes; at least ${SECRET_BYTES_MIN} are needed.`);
}

/** The SDK is loaded for this alone, and is no part of the command's own file. */
async function fetchSecret(id: string, region: string | undefined): Promise<string> {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const client = new SecretsManagerClient(region === undefined ? {} : { region });
  try {
    const { SecretString = '' } = await client.send(new GetSecretValueCommand({ SecretId: id }));
    return SecretString;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`The secret ${id} could not be read: ${why}`);
  } finally {
    client.destroy();
  }
}
