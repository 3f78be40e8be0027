import { OPERATIONS } from '@apus/api';
import { problem } from '../publish/http.ts';
import type { Handlers } from './context.ts';

/** Operations of the document that a deployment does not answer: the document says why, and so does the answer. */
export const elsewhereHandlers = {
  listBridges: () => problem('NOT_SUPPORTED', OPERATIONS.listBridges.elsewhere ?? ''),
} satisfies Partial<Handlers>;
