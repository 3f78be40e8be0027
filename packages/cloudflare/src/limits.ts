/** An attachment of a socket has at most 16,384 bytes when it is serialized. A larger one goes into rows. */
export const ATTACHMENT_BYTES_MAX = 12_000;

/** Links that are saved at once in half a second, some 10 us each. Beyond it a timer saves each once. */
export const SAVES_AT_ONCE_MAX = 5_000;

/** A row has at most 2 MB, key and value together. A larger value takes several. */
export const ROW_BYTES_MAX = 1_000_000;

/** Rows that are read at a time, of any size and of sessions and filters. Of either 32 MB at most. */
export const SCANNED_ROWS = 32;
export const SCANNED_SMALL_ROWS = 512;

/** A timer that is due within this time keeps the object awake, as it is more exact than an alarm. */
export const AWAKE_MS_MAX = 1_000;

/** How often the object looks whether a client that does not read has read something: no event tells it. */
export const SLOW_LOOK_MS = 50;

/** Sockets of one hub. The platform allows 32,768; 128 MB have room for these. Beyond it a handshake is answered 503. */
export const SOCKETS_MAX = 10_000;

/** Connections of one address (of IPv6 a /64) without an accepted CONNECT. Beyond it the oldest of them is closed. */
export const PENDING_PER_ADDRESS_MAX = SOCKETS_MAX / 2;

/**
 * One WebSocket message, which may hold many packets: the platform allows 32 MiB, an eighth of the memory of an object.
 * It is larger than a packet may be, so that a packet just over its limit is answered with 0x95. Beyond it: 1009.
 */
export const WEB_SOCKET_MESSAGE_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Bytes that all clients together have not read. They are in the memory of the object. Beyond it those are disconnected
 * (0x97) that have left most unread.
 */
export const UNREAD_TOTAL_BYTES_MAX = 24 * 1024 * 1024;

/** After so many sent bytes the hub looks how many are unread: the runtime tells it of no read. */
export const UNREAD_LOOK_BYTES = 4 * 1024 * 1024;

/**
 * WebSocket messages that one identity may send in a second, on average: an object takes some 1,000 events. Beyond it its
 * clients wait, and those that send on are disconnected (0x96).
 */
export const EVENTS_PER_SECOND_MAX = 1_000;

/** Three quarters of an object's 128 MB: beyond it new messages are refused (0x97). */
export const MEMORY_BYTES_MAX = 96 * 1024 * 1024;

/** How long the will of a connection that was cut with its object waits at least, so that its client can come back. */
export const WILL_GRACE_SECONDS = 30;

/** A PINGREQ that comes sooner after the packet before it wakes a sleeping hub, which charges it to its identity. */
export const PING_APART_MS_MIN = 1_000;

/** How late a silent client may be noticed: a quarter of its Keep Alive, between these. */
export const KEEP_ALIVE_SLACK_MS_MIN = 250;
export const KEEP_ALIVE_SLACK_MS_MAX = 15_000;

/** Usage is written as a row at most so often while it changes, 4,400 rows a month. Sockets carry it meanwhile. */
export const USAGE_ROW_MS = 600_000;

/** The time of connections is counted so often while events come, or at once where somebody asks. */
export const USAGE_LOOK_MS = 1_000;

/** Rows of usage are kept for so long: 9,600 of a tenant, some 100 bytes each. */
export const USAGE_DAYS_MAX = 400;

/** Users that operators add to a hub, and the bytes of their entries: a hub that lists them has them all in memory. */
export const USERS_MAX = 10_000;
export const USERS_BYTES_MAX = 4 * 1024 * 1024;
