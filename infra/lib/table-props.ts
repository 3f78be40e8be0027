export interface TableProps {
  /**
   * The tables that a deleted broker has left (`removalPolicy`), for a broker that continues their sessions and
   * messages. They stay unchanged and outside of the stack: the other props of `table` apply to tables that the stack
   * creates.
   *
   * @default the stack creates two tables
   */
  readonly adopt?: AdoptedTables;
  /**
   * Point-in-time recovery: restores to any second of the last 35 days; $0.20 a GB and month.
   * @default false
   */
  readonly pointInTimeRecovery?: boolean;
  /**
   * Refuses to delete the tables, even when the stack is deleted.
   * @default false
   */
  readonly deletionProtection?: boolean;
  /**
   * Write units a second that each table takes from its first second, 4,000 to 40,000. Raising it is paid for once.
   *
   * @default the rate of a new table: 4,000
   */
  readonly warmWriteUnitsPerSecond?: number;
  /**
   * Read units a second beyond which DynamoDB throttles each of the tables (its on-demand maximum). This is the last
   * limit of a bill, and it throttles all clients. $10.80 a day for each 1,000 that are used throughout. 0 lifts it;
   * the account's quota is 40,000.
   *
   * @default 8 for each frame of `throttle.framesPerSecond`, and 4 for each post of `fanOut.maxPostsPerSecond`
   */
  readonly maxReadRequestUnits?: number;
  /**
   * The maximum of write units. $54.00 a day for each 1,000 that are used throughout. 0 lifts it.
   *
   * @default 4 for each frame of `throttle.framesPerSecond`, and 2 for each post of `fanOut.maxPostsPerSecond`
   */
  readonly maxWriteRequestUnits?: number;
}

/** The tables of one broker, by name. They are in the Region of the stack. */
export interface AdoptedTables {
  /** The table of messages and subscriptions: the output `TableName` of the broker that has created it. */
  readonly tableName: string;
  /** The table of connections and sessions: the output `SessionsTableName`. */
  readonly sessionsTableName: string;
  /**
   * The table of streams and rooms: the output `StreamsTableName`. For a broker that has `streams` or `presence`.
   *
   * @default the stack creates one, if it has streams or presence
   */
  readonly streamsTableName?: string;
}
