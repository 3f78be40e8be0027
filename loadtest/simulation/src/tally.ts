import { Histogram } from './histogram.ts';

/** The counts within the measured time. */
export class Tally {
  framesIn = 0;
  replies = 0;
  posts = 0;
  published = 0;
  delivered = 0;
  connects = 0;
  invocations = 0;
  billedMs = 0;
  readUnits = 0;
  writeUnits = 0;
  fifoRequests = 0;
  fifoJobs = 0;
  bytesOut = 0;
  /** Closed by the gateway: the account's throttle, or the stage's. */
  framesRefused = 0;
  /** 429, each try by itself. */
  postsRefused = 0;
  /** Messages to one recipient that were given up. */
  deliveriesLost = 0;
  /** Frames that found no environment. */
  framesWithoutFunction = 0;
  dynamoThrottled = 0;
  /** Sends of jobs that the queue refused, each try by itself. */
  queueThrottled = 0;
  framesFailed = 0;
  /** Frames beyond a limit of their identity, or of their tenant. */
  framesOverLimit = 0;
  /** Messages that were refused with 0x97: too many deliveries of their identity or their tenant. */
  publishesOverLimit = 0;
  connectionsRefused = 0;
  readonly deliveryMs = new Histogram();
  readonly acknowledgeMs = new Histogram();
}
