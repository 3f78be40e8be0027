/** Request units of DynamoDB. */
export interface Units {
  readonly reads: number;
  readonly writes: number;
}

/** The units of DynamoDB that the operations of the gateway door consume. */
export interface Budgets {
  readonly connect: Units;
  readonly connectPersistent: Units;
  readonly subscribeFrame: Units;
  readonly subscribeFilter: Units;
  /** Beside one read for each shape that fits. */
  readonly publishFrame: Units;
  readonly persistentOnline: Units;
  readonly persistentOffline: Units;
  /** The same for a message of QoS 2, which a repetition must find. */
  readonly exactlyOnceOnline: Units;
  readonly exactlyOnceOffline: Units;
  /** For each message that waited: its part of the read and the write of the page in which it is dequeued. */
  readonly draw: Units;
  /** The same at QoS 2, with the delete that PUBCOMP makes. */
  readonly exactlyOnceDraw: Units;
  /** A frame of several acknowledgements. */
  readonly acknowledgeFrame: Units;
  /** The same for one that is alone in its frame. */
  readonly acknowledgeAlone: Units;
  readonly acknowledge: Units;
  /** The move of a session that ends with its connection, without its filters. */
  readonly move: Units;
  readonly moveFilter: Units;
  readonly movePersistent: Units;
  /** A loss and the resume after it, of a session that ends with its connection, without its filters. */
  readonly resume: Units;
  readonly resumeFilter: Units;
  readonly resumePersistent: Units;
  /** A loss after which the client does not come back in time, of a session that ends then, without its filters. */
  readonly loss: Units;
  readonly lossFilter: Units;
  readonly lossPersistent: Units;
  /** By the code of the close: of a session that ends with its connection, without its filters. */
  readonly disconnect: Units;
  readonly disconnectPersistent: Units;
  readonly disconnectFilter: Units;
  /** For a frame with messages of a stream, beside what every frame reads. */
  readonly appendFrame: Units;
  /** For each of them, and for the last value of its key; by the KB. */
  readonly append: Units;
  readonly appendSnapshot: Units;
  /** A SUBSCRIBE that reads the past of a topic, without its messages. */
  readonly readPast: Units;
}

/** The budgets of the design of the gateway door. */
export const DESIGN_BUDGETS: Budgets = {
  connect: { reads: 1, writes: 2 },
  connectPersistent: { reads: 1, writes: 2 },
  subscribeFrame: { reads: 0, writes: 0 },
  subscribeFilter: { reads: 1, writes: 2 },
  publishFrame: { reads: 1, writes: 0 },
  persistentOnline: { reads: 1, writes: 1 },
  persistentOffline: { reads: 1, writes: 1 },
  exactlyOnceOnline: { reads: 1, writes: 1 },
  exactlyOnceOffline: { reads: 1, writes: 1 },
  draw: { reads: 0, writes: 0 },
  exactlyOnceDraw: { reads: 0, writes: 0 },
  acknowledgeFrame: { reads: 0, writes: 0 },
  acknowledgeAlone: { reads: 0, writes: 0 },
  acknowledge: { reads: 0, writes: 1 },
  move: { reads: 4, writes: 4 },
  moveFilter: { reads: 0, writes: 1 },
  movePersistent: { reads: 4, writes: 4 },
  resume: { reads: 5, writes: 6 },
  resumeFilter: { reads: 0, writes: 1 },
  resumePersistent: { reads: 5, writes: 6 },
  loss: { reads: 2, writes: 3 },
  lossFilter: { reads: 0, writes: 1 },
  lossPersistent: { reads: 2, writes: 3 },
  disconnect: { reads: 1, writes: 2 },
  disconnectPersistent: { reads: 1, writes: 2 },
  disconnectFilter: { reads: 1, writes: 1 },
  appendFrame: { reads: 1, writes: 0 },
  append: { reads: 0, writes: 1 },
  appendSnapshot: { reads: 0, writes: 1 },
  readPast: { reads: 1, writes: 2 },
};

