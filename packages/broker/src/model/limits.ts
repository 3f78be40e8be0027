/** Limits of one client, and of all clients together. Every default has a reason; each is an option of both doors. */
export interface BrokerLimits {
  /** Largest MQTT packet accepted, in bytes. 2 MiB: sixteen times what AWS IoT Core takes. Beyond it: 0x95. */
  readonly maximumPacketSize: number;
  /** Payload of a will, in bytes; MQTT's own maximum. Beyond it: 0x95. */
  readonly willPayloadBytesMax: number;
  /** QoS 1 and 2 messages of one client that the broker has not acknowledged. Beyond it: 0x93. */
  readonly receiveMaximum: number;
  /**
   * Topic aliases that one client may set. 0 on a door where another process may handle the next packet. Beyond it:
   * 0x94.
   */
  readonly topicAliasMaximum: number;
  /** QoS 1 and 2 messages sent to one client and not acknowledged; lowered by the client's Receive Maximum. */
  readonly inflightMessagesMax: number;
  /** Messages that wait for one session, beyond those inflight. */
  readonly queueLengthMax: number;
  /** Bytes of topic and payload that wait for one session. */
  readonly queueBytesMax: number;
  /** Which message a full queue drops. */
  readonly queueWhenFull: 'drop-oldest' | 'drop-newest';
  /**
   * Subscriptions of a session; a filter counts once for each 16 levels, or 1,024 characters, that it begins. Beyond
   * it: 0x97.
   */
  readonly subscriptionsPerSessionMax: number;
  /**
   * Levels of a topic name or filter; bounds every walk over levels. 200 separators, as Mosquitto. Beyond it: 0x90 or
   * 0x8F.
   */
  readonly topicLevelsMax: number;
  /** Retained messages of a tenant. Beyond it: 0x97. */
  readonly retainedMessagesMax: number;
  /**
   * Bytes that are retained for a tenant: topics, payloads and properties, and 256 for each message. 64 MiB: some
   * 200,000 small ones.
   */
  readonly retainedBytesMax: number;
  /** Members of one room at a time. Beyond it: 0x97. */
  readonly presenceMembersMax: number;
  /** Bytes of a member's payload and properties. All of them are sent to each newcomer. Beyond it: 0x97. */
  readonly presenceBytesMax: number;
  /** Rooms that one session is in, counted once for each of its members. Beyond it: 0x97. */
  readonly presenceRoomsPerSessionMax: number;
  /** Rooms that all sessions of one identity are in. Beyond it: 0x97. */
  readonly presenceRoomsPerIdentityMax: number;
  /** Sessions that make one member present: tabs and devices of one name. Beyond it: 0x97. */
  readonly presenceOwnersMax: number;
  /** Sessions, connected or not. Beyond it a CONNECT that needs a new one is closed without CONNACK. */
  readonly sessionsMax: number;
  /** A longer Session Expiry Interval is shortened to this, and CONNACK says so. */
  readonly sessionExpirySecondsMax: number;
  /** A longer Keep Alive, or none, becomes this Server Keep Alive. 0: clients choose freely. */
  readonly serverKeepAliveSecondsMax: number;
  /** Characters of a client identifier. Beyond it: 0x85. */
  readonly clientIdLengthMax: number;
}

/** Maximum Packet Size of a client that set none. */
export const PACKET_SIZE_UNLIMITED = 0xffff_ffff;

export const DEFAULT_LIMITS: BrokerLimits = {
  maximumPacketSize: 2 * 1024 * 1024,
  willPayloadBytesMax: 65_535,
  receiveMaximum: 1024,
  topicAliasMaximum: 32,
  inflightMessagesMax: 100,
  queueLengthMax: 1000,
  queueBytesMax: 16 * 1024 * 1024,
  queueWhenFull: 'drop-oldest',
  subscriptionsPerSessionMax: 10_000,
  topicLevelsMax: 201,
  retainedMessagesMax: 1_000_000,
  retainedBytesMax: 64 * 1024 * 1024,
  presenceMembersMax: 20_000,
  presenceBytesMax: 1024,
  presenceRoomsPerSessionMax: 16,
  presenceRoomsPerIdentityMax: 1_000,
  presenceOwnersMax: 8,
  sessionsMax: 1_000_000,
  sessionExpirySecondsMax: 7 * 24 * 60 * 60,
  serverKeepAliveSecondsMax: 0,
  clientIdLengthMax: 1024,
};

/** The values that an operator may give a number. */
export interface LimitRange {
  /** @default 0 */
  readonly least?: number;
  /** @default any */
  readonly most?: number;
}

/** Limits that do not take every whole number: with 0 a broker could not work, and a field of MQTT has a maximum. */
export const LIMIT_RANGES: { readonly [K in keyof BrokerLimits]?: LimitRange } = {
  maximumPacketSize: { least: 1, most: 268_435_460 },
  willPayloadBytesMax: { most: 65_535 },
  receiveMaximum: { least: 1, most: 65_535 },
  topicAliasMaximum: { most: 65_535 },
  inflightMessagesMax: { least: 1, most: 65_535 },
  topicLevelsMax: { least: 1 },
  sessionsMax: { least: 1 },
  sessionExpirySecondsMax: { most: 0xffff_ffff },
  serverKeepAliveSecondsMax: { most: 65_535 },
  clientIdLengthMax: { least: 1 },
};

/** Packets, and their bytes, that are kept for a client that has lost its connection: some seconds of a chat. */
export const LOST_PACKETS_MAX = 32;
export const LOST_BYTES_MAX = 8_192;

/** Choices that are not limits. */
export interface BrokerOptions {
  readonly limits: BrokerLimits;
  /**
   * Overlapping subscriptions of one client: one copy at the highest QoS, or one for each subscription [MQTT-3.3.4-2].
   */
  readonly overlapping: 'one' | 'each';
  /** Response Information for a client that asks for it; the text `%c` becomes its client identifier. */
  readonly responseInformation: string | undefined;
  /**
   * 'nothing': the client acknowledges no QoS 1 message in a session that ends with its connection (text-frames.md,
   * section 5), and the broker stores none for it.
   */
  readonly ephemeralSessionsKeep: 'everything' | 'nothing';
  /**
   * How long the will of a lost connection, and a session that ends with it, wait at least: on a door where another
   * process may still be committing the client's DISCONNECT.
   */
  readonly lossGraceSeconds: number;
  /** How long a member of a room whose client was lost stays at least. @default 5 */
  readonly presenceGraceSeconds?: number | undefined;
  /**
   * A repeated PUBLISH that a limit refuses for now ends the connection also in MQTT 5.0, which has an answer: on a door
   * where a process may die between putting a message inflight for a subscriber and sending it. @default it is refused
   */
  readonly endsRefusedRepetitions?: boolean | undefined;
  /** Set on a door whose platform cuts every connection at a certain age. */
  readonly connectionLife?: ConnectionLife | undefined;
}

/** A connection that the platform cuts for its age is not lost: the client comes straight back. */
export interface ConnectionLife {
  readonly seconds: number;
  /** How long the will of such a connection waits. A client that comes back within it withdraws the will. */
  readonly graceSeconds: number;
}
