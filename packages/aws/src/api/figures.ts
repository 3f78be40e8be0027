import {
  ApiProblem,
  counter,
  METRICS as EMQX_METRICS,
  type MetricName as EmqxName,
  emqxName,
  type FigureFacts,
  gauge,
  type Sample,
  STATS,
} from '@apus/api';
import { quotasInForce, reasonOf } from '@apus/broker';
import { parseTenant } from '@apus/identity';
import { BRIDGE_METRICS, METRICS, type MetricName, OPTIONAL_METRICS } from '../metrics/metric-names.ts';
import type { MonthFigures } from '../metrics/month-counters.ts';
import type { HasTime } from '../operator/ban.ts';
import type { ApiContext } from './context.ts';
import { countsOf } from './tenant-counts.ts';

/** Counters of the functions that EMQX has a name for. */
const EMQX: Readonly<Partial<Record<EmqxName, MetricName>>> = {
  'packets.publish.received': METRICS.messagesIn,
  'packets.publish.sent': METRICS.messagesOut,
  'messages.received': METRICS.messagesIn,
  'messages.sent': METRICS.messagesOut,
  'messages.validation_failed': OPTIONAL_METRICS.payloadsRefused,
  'delivery.dropped': METRICS.messagesDropped,
};

/** Counters that EMQX has no name for. */
const OWN: Readonly<Record<string, readonly [MetricName, string]>> = {
  apus_posts_gone_total: [METRICS.postsGone, 'Posts to connections that were gone.'],
  apus_posts_throttled_total: [METRICS.postsThrottled, 'Posts that API Gateway refused for their rate.'],
  apus_tokens_refused_total: [METRICS.tokensRefused, 'Handshakes refused for their token.'],
  apus_publishes_refused_total: [
    METRICS.publishesRefused,
    'Requests of backends refused for their key or their rate.',
  ],
  apus_connect_timeouts_total: [METRICS.connectTimeouts, 'Connections cut because they never sent CONNECT.'],
  apus_unavailable_total: [
    METRICS.unavailable,
    'Packets and frames refused since a store, a queue or a hook did not answer.',
  ],
  apus_identities_limited_total: [
    METRICS.identitiesLimited,
    'Messages without a delivery, since the quota of their publisher was used up.',
  ],
};

/** Counters of rules, which EMQX has no name for either. Present only where the deployment has rules. */
const OF_RULES: typeof OWN = {
  apus_rule_messages_sent_total: [
    BRIDGE_METRICS.ruleMessagesSent,
    'Messages that the targets of rules have taken.',
  ],
  apus_rule_attempts_failed_total: [BRIDGE_METRICS.ruleAttemptsFailed, 'Calls on targets that failed.'],
  apus_rule_messages_dead_total: [BRIDGE_METRICS.ruleMessagesDead, 'Messages that rules have given up.'],
  apus_rule_conditions_failed_total: [
    BRIDGE_METRICS.ruleConditionsFailed,
    'Messages for which the condition of a rule is neither true nor false.',
  ],
};

function ownOf(hasRules: boolean): typeof OWN {
  return hasRules ? { ...OWN, ...OF_RULES } : OWN;
}

/** The metrics that a deployment reads for its figures: each costs a metric of GetMetricData. */
export function namesOfFigures(hasRules: boolean): readonly MetricName[] {
  const own = Object.values(ownOf(hasRules)).map(([name]) => name);
  return [...new Set([...Object.values(EMQX), ...own])];
}

/**
 * Sessions and connections of a tenant, and the counters of the functions since the month began, of all tenants, as
 * CloudWatch has them. A deployment knows for only some quotas how much of them is used.
 */
export function figureFacts(context: ApiContext, hasTime: HasTime): Omit<FigureFacts, 'nodeName'> {
  const { counters, rules, counts, scan, tenants, quotas, breaker } = context;
  const figures = async (): Promise<MonthFigures> => {
    if (counters === undefined) throw unavailable('this process has none');
    return await counters.figures().catch((error: unknown) => {
      throw unavailable(reasonOf(error));
    });
  };
  const countsFor = (tenant: string) => counts.of(tenant, () => countsOf(scan, tenant, hasTime));
  return {
    async stats(tenant) {
      const { sessions, connected } = await countsFor(tenant);
      const held = { 'connections.count': sessions, 'live_connections.count': connected };
      return { ...held, 'sessions.count': sessions };
    },
    metrics: async () => metricsOf(await figures()),
    samples: async () => samplesOf(await figures(), rules !== undefined),
    async quotas(tenant) {
      const [json, known, minute] = await Promise.all([
        tenants.get(tenant),
        countsFor(tenant).catch(ifTooMany),
        breaker?.messages.lastMinute(),
      ]);
      const plan = json === undefined ? undefined : parseTenant(json).plan;
      return quotasInForce(quotas, plan, {
        tenant: { connectionsMax: known?.connected, sessionsMax: known?.sessions },
        broker: { messagesPerMinuteMax: minute?.value },
      });
    },
  };
}

/** Quotas are answered also where sessions are too many to be counted. */
function ifTooMany(error: unknown): undefined {
  if (!(error instanceof ApiProblem)) throw error;
}

function unavailable(why: string): ApiProblem {
  return new ApiProblem('SERVICE_UNAVAILABLE', `CloudWatch does not answer: ${why}`);
}

function metricsOf({ since, counts }: MonthFigures): Awaited<ReturnType<FigureFacts['metrics']>> {
  const figures = Object.keys(EMQX_METRICS).map((name) => {
    const counted = EMQX[name as EmqxName];
    return [name, counted === undefined ? null : (counts.get(counted) ?? 0)] as const;
  });
  const uptimeSeconds = (since.toMs - since.fromMs) / 1000;
  return {
    uptime_seconds: uptimeSeconds,
    ...(Object.fromEntries(figures) as Record<EmqxName, number | null>),
  };
}

function samplesOf({ connections, counts }: MonthFigures, hasRules: boolean): readonly Sample[] {
  const emqx = Object.entries(EMQX).map(([name, counted]) =>
    counter(emqxName(name), EMQX_METRICS[name as EmqxName], counts.get(counted) ?? 0),
  );
  const own = Object.entries(ownOf(hasRules)).map(([name, [counted, help]]) =>
    counter(name, help, counts.get(counted) ?? 0),
  );
  return [...gaugesOf(connections), ...emqx, ...own];
}

function gaugesOf(connections: number | undefined): readonly Sample[] {
  if (connections === undefined) return [];
  const name = 'live_connections.count';
  return [gauge(emqxName(name), STATS[name], connections)];
}
