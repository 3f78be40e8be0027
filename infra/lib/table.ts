import {
  AttributeType,
  BillingMode,
  type TableProps as CdkTableProps,
  type ITable,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type RemovalPolicy, Tags } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { READS_PER_WRITE, type TableMaximum } from './table-maximum.ts';
import type { TableProps } from './table-props.ts';

/** The tag of each table with its role: their keys are the same, and their names are generated. */
export const TABLE_TAG = {
  key: 'apus:table',
  messages: 'messages',
  sessions: 'sessions',
  streams: 'streams',
} as const;

/** A table that the broker creates, or one that it has adopted. */
export type BrokerTable = ITable | Table;

/** The actions of the stores on the tables; a scan is for the sweep and the operator. */
const ACTIONS = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'];

/** The actions on the history of streams: it is appended to, read, and deleted by TTL. */
const STREAMS_ACTIONS = ['GetItem', 'Query', 'PutItem', 'UpdateItem'];

/** Further actions for rooms, in the same table: members leave, and timers look for changed rooms. */
const PRESENCE_ACTIONS = ['BatchGetItem', 'DeleteItem'];

export interface StateTableProps extends TableProps {
  readonly removalPolicy: RemovalPolicy;
  readonly encryptionKey?: IKey;
  readonly maximum: TableMaximum;
  /** Streams are declared. */
  readonly hasStreams: boolean;
  /** Members of rooms are kept. */
  readonly hasPresence: boolean;
}

/**
 * The tables of a broker (docs/data-model.md), alike but for what is in them. Their keys are those of `defineTable`
 * in packages/store-dynamodb.
 */
export class StateTables {
  /** Messages and subscriptions. */
  readonly table: BrokerTable;
  /** Connections, sessions and records: the sweep scans it every ten minutes, and is billed by what it reads. */
  readonly sessionsTable: BrokerTable;
  /** The history of streams, and members of rooms, if there are any: no sweep scans it, only TTL empties it. */
  readonly streamsTable: BrokerTable | undefined;
  readonly #streamsActions: readonly string[];
  readonly #key: IKey | undefined;

  constructor(scope: Construct, props: StateTableProps) {
    this.#key = props.encryptionKey;
    const { adopt } = props;
    this.table = tableOf(scope, 'Table', TABLE_TAG.messages, adopt?.tableName, props);
    this.sessionsTable = tableOf(scope, 'SessionsTable', TABLE_TAG.sessions, adopt?.sessionsTableName, props);
    const { hasStreams, hasPresence } = props;
    this.streamsTable =
      hasStreams || hasPresence
        ? tableOf(scope, 'StreamsTable', TABLE_TAG.streams, adopt?.streamsTableName, props)
        : undefined;
    this.#streamsActions = [...STREAMS_ACTIONS, ...(hasPresence ? PRESENCE_ACTIONS : [])];
  }

  get #all(): readonly BrokerTable[] {
    return [this.table, this.sessionsTable];
  }

  /** The tables that the broker has created and not adopted. */
  get made(): readonly Table[] {
    return [...this.#all, this.streamsTable].filter((table) => table instanceof Table);
  }

  grantUse(grantee: IGrantable): void {
    for (const table of this.#all) table.grant(grantee, ...ACTIONS.map((action) => `dynamodb:${action}`));
    this.streamsTable?.grant(grantee, ...this.#streamsActions.map((action) => `dynamodb:${action}`));
    this.#key?.grantEncryptDecrypt(grantee);
  }

  grantScan(grantee: IGrantable): void {
    for (const table of this.#all) table.grant(grantee, 'dynamodb:Scan');
  }

  grantScanSessions(grantee: IGrantable): void {
    this.sessionsTable.grant(grantee, 'dynamodb:Scan');
  }
}

function tableOf(
  scope: Construct,
  id: string,
  holds: string,
  adopted: string | undefined,
  props: StateTableProps,
): BrokerTable {
  if (adopted !== undefined) return Table.fromTableName(scope, id, adopted);
  const table = createTable(scope, id, props);
  Tags.of(table).add(TABLE_TAG.key, holds);
  return table;
}

function createTable(scope: Construct, id: string, props: StateTableProps): Table {
  const table = new Table(scope, id, {
    partitionKey: { name: 'p', type: AttributeType.STRING },
    sortKey: { name: 's', type: AttributeType.STRING },
    timeToLiveAttribute: 't',
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: props.pointInTimeRecovery ?? false },
    deletionProtection: props.deletionProtection ?? false,
    removalPolicy: props.removalPolicy,
    ...encryptionOf(props.encryptionKey),
    ...warmThroughputOf(props.warmWriteUnitsPerSecond),
    ...props.maximum,
  });
  acknowledge(
    table,
    'AwsSolutions-DDB3',
    'Point-in-time recovery is a prop, off by default: the tables hold sessions and queues, which are worth little an hour later, and it would be billed by the GB.',
  );
  return table;
}

function encryptionOf(key: IKey | undefined): Pick<CdkTableProps, 'encryption' | 'encryptionKey'> {
  if (key === undefined) return { encryption: TableEncryption.DEFAULT };
  return { encryption: TableEncryption.CUSTOMER_MANAGED, encryptionKey: key };
}

/** Reads are warmed in the proportion in which DynamoDB gives them. */
function warmThroughputOf(writeUnitsPerSecond: number | undefined): Pick<CdkTableProps, 'warmThroughput'> {
  if (writeUnitsPerSecond === undefined) return {};
  return {
    warmThroughput: {
      writeUnitsPerSecond,
      readUnitsPerSecond: writeUnitsPerSecond * READS_PER_WRITE,
    },
  };
}
