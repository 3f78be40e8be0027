import { randomBytes } from 'node:crypto';
import { CONNECTION_ID_PREFIX } from './connections.ts';

/** Connection ids ascend in one process; a random prefix tells two processes apart. */
export function connectionIds(): () => string {
  const prefix = `${CONNECTION_ID_PREFIX}${randomBytes(4).toString('hex')}`;
  let count = 0;
  return () => `${prefix}-${(count++).toString(36)}`;
}
