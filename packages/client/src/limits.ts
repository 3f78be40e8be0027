/** The numbers of docs/text-frames.md, each with its section. */

/** The subprotocol on the wire (1). mqtt.js always asks for `mqtt`; the transport asks for this one instead. */
export const SUBPROTOCOL = 'mqtt-text-v1';

/** The same with extensions: a server that chooses it reads the offer in the frame of CONNECT (10). */
export const SUBPROTOCOL_WITH_OFFER = 'mqtt-text-v1.1';

/** The extensions that the transport knows, as its first frame offers them (10). */
export const OFFER = '(nudge,move,resume,close,alive)';
/** The offer of a client that does not come back after a loss: its session need not wait for it. */
export const OFFER_ONCE = '(nudge,move,close,alive)';

/** In the place of an offer, in the first frame after a CONNECT that came with the handshake (15). */
export const ASK = '()';

/** CONNECT in the handshake has room for so many bytes: its header takes 4,096 characters (15). */
export const HANDSHAKE_BYTES_MAX = 2_900;

/** MQTT bytes in one client frame: with its marker and in base64 it is 32,765 characters (2). */
export const FRAME_BYTES_MAX = 24_573;

/** The characters that the gateway takes in one frame; a clock that does not fit is left out (2). */
export const FRAME_CHARACTERS_MAX = 32_768;

/** API Gateway bills a message for each 32 KB begun. */
export const BILLED_CHARACTERS = 32_768;

/** Replies of `!0` in a row before the connection is given up (3). */
export const NOT_TAKEN_MAX = 4;

/** A handler lives no longer than this (3): packets that must come after it wait as long. */
export const HANDLER_LIFE_MS = 5_000;

/** Pushes that wait behind a reply (4). */
export const HELD_PUSHES_MAX = 1_000;
export const HELD_BYTES_MAX = 4 * 1024 * 1024;

/** Lone QoS 0 publishes in a row after which the next one needs no reply (5). */
export const RARE_PUBLISHES = 3;

/** The gateway closes after 600 idle seconds; a minute of it is kept for timers that are late (5). */
export const IDLE_SECONDS_MAX = 540;

/** Three signs of life without an answer, then a PINGREQ (16). */
export const HEARTBEAT_SECONDS_MAX = 4 * IDLE_SECONDS_MAX;

/** A sign of life, which the gateway does not answer: it keeps an idle connection open (16). */
export const ALIVE = '{"action":"alive"}';

/** Reconnects wait for a random time between these (8). */
export const RECONNECT_SECONDS_MIN = 1;
export const RECONNECT_SECONDS_MAX = 120;

/** A connection that lived this long after CONNACK was a good one: the next reconnect is a first one again (8). */
export const STABLE_MS = 60_000;

/** A session moves when this part of its connection's life has passed, at a random moment between the two (12). */
export const MOVE_FROM = 0.75;
export const MOVE_UNTIL = 0.96;

/** The new socket waits so long for a moment at which nothing is under way. Then the move is put off. */
export const MOVE_WITHIN_MS = 30_000;
export const MOVE_AGAIN_MS = 60_000;

/** The frame that asks for the move is repeated after these; then the connection is given up (12). */
export const MOVE_REPEATS_MS: readonly number[] = [1_500, 1_500, 5_000];
export const MOVE_REPLY_MS = 8_000;

/** The server keeps no message under a higher packet identifier, and does not send it again (13). */
export const KEPT_PACKET_ID_MAX = 0x7fff;

/** QoS 1 messages whose acknowledgement the server may not have: if it sends them again, the library has them (13). */
export const UNCONFIRMED_MAX = 1_000;

/** A token is renewed when this part of its remaining life has passed, at a random moment between the two (11). */
export const RENEW_FROM = 0.75;
export const RENEW_UNTIL = 0.9;

/** Renewals are no closer than this: a renewal is billed as two messages. */
export const RENEW_MS_MIN = 1_000;

/** While there is no new token, it is asked for again after the first of these, and then up to the second (11). */
export const RETRY_MS_MIN = 1_000;
export const RETRY_MS_MAX = 60_000;

/** A timer of JavaScript with more than this rings at once. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** While a reply says "more" and brings nothing, fetches slow down from the first to the second of these (4). */
export const EMPTY_FETCH_MS_MIN = 100;
export const EMPTY_FETCH_MS_MAX = 5_000;

/** Bytes that wait for a frame before the library is asked to stop writing: four full frames. */
export const WAITING_BYTES_HIGH = 4 * FRAME_BYTES_MAX;

/** How long a closing handshake may take before the library is told that the socket is closed all the same. */
export const CLOSING_MS = 1_000;

/** Our own close code for a connection that is given up. Of those that browsers allow (3000 to 4999). */
export const GIVEN_UP = 4_000;

/** Says DISCONNECT in the close (14). */
export const DISCONNECT_CODE = 4_001;

/** How a WebSocket closes without a closing handshake (RFC 6455, section 7.1.5). */
export const ABNORMAL = 1_006;

/** The gateway has closed, after everything that it was to send: idle or old, and restarting. */
export const IN_ORDER: readonly number[] = [1_001, 1_012];

/** Another connection would be closed for the same reason: a binary frame, and one that is too large. */
export const HOPELESS: readonly number[] = [1_003, 1_009];
