import { reasonOf } from '@apus/broker';
import { ConfigurationError } from '../configuration-error.ts';
import type { DefaultRules } from '../jwt/claims.ts';
import { JwtAuthenticator } from '../jwt/jwt-authenticator.ts';
import { FixedKeys, type KeyRing } from '../jwt/key-ring.ts';
import { remoteKeySet } from '../jwt/key-set.ts';
import { parseSigningSecrets, secretKeys, storedSecrets } from '../jwt/signing-secrets.ts';
import type { VerificationKey } from '../jwt/verification-key.ts';
import { DEFAULT_TENANT } from '../tenant.ts';
import { readDefaultRules } from './default-rules.ts';
import type { Fields } from './fields.ts';
import { checkKeySetUrl } from './key-set-url.ts';
import type { AuthenticatorKind, ChainContext } from './kind.ts';
import { publicKeyIn } from './public-key.ts';
import { within } from './within.ts';

/** Options of every authenticator of tokens, wherever its keys are. */
export interface TokenOptions {
  readonly tenant: string | undefined;
  readonly defaultRules: DefaultRules | undefined;
  readonly nameClaim: string | undefined;
  readonly tenantClaim: string | undefined;
}

export const TOKEN_FIELDS = ['tenant', 'defaultRules', 'nameClaim', 'tenantClaim'] as const;

export interface JwtConfiguration extends TokenOptions {
  readonly keys: KeyConfiguration;
  readonly issuer: string | undefined;
  readonly audiences: readonly string[] | undefined;
}

type KeyConfiguration =
  | { readonly from: 'configuration'; readonly keys: readonly VerificationKey[] }
  | { readonly from: 'secretFile'; readonly path: string }
  | { readonly from: 'secretArn'; readonly arn: string }
  | { readonly from: 'jwksUrl'; readonly url: string };

const KEY_FIELDS = ['secret', 'secrets', 'secretFile', 'secretArn', 'keys', 'jwksUrl'] as const;

/** JSON Web Tokens, by a secret, by public keys or by a key set. */
export const jwtKind: AuthenticatorKind<JwtConfiguration> = {
  name: 'jwt',
  takesTokens: true,
  takesPasswords: false,
  fields: [...KEY_FIELDS, 'issuer', 'audience', ...TOKEN_FIELDS],
  parse(fields) {
    const keys = readKeys(fields);
    const issuer = fields.text('issuer');
    const audiences = fields.texts('audience');
    // [SEC-TOKEN-3]
    if (keys.from === 'jwksUrl' && (issuer === undefined || audiences === undefined)) {
      throw new ConfigurationError(
        `${fields.where}.jwksUrl needs "issuer" and "audience": a provider signs tokens for all its customers with the same keys.`,
      );
    }
    return { keys, issuer, audiences, ...readTokenOptions(fields) };
  },
  create({ keys, issuer, audiences, ...options }, context, { source }) {
    return new JwtAuthenticator({
      source,
      keys: keyRing(keys, context, source),
      issuer,
      audiences,
      clock: context.clock,
      ...identityDefaults(options),
    });
  },
};

export function readTokenOptions(fields: Fields): TokenOptions {
  return {
    tenant: fields.tenant(),
    defaultRules: readDefaultRules(fields, 'defaultRules'),
    nameClaim: fields.text('nameClaim'),
    tenantClaim: fields.text('tenantClaim'),
  };
}

/** A configured tenant is the only one, unless the configuration names a claim beside it. */
export function identityDefaults({ tenant, defaultRules, nameClaim, tenantClaim }: TokenOptions) {
  return {
    tenant: tenant ?? DEFAULT_TENANT,
    rules: defaultRules,
    nameClaim,
    tenantClaim: tenantClaim ?? (tenant === undefined ? 'tenant' : undefined),
  };
}

function readKeys(fields: Fields): KeyConfiguration {
  const [given, ...others] = fields.given(...KEY_FIELDS);
  if (given === undefined || others.length > 0) {
    throw new ConfigurationError(`${fields.where} has to have one of ${KEY_FIELDS.join(', ')}.`);
  }
  const text = () => fields.requiredText(given, '');
  switch (given as (typeof KEY_FIELDS)[number]) {
    case 'secret':
      return {
        from: 'configuration',
        keys: within(fields.where, () => secretKeys(parseSigningSecrets(text()))),
      };
    case 'secrets':
      return { from: 'configuration', keys: within(fields.where, () => secretList(fields)) };
    case 'keys':
      return { from: 'configuration', keys: publicKeys(fields) };
    case 'secretFile':
      return { from: 'secretFile', path: text() };
    case 'secretArn':
      return { from: 'secretArn', arn: text() };
    case 'jwksUrl':
      return { from: 'jwksUrl', url: checkKeySetUrl(fields, 'jwksUrl', text()) };
  }
}

function secretList(fields: Fields): readonly VerificationKey[] {
  return secretKeys(parseSigningSecrets(JSON.stringify(fields.list('secrets'))));
}

function publicKeys(fields: Fields): readonly VerificationKey[] {
  const list = fields.list('keys') ?? [];
  if (list.length === 0) return fields.fail('keys', 'has to be a list of JSON Web Keys, or of {"pem": "…"}.');
  return list.map((entry, index) => publicKeyIn(entry, `${fields.where}.keys[${index}]`));
}

function keyRing(keys: KeyConfiguration, context: ChainContext, source: string): KeyRing {
  const { clock, log, fetch } = context;
  const failed = (error: Error) => log.warn('keys-unavailable', { source, reason: reasonOf(error) });
  switch (keys.from) {
    case 'configuration':
      return new FixedKeys(keys.keys);
    case 'secretFile': {
      const what = `The secret in ${keys.path}`;
      const read = fileReader(context, keys.path);
      // A file that cannot be read, or holds no secret, fails at the start.
      within(keys.path, () => secretKeys(parseSigningSecrets(read())));
      return storedSecrets({ what, read: async () => read(), clock, failed });
    }
    case 'secretArn': {
      const { readSecret } = context;
      if (readSecret === undefined) throw new ConfigurationError('"secretArn" is for deployments in AWS.');
      return storedSecrets({
        what: `The secret ${keys.arn}`,
        read: () => readSecret(keys.arn),
        clock,
        failed,
      });
    }
    case 'jwksUrl':
      return remoteKeySet({ url: keys.url, clock, fetch, failed });
  }
}

function fileReader({ readFile }: ChainContext, path: string): () => string {
  if (readFile === undefined) throw new ConfigurationError(`${path}: there are no files in the cloud.`);
  return () => readFile(path);
}
