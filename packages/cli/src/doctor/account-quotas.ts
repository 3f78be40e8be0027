import { installed } from '@apus/door';
import { type AwsCall, adviceOn, awsSentenceOf } from '../aws/errors.ts';

/** The quotas of the account in one Region. */
export interface AccountQuotas {
  /** Lambda: concurrent executions of all functions. */
  readonly concurrentExecutions: number;
  /** API Gateway: requests a second over all APIs: frames, posts, and the owner's other APIs. */
  readonly requestsPerSecond: number;
  /** API Gateway: the burst of requests. It follows from the rate and cannot be raised separately. */
  readonly burstRequests: number;
  /** API Gateway: WebSocket handshakes a second. */
  readonly newConnectionsPerSecond: number;
}

/** The quotas, and what the account has not said. */
export interface QuotasRead {
  readonly quotas: AccountQuotas;
  /** A sentence on the quota whose default was taken. */
  readonly note: string | undefined;
}

/** AWS's default, for an emulator of AWS that has no Service Quotas. */
const NEW_CONNECTIONS_DEFAULT = 500;

/** The codes in Service Quotas of quotas that can be raised. */
export const QUOTA_CODES = {
  concurrentExecutions: { service: 'lambda', code: 'L-B99A9384' },
  requestsPerSecond: { service: 'apigateway', code: 'L-8A5B8E43' },
  newConnectionsPerSecond: { service: 'apigateway', code: 'L-9ED1E49A' },
} as const;

/** The permissions that the credentials need for this. */
export const PERMISSIONS = [
  'lambda:GetAccountSettings',
  'apigateway:GET (arn:aws:apigateway:REGION::/account)',
  'servicequotas:GetServiceQuota',
  'servicequotas:GetAWSDefaultServiceQuota',
] as const;

/** The quotas cannot be read; the message is a sentence with the reason. */
export class QuotasError extends Error {
  override readonly name = 'QuotasError';
}

/**
 * Reads the quotas. The clients of the SDK are loaded only for this.
 *
 * @throws {QuotasError}
 */
export async function readQuotas(region: string | undefined): Promise<QuotasRead> {
  const given = { ...(region !== undefined && { region }), maxAttempts: 3 };
  const asked = async <T>(service: string, reading: Promise<T>): Promise<T> => {
    try {
      return await reading;
    } catch (error) {
      throw new QuotasError(sentenceOf(error, region, service), { cause: error });
    }
  };
  let note: string | undefined;
  const orDefault = (error: unknown) => {
    const call = callOf(region, 'Service Quotas');
    if (error instanceof QuotasError || adviceOn(error, call) !== undefined) throw error;
    note = `${awsSentenceOf(error, call)} ${NEW_CONNECTIONS_DEFAULT} new connections a second are AWS's default.`;
    return NEW_CONNECTIONS_DEFAULT;
  };
  const newConnections = readQuota(given, QUOTA_CODES.newConnectionsPerSecond).catch(orDefault);
  const [concurrentExecutions, throttle, newConnectionsPerSecond] = await Promise.all([
    asked('Lambda', readConcurrency(given)),
    asked('API Gateway', readThrottle(given)),
    asked('Service Quotas', newConnections),
  ]);
  return { quotas: { concurrentExecutions, ...throttle, newConnectionsPerSecond }, note };
}

interface ClientSettings {
  readonly region?: string;
  readonly maxAttempts: number;
}

async function readConcurrency(settings: ClientSettings): Promise<number> {
  const { GetAccountSettingsCommand, LambdaClient } = await installed(import('@aws-sdk/client-lambda'));
  const client = new LambdaClient(settings);
  const { AccountLimit } = await client.send(new GetAccountSettingsCommand({}));
  return present(AccountLimit?.ConcurrentExecutions, 'the concurrency of Lambda');
}

async function readThrottle(
  settings: ClientSettings,
): Promise<Pick<AccountQuotas, 'requestsPerSecond' | 'burstRequests'>> {
  const { APIGatewayClient, GetAccountCommand } = await installed(import('@aws-sdk/client-api-gateway'));
  const client = new APIGatewayClient(settings);
  const { throttleSettings } = await client.send(new GetAccountCommand({}));
  return {
    requestsPerSecond: present(throttleSettings?.rateLimit, 'the throttle of API Gateway'),
    burstRequests: present(throttleSettings?.burstLimit, 'the burst of API Gateway'),
  };
}

/** The quota that applies to the account, or AWS's default if none was requested. */
async function readQuota(
  settings: ClientSettings,
  { service, code }: { readonly service: string; readonly code: string },
): Promise<number> {
  const { GetAWSDefaultServiceQuotaCommand, GetServiceQuotaCommand, ServiceQuotasClient } = await installed(
    import('@aws-sdk/client-service-quotas'),
  );
  const client = new ServiceQuotasClient(settings);
  const quota = { ServiceCode: service, QuotaCode: code };
  try {
    const { Quota } = await client.send(new GetServiceQuotaCommand(quota));
    return present(Quota?.Value, `the quota ${code}`);
  } catch (error) {
    if ((error as Error).name !== 'NoSuchResourceException') throw error;
    const { Quota } = await client.send(new GetAWSDefaultServiceQuotaCommand(quota));
    return present(Quota?.Value, `the quota ${code}`);
  }
}

function present(value: number | undefined, what: string): number {
  if (value === undefined) throw new QuotasError(`AWS has not said ${what}.`);
  return value;
}

function sentenceOf(error: unknown, region: string | undefined, service: string): string {
  if (error instanceof QuotasError) return error.message;
  return awsSentenceOf(error, callOf(region, service));
}

function callOf(region: string | undefined, service: string): AwsCall {
  const denied = `Your credentials may not read the quotas. They need ${PERMISSIONS.join(', ')}.`;
  return { service, region, denied };
}
