/** Limits that the protocol itself sets, each with its section of MQTT 5.0, and one of the codec. The others are in the broker. */

/** A Packet Identifier is a two byte integer and never 0 (2.2.1). */
export const PACKET_ID_MAX = 65_535;

/** Four bytes of seven bits each: the largest Variable Byte Integer (1.5.5). */
export const VARIABLE_BYTE_INTEGER_MAX = 268_435_455;

/** The Remaining Length is a Variable Byte Integer (2.1.4). */
export const REMAINING_LENGTH_MAX = VARIABLE_BYTE_INTEGER_MAX;

/** First byte, Remaining Length and the rest at their largest. */
export const PACKET_SIZE_MAX = 1 + 4 + REMAINING_LENGTH_MAX;

/** Strings and binary data carry a length of two bytes (1.5.4, 1.5.6). */
export const STRING_BYTES_MAX = 65_535;
export const BINARY_BYTES_MAX = 65_535;

/** A Topic Name or Topic Filter is a UTF-8 Encoded String of at least one character (4.7.3). */
export const TOPIC_BYTES_MAX = STRING_BYTES_MAX;

/** Receive Maximum and Topic Alias are two byte integers; 0 is not allowed (3.1.2.11.3, 3.3.2.3.4). */
export const RECEIVE_MAXIMUM_MAX = 65_535;

/** The value of an absent Receive Maximum (3.1.2.11.3). */
export const RECEIVE_MAXIMUM_DEFAULT = 65_535;

/** Keep Alive is a two byte integer of seconds: 18 hours, 12 minutes and 15 seconds (3.1.2.10). */
export const KEEP_ALIVE_SECONDS_MAX = 65_535;

/**
 * Topic Filters of one SUBSCRIBE or UNSUBSCRIBE. Not the protocol's: a broker reads such a packet in one piece, and 2 MiB
 * have room for 700,000 filters [SEC-WORK-8]. It is the number of subscriptions that a session has by default.
 */
export const FILTERS_PER_PACKET_MAX = 10_000;
