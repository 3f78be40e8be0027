/** Processes at one port. More than the processors of most machines; each holds some 60 MB. */
export const WORKERS_MAX = 64;
export const WORKERS_MIN = 2;

/** Workers that may end by themselves within a minute, for each worker there is. Beyond it the whole command ends. */
export const RESTARTS_PER_WORKER = 3;
export const RESTARTS_WITHIN_MS = 60_000;

/** Before a worker is started in the place of one that has not come to listen: its reason may pass. */
export const RETRY_MS = 1_000;

/** Beyond `--shutdown-timeout-seconds`: the time that a worker has for its last words to the engine. */
export const LEAVE_MS = 10_000;

/** How long a worker tells its clients when its supervisor has died. The engine is gone by then. */
export const ORPHAN_MS_MAX = 2_000;

/** How long the engine may take until it answers at its socket. */
export const ENGINE_START_MS_MAX = 10_000;
export const ENGINE_POLL_MS = 20;
export const ENGINE_ANSWER_MS_MAX = 1_000;

/** How long the engine may take to write its file when it is asked to end. */
export const ENGINE_STOP_MS_MAX = 10_000;

/** The last words of the engine, for the reason of its end: characters that are kept, and lines that are shown. */
export const ENGINE_WORDS_MAX = 4_000;
export const ENGINE_LINES_MAX = 3;
/** How long its streams may stay open behind its end. */
export const ENGINE_WORDS_MS_MAX = 1_000;

/** Bytes of a socket's name, on every system. */
export const SOCKET_NAME_BYTES_MAX = 103;

/** Random bytes of the engine's password. */
export const PASSWORD_BYTES = 24;
