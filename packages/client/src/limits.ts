/** The limits of docs/text-frames.md, each with its section. */

/** The subprotocol of text frames (1). */
export const SUBPROTOCOL = 'mqtt-text-v1';

/** MQTT's own, for binary messages. */
export const BINARY_SUBPROTOCOL = 'mqtt';

/** The subprotocol with extensions: a server that chooses it reads the offer in the frame of CONNECT (10). */
export const SUBPROTOCOL_WITH_OFFER = 'mqtt-text-v1.1';

/** The extensions that the transport knows; its first frame offers them (10). */
export const OFFER = '(nudge,move,resume,close,alive)';
/** The offer of a client that does not return after a loss: the server need not keep its session for a resume. */
export const OFFER_ONCE = '(nudge,move,close,alive)';

/** Stands in the place of an offer, in the first frame after a CONNECT that came with the handshake (15). */
export const ASK = '()';

/** Bytes of a CONNECT that fit into the handshake: its header may have 4,096 characters (15). */
export const HANDSHAKE_BYTES_MAX = 2_900;

/** MQTT bytes in one client frame: with the marker and in base64 they are 32,765 characters (2). */
export const FRAME_BYTES_MAX = 24_573;

/** Characters that the gateway takes in one frame. If the clock does not fit, the client leaves it out (2). */
export const FRAME_CHARACTERS_MAX = 32_768;

/** API Gateway bills a message for each 32 KB begun. */
export const BILLED_CHARACTERS = 32_768;

/** After this many replies of `!0` in a row the transport gives the connection up (3). */
export const NOT_TAKEN_MAX = 4;

/** The longest time that a handler lives (3). Packets that must come after it wait for this time. */
export const HANDLER_LIFE_MS = 5_000;

/** Limits of pushes that wait behind a reply (4). */
export const HELD_PUSHES_MAX = 1_000;
export const HELD_BYTES_MAX = 4 * 1024 * 1024;

/** After this many lone QoS 0 publishes in a row the next one needs no reply (5). */
export const RARE_PUBLISHES = 3;

/** The gateway closes a connection after 600 idle seconds. One minute is kept for timers that are late (5). */
export const IDLE_SECONDS_MAX = 540;

/** After three signs of life without an answer the transport sends a PINGREQ (16). */
export const HEARTBEAT_SECONDS_MAX = 4 * IDLE_SECONDS_MAX;

/** A sign of life. The gateway does not answer it, but it keeps an idle connection open (16). */
export const ALIVE = '{"action":"alive"}';

/** The wait before a reconnect is random between these (8). */
export const RECONNECT_SECONDS_MIN = 1;
export const RECONNECT_SECONDS_MAX = 120;

/** A connection that has lived this long after CONNACK was stable: the waits begin anew (8). */
export const STABLE_MS = 60_000;

/** A session moves at a random moment between these parts of its connection's life (12). */
export const MOVE_FROM = 0.75;
export const MOVE_UNTIL = 0.96;

/** The new socket waits at most this long until no frame is outstanding. Then the transport postpones the move. */
export const MOVE_WITHIN_MS = 30_000;
export const MOVE_AGAIN_MS = 60_000;

/** The transport repeats the frame that asks for the move after these times; then it gives the connection up (12). */
export const MOVE_REPEATS_MS: readonly number[] = [1_500, 1_500, 5_000];
export const MOVE_REPLY_MS = 8_000;

/** The server keeps no message under a higher packet identifier, and does not send such a message again (13). */
export const KEPT_PACKET_ID_MAX = 0x7fff;

/**
 * Limit of QoS 1 messages whose acknowledgement the server may not have. If it sends them again, the transport does not
 * hand them over (13).
 */
export const UNCONFIRMED_MAX = 1_000;

/** The transport renews a token at a random moment between these parts of the token's remaining life (11). */
export const RENEW_FROM = 0.75;
export const RENEW_UNTIL = 0.9;

/** The least time between renewals: each renewal is billed as two messages. */
export const RENEW_MS_MIN = 1_000;

/**
 * While `token()` returns no new token, the transport calls it again after the first of these, then after growing times
 * up to the second (11).
 */
export const RETRY_MS_MIN = 1_000;
export const RETRY_MS_MAX = 60_000;

/** A JavaScript timer with a longer time fires at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * While replies say "more" and bring nothing, the time between fetches grows from the first to the second of these (4).
 */
export const EMPTY_FETCH_MS_MIN = 100;
export const EMPTY_FETCH_MS_MAX = 5_000;

/** When this many bytes wait for a frame, the transport asks the library to stop writing: four full frames. */
export const WAITING_BYTES_HIGH = 4 * FRAME_BYTES_MAX;

/**
 * After this time the transport tells the library that the socket is closed, even if the closing handshake has not
 * ended.
 */
export const CLOSING_MS = 1_000;

/** Our close code for a connection that the transport gives up. Browsers allow 3000 to 4999. */
export const GIVEN_UP = 4_000;

/** The close code that stands for DISCONNECT (14). */
export const DISCONNECT_CODE = 4_001;

/** The close code if there was no closing handshake (RFC 6455, section 7.1.5). */
export const ABNORMAL = 1_006;

/**
 * If the server has sent no frame for this long, a page that becomes visible asks whether the server is still there.
 */
export const STALE_MS = 60_000;

/** Close codes of a gateway that had sent everything: the connection was idle or old, or the gateway restarts. */
export const IN_ORDER: readonly number[] = [1_001, 1_012];

/** Close codes that another connection would meet too: for a binary frame, and for one that is too large. */
export const HOPELESS: readonly number[] = [1_003, 1_009];
