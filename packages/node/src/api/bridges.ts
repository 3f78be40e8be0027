import type { ApiContext } from './context.ts';
import type { ApiRoute } from './router.ts';

/** Bridges to other systems: whether they stand, how far behind they are, and what they have carried. */
export function bridgeRoutes({ bridges }: ApiContext): readonly ApiRoute[] {
  return [
    {
      method: 'GET',
      path: '/bridges',
      handle: async ({ tenant }) => ({ status: 200, body: { data: await bridges(tenant) } }),
    },
  ];
}
