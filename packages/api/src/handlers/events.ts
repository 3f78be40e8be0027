import { valueAt } from '../handler.ts';
import { OPERATIONS } from '../operations/index.ts';
import { ApiProblem } from '../problem.ts';

/** In a file of its own: the function that publishes has handlers for messages, and no table of operations. */
export const eventHandlers = {
  /** A node answers this before it asks for the key of the API: its callers are clients. */
  streamEvents: valueAt('here', () => {
    throw new ApiProblem('NOT_SUPPORTED', OPERATIONS.streamEvents.elsewhere ?? '');
  }),
};
