import { reasonOf } from '@apus/broker';
import { type ApiKey, parseApiKeys, readApiKeys } from '../api-keys/api-key.ts';
import { ApiKeyAuthenticator } from '../api-keys/api-key-authenticator.ts';
import { type ApiKeySource, FixedApiKeys, StoredApiKeys } from '../api-keys/api-key-source.ts';
import { ConfigurationError } from '../configuration-error.ts';
import type { AuthenticatorKind, ChainContext } from './kind.ts';
import { within } from './within.ts';

export type ApiKeysConfiguration =
  | { readonly from: 'configuration'; readonly keys: readonly ApiKey[] }
  | { readonly from: 'file'; readonly path: string }
  | { readonly from: 'secretArn'; readonly arn: string };

const SOURCES = ['keys', 'file', 'secretArn'] as const;

/** Keys of backends and devices; their hashes are enough. */
export const apiKeysKind: AuthenticatorKind<ApiKeysConfiguration> = {
  name: 'apiKeys',
  takesTokens: true,
  takesPasswords: true,
  fields: SOURCES,
  parse(fields) {
    const [given, ...others] = fields.given(...SOURCES);
    if (given === undefined || others.length > 0) {
      throw new ConfigurationError(`${fields.where} has to have one of ${SOURCES.join(', ')}.`);
    }
    if (given === 'file') return { from: 'file', path: fields.requiredText('file', '') };
    if (given === 'secretArn') return { from: 'secretArn', arn: fields.requiredText('secretArn', '') };
    return { from: 'configuration', keys: within(fields.where, () => readApiKeys(fields.raw('keys'), '')) };
  },
  create(configuration, context, { source }) {
    return new ApiKeyAuthenticator(source, sourceOf(configuration, context, source));
  },
};

export function sourceOf(
  configuration: ApiKeysConfiguration,
  context: ChainContext,
  source: string,
): ApiKeySource {
  const { clock, log, readFile, readSecret } = context;
  const failed = (error: Error) => log.warn('keys-unavailable', { source, reason: reasonOf(error) });
  if (configuration.from === 'configuration') return new FixedApiKeys(configuration.keys);
  if (configuration.from === 'secretArn') {
    if (readSecret === undefined) throw new ConfigurationError('"secretArn" is for deployments in AWS.');
    const { arn } = configuration;
    return new StoredApiKeys({ what: `The keys in ${arn}`, read: () => readSecret(arn), clock, failed });
  }
  const { path } = configuration;
  if (readFile === undefined) throw new ConfigurationError(`${path}: there are no files in the cloud.`);
  within(path, () => parseApiKeys(readFile(path)));
  return new StoredApiKeys({ what: `The keys in ${path}`, read: async () => readFile(path), clock, failed });
}
