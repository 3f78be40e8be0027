import { assumptionsOf } from './assumptions.ts';
import { POLLS_PER_MAPPING_MONTH } from './budgets.ts';
import { type Floor, floorOf } from './floor.ts';
import { integrationOperations } from './integration-operations.ts';
import { messageOperations, onlineDeliveries } from './message-operations.ts';
import type { Operation } from './operation.ts';
import { type Rates, ratesOf } from './rates.ts';
import { sessionOperations, subscribeFrames } from './session-operations.ts';
import { pastsOf, streamOperations } from './stream-operations.ts';
import { sweep } from './sweep.ts';
import type { Traffic } from './traffic.ts';
import { addUsage, type Usage, usage } from './usage.ts';
import { type GivenWorkload, type Workload, workloadFrom } from './workload.ts';

const HOURS_OF_MONTH = 730;

/**
 * The metrics that the figures of a deployment without rules come from: one more for the present than for a past hour.
 */
const METRICS_OF_FIGURES = 12;
const METRICS_OF_AN_HOUR = 11;

/** The usage of a workload in a month. */
export interface Estimate {
  readonly workload: Workload;
  readonly usage: Usage;
  /** The operations whose sum is the usage. */
  readonly operations: readonly Operation[];
  readonly traffic: Traffic;
  readonly floor: Floor;
  /** The assumptions of the figures, in sentences. */
  readonly assumptions: readonly string[];
}

/**
 * Estimates a month from a description of what clients do.
 *
 * ```ts
 * const { usage } = estimate({ clients: 1000, hours: 8, publishesPerHour: 60, fanOut: 10, qos: 1, bytes: 200 });
 * billOf(usage).usd;
 * ```
 *
 * @throws {WorkloadError} for a wrong description; the message has the error
 */
export function estimate(given: GivenWorkload): Estimate {
  const workload = workloadFrom(given);
  const rates = ratesOf(workload);
  const operations = [
    ...sessionOperations(workload, rates),
    ...messageOperations(workload, rates),
    ...streamOperations(workload, rates),
    ...integrationOperations(workload, rates),
    sweep(workload, rates),
    figures(workload),
    standing(workload),
  ].filter(({ count }) => count > 0);
  return {
    workload,
    usage: addUsage(...operations.map((operation) => operation.usage)),
    operations,
    traffic: trafficOf(workload, rates),
    floor: floorOfWorkload(workload, rates),
    assumptions: assumptionsOf(workload, rates),
  };
}

/** CloudWatch bills each metric that is requested. Whole hours are cached, and requested once. */
function figures({ figuresPerHour }: Workload): Operation {
  const questions = figuresPerHour * HOURS_OF_MONTH;
  const hours = Math.min(1, figuresPerHour) * HOURS_OF_MONTH;
  return {
    name: 'figures',
    count: questions,
    usage: usage({
      lambdaRequests: questions,
      metricsRead: questions * METRICS_OF_FIGURES + hours * METRICS_OF_AN_HOUR,
    }),
  };
}

/** The costs without any connection. */
function standing(workload: Workload): Operation {
  const { fifoQueues, standardQueues, secrets, kmsKeys, dashboards, alarms } = workload;
  return {
    name: 'standing',
    count: fifoQueues + standardQueues + secrets + kmsKeys + dashboards + alarms,
    usage: usage({
      sqsFifoPolls: fifoQueues * POLLS_PER_MAPPING_MONTH,
      sqsStandardPolls: standardQueues * POLLS_PER_MAPPING_MONTH,
      secretMonths: secrets,
      kmsKeyMonths: kmsKeys,
      dashboardMonths: dashboards,
      alarmMonths: alarms,
    }),
  };
}

function trafficOf(workload: Workload, rates: Rates): Traffic {
  const { clients, hours, days, persistentShare, offlineShare, subscriptions, fanOut, qos } = workload;
  const queued = qos === 0 ? 0 : rates.deliveries * persistentShare * offlineShare;
  const deliveries = onlineDeliveries(workload, rates) + queued;
  const spared = qos === 1 ? rates.deliveries * (1 - persistentShare) : 0;
  const topics = subscriptions === 0 ? 0 : (clients * subscriptions) / Math.max(1, fanOut);
  const seconds = hours * days * 3_600;
  // Elsewhere each lost connection is followed by a CONNECT.
  const connects = rates.connects + rates.resumes;
  return {
    connectionMinutes: rates.connectionMinutes,
    offlineSessionMinutes: clients * persistentShare * (24 - hours) * days * 60,
    connects,
    subscribes: subscribeFrames(workload, connects),
    savedSubscribes: connects * persistentShare * Math.min(1, subscriptions),
    publishes: rates.publishes,
    deliveries,
    acknowledgedDeliveries: qos === 0 ? 0 : deliveries - spared,
    sparedAcknowledgements: spared,
    queuedDeliveries: queued,
    persistentShare,
    streamedMessages: rates.publishes * workload.streamShare,
    messageBytes: workload.bytes + workload.topicBytes,
    topicMinutes: topics * hours * days * 60,
    clients,
    messagesPerSecond: seconds === 0 ? 0 : (rates.publishes + rates.deliveries) / seconds,
    qos,
  };
}

function floorOfWorkload(workload: Workload, rates: Rates): Floor {
  const { qos, persistentShare } = workload;
  const trips = qos === 2 ? 2 : 1;
  const publishes = (rates.publishes / rates.packing) * trips;
  const deliveries = (onlineDeliveries(workload, rates) / rates.packing) * trips;
  const kept = qos === 2 ? 1 : qos === 1 ? persistentShare : 0;
  return floorOf({
    connects: rates.connects * workload.persistentShare,
    moves: rates.moves,
    resumes: rates.resumes,
    subscribes: subscribeFrames(workload, rates.connects) + pastsOf(workload),
    publishes,
    publishAnswers: qos === 0 ? 0 : publishes,
    deliveries,
    deliveryAnswers: deliveries * kept,
    connectionMinutes: rates.connectionMinutes,
  });
}
