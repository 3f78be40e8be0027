/** Request units of DynamoDB. */
export interface Units {
  readonly reads: number;
  readonly writes: number;
}

/**
 * The units of DynamoDB that the operations of the gateway door consume, as measured (`npm run bench:cloud`); a test
 * compares them with its table.
 */
export const MEASURED_BUDGETS = {
  connect: { reads: 1, writes: 2 },
  connectPersistent: { reads: 5, writes: 3 },
  subscribeFrame: { reads: 2, writes: 0 },
  subscribeFilter: { reads: 1, writes: 2 },
  ping: { reads: 1, writes: 0 },
  /** Reads beside one for each matching shape. */
  publishFrame: { reads: 1, writes: 0 },
  persistentOnline: { reads: 1, writes: 1 },
  persistentOffline: { reads: 3, writes: 1 },
  // Each twenty-fourth exchange of a session deletes old entries from its record: three more units.
  /** The same for a message of QoS 2, which has to be found again if the client repeats it. */
  exactlyOnceOnline: { reads: 1, writes: 1 + 3 / 24 },
  exactlyOnceOffline: { reads: 3, writes: 1 + 3 / 24 },
  /** For each queued message: its part of the read and the write of the page in which it is dequeued. */
  draw: { reads: 0.38, writes: 0.04 },
  /** The same at QoS 2, with the delete that PUBCOMP makes. */
  exactlyOnceDraw: { reads: 0.38, writes: 1.04 },
  /** A frame of several acknowledgements. */
  acknowledgeFrame: { reads: 2, writes: 0 },
  /** The same for a frame with a single acknowledgement. */
  acknowledgeAlone: { reads: 1, writes: 0 },
  acknowledge: { reads: 0, writes: 1 },
  /** The move of a session that ends with its connection, not counting its filters. */
  move: { reads: 6, writes: 4 },
  moveFilter: { reads: 0, writes: 1 },
  movePersistent: { reads: 4, writes: 4 },
  /** A loss and the following resume, of a session that ends with its connection, not counting its filters. */
  resume: { reads: 8, writes: 7 },
  resumeFilter: { reads: 0, writes: 1 },
  resumePersistent: { reads: 6, writes: 7 },
  /** A loss after which the client does not return in time, of a session that then ends, not counting its filters. */
  loss: { reads: 3, writes: 3 },
  lossFilter: { reads: 0, writes: 1 },
  lossPersistent: { reads: 0, writes: 3 },
  /** DISCONNECT in the close code, of a session that ends with its connection, not counting its filters. */
  disconnect: { reads: 2, writes: 2 },
  disconnectPersistent: { reads: 0, writes: 3 },
  disconnectFilter: { reads: 0, writes: 1 },
  /** For a frame with messages of a stream, besides what every frame reads. */
  appendFrame: { reads: 3, writes: 0 },
  /** For each of these messages, and for the last value of its key; by the KB. */
  append: { reads: 0, writes: 1 },
  appendSnapshot: { reads: 0, writes: 1 },
  /** A SUBSCRIBE that reads the history of a topic, not counting its messages. */
  readPast: { reads: 4, writes: 3 },
} as const satisfies Readonly<Record<string, Units>>;

/** Reads of one Query unit: 4 KB. */
export const READ_UNIT_BYTES = 4_096;

/** A write unit: 1 KB. */
export const WRITE_UNIT_BYTES = 1_024;

/** Bytes of a message of a stream besides its PUBLISH; a test compares them with the measured cost of history. */
export const STREAM_BYTES = {
  /** In the table: names of attributes, the number, the time, the stable number. */
  stored: 250,
  /** User properties of a live message: `stream-position` and `ts`. */
  liveProperties: 70,
  /** The same with `stream-kind`. */
  pastProperties: 90,
} as const;

/** Payloads up to this size are part of the item; larger ones are stored once, by the KB. */
export const INLINE_PAYLOAD_BYTES_MAX = 1_024;

/** A process reads the registry of shapes again after this long. */
export const SHAPES_LEASE_SECONDS = 2;

/** Quotas and metering: writes for each message. */
export const METERING_WRITES_PER_MESSAGE = 0.01;

/** Subscribers in the head item of a filter; with more a filter is wide. */
export const NARROW_RECIPIENTS_MAX = 12;

/** The number of subscribers of a shard at which a filter doubles its shards, and the most shards. */
export const SHARD_SUBSCRIBERS = 1_000;
export const SHARDS_MAX = 256;

/** Recipients that a worker claims with one write. */
export const SLICE_RECIPIENTS = 500;

/** Read units for each subscriber of a shard: forty subscribers need one unit. */
export const SHARD_READS_PER_SUBSCRIBER = 0.025;

/** Requests a month of an event source mapping that finds nothing. */
export const POLLS_PER_MAPPING_MONTH = 650_000;

/** Bytes in the tables as the sweep reads them; a test compares them with what a scan is billed for. */
export const SWEPT = {
  /** The connection and the session, connected or away. */
  sessionBytes: 1_150,
  /** The items of a connection that remain for an hour after it has ended or its session has moved. */
  endedBytes: 800,
  /** The filter's head item, and its entry in the session's list. */
  filterBytes: 280,
  /** The name of a QoS 2 message that the session's record has dropped. */
  copyNameBytes: 25,
} as const;

/** AWS IoT Core meters messages, rules and their actions by so many bytes begun. */
export const IOT_METERED_BYTES = 5 * 1_024;
