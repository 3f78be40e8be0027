/** Frames a second that a tripped stage still allows: enough to see that clients are still there. */
export const TRIPPED_FRAMES_PER_SECOND = 1;

/** Names of the environment variables that the breaker reads and the construct sets. */
export const BREAKER_VARIABLES = {
  apiId: 'BREAKER_API_ID',
  stageName: 'BREAKER_STAGE_NAME',
  /** The throttle while the breaker is closed. */
  framesPerSecond: 'BREAKER_FRAMES_PER_SECOND',
  burstFrames: 'BREAKER_BURST_FRAMES',
  /** Ids of the event source mappings, separated by commas. */
  eventSourceMappingIds: 'BREAKER_EVENT_SOURCE_MAPPING_IDS',
  /** The function that backends publish through; absent: there is none. */
  publishFunctionName: 'BREAKER_PUBLISH_FUNCTION_NAME',
  /** The concurrency that is reserved for it normally; absent: none. */
  publishReservedConcurrency: 'BREAKER_PUBLISH_RESERVED_CONCURRENCY',
  /** Minutes after which a tripped breaker closes by itself; absent: never. */
  resetMinutes: 'BREAKER_RESET_MINUTES',
  /** The topic for notifications; absent: the breaker only logs. */
  topicArn: 'BREAKER_TOPIC_ARN',
} as const;
