export { type Demand, demandsOf, raised } from './demands.ts';
export { EventLoop } from './event-loop.ts';
export { shardsOf } from './fan-out-workers.ts';
export { type Field, SimulationError } from './fields.ts';
export { FifoStation, serveFor } from './fifo-station.ts';
export { Fleet, type FleetOptions, RETURN_SECONDS_MAX, WAYS, type Way } from './fleet/fleet.ts';
export { bufferCapacity, bufferWrites, MessagesAway } from './fleet/messages-away.ts';
export { type Outcome, type OutcomeOptions, outcomeOf, returnOf } from './fleet/outcome.ts';
export {
  cutsForAge,
  MOVE_AGAIN_MS,
  MOVE_FROM,
  MOVE_UNTIL,
  type PlannedHandshakes,
  plannedMoves,
} from './fleet/planned-moves.ts';
export { type ReconnectRule, reconnectWaitMs } from './fleet/reconnect-waits.ts';
export { fleetText } from './fleet/report.ts';
export { QUEUE_MESSAGES_MAX } from './fleet/returning-client.ts';
export { type FleetPrediction, simulateFleet } from './fleet/simulate-fleet.ts';
export { FLEET_FIELDS, type FleetWorkload, fleetFrom } from './fleet/workload.ts';
export { Histogram } from './histogram.ts';
export { LambdaPool, type LambdaQuotas, type Start } from './lambda-pool.ts';
export {
  DEFAULT_QUOTAS,
  NO_QUOTAS,
  QUOTA_KINDS,
  QUOTA_NAMES,
  type QuotaKind,
  type QuotaName,
  type Quotas,
} from './quotas.ts';
export { type Latency, Random } from './random.ts';
export { predictionText } from './report.ts';
export { type Arrival, partsOf, type Run, type RunOptions, runModel, TooLargeError } from './run-model.ts';
export { DEFAULT_SERVICE_TIMES, type ServiceTimes, type SourcedLatency } from './service-times.ts';
export { type Prediction, type SimulateOptions, scaleUpSeconds, simulate } from './simulate.ts';
export { Tally } from './tally.ts';
export { TokenBucket } from './token-bucket.ts';
export {
  type SimulatedWorkload,
  WORKLOAD_FIELDS,
  workloadFrom,
} from './workload.ts';
