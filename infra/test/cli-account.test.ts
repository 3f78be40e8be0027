import { afterEach, describe, expect, it, vi } from 'vitest';
import { accountOf, regionOf } from '../cli/account.ts';

/** STS as it answers, or fails with an error of that name. */
function sts(answer: { readonly Account?: string } | { readonly error: Error }) {
  const send = async () => {
    if ('error' in answer) throw answer.error;
    return answer;
  };
  return { send } as never;
}

function named(name: string, message = '', code?: string): Error {
  return Object.assign(new Error(message), { name, ...(code !== undefined && { code }) });
}

describe('the Region', () => {
  it('is the configured one', async () => {
    expect(await regionOf(async () => 'eu-west-1')).toBe('eu-west-1');
  });

  it('has to be named when none is configured', async () => {
    await expect(regionOf(() => Promise.reject(new Error('Region is missing')))).rejects.toThrow(
      'No Region is set. Say --region eu-west-1',
    );
  });

  it('has to exist, and the error names similar ones', async () => {
    await expect(regionOf(async () => 'eu-wast-1')).rejects.toThrow(
      /^"eu-wast-1" is no Region of AWS that is known here\. There are .*eu-west-1/,
    );
    await expect(regionOf(async () => 'nowhere')).rejects.toThrow(
      /^"nowhere" is no Region of AWS that is known here\.$/,
    );
  });
});

describe('the account', () => {
  afterEach(() => void vi.unstubAllEnvs());

  it('is the account of the credentials', async () => {
    const account = await accountOf(sts({ Account: '123456789012' }), 'eu-west-1', undefined);
    expect(account).toEqual({ accountId: '123456789012', region: 'eu-west-1' });
  });

  it('has to be the named one, or nothing is done', async () => {
    await expect(accountOf(sts({ Account: '123456789012' }), 'eu-west-1', '1')).rejects.toThrow(
      'Your credentials are for the account 123456789012, and --account says 1. Nothing was changed.',
    );
  });

  it('without credentials for the profile is an error that names the profile', async () => {
    vi.stubEnv('AWS_PROFILE', 'prod');
    const error = named('CredentialsProviderError');
    await expect(accountOf(sts({ error }), 'eu-west-1', undefined)).rejects.toThrow(
      'No credentials for AWS were found for the profile "prod" (AWS_PROFILE). Set AWS_PROFILE',
    );
  });

  it('may have to enable its Region first: AWS answers as for an unknown key', async () => {
    const client = sts({ error: named('InvalidClientTokenId') });
    await expect(accountOf(client, 'ap-east-1', undefined)).rejects.toThrow(
      'Or ap-east-1 has not been enabled for the account',
    );
    await expect(accountOf(client, 'eu-west-1', undefined)).rejects.toThrow(/or the profile\.$/);
  });

  it('is not requested from AWS where an emulator was meant that does not answer', async () => {
    vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:1');
    const error = named('Error', '', 'ECONNREFUSED');
    await expect(accountOf(sts({ error }), 'eu-west-1', undefined)).rejects.toThrow(
      'AWS cannot be reached at AWS_ENDPOINT_URL=http://127.0.0.1:1 (ECONNREFUSED).',
    );
  });

  it.each([
    [named('CredentialsProviderError'), 'No credentials for AWS were found. Set AWS_PROFILE'],
    [named('ExpiredTokenException'), 'Your credentials have expired: log in again.'],
    [named('InvalidClientTokenId'), 'AWS does not know the access key'],
    [named('SignatureDoesNotMatch'), 'The secret does not belong to the access key'],
    [named('Error', '', 'ENOTFOUND'), 'AWS cannot be reached in eu-west-1 (ENOTFOUND).'],
    [named('Odd', 'who knows'), 'Odd: who knows'],
  ])('%s is reported in a sentence', async (error, sentence) => {
    await expect(accountOf(sts({ error }), 'eu-west-1', undefined)).rejects.toThrow(sentence);
  });
});