/** The measured use of the stores (`npm run bench:cloud`); a test compares them with its table. */
export const MEASURED_BUDGETS: Budgets = {
  connect: { reads: 1, writes: 2 },
  connectPersistent: { reads: 5, writes: 3 },
  subscribeFrame: { reads: 2, writes: 0 },
  subscribeFilter: { reads: 1, writes: 2 },
  publishFrame: { reads: 1, writes: 0 },
  persistentOnline: { reads: 1, writes: 1 },
  persistentOffline: { reads: 3, writes: 1 },
  // Each twenty-fourth exchange of a session makes its record forget: three units more.
  exactlyOnceOnline: { reads: 1, writes: 1 + 3 / 24 },
  exactlyOnceOffline: { reads: 3, writes: 1 + 3 / 24 },
  draw: { reads: 0.38, writes: 0.04 },
  exactlyOnceDraw: { reads: 0.38, writes: 1.04 },
  acknowledgeFrame: { reads: 2, writes: 0 },
  acknowledgeAlone: { reads: 1, writes: 0 },
  acknowledge: { reads: 0, writes: 1 },
  move: { reads: 6, writes: 4 },
  moveFilter: { reads: 0, writes: 1 },
  movePersistent: { reads: 4, writes: 4 },
  resume: { reads: 8, writes: 7 },
  resumeFilter: { reads: 0, writes: 1 },
  resumePersistent: { reads: 6, writes: 7 },
  loss: { reads: 3, writes: 3 },
  lossFilter: { reads: 0, writes: 1 },
  lossPersistent: { reads: 0, writes: 3 },
  disconnect: { reads: 2, writes: 2 },
  disconnectPersistent: { reads: 0, writes: 3 },
  disconnectFilter: { reads: 0, writes: 1 },
  appendFrame: { reads: 3, writes: 0 },
  append: { reads: 0, writes: 1 },
  appendSnapshot: { reads: 0, writes: 1 },
  readPast: { reads: 4, writes: 3 },
};

/** Reads of one Query unit: 4 KB. */
export const READ_UNIT_BYTES = 4_096;

/** A write unit: 1 KB. */
export const WRITE_UNIT_BYTES = 1_024;

/** Bytes of a message of a stream beside its PUBLISH; a test compares them with what the past was measured to cost. */
export const STREAM_BYTES = {
  /** In the table: names of attributes, the number, the time, what had become stable. */
  stored: 250,
  /** User properties of a live message: `stream-position` and `ts`. */
  liveProperties: 70,
  /** The same with `stream-kind`. */
  pastProperties: 90,
} as const;

/** Payloads up to here stand in the item; larger ones are stored once, by the KB. */
export const INLINE_PAYLOAD_BYTES_MAX = 1_024;

/** A process reads the registry of shapes again after this long. */
export const SHAPES_LEASE_SECONDS = 2;

/** Quotas and metering: writes for each message. */
export const METERING_WRITES_PER_MESSAGE = 0.01;

/** Subscribers that stand in a filter's head; beyond them a filter is wide. */
export const NARROW_RECIPIENTS_MAX = 12;

/** Subscribers of a shard before a filter doubles its shards, and how far. */
export const SHARD_SUBSCRIBERS = 1_000;
export const SHARDS_MAX = 256;

/** Recipients that a worker claims with one write. */
export const SLICE_RECIPIENTS = 500;

/** Read units for each subscriber of a shard: forty of them are a unit. */
export const SHARD_READS_PER_SUBSCRIBER = 0.025;

/** Requests of an event source mapping that finds nothing, a month. */
export const POLLS_PER_MAPPING_MONTH = 650_000;

/** Bytes in the tables as the sweep reads them; a test compares them with what a scan is billed for. */
export const SWEPT = {
  /** The connection and the session, connected or away. */
  sessionBytes: 1_150,
  /** The items of a connection that stay for an hour after it has ended or its session has moved. */
  endedBytes: 800,
  /** The filter's head, and its place in the session's list. */
  filterBytes: 280,
  /** The name of a QoS 2 copy, among those that its session's record has forgotten. */
  copyNameBytes: 25,
} as const;

/** AWS IoT Core meters messages, rules and their actions by so many bytes begun. */
export const IOT_METERED_BYTES = 5 * 1_024;
