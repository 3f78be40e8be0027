import { OPERATIONS } from '@apus/api';
import { refusal } from './answer.ts';
import type { Handlers } from './router.ts';

/** Operations that only a deployment has: the document says why, and so does the answer. */
export const elsewhereHandlers = {
  getBreaker: () => refusal(501, 'NOT_SUPPORTED', OPERATIONS.getBreaker.elsewhere ?? ''),
} satisfies Partial<Handlers>;
