import { USER } from './client.ts';

/** Created by a test of the first deployment, and checked by the second one, which adopts its tables. */
export const LEFT_BEHIND = {
  clientId: `${USER}-comes-back`,
  filter: 'left-behind/#',
  retained: { topic: 'left-behind/retained', payload: 'kept' },
  queued: { topic: 'left-behind/queued', payload: 'waited' },
} as const;
