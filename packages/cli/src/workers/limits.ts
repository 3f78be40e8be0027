/** Most processes at one port: more than most machines have processors. Each process takes some 60 MB. */
export const WORKERS_MAX = 64;
export const WORKERS_MIN = 2;

/** For each worker, how many workers may end by themselves within a minute. Above it the whole command ends. */
export const RESTARTS_PER_WORKER = 3;
export const RESTARTS_WITHIN_MS = 60_000;

/** The wait before a worker replaces one that never listened: the reason may pass. */
export const RETRY_MS = 1_000;

/** In addition to `--shutdown-timeout-seconds`: the time of a worker for its last writes to the engine. */
export const LEAVE_MS = 10_000;

/** How long a worker disconnects its clients after its supervisor has died. The engine is gone by then. */
export const ORPHAN_MS_MAX = 2_000;

/** How long the engine may take until it answers at its socket. */
export const ENGINE_START_MS_MAX = 10_000;
export const ENGINE_POLL_MS = 20;
export const ENGINE_ANSWER_MS_MAX = 1_000;

/** How long the engine may take to write its file when it is told to end. */
export const ENGINE_STOP_MS_MAX = 10_000;

/** The last output of the engine, for the reason of its end: characters that are kept, and lines that are shown. */
export const ENGINE_WORDS_MAX = 4_000;
export const ENGINE_LINES_MAX = 3;
/** How long the engine's streams may stay open after its end. */
export const ENGINE_WORDS_MS_MAX = 1_000;

/** The most bytes of a socket's name on any system. */
export const SOCKET_NAME_BYTES_MAX = 103;

/** Random bytes of the engine's password. */
export const PASSWORD_BYTES = 24;
