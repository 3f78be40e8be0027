import type { BenchOperation } from './operation.ts';
import {
  ANSWERS_QOS_2,
  PUBLISH_OFFLINE,
  PUBLISH_PACKED,
  PUBLISH_PERSISTENT,
  PUBLISH_PERSISTENT_PACKED,
  PUBLISH_RETAINED,
  PUBLISH_SHARED,
  publishTo,
  RETURN_TO_QUEUE,
} from './publish-operations.ts';
import {
  CONNECT_AGAIN,
  CONNECT_CLEAN,
  CONNECT_PERSISTENT,
  DISCONNECT_CLEAN,
  DISCONNECT_PERSISTENT,
  LOSS,
  MOVES,
  PING,
  RENEWAL,
  SUBSCRIBE_NARROW,
  SUBSCRIBE_RETAINED,
  SUBSCRIBE_WIDE,
  WILL,
} from './session-operations.ts';

const QOS = [0, 1, 2] as const;

/** Every operation that is measured over sockets, in the order of the table. */
export const OPERATIONS: readonly BenchOperation[] = [
  CONNECT_CLEAN,
  CONNECT_PERSISTENT,
  CONNECT_AGAIN,
  SUBSCRIBE_NARROW,
  SUBSCRIBE_WIDE,
  SUBSCRIBE_RETAINED,
  PING,
  RENEWAL,
  ...MOVES,
  DISCONNECT_CLEAN,
  DISCONNECT_PERSISTENT,
  LOSS,
  WILL,
  ...QOS.map((qos) => publishTo(1, qos)),
  PUBLISH_PACKED,
  ...QOS.map((qos) => publishTo(10, qos)),
  ...QOS.map((qos) => publishTo(1_000, qos)),
  PUBLISH_RETAINED,
  PUBLISH_PERSISTENT,
  PUBLISH_PERSISTENT_PACKED,
  PUBLISH_OFFLINE,
  RETURN_TO_QUEUE,
  PUBLISH_SHARED,
  ANSWERS_QOS_2,
];
