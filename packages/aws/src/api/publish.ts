import { DEFAULT_LIMITS, type Identity, rulesAuthorizer, rulesOfLists } from '@apus/broker';
import { BULK_PATH, createPublishEndpoint, type HttpAnswer, PUBLISH_PATH } from '@apus/door';
import type { InvocationContext } from '../events/gateway.ts';
import { PUBLISH_BYTES_MAX } from '../publish/limits.ts';
import { publishAll } from '../publish/publish-all.ts';
import type { ApiRequest } from './answer.ts';
import type { ApiContext } from './context.ts';

/** An operator may publish to every topic but the server's own, as at a node. */
const RULES = rulesOfLists(['#'], []);

/** The endpoint of backends, here for operators, who have been let in. */
export async function publishAt(
  id: 'publish' | 'publishBulk',
  { environment, topicLevelsMax, published }: ApiContext,
  { tenant, http }: ApiRequest,
  invocation: InvocationContext,
): Promise<HttpAnswer> {
  const caller: Identity = { tenant, name: 'api', rules: RULES };
  const endpoint = createPublishEndpoint({
    authenticate: () => caller,
    authorizer: rulesAuthorizer,
    limits: {
      topicLevelsMax: topicLevelsMax ?? DEFAULT_LIMITS.topicLevelsMax,
      publishBytesMax: PUBLISH_BYTES_MAX,
    },
    publish: async (requests, seen) => {
      const done = await publishAll(environment, requests, invocation, seen);
      published?.(done.outcomes.filter((outcome) => 'messageId' in outcome).length);
      return done;
    },
  });
  return await endpoint({ ...http, path: id === 'publish' ? PUBLISH_PATH : BULK_PATH });
}
