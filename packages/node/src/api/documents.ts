import { openApiDocument } from '@apus/api';
import { refusal } from './answer.ts';
import type { Handlers } from './router.ts';

/** Made once: a process has one document. */
const DOCUMENT = openApiDocument();

const NO_TOPICS = refusal(
  404,
  'NOT_FOUND',
  'No topics are described here: start the broker with --topics FILE.',
);

export const documentHandlers = {
  getOpenApi: () => ({ status: 200, body: DOCUMENT }),
  // If topics are described, `withAsyncApi` answers before.
  getAsyncApi: () => NO_TOPICS,
} satisfies Partial<Handlers>;
