/** The first letters of the keys of a hub's own records. Those of its stores are in `Kind` of `@apus/store-disk`. */
export const HubKind = {
  /** What a session has missed: `HubDrops`. */
  Drops: 'd',
  /** When a lost client leaves its rooms: `HubTimers`. */
  Leave: 'l',
  /** The usage of an hour and a tenant: `HubUsage`. */
  Usage: 'u',
  /** A user that an operator has added, in JSON as a users file has it: `HubUsers`. */
  User: 'a',
  /** A saved link that is too large for its socket: `HubLinks`. */
  SpilledLink: 'y',
  /** Its one row says that subscriptions have, or once had, conditions. */
  Conditions: 'k',
} as const;
