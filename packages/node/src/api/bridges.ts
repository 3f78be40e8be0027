import type { ApiContext } from './context.ts';
import type { Handlers } from './router.ts';
import { mergedLists, ofProcess } from './shared-handlers.ts';

/** Bridges to other systems: whether they are connected, how far behind they are, and their counts. */
export function bridgeHandlers({ bridges }: ApiContext) {
  return {
    listBridges: ofProcess(async ({ tenant }) => ({ data: await bridges(tenant) }), mergedLists),
  } satisfies Partial<Handlers>;
}
