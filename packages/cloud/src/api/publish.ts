import { DEFAULT_LIMITS, type Identity, rulesAuthorizer, rulesOfLists } from '@apus/broker';
import { BULK_PATH, createPublishEndpoint, PUBLISH_PATH } from '../publish/endpoint.ts';
import type { HttpAnswer } from '../publish/http.ts';
import { PUBLISH_BYTES_MAX } from '../publish/limits.ts';
import { publishAll } from '../publish/publish-all.ts';
import type { ApiContext, ApiRequest, Handlers } from './context.ts';

/** An operator may publish to every topic but the server's own, as at a node. */
const RULES = rulesOfLists(['#'], []);

/** The endpoint of backends, here for operators, who have been let in. */
export function publishHandlers({ environment, topicLevelsMax, published }: ApiContext) {
  const { messageClock } = environment;
  const at =
    (path: string) =>
    async ({ tenant, http, invocation }: ApiRequest): Promise<HttpAnswer> => {
      const caller: Identity = { tenant, name: 'api', rules: RULES };
      const endpoint = createPublishEndpoint({
        authenticate: () => caller,
        authorizer: rulesAuthorizer,
        limits: {
          topicLevelsMax: topicLevelsMax ?? DEFAULT_LIMITS.topicLevelsMax,
          publishBytesMax: PUBLISH_BYTES_MAX,
        },
        messageClock,
        publish: async (requests) => {
          const outcomes = await publishAll(environment, requests, invocation);
          published?.(outcomes.filter((outcome) => 'messageId' in outcome).length);
          return outcomes;
        },
      });
      return await endpoint({ ...http, path });
    };
  return { publish: at(PUBLISH_PATH), publishBulk: at(BULK_PATH) } satisfies Partial<Handlers>;
}
