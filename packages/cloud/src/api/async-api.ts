import { asyncApiOf, type ServerDescription, type Topics } from '@apus/topics/document';
import { problem } from '../publish/http.ts';
import { type ApiContext, type Handlers, ok } from './context.ts';

/** The topics that the owner has described, and the address at which clients of the deployment connect. */
export interface DescribedTopics {
  readonly topics: Topics;
  readonly server: ServerDescription;
}

/** The AsyncAPI document for developers. It has no examples from live messages: a deployment keeps none. */
export function asyncApiHandlers({ described, streams }: ApiContext) {
  return {
    getAsyncApi: ({ tenant }) => {
      if (described === undefined)
        return problem('NOT_FOUND', 'No topics are described here: deploy with --topics FILE.');
      const { topics, server } = described;
      const declared = streams?.declared.all ?? [];
      return ok(
        asyncApiOf(topics, { tenant, servers: [server], streams: declared, sampleOf: () => undefined }),
      );
    },
  } satisfies Partial<Handlers>;
}
