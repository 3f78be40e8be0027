/** The broker compares each PUBLISH with the filter of each checked topic. */
export const TOPICS_MAX = 100;

/** Bytes of a topics file. */
export const FILE_BYTES_MAX = 1024 * 1024;

/**
 * Parts (objects, lists and values) of one schema with its references resolved: the bound of the steps of a check for
 * each value of a payload.
 */
export const SCHEMA_PARTS_MAX = 2_000;

/** Levels of objects and lists in a schema with its references resolved. */
export const SCHEMA_DEPTH_MAX = 64;

/** Characters of a regular expression in a schema. */
export const PATTERN_LENGTH_MAX = 256;

/** Members of a list that `uniqueItems` may compare pairwise. */
export const UNIQUE_ITEMS_MAX = 1_000;

/** Bytes of a checked payload; a longer one is refused. Parsing and checking it takes the process some milliseconds. */
export const CHECKED_BYTES_MAX = 64 * 1024;

/** Characters of the reason that the publisher receives. */
export const REASON_LENGTH_MAX = 200;

/** Bytes of a payload that is kept as an example. */
export const SAMPLE_BYTES_MAX = 4 * 1024;

/** Examples kept for all tenants and topics together. */
export const SAMPLES_MAX = 1_000;

/** Examples of one topic in the file. */
export const EXAMPLES_MAX = 10;

/** Characters of a description. */
export const TEXT_LENGTH_MAX = 4_000;
