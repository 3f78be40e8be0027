import type { ApiContext } from './context.ts';
import type { Handlers } from './router.ts';

/** Bridges to other systems: whether they stand, how far behind they are, and what they have carried. */
export function bridgeHandlers({ bridges }: ApiContext) {
  return {
    listBridges: async ({ tenant }) => ({ status: 200, body: { data: await bridges(tenant) } }),
  } satisfies Partial<Handlers>;
}
