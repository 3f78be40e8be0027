import { type Clock, DEFAULT_LIMITS, rulesAuthorizer, type Streams } from '@apus/broker';
import {
  type Authenticate,
  byKeys,
  byPlatform,
  createPublishEndpoint,
  createReadingEndpoint,
  isReading,
  keyOfCaller,
  type PublishOutcome,
  problem,
  READING_ENVIRONMENT_RATE,
  READING_RATE,
  RETRY_AFTER_SECONDS,
  RequestLimiter,
  type RequestRates,
  tooManyRequests,
} from '@apus/door';
import { DEFAULT_TENANT, type KnownTenants, StoredApiKeys } from '@apus/identity';
import type { DynamoPresence } from '@apus/store-dynamodb';
import type { Environment } from '../environment.ts';
import type { InvocationContext } from '../events/gateway.ts';
import { readingFacts } from '../operator/reading-facts.ts';
import { type FunctionUrlEvent, type FunctionUrlResult, requestOf, resultOf } from './function-url.ts';
import { PUBLISH_BYTES_MAX } from './limits.ts';
import { publishAll } from './publish-all.ts';
import { unbanned } from './unbanned.ts';

export interface PublishFunctionOptions {
  readonly environment: Environment;
  readonly clock: Clock;
  /** Reads the secret with the keys. Absent: Lambda has checked the signature of callers. */
  readonly readKeys?: (() => Promise<string>) | undefined;
  /**
   * The tenants for which a caller that Lambda has verified may publish; the first if its request names none. @default
   * the default tenant
   */
  readonly tenants?: readonly [string, ...string[]] | undefined;
  /** @default the broker's own default */
  readonly topicLevelsMax?: number;
  /** Called with the number of messages that each request has published. */
  readonly count?: (messages: number) => void;
  /** Called for each request that is refused for its key (401), or because too many came (429). */
  readonly countRefused?: () => void;
  /** Gives callers the plans of their tenants. @default there are no plans */
  readonly plans?: Pick<KnownTenants, 'planned'> | undefined;
  /** Requests that this environment takes. @default those of `limits.ts` */
  readonly rates?: RequestRates;
  /** The streams that callers may read. @default the deployment keeps no streams */
  readonly streams?: Streams | undefined;
  /** @default the deployment keeps no presence */
  readonly presence?: DynamoPresence | undefined;
}

export type PublishFunction = (
  event: FunctionUrlEvent,
  context: InvocationContext,
) => Promise<FunctionUrlResult>;

/**
 * The function behind the URL that backends publish to, and read streams and rooms from. One event at a time, as
 * Lambda has it.
 *
 *     const handler = createPublishFunction({ environment: cloud.environment, clock });
 */
export function createPublishFunction(options: PublishFunctionOptions): PublishFunction {
  const { environment, clock, readKeys, topicLevelsMax = DEFAULT_LIMITS.topicLevelsMax } = options;
  const { tenants = [DEFAULT_TENANT] } = options;
  const { log } = environment;
  const limiter = new RequestLimiter(clock, options.rates);
  const identify =
    readKeys === undefined
      ? byPlatform(tenants)
      : byKeys(new StoredApiKeys({ what: 'The secret with the keys', read: readKeys, clock }), log, limiter);
  const authenticate = limited(
    unbanned(planned(identify, options.plans), environment),
    limiter,
    options.countRefused,
  );
  const read = createReadingEndpoint({
    authenticate,
    authorizer: rulesAuthorizer,
    limiter: new RequestLimiter(clock, { caller: READING_RATE, environment: READING_ENVIRONMENT_RATE }),
    facts: readingFacts(options),
  });
  return async (event, context) => {
    const request = requestOf(event);
    if (isReading(request.path)) return resultOf(await read(request));
    const endpoint = createPublishEndpoint({
      authenticate,
      authorizer: rulesAuthorizer,
      limits: { topicLevelsMax, publishBytesMax: PUBLISH_BYTES_MAX },
      publish: async (requests, seen) => {
        const published = await publishAll(environment, requests, context, seen);
        options.count?.(published.outcomes.filter(isReceipt).length);
        return published;
      },
    });
    return resultOf(await endpoint(request));
  };
}

/** The caller with the plan of its tenant: quotas of the tenant count here as for its clients. */
function planned(identify: Authenticate, plans: PublishFunctionOptions['plans']): Authenticate {
  if (plans === undefined) return identify;
  return async (request) => {
    const caller = await identify(request);
    if ('status' in caller) return caller;
    const identity = await plans.planned(caller);
    if (!('refused' in identity)) return identity;
    const retryAfter = { 'retry-after': String(RETRY_AFTER_SECONDS) };
    return problem('SERVICE_UNAVAILABLE', identity.reason, retryAfter);
  };
}

/** Counts requests: a refused one for its address, any other for its caller. */
function limited(
  identify: Authenticate,
  limiter: RequestLimiter,
  countRefused: () => void = () => {},
): Authenticate {
  return async (request) => {
    const caller = await identify(request);
    if ('status' in caller) {
      if (caller.status === 401) limiter.unauthorized(request.address ?? '');
      if (caller.status === 401 || caller.status === 429) countRefused();
      return caller;
    }
    const waitSeconds = limiter.take(keyOfCaller(caller));
    if (waitSeconds === 0) return caller;
    countRefused();
    return tooManyRequests(waitSeconds);
  };
}

function isReceipt(outcome: PublishOutcome): boolean {
  return 'messageId' in outcome;
}
