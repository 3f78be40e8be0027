import type { InvocationContext } from '../events/gateway.ts';
import { METRICS } from '../metrics/metric-names.ts';
import { createSweep, failIfUnrepaired } from '../sweep/sweep.ts';
import { authorizationOf } from './authentication.ts';
import { createRuntime } from './runtime.ts';

const runtime = createRuntime(process.env, authorizationOf);
const { cloud, clock, log, metrics, options } = runtime;
const { connectTimeoutSeconds } = options;
const sweep = createSweep({
  environment: cloud.environment,
  scan: cloud.stores.sweepScan,
  sessions: cloud.stores.sessions,
  retained: cloud.stores.retained,
  holdings: cloud.stores.quotaHoldings,
  shapes: cloud.stores.shapes,
  bans: cloud.stores.bans,
  usage: cloud.usage && cloud.stores.usage,
  clock,
  log,
  ...(connectTimeoutSeconds !== undefined && { connectTimeoutSeconds }),
});

/** The sweep. It runs every ten minutes, so it writes its metrics at once. */
export async function handler(event: unknown, context: InvocationContext): Promise<void> {
  const report = await sweep(event, context);
  metrics.add(METRICS.connectTimeouts, report.connectTimeouts);
  if (report.isPassComplete) metrics.observe(METRICS.connections, report.connections, 'Count');
  metrics.flush();
  // Of the wills that it has published.
  await cloud.usage?.flush();
  failIfUnrepaired(report);
}
