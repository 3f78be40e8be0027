import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  kidOf,
  type MintOptions,
  mintToken,
  parseSigningSecrets,
  type SigningSecret,
  secretKeys,
} from '@apus/identity';
import { type Command, CommandError } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { operating } from './operate-flags.ts';
import { RULE_FLAGS, rulesFrom } from './rule-flags.ts';
import { SECRET_FLAGS, secretPlaceFrom } from './secret-place.ts';
import { kidOfPem } from './tenant-keys.ts';
import { ROTATE_FLAGS, rotateToken } from './token-rotate.ts';

const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
/** A token travels in URLs, which are logged, so none lives longer. */
const EXPIRES_SECONDS_MAX = 30 * 86_400;

/** Random bytes of a token's identifier: no two tokens share one. */
const JTI_BYTES = 8;

const TENANT_KEY: Flags = {
  'key-file': {
    value: 'FILE',
    help: 'Signs with the private key of a tenant (`apus tenant create NAME --new-key FILE`), instead of the secret.',
  },
  kid: { value: 'KID', help: 'The name of that key.', default: 'one of the key itself' },
};

const TOKEN: Flags = {
  sub: { value: 'NAME', help: 'The user of the token; topic filters name it as %u. Required.' },
  ...RULE_FLAGS,
  expires: { value: 'TIME', help: 'How long the token is valid: 30s, 15m, 12h, 7d.', default: '1h' },
  tenant: { value: 'NAME', help: 'The tenant, where a deployment has several.' },
  jti: {
    value: 'ID',
    help: 'An identifier of this token (`jti`), by which you can revoke it: `apus ban --token ID`.',
    default: 'one by chance',
  },
};

export const token: Command = {
  name: 'token',
  summary: 'Makes a token for a deployment.',
  usage:
    '--sub NAME [--publish FILTER]… [--subscribe FILTER]… [--rule JSON]…\n       apus token rotate [--finish]',
  description: [
    'Prints a JSON Web Token, signed (HS256) with the secret of a deployment or of a node. `kid` names the key that signed',
    'it, `jti` the token. The token allows only the actions that its filters and rules name: each of these flags',
    'may be given several times.',
    '',
    '`apus token rotate` makes a new secret, which signs from then on, and keeps the former one for the tokens that it has',
    'signed, until it is rotated again or with --finish.',
  ].join('\n'),
  flags: {
    Token: TOKEN,
    'The secret': SECRET_FLAGS,
    'The key of a tenant': TENANT_KEY,
    Rotate: ROTATE_FLAGS,
  },
  async run(values) {
    const [verb, ...others] = values.positionals;
    if (verb === 'rotate' && others.length === 0) {
      values.refuse({ ...TOKEN, ...TENANT_KEY }, 'is for a token, not for `apus token rotate`.');
      return await rotateToken(values);
    }
    if (verb !== undefined) throw new UsageError('It is `apus token --sub NAME` or `apus token rotate`.');
    values.refuse(ROTATE_FLAGS, 'is for `apus token rotate`.');
    const sub = values.text('sub');
    if (sub === undefined || sub === '') throw new UsageError('`apus token` needs a name: --sub NAME.');
    const tenant = values.text('tenant');
    const jti = values.text('jti') ?? randomBytes(JTI_BYTES).toString('hex');
    const claims = {
      sub,
      ...rulesFrom(values),
      expiresInSeconds: secondsOf(values.text('expires') ?? '1h'),
      nowMs: Date.now(),
      ...(tenant !== undefined && { tenant }),
      jti,
    };
    const keyFile = values.text('key-file');
    if (keyFile !== undefined) {
      console.log(await mintWithKey(keyFile, values, claims));
      return 0;
    }
    values.refuse(TENANT_KEY, 'goes with --key-file.');
    const signing = await signingSecretFrom(values);
    const secret = new TextEncoder().encode(signing.secret);
    console.log(await mintToken(secret, { ...claims, kid: kidOf(signing) }));
    return 0;
  },
};

function secondsOf(text: string): number {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (SECONDS_OF[unit] ?? Number.NaN);
  if (seconds > 0 && seconds <= EXPIRES_SECONDS_MAX) return seconds;
  throw new UsageError(`--expires takes a time up to 30d, such as 15m or 12h, not "${text}".`);
}

/** Signs with the private key of a tenant. */
async function mintWithKey(path: string, values: Values, claims: MintOptions): Promise<string> {
  if (['secret-file', 'stack', 'secret-id'].some((flag) => values.isSet(flag)))
    throw new UsageError('--key-file signs without a secret: it goes without the flags of one.');
  if (claims.tenant === undefined)
    throw new UsageError('--key-file is for the key of a tenant: name it with --tenant.');
  let key: KeyObject;
  try {
    key = createPrivateKey(readFileSync(path));
  } catch (error) {
    throw new UsageError(`--key-file: no private key can be read from ${path}: ${(error as Error).message}`);
  }
  const publicPem = createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
  return await mintToken(key, { ...claims, kid: values.text('kid') ?? kidOfPem(publicPem) });
}

/** The signing secret: the first one of a list. */
async function signingSecretFrom(values: Values): Promise<SigningSecret> {
  const place = secretPlaceFrom(values);
  const secrets = parseSigningSecrets(await operating(() => place.read()));
  secretKeys(secrets);
  const [first] = secrets;
  if (first === undefined) throw new CommandError('There is no secret.');
  return first;
}
