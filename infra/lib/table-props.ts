import type { ValuesOf } from '@apus/aws/function-options';
import type { TABLE } from './option-groups.ts';

export interface TableProps extends ValuesOf<typeof TABLE> {
  /**
   * The tables that a deleted broker has left (`removalPolicy`), for a broker that continues their sessions and
   * messages. They stay unchanged and outside of the stack: the other props of `table` apply to tables that the stack
   * creates.
   * @default the stack creates two tables
   */
  readonly adopt?: AdoptedTables;
}

/** The tables of one broker, by name. They are in the Region of the stack. */
export interface AdoptedTables {
  /** The table of messages and subscriptions: the output `TableName` of the broker that has created it. */
  readonly tableName: string;
  /** The table of connections and sessions: the output `SessionsTableName`. */
  readonly sessionsTableName: string;
  /**
   * The table of streams and rooms: the output `StreamsTableName`. For a broker that has `streams` or `presence`.
   * @default the stack creates one, if it has streams or presence
   */
  readonly streamsTableName?: string;
}
