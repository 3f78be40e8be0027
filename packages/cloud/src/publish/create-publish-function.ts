import { type Clock, DEFAULT_LIMITS } from '@apus/broker';
import type { Environment } from '../environment.ts';
import type { InvocationContext } from '../events.ts';
import { DEFAULT_TENANT } from '../handlers.ts';
import { claimsAuthorizer } from '../tokens/claims.ts';
import { byKeys, byPlatform, CachedKeys } from './callers.ts';
import { createPublishEndpoint } from './endpoint.ts';
import { type FunctionUrlEvent, type FunctionUrlResult, requestOf, resultOf } from './function-url.ts';
import { parsePublishKeys } from './keys.ts';
import { PUBLISH_BYTES_MAX } from './limits.ts';
import type { PublishOutcome } from './outcomes.ts';
import { publishAll } from './publish-all.ts';

export interface PublishFunctionOptions {
  readonly environment: Environment;
  readonly clock: Clock;
  /** Reads the secret that holds the keys. Absent: callers are whom Lambda has verified by their signature. */
  readonly readKeys?: (() => Promise<string>) | undefined;
  /** @default the broker's own default */
  readonly topicLevelsMax?: number;
  /** Is told how many messages each request has published. */
  readonly count?: (messages: number) => void;
}

export type PublishFunction = (
  event: FunctionUrlEvent,
  context: InvocationContext,
) => Promise<FunctionUrlResult>;

/**
 * The function behind the URL that backends publish to. One event at a time, as Lambda has it.
 *
 *     const handler = createPublishFunction({ environment: cloud.environment, clock });
 */
export function createPublishFunction(options: PublishFunctionOptions): PublishFunction {
  const { environment, clock, readKeys, topicLevelsMax = DEFAULT_LIMITS.topicLevelsMax } = options;
  const authenticate =
    readKeys === undefined
      ? byPlatform(DEFAULT_TENANT)
      : byKeys(
          new CachedKeys(async () => parsePublishKeys(await readKeys()), clock),
          DEFAULT_TENANT,
          environment.log,
        );
  return async (event, context) => {
    const endpoint = createPublishEndpoint({
      authenticate,
      authorizer: claimsAuthorizer,
      limits: { topicLevelsMax, publishBytesMax: PUBLISH_BYTES_MAX },
      messageClock: environment.broker.messageClock,
      publish: async (requests) => {
        const outcomes = await publishAll(environment, requests, context);
        options.count?.(outcomes.filter(isReceipt).length);
        return outcomes;
      },
    });
    return resultOf(await endpoint(requestOf(event)));
  };
}

function isReceipt(outcome: PublishOutcome): boolean {
  return 'messageId' in outcome;
}
