import { alive, aliveIdle } from './alive.ts';
import { closeCode } from './close-code.ts';
import { cut } from './cut.ts';
import { emptyReply } from './empty-reply.ts';
import { idlePing, redeployment, skipped } from './hold.ts';
import type { Finding, ProbeContext, ProbeItem } from './item.ts';
import { largePosts } from './large-posts.ts';
import { overlap } from './overlap.ts';
import { postOrder } from './post-order.ts';
import { ProbeError } from './probe-client.ts';

/** All behaviour of AWS that the design depends on and that no documentation promises. */
export const PROBE_ITEMS: readonly ProbeItem[] = [
  postOrder,
  largePosts,
  emptyReply,
  overlap,
  cut,
  closeCode,
  alive,
  redeployment,
  idlePing,
  aliveIdle,
];

/** Tries one item; one that takes long only if it was requested. */
export async function tryItem(item: ProbeItem, isAskedFor: boolean, context: ProbeContext): Promise<Finding> {
  if (item.seconds === undefined && !isAskedFor) return skipped(item);
  try {
    return await item.run(context);
  } catch (error) {
    if (error instanceof ProbeError) return { verdict: 'not tried', seen: error.message };
    throw error;
  }
}
