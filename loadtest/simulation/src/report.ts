import { billText, quantityText, tableText, usdPerMillion, usdText } from '@apus/cost';
import { keepsUp as isBacklogKept } from './backlog.ts';
import type { Demand } from './demands.ts';
import type { Histogram } from './histogram.ts';
import { QUOTA_KINDS } from './quotas.ts';
import type { Run } from './run-model.ts';
import { CPU_SOURCE, DEFAULT_SERVICE_TIMES, type ServiceTimes } from './service-times.ts';
import { isKeptUpIn, isRefusedIn, type Prediction } from './simulate.ts';

/** A prediction for people. */
export function predictionText(prediction: Prediction, times: ServiceTimes = DEFAULT_SERVICE_TIMES): string {
  const { workload, asIs, lifted, demands, bill, billedDeliveries } = prediction;
  const isOnce = workload.messagesOnce > 0;
  const perMillion = usdPerMillion(bill.usd, billedDeliveries);
  return [
    headingOf(prediction),
    '',
    'Demand on each quota, the tightest first:',
    demandsText(demands),
    '',
    ...keepingUpSentences(prediction),
    ...findingSentences(prediction),
    '',
    'Latency from publish to delivery and to its answer, within the cloud (ms):',
    tableText([
      ['', 'mean', 'p50', 'p95', 'p99', 'p99.9', 'max'],
      ['quotas as they are, delivery', ...latencyCells(asIs.tally.deliveryMs)],
      ['quotas as they are, answer', ...latencyCells(asIs.tally.acknowledgeMs)],
      ['quotas raised, delivery', ...latencyCells(lifted.tally.deliveryMs)],
      ['quotas raised, answer', ...latencyCells(lifted.tally.acknowledgeMs)],
    ]),
    '',
    'Refusals:',
    refusalsText(asIs, lifted),
    '',
    isOnce ? 'Cost of this event alone:' : 'Cost of a month:',
    billText(bill),
    perMillion === undefined ? '' : `${usdText(perMillion)} per million deliveries.`,
    '',
    `Assumptions: seed ${workload.seed}; ${partsSentence(asIs)} ${quantityText(asIs.events + lifted.events)} events.`,
    ...sourceSentences(times),
  ].join('\n');
}

function headingOf({ workload }: Prediction): string {
  const { connections, messagesPerSecond, messagesOnce, recipients, qos, payloadBytes } = workload;
  const messages =
    messagesOnce > 0
      ? `${quantityText(messagesOnce)} at once`
      : `${quantityText(messagesPerSecond)} messages a second`;
  return `${quantityText(connections)} connections; ${messages}, each to ${quantityText(recipients)}, QoS ${qos}, ${payloadBytes} B.`;
}

function demandsText(demands: readonly Demand[]): string {
  return tableText([
    ['quota', 'asked for', 'allowed', 'ratio', 'raised by'],
    ...demands
      .filter(({ asked }) => asked > 0)
      .map(({ label, asked, allowed, ratio, raisedBy }) => [
        label,
        quantityText(asked),
        quantityText(allowed),
        ratio.toFixed(2),
        raisedBy,
      ]),
  ]);
}

function findingSentences(prediction: Prediction): readonly string[] {
  const { demands, liftedQuotas, connectSeconds, scaleUpSeconds, workload } = prediction;
  const binding = demands.filter(({ ratio }) => ratio > 1);
  const [first] = binding;
  if (first === undefined) return ['No quota binds.', ...laterSentences(prediction)];
  const raise = binding.map(({ quota, label, how, raisedBy }) =>
    raisedBy === 'fixed'
      ? `- ${label} cannot be raised. ${how}`
      : `- ${label} to ${quantityText(liftedQuotas[quota])}. ${how}`,
  );
  return [
    ...firstSentences(binding, first),
    'Quotas to raise, with room for bursts:',
    ...raise,
    ...flagsSentences(prediction),
    `All ${quantityText(workload.connections)} clients are connected after ${minutesText(connectSeconds.asIs)} with ${quantityText(prediction.quotas.newConnectionsPerSecond)} new connections a second.`,
    `Lambda has its environments ${minutesText(scaleUpSeconds)} after a start from none: ${QUOTA_KINDS.lambdaScalingPerTenSeconds.label}.`,
    ...laterSentences(prediction),
  ];
}

/** Latencies of a system that falls behind only reflect the length of the run. */
function keepingUpSentences(prediction: Prediction): readonly string[] {
  const { keepsUp, borneMessagesPerSecond, asIs, lifted, workload } = prediction;
  const isLiftedKept = isKeptUpIn(lifted);
  if (keepsUp && isLiftedKept) return [];
  const waiting = (run: Run) => quantityText(Math.round((run.backlog?.end ?? 0) * run.parts));
  const bears =
    workload.messagesOnce > 0
      ? ''
      : borneMessagesPerSecond === undefined
        ? 'No lower rate was found that it bears.'
        : `It bears about ${quantityText(borneMessagesPerSecond)} messages a second.`;
  const behind = `${waiting(asIs)} messages wait after ${quantityText(workload.warmUpSeconds + workload.seconds)} s, and more with each second. Its latencies only say how long the run was.`;
  const isBehind = asIs.backlog !== undefined && !isBacklogKept(asIs.backlog, asIs.tally.published);
  const why = [
    ...(isBehind ? [behind] : []),
    ...stoppedSentences(asIs, prediction.quotas.messagesPerMinuteMax),
  ];
  const ofAsIs = `It does not keep up with the quotas as they are: ${[...why, bears].join(' ').trimEnd()}`;
  const ofLifted = `It does not keep up with the quotas raised either: ${waiting(lifted)} messages wait at the end.`;
  return [...(keepsUp ? [] : [ofAsIs]), ...(isLiftedKept ? [] : [ofLifted]), ''];
}

