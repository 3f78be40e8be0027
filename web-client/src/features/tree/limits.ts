/** Topics that a tree holds: twice what it is made for, at some 60 MiB. */
export const TOPICS_MAX = 200_000;

/** While a tree has no more topics than these, new levels are open: they fit on a screen or two. */
export const OPEN_TOPICS_MAX = 50;

/** Levels of all topics together. Topics usually share levels; if they do not, this limit protects the memory. */
export const NODES_MAX = 400_000;

/** Distinct levels; deeper ones are shown as one name. Such topics are unusual, but any client can send one. */
export const LEVELS_MAX = 100;

/** Bytes of each last value that are stored: a line of the tree. The message log has the whole value. */
export const VALUE_BYTES_MAX = 128;

/** The interval between updates of the open tree: values that change faster cannot be read. */
export const REDRAW_INTERVAL_MS = 100;

/** How often a search is repeated for new topics. */
export const SEARCH_INTERVAL_MS = 500;

/**
 * Publishes without an answer while retained messages are cleared, if the server's Receive Maximum allows as many: so
 * 100,000 do not wait for each other, and a stop takes effect soon.
 */
export const CLEARS_OUTSTANDING_MAX = 256;

/** Messages of the selected topic in its history; the message list has all that the log holds. */
export const HISTORY_MAX = 200;
