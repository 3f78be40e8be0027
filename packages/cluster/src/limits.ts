/** Bytes that may wait for one process: beyond it publishers are told to send again later (0x97). */
export const PENDING_BYTES_MAX = 32 * 1024 * 1024;

/** Bytes of one entry, but for a frame that is larger by itself. */
export const ENTRY_BYTES_MAX = 1024 * 1024;

/** Bytes on their way to one process; more waits here. The engine cuts off a process behind which 32 MB wait. */
export const WINDOW_BYTES = 4 * 1024 * 1024;

/**
 * When a process has not said for so long that it has an entry, the oldest such entry is sent again, as a question; then
 * after twice the time, up to the longest. A process that is only slow must not get more to do.
 */
export const RESEND_MS = 1000;
export const RESEND_MS_MAX = 8000;

/** How long an acknowledgement waits for an entry with which it leaves, where no publisher waits for it. */
export const ACKNOWLEDGE_MS = 100;

/** It does not wait when so many bytes have come: the sender would have to. */
export const ACKNOWLEDGED_BYTES_MAX = 256 * 1024;

/** How long a CONNECT waits while the sessions of its client move from a dead process to a living one. */
export const MOVING_MS_MAX = 10_000;
export const MOVING_POLL_MS = 100;

/** How long the HTTP API waits for the answer of another process. */
export const ASK_MS_MAX = 3_000;

/** Questions that wait for an answer. */
export const ASKED_MAX = 1_000;

/** How long a change waits for the other processes, as a ban: one that has died is given up within the time. */
export const TOLD_MS_MAX = 15_000;

/** How often all are asked again, each time because a process has joined or died meanwhile. */
export const TOLD_ROUNDS_MAX = 5;

/** How long no will of a dead process is published: its clients come back within seconds. */
export const WILL_GRACE_SECONDS = 2;

/** Bytes that may be under way in one direction of a client's connection between two processes. */
export const TUNNEL_WINDOW_BYTES = 256 * 1024;

/** Bytes that were taken are told when there are so many. */
export const TAKEN_BYTES_MIN = 32 * 1024;

/** Messages at QoS 2 that are remembered, so that one which is handed over twice is delivered once. */
export const SEEN_MAX = 100_000;

/** How often a message for a share group is handed on to another process, each of which has lost its last member. */
export const HOPS_MAX = 3;

/** How often a process asks which one tells the watchers of a room, each time because the last one has died. */
export const TELLERS_ASKED_MAX = 100;

/** How long a process that stops waits until its clients have left their rooms. */
export const LEAVING_ROOMS_MS_MAX = 2_000;
export const SETTLE_POLL_MS = 10;

/** Counts of holders that one command changes. */
export const COUNTS_STEP = 500;

/** A client that has no room is asked for once more after this long: the end of another one may be on its way to the engine. */
export const COUNTS_AGAIN_MS = 100;

/** Until the next attempt, where the engine has refused one. */
export const COUNTS_RETRY_MS = 1_000;

/**
 * Of a quota, two parts in so many may be kept by each process beyond what its clients hold, so that not each of them asks the engine,
 * until a client of another process finds no room. Of a smaller quota nothing is.
 */
export const SPARE_PARTS = 1024;

/** Between two times that a process asks the others for what they keep of one quota. */
export const SHORT_TOLD_MS = 1_000;

/** How long a process keeps nothing beyond what its clients hold, where another one has asked for it. */
export const TIGHT_MS = 10_000;

/** Between two times that a process tells the others what its queues have. */
export const QUEUES_TOLD_MS = 100;

/** How often a process looks for others that have joined, which it has to tell what its queues have. */
export const MEMBERS_LOOKED_MS = 1_000;

/**
 * How long a message waits that a queue of a rule at another process has no room for, and its publisher for the answer. Nothing else of
 * that client is answered meanwhile, PINGREQ neither: the time is far below the Keep Alive that clients have (mqtt.js: 60 s).
 */
export const GIVEN_BACK_MS_MAX = 10_000;

/** Bytes of messages that wait at one process; those of dead processes that wait at their heir have as many for themselves. */
export const GIVEN_BACK_BYTES_MAX = 8 * 1024 * 1024;

/** A queue of a rule tells when messages have left it. It is looked at now and then as well, since some expire in it. */
export const FULL_RULES_LOOKED_MS = 1_000;

/** Until a process tells the engine its routes again, where the engine has refused them. */
export const ROUTES_RETRY_MS = 1_000;
