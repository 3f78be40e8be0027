import {
  AttributeType,
  BillingMode,
  type TableProps as CdkTableProps,
  Table,
  TableEncryption,
} from 'aws-cdk-lib/aws-dynamodb';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { TableProps } from './props.ts';
import { READS_PER_WRITE, type TableMaximum } from './table-maximum.ts';

/** Everything that the stores ask of the table; a scan is for the sweep and the operator. */
const ACTIONS = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'];

export interface StateTableProps extends TableProps {
  readonly removalPolicy: RemovalPolicy;
  readonly encryptionKey?: IKey;
  readonly maximum: TableMaximum;
}

/** The one table of a broker (docs/data-model.md). Its keys are those of `defineTable` in packages/store-dynamodb. */
export class StateTable {
  readonly table: Table;
  readonly #key: IKey | undefined;

  constructor(scope: Construct, props: StateTableProps) {
    this.#key = props.encryptionKey;
    this.table = new Table(scope, 'Table', {
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
      this.table,
      'AwsSolutions-DDB3',
      'Point-in-time recovery is a prop, off by default: the table holds sessions and queues, which are worth little an hour later, and it would be billed by the GB.',
    );
  }

  grantUse(grantee: IGrantable): void {
    this.table.grant(grantee, ...ACTIONS.map((action) => `dynamodb:${action}`));
    this.#key?.grantEncryptDecrypt(grantee);
  }

  grantScan(grantee: IGrantable): void {
    this.table.grant(grantee, 'dynamodb:Scan');
  }
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
