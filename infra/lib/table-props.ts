export interface TableProps {
  /**
   * The tables of a broker that is gone, which it has left (`removalPolicy`), for a broker that goes on with their sessions
   * and messages. They stay as they are and outside of the stack: the other props of `table` are for tables that it makes.
   *
   * @default it makes two
   */
  readonly adopt?: AdoptedTables;
  /** Restores to any second of the last 35 days; $0.20 a GB and month. @default false */
  readonly pointInTimeRecovery?: boolean;
  /** Refuses to delete the tables, also when the stack is deleted. @default false */
  readonly deletionProtection?: boolean;
  /**
   * Write units a second that each table takes from its first second, 4,000 to 40,000. Raising it is paid for once.
   *
   * @default the rate of a new table: 4,000
   */
  readonly warmWriteUnitsPerSecond?: number;
  /**
   * Read units a second beyond which DynamoDB throttles each of the tables (its on-demand maximum): the last stop of a bill,
   * which throttles all clients. $10.80 a day for each 1,000 that are used throughout. 0 lifts it; the account's quota
   * is 40,000.
   *
   * @default 8 for each frame of `throttle.framesPerSecond`, and 4 for each post of `fanOut.maxPostsPerSecond`
   */
  readonly maxReadRequestUnits?: number;
  /**
   * The same for write units. $54.00 a day for each 1,000 that are used throughout. 0 lifts it.
   *
   * @default 4 for each frame of `throttle.framesPerSecond`, and 2 for each post of `fanOut.maxPostsPerSecond`
   */
  readonly maxWriteRequestUnits?: number;
}

/** The tables of one broker, by their names. They are in the Region of the stack. */
export interface AdoptedTables {
  /** The table of messages and subscriptions: the output `TableName` of the broker that has made it. */
  readonly tableName: string;
  /** The table of connections and sessions: the output `SessionsTableName`. */
  readonly sessionsTableName: string;
  /**
   * The history of streams: the output `StreamsTableName`. For a broker that declares `streams`.
   *
   * @default it makes one, where it declares streams
   */
  readonly streamsTableName?: string;
}
