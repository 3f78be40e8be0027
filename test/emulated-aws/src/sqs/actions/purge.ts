import { purgeInProgress } from '../errors.ts';
import type { QueueAction } from './action.ts';

export const purgeQueue: QueueAction = ({ queue }) => {
  const { clock, limits } = queue.parts;
  const nowMs = clock.now();
  const { purgedAtMs } = queue;
  if (purgedAtMs !== undefined && nowMs - purgedAtMs < limits.purgeSeconds * 1000) {
    throw purgeInProgress(queue.name, limits.purgeSeconds);
  }
  queue.purge();
  return {};
};
