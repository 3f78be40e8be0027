/** Rules of one identity: each PUBLISH may evaluate all of them. */
export const RULES_MAX = 100;

/** Topic filters in all rules of one identity, for the same reason. */
export const TOPIC_FILTERS_MAX = 100;

/** Share groups that one rule names. */
export const SHARE_GROUPS_MAX = 20;

/**
 * Bytes of all rules of one identity, in JSON. Those of a token are stored with its connection and with its session,
 * and the gateway door pays for each kilobyte that it reads and writes.
 */
export const RULES_BYTES_MAX = 8_192;
