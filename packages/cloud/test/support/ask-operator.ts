import { createOperator, type OperatorAnswer } from '../../src/operator/create-operator.ts';
import type { TimersWorld } from './timers-world.ts';

export const LOG = { debug() {}, info() {}, warn() {}, error() {} };

/** The operator's function, in a process of its own. */
export async function askOperator(world: TimersWorld, request: object): Promise<OperatorAnswer> {
  const { environment, stores } = world.process().cloud;
  const { sessions, bans, users, tenants, retained, sweepScan: scan } = stores;
  const clock = { now: () => world.time.nowMs };
  const sleep = async () => {};
  const operator = createOperator({
    ...{ environment, scan, sessions, bans, users, tenants, retained },
    ...{ clock, sleep, log: LOG },
  });
  return await operator(request, { getRemainingTimeInMillis: () => 60_000 });
}
