/** Bytes that may wait for one process. Beyond it publishers have to send again later (0x97). */
export const PENDING_BYTES_MAX = 32 * 1024 * 1024;

/** Bytes of one entry; a single larger frame is an entry of its own. */
export const ENTRY_BYTES_MAX = 1024 * 1024;

/** Bytes under way to one process; more wait here. The engine cuts off a process for which 32 MB wait. */
export const WINDOW_BYTES = 4 * 1024 * 1024;

/**
 * If a process has not said for this long that it has an entry, the oldest such entry is sent again, as a question;
 * then after twice the time, up to the maximum. A process that is only slow must not get more work.
 */
export const RESEND_MS = 1000;
export const RESEND_MS_MAX = 8000;

/** How long an acknowledgement waits for an entry with which it leaves, if no publisher waits for it. */
export const ACKNOWLEDGE_MS = 100;

/** It does not wait if so many bytes have arrived: the sender would have to. */
export const ACKNOWLEDGED_BYTES_MAX = 256 * 1024;

/** How long a CONNECT waits while the sessions of its client move from a dead process to a living one. */
export const MOVING_MS_MAX = 10_000;
export const MOVING_POLL_MS = 100;

/** How long the HTTP API waits for the answer of another process. */
export const ASK_MS_MAX = 3_000;

/** Questions that wait for an answer. */
export const ASKED_MAX = 1_000;

/** How long a change, as a ban, waits for the other processes. A process that has died is given up within this time. */
export const TOLD_MS_MAX = 15_000;

/** How often all are asked again because a process has joined or died. */
export const TOLD_ROUNDS_MAX = 5;

/** For how long no will of a dead process is published: its clients come back within seconds. */
export const WILL_GRACE_SECONDS = 2;

/** Bytes that may be under way in one direction of a client's connection between two processes. */
export const TUNNEL_WINDOW_BYTES = 256 * 1024;

/** Bytes that were read are reported when there are so many. */
export const TAKEN_BYTES_MIN = 32 * 1024;

/** QoS 2 messages that are remembered, so that one which arrives twice is delivered once. */
export const SEEN_MAX = 100_000;

/** How often a message for a share group is handed on, each time because a process has lost its last member. */
export const HOPS_MAX = 3;

/** How often a process asks which process tells the watchers of a room, each time because the last one has died. */
export const TELLERS_ASKED_MAX = 100;

/** How long a process that stops waits until its clients have left their rooms. */
export const LEAVING_ROOMS_MS_MAX = 2_000;
/** How often it checks that. */
export const ROOMS_POLL_MS = 10;

/** Counts of holders that one command changes. */
export const COUNTS_STEP = 500;

/**
 * The pause before a process asks the engine again for room that it did not get: the end of another client may be on
 * its way to the engine.
 */
export const COUNTS_AGAIN_MS = 100;

/** The time until the next attempt, if the engine has refused one. */
export const COUNTS_RETRY_MS = 1_000;

/**
 * Each process may reserve two of so many parts of a quota beyond what its clients hold, so that it need not ask the
 * engine for each client. It stops when a client of another process finds no room. Of a quota below this number nothing
 * is reserved.
 */
export const SPARE_PARTS = 1024;

/** The time between two requests to the others for what they have reserved of one quota. */
export const SHORT_TOLD_MS = 1_000;

/** For how long a process reserves nothing beyond what its clients hold, after another one has asked for it. */
export const TIGHT_MS = 10_000;

/** The time between two reports to the others about its queues. */
export const QUEUES_TOLD_MS = 100;

/** How often a process looks for others that have joined, and have to be told about its queues. */
export const MEMBERS_LOOKED_MS = 1_000;

/**
 * How long a message waits, and its publisher for the answer, if a rule queue at another process has no room for it.
 * Nothing else of that client is answered meanwhile, not even PINGREQ, so the time is far below usual Keep Alives
 * (mqtt.js: 60 s).
 */
export const GIVEN_BACK_MS_MAX = 10_000;

/**
 * Bytes of messages that wait at one process; those for dead processes, waiting at their heir, have as many of their
 * own.
 */
export const GIVEN_BACK_BYTES_MAX = 8 * 1024 * 1024;

/** How often a queue of a rule is looked at: it reports messages that leave, but not those that expire. */
export const FULL_RULES_LOOKED_MS = 1_000;

/** When a process tells the engine its routes again, if the engine has refused them. */
export const ROUTES_RETRY_MS = 1_000;