/** The deployment's own limits that stop a part of it, or everything. */
function stoppedSentences(run: Run, messagesPerMinuteMax: number): readonly string[] {
  const { tally, parts, seconds, tripsBreaker, messagesPerMinute } = run;
  const aSecond = (count: number) => quantityText(Math.round((count * parts) / seconds));
  return [
    ...(isRefusedIn(run)
      ? [
          `limits of one identity or of the tenant refuse ${aSecond(tally.publishesOverLimit)} messages a second (0x97), and end ${aSecond(tally.framesOverLimit)} connections.`,
        ]
      : []),
    ...(tripsBreaker
      ? [
          `${quantityText(Math.round(messagesPerMinute))} messages pass in a minute, and the breaker trips at ${quantityText(messagesPerMinuteMax)}: within two minutes everything stops, for twenty to thirty minutes.`,
        ]
      : []),
  ];
}

/** All flags of a deployment in one line. */
function flagsSentences({ demands, liftedQuotas }: Prediction): readonly string[] {
  const flags = demands.flatMap(({ ratio, quota, how }) =>
    ratio > 1 && how.startsWith(DEPLOY) ? [`${how.slice(DEPLOY.length)} ${liftedQuotas[quota]}`] : [],
  );
  return flags.length === 0 ? [] : ['Deployed with all of these:', `  ${DEPLOY}${flags.join(' ')}`];
}

const DEPLOY = 'npm run deploy -- ';

/** Of all, and, where that one is the deployment's own, of those that AWS sets. */
function firstSentences(binding: readonly Demand[], first: Demand): readonly string[] {
  const sentence = (what: string, { label, ratio }: Demand) =>
    `${what}: ${label}, asked for ${ratio.toFixed(1)} times what it allows.`;
  const ofAws = binding.find(({ raisedBy }) => raisedBy !== 'deployment');
  if (first.raisedBy !== 'deployment' || ofAws === undefined)
    return [sentence('The first quota to bind', first)];
  return [
    sentence("The first of the deployment's own settings to bind", first),
    sentence("Of AWS's quotas", ofAws),
  ];
}

/** The duration of a single message to many. */
function laterSentences({ workload, asIs, lifted }: Prediction): readonly string[] {
  if (workload.messagesOnce === 0) return [];
  return [
    `Everybody has it after ${minutesText(asIs.seconds)} with the quotas as they are, after ${minutesText(lifted.seconds)} with those raised.`,
  ];
}

function minutesText(seconds: number): string {
  if (seconds < 120) return `${quantityText(Math.round(seconds))} s`;
  return `${quantityText(Math.round(seconds / 60))} min`;
}

function latencyCells(histogram: Histogram): readonly string[] {
  if (histogram.count === 0) return Array.from({ length: 6 }, () => '');
  const quantiles = [0.5, 0.95, 0.99, 0.999].map((share) => histogram.quantile(share));
  return [histogram.mean, ...quantiles, histogram.max].map((ms) => quantityText(Math.round(ms)));
}

function refusalsText(asIs: Run, lifted: Run): string {
  const cells = ({ tally, parts, seconds }: Run) =>
    [
      tally.framesRefused,
      tally.framesWithoutFunction,
      tally.postsRefused,
      tally.deliveriesLost,
      tally.dynamoThrottled,
      tally.queueThrottled,
      tally.framesFailed,
      tally.framesOverLimit,
      tally.publishesOverLimit,
      tally.connectionsRefused,
    ].map((count) => quantityText(Math.round((count * parts) / seconds)));
  return tableText([
    [
      'a second',
      'frames',
      'frames without a function',
      'posts (each try)',
      'deliveries lost',
      'store calls',
      'sends to the queue',
      'frames failed',
      'of these over a limit',
      'messages over a limit',
      'connections',
    ],
    ['quotas as they are', ...cells(asIs)],
    ['quotas raised', ...cells(lifted)],
  ]);
}

function partsSentence({ parts }: Run): string {
  return parts === 1
    ? 'every message was followed;'
    : `one part in ${parts} of the traffic, with that part of the quotas;`;
}

function sourceSentences(times: ServiceTimes): readonly string[] {
  const latencies = [
    ['Gateway to function, and back', times.gatewayHop],
    ['A call on DynamoDB', times.dynamoCall],
    ['A post', times.post],
    ['A send to SQS', times.sqsSend],
    ['From the FIFO queue to a worker', times.fifoToFunction],
    ['A cold start', times.coldStart],
  ] as const;
  return [
    ...latencies.map(
      ([what, { p50Ms, p99Ms, source }]) =>
        `- ${what}: p50 ${quantityText(p50Ms)} ms, p99 ${quantityText(p99Ms)} ms (${source}).`,
    ),
    `- A frame is ${times.frameCpuMs} ms of a processor, a further post ${times.postCpuMs} ms; a function has ${times.processorShare.toFixed(2)} of one (${CPU_SOURCE}).`,
    '- A publisher that was closed returns after a random time from 1 s to 2, 4 … 120 s; its handshake is not followed.',
  ];
}
