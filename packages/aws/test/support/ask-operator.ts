import { GATEWAY_QUOTAS } from '@apus/broker';
import { createOperator } from '../../src/api/create-api-function.ts';
import type { TimersWorld } from './timers-world.ts';

export const LOG = { debug() {}, info() {}, warn() {}, error() {} };

/** Invokes the operator's function, in a process of its own. @param path below `/api/v5`, with its query */
export async function askOperator(
  world: TimersWorld,
  method: string,
  path: string,
  body?: object,
  tenant?: string,
) {
  const [rawPath = '', rawQueryString = ''] = path.split('?');
  const answer = await operatorOf(world)(
    {
      ...{ rawPath: `/api/v5${rawPath}`, rawQueryString, requestContext: { http: { method } } },
      headers: tenant === undefined ? {} : { 'Apus-Tenant': tenant },
      body: body === undefined ? null : JSON.stringify(body),
    },
    { getRemainingTimeInMillis: () => 60_000 },
  );
  return { status: answer.statusCode, body: answer.body === '' ? undefined : JSON.parse(answer.body) };
}

export function operatorOf(world: TimersWorld) {
  const { environment, stores } = world.process().cloud;
  const { sessions, subscriptions, bans, users, tenants, retained, sweepScan: scan } = stores;
  return createOperator({
    ...{ environment, scan, sessions, subscriptions, bans, users, tenants, retained },
    ...{ clock: { now: () => world.time.nowMs }, sleep: async () => {}, log: LOG },
    quotas: GATEWAY_QUOTAS,
  });
}
