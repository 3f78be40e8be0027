import {
  type AttributeValue,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type { Key } from './keys.ts';
import { sizeOf, writeUnits } from './meter.ts';
import { withRetries } from './retry.ts';
import { marshalled, type Table, unitsIn } from './table.ts';
import { type Item, textOf } from './values.ts';

/** Each action of a transaction is billed twice: it is prepared and committed. */
const UNITS_OF_TRANSACTIONS = 2;

interface Condition {
  /** @default the write has no condition */
  readonly condition?: string;
  readonly values?: Record<string, AttributeValue>;
}

export type Removal = Condition & { readonly delete: Key };

type Change = Condition & { readonly key: Key; readonly update: string };

/** One write among others that take effect together or not at all. */
export type Action = (Condition & { readonly put: Item }) | Change | Removal;

/** The outcome of a transaction. */
export type Transacted =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** By the place of each action whose condition failed, the present item, expired or not. */
      readonly failed: ReadonlyMap<number, Item | undefined>;
    };

/**
 * Writes several items as one, each under its condition. A token makes a repetition after a lost answer harmless: the
 * transaction takes effect once, and the repetition gets the first answer. A call that meets another transaction on
 * the same item is retried.
 */
export async function transact(table: Table, actions: readonly Action[]): Promise<Transacted> {
  const { settings } = table;
  const command = new TransactWriteItemsCommand({
    TransactItems: actions.map((action) => memberOf(table, action)),
    ClientRequestToken: settings.randomId(),
    ReturnConsumedCapacity: 'TOTAL',
  });
  const { answer } = await withRetries('TransactWriteItems', settings, async () => {
    try {
      const { ConsumedCapacity } = await settings.client.send(command);
      return { failed: undefined, units: unitsIn(ConsumedCapacity) };
    } catch (error) {
      return { failed: failedConditions(error), units: undefined };
    }
  });
  table.meter.write(answer.units ?? unitsOf(actions, answer.failed));
  for (const item of answer.failed?.values() ?? []) table.checkLayout(item);
  return answer.failed === undefined ? { ok: true } : { ok: false, failed: answer.failed };
}

function memberOf(table: Table, action: Action): TransactWriteItem {
  const shared = {
    TableName: table.nameFor(partitionOf(action)),
    ...(action.condition !== undefined && {
      ConditionExpression: action.condition,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    }),
    ...(action.values !== undefined && { ExpressionAttributeValues: action.values }),
  };
  if ('put' in action) return { Put: { ...shared, Item: { ...action.put } } };
  return 'update' in action
    ? { Update: { ...shared, Key: marshalled(action.key), UpdateExpression: action.update } }
    : { Delete: { ...shared, Key: marshalled(action.delete) } };
}

function partitionOf(action: Action): string {
  if ('put' in action) return textOf(action.put, 'p') ?? '';
  return 'update' in action ? action.key.p : action.delete.p;
}

/** Throws every error that is no failed condition. */
function failedConditions(error: unknown): ReadonlyMap<number, Item | undefined> {
  const failed = new Map<number, Item | undefined>();
  const reasons = error instanceof TransactionCanceledException ? (error.CancellationReasons ?? []) : [];
  for (const [index, { Code, Item }] of reasons.entries()) {
    if (Code === 'ConditionalCheckFailed') failed.set(index, Item);
  }
  if (failed.size === 0) throw error;
  return failed;
}

/** A cancelled transaction is billed as well, and does not say how much. */
function unitsOf(
  actions: readonly Action[],
  failed: ReadonlyMap<number, Item | undefined> | undefined,
): number {
  const sizes = actions.map((action, index) => {
    const written = failed === undefined && 'put' in action ? sizeOf(action.put) : 0;
    return Math.max(written, sizeOf(failed?.get(index)));
  });
  return sizes.reduce((sum, size) => sum + UNITS_OF_TRANSACTIONS * writeUnits(size), 0);
}
