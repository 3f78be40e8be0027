import { GetCallerIdentityCommand, type STSClient } from '@aws-sdk/client-sts';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import { CommandError } from './command-error.ts';

/** Where a command acts. */
export interface Account {
  readonly accountId: string;
  readonly region: string;
}

/** The Region and the account that the command has to act on; undefined: those of the credentials. */
export interface Wanted {
  readonly region: string | undefined;
  readonly accountId: string | undefined;
}

const NO_REGION =
  'No Region is set. Say --region eu-west-1 (or another one), or set AWS_REGION, or `region` in your AWS profile.';
const SET_CREDENTIALS =
  'Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; with IAM Identity Center, run `aws sso login` first.';

/** AWS's error codes for refused credentials, with advice for each. */
const REFUSALS: Readonly<Record<string, string>> = {
  ExpiredToken: 'Your credentials have expired: log in again.',
  ExpiredTokenException: 'Your credentials have expired: log in again.',
  InvalidClientTokenId: 'AWS does not know the access key: look at AWS_ACCESS_KEY_ID or the profile.',
  SignatureDoesNotMatch: 'The secret does not belong to the access key: look at AWS_SECRET_ACCESS_KEY.',
  AccessDenied: 'Your credentials are not allowed to ask AWS who they are.',
};

/**
 * The configured Region, checked against the existing ones.
 * @throws {CommandError}
 */
export async function regionOf(configured: () => Promise<string>): Promise<string> {
  let region: string;
  try {
    region = await configured();
  } catch (error) {
    throw new CommandError(NO_REGION, { cause: error });
  }
  const known = RegionInfo.regions.map(({ name }) => name);
  if (known.includes(region)) return region;
  const sameContinent = known.filter((name) => name.startsWith(`${region.split('-')[0]}-`));
  const hint = sameContinent.length > 0 ? ` There are ${sameContinent.join(', ')}.` : '';
  throw new CommandError(`"${region}" is no Region of AWS that is known here.${hint}`);
}

/**
 * The account of the credentials.
 * @throws {CommandError} if there are none, or AWS refuses them
 */
export async function accountOf(
  client: Pick<STSClient, 'send'>,
  region: string,
  wanted: string | undefined,
): Promise<Account> {
  let accountId: string | undefined;
  try {
    ({ Account: accountId } = await client.send(new GetCallerIdentityCommand()));
  } catch (error) {
    throw new CommandError(sentenceOf(error, region), { cause: error });
  }
  if (accountId === undefined)
    throw new CommandError('AWS did not say which account the credentials are for.');
  if (wanted !== undefined && wanted !== accountId) {
    throw new CommandError(
      `Your credentials are for the account ${accountId}, and --account says ${wanted}. Nothing was changed.`,
    );
  }
  return { accountId, region };
}

function sentenceOf(error: unknown, region: string): string {
  if (!(error instanceof Error)) return String(error);
  const code = (error as { readonly code?: string }).code;
  if (code === 'ENOTFOUND' || code === 'ECONNREFUSED' || code === 'ETIMEDOUT') {
    const { AWS_ENDPOINT_URL: endpoint } = process.env;
    return `AWS cannot be reached ${endpoint === undefined ? `in ${region}` : `at AWS_ENDPOINT_URL=${endpoint}`} (${code}).`;
  }
  if (error.name === 'CredentialsProviderError') return noCredentials();
  return `${REFUSALS[error.name] ?? `${error.name}: ${error.message}`}${optInHint(error, region)}`;
}

function noCredentials(): string {
  const { AWS_PROFILE: profile } = process.env;
  const where = profile === undefined ? '' : ` for the profile "${profile}" (AWS_PROFILE)`;
  return `No credentials for AWS were found${where}. ${SET_CREDENTIALS}`;
}

/** A Region that an account has to enable first answers as if it did not know the access key. */
function optInHint({ name }: Error, region: string): string {
  if (name !== 'InvalidClientTokenId' || !RegionInfo.get(region).isOptInRegion) return '';
  return ` Or ${region} has not been enabled for the account (console: Account, AWS Regions).`;
}
