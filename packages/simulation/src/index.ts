export { type Demand, demandsOf, raised } from './demands.ts';
export { EventLoop } from './event-loop.ts';
export { shardsOf } from './fan-out-workers.ts';
export { FifoStation, serveFor } from './fifo-station.ts';
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
  SimulationError,
  WORKLOAD_FIELDS,
  workloadFrom,
} from './workload.ts';
