import {
  counter,
  METRICS as EMQX_METRICS,
  type MetricName as EmqxName,
  emqxName,
  gauge,
  NODE_NAME,
  PROMETHEUS_TYPE,
  prometheusText,
  type Sample,
  STATS,
} from '@apus/api';
import { BRIDGE_METRICS, METRICS, type MetricName, OPTIONAL_METRICS } from '../metrics/metric-names.ts';
import type { MonthFigures } from '../metrics/month-counters.ts';
import type { HttpAnswer } from '../publish/http.ts';
import { ApiProblem } from './api-problem.ts';
import { type ApiContext, type Handlers, ok } from './context.ts';

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

/** The counters of the functions since the month began, of all tenants, as CloudWatch has them. */
export function metricsHandlers({ counters, rules }: ApiContext) {
  const asked = async (): Promise<MonthFigures> => {
    if (counters === undefined) throw unavailable('this process has none');
    return await counters.figures().catch((error: unknown) => {
      throw unavailable(error instanceof Error ? error.message : String(error));
    });
  };
  return {
    getMetrics: async () => metricsOf(await asked()),
    getPrometheus: async () => prometheusOf(await asked(), rules !== undefined),
  } satisfies Partial<Handlers>;
}

function unavailable(why: string): ApiProblem {
  return new ApiProblem('SERVICE_UNAVAILABLE', `CloudWatch does not answer: ${why}`);
}

function metricsOf({ since, counts }: MonthFigures): HttpAnswer {
  const figures = Object.keys(EMQX_METRICS).map((name) => {
    const counted = EMQX[name as EmqxName];
    return [name, counted === undefined ? null : (counts.get(counted) ?? 0)] as const;
  });
  const uptimeSeconds = (since.toMs - since.fromMs) / 1000;
  return ok([{ node: NODE_NAME, uptime_seconds: uptimeSeconds, ...Object.fromEntries(figures) }]);
}

function prometheusOf({ connections, counts }: MonthFigures, hasRules: boolean): HttpAnswer {
  const emqx = Object.entries(EMQX).map(([name, counted]) =>
    counter(emqxName(name), EMQX_METRICS[name as EmqxName], counts.get(counted) ?? 0),
  );
  const own = Object.entries(ownOf(hasRules)).map(([name, [counted, help]]) =>
    counter(name, help, counts.get(counted) ?? 0),
  );
  const samples = [...gaugesOf(connections), ...emqx, ...own];
  const headers = { 'content-type': PROMETHEUS_TYPE, 'cache-control': 'no-store' };
  return { status: 200, headers, body: prometheusText([{ node: NODE_NAME, samples }]) };
}

function gaugesOf(connections: number | undefined): readonly Sample[] {
  if (connections === undefined) return [];
  const name = 'live_connections.count';
  return [gauge(emqxName(name), STATS[name], connections)];
}
