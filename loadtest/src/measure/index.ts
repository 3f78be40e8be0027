export {
  type ClockName,
  clockOf,
  type MicrosNow,
  microsBetween,
  monotonicMicros,
  wallMicros,
} from './clock.ts';
export { Latencies, type Percentiles } from './latencies.ts';
export {
  type FrameCounts,
  LEDGER_VERSION,
  type Ledger,
  type PublishedStream,
  type ReceivedStream,
  type SubscriberRecord,
} from './ledger.ts';
export { HEADER_BYTES, type PayloadHeader, readHeader, writeHeader } from './payload-header.ts';
export { type Publisher, Recorder, type RecorderOptions, type Subscriber, WORKERS_MAX } from './recorder.ts';
export { CounterSet, type SeenCounters, Sequence } from './sequence.ts';
