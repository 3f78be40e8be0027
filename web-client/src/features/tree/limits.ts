/** Topics that a tree holds: twice what it is made for, at some 60 MiB. */
export const TOPICS_MAX = 200_000;

/** Levels of all topics together. Topics usually share theirs; where none does, this ends before memory does. */
export const NODES_MAX = 400_000;

/**
 * Levels that are told apart; deeper ones are shown as one name. Such topics are unusual, but any client can send one.
 */
export const LEVELS_MAX = 100;

/** Bytes of each last value that are kept: a line of the tree. The message log has the whole. */
export const VALUE_BYTES_MAX = 128;

/** How often the open tree is drawn anew while messages come: values that change faster cannot be read. */
export const REDRAW_INTERVAL_MS = 100;

/** How often a search looks through topics that have come since. */
export const SEARCH_INTERVAL_MS = 500;

/**
 * Publishes without an answer while retained messages are cleared, where the server's Receive Maximum allows as many: so
 * that 100,000 do not wait for each other, and a stop is not far behind.
 */
export const CLEARS_OUTSTANDING_MAX = 256;

/** Messages of the selected topic that can be gone back to; the message list has all that the log holds. */
export const HISTORY_MAX = 200;

/** Numbers that a sparkline is drawn of: it is forty pixels wide. */
export const SPARK_SAMPLES_MAX = 32;

/** Topics whose numbers are followed for sparklines: some screens of lines. Those that were seen longest ago go first. */
export const SPARK_TOPICS_MAX = 400;

/** A payload beyond it is not decoded for a sparkline. */
export const SPARK_PAYLOAD_BYTES_MAX = 4 * 1_024;

/** Topics give a sparkline at most one number in this time: a line that moves faster cannot be read. */
export const SPARK_INTERVAL_MS = 100;

/** Messages of the log that sparklines look back on for topics that come into sight. */
export const SPARK_LOOK_BACK_MAX = 20_000;
