import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface Account {
  readonly concurrentExecutions?: number;
  readonly throttle?: { readonly rateLimit: number; readonly burstLimit: number };
  /** Undefined: AWS's default of 500. */
  readonly newConnectionsPerSecond?: number;
  /** An emulator of AWS without Service Quotas. */
  readonly lacksServiceQuotas?: boolean;
  /** The error that every service answers, by AWS's name. */
  readonly refusal?: { readonly status: number; readonly name: string };
}

interface Answer {
  readonly status: number;
  readonly body: object;
  readonly error?: string;
}

const TARGET = 'ServiceQuotasV20190624.';

/**
 * Stands in for the three services that the doctor calls, strictly: it takes only signed requests of their protocols
 * (REST JSON; JSON 1.1 with a target).
 */
export async function startQuotaServices(account: Account = {}): Promise<string> {
  const server = createServer(async (request, response) => {
    const { status, body, error } = await answer(account, request);
    const headers = {
      'content-type': 'application/json',
      ...(error !== undefined && { 'x-amzn-errortype': error }),
    };
    response.writeHead(status, headers).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function answer(account: Account, request: IncomingMessage): Promise<Answer> {
  const { authorization = '' } = request.headers;
  const [, service] = /Credential=[^/]+\/\d{8}\/eu-west-1\/(\w+)\/aws4_request/.exec(authorization) ?? [];
  if (service === undefined) return refused(403, 'MissingAuthenticationTokenException');
  if (account.refusal !== undefined) return refused(account.refusal.status, account.refusal.name);
  const { concurrentExecutions = 1_000, throttle = { rateLimit: 10_000, burstLimit: 5_000 } } = account;
  switch (`${service} ${request.method} ${request.url?.split('?')[0]}`) {
    case 'lambda GET /2016-08-19/account-settings':
      return { status: 200, body: { AccountLimit: { ConcurrentExecutions: concurrentExecutions } } };
    case 'apigateway GET /account':
      return { status: 200, body: { throttleSettings: throttle } };
    case 'servicequotas POST /':
      // As MiniStack says it.
      if (account.lacksServiceQuotas === true)
        return { status: 400, body: { error: 'Unsupported service: servicequotas' } };
      return quota(account, String(request.headers['x-amz-target']), JSON.parse(await text(request)));
    default:
      return refused(404, 'UnknownOperationException');
  }
}

function quota(
  { newConnectionsPerSecond }: Account,
  target: string,
  { ServiceCode, QuotaCode }: { readonly ServiceCode?: string; readonly QuotaCode?: string },
): Answer {
  if (ServiceCode !== 'apigateway' || QuotaCode !== 'L-9ED1E49A')
    return refused(400, 'NoSuchResourceException');
  if (target === `${TARGET}GetAWSDefaultServiceQuota`)
    return { status: 200, body: { Quota: { Value: 500 } } };
  if (target !== `${TARGET}GetServiceQuota`) return refused(400, 'UnknownOperationException');
  return newConnectionsPerSecond === undefined
    ? refused(400, 'NoSuchResourceException')
    : { status: 200, body: { Quota: { Value: newConnectionsPerSecond } } };
}

function refused(status: number, error: string): Answer {
  return { status, body: { __type: error, message: 'refused' }, error };
}
