import { SHAPE_UNUSED_MS } from '../limits.ts';
import type { JudgeShapes, Shape } from '../subscriptions/shape-registry.ts';
import { shortHash } from '../table/keys.ts';

/**
 * The sweep has looked through all lists of subscriptions, from `sinceMs` on. Marks the shapes that none of them has,
 * and removes those that were marked half an hour before it began [SEC-POOL-4].
 *
 * @param isUsed by the `shortHash` of the shape
 */
export function unusedShapes(sinceMs: number, isUsed: (hash: string) => boolean): JudgeShapes {
  return (shapes, nowMs) => {
    const changes = new Map<string, Shape | undefined>();
    let isMarked = false;
    for (const [shape, known] of shapes) {
      const { unusedSinceMs } = known;
      if (isUsed(shortHash(shape))) {
        if (unusedSinceMs !== undefined) changes.set(shape, { ...known, unusedSinceMs: undefined });
      } else if (unusedSinceMs === undefined) {
        if (known.sinceMs < sinceMs) changes.set(shape, { ...known, unusedSinceMs: nowMs });
        isMarked = true;
      } else if (sinceMs - unusedSinceMs >= SHAPE_UNUSED_MS) changes.set(shape, undefined);
      else isMarked = true;
    }
    return { changes, isMarked };
  };
}
