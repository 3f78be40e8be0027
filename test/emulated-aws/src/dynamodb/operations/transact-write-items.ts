import type { Call } from '../call.ts';
import {
  type CancellationReason,
  CONDITION_FAILED,
  CONFLICT,
  constraintError,
  ServiceError,
  transactionCanceled,
  validationError,
} from '../errors.ts';
import { holds } from '../expressions/evaluate-condition.ts';
import { LIMITS } from '../limits.ts';
import { Parameters } from '../parameters.ts';
import type { Stored } from '../storage/partition.ts';
import { READS_OF_TRANSACTIONS, readUnits, WRITES_OF_TRANSACTIONS, writeUnits } from '../usage.ts';
import type { Item } from '../values/attribute-value.ts';
import { itemBytes } from '../values/size.ts';
import { refuseRepeatedKeys } from './batch.ts';
import { type Operation, returnConsumedCapacity } from './common.ts';
import { type Action, readAction } from './transact-action.ts';

/** An action, the present item, and the item after the transaction, if no other action fails. */
interface Prepared {
  readonly action: Action;
  readonly before: Stored | undefined;
  readonly after: Item | undefined;
  readonly reason: CancellationReason;
}

/** Applies all of its actions, or none. */
export const transactWriteItems: Operation = (call, sent) => {
  const parameters = new Parameters(sent);
  parameters.refuseBeyond([
    'TransactItems',
    'ClientRequestToken',
    'ReturnConsumedCapacity',
    'ReturnItemCollectionMetrics',
  ]);
  const returns = returnConsumedCapacity(parameters);
  parameters.oneOf('ReturnItemCollectionMetrics', ['NONE', 'SIZE']);
  const token = readToken(parameters);
  const members = parameters.list('TransactItems');
  checkCount(members.length);
  const actions = members.map((member) => readAction(call, member));
  refuseRepeatedKeys(
    actions.map(({ table, key }) => ({ table: table.name, key })),
    'Transaction request cannot include multiple operations on one item',
  );
  const request = JSON.stringify({ members, returns });
  if (token !== undefined && call.transactionTokens.has(token, request)) repeat(call, actions);
  else {
    perform(call, actions);
    if (token !== undefined) call.transactionTokens.complete(token, request);
  }
  return call.usage.consumedByTable(returns);
};

function perform(call: Call, actions: readonly Action[]): void {
  const prepared = actions.map((action, index) => prepare(call, action, index === 0));
  checkBytes(prepared);
  const reasons = prepared.map(({ reason }) => reason);
  if (reasons.some(({ Code }) => Code !== 'None')) {
    for (const { action, before } of prepared) charge(call, action, before, undefined);
    throw transactionCanceled(reasons);
  }
  for (const { action, before, after } of prepared) {
    const { table, key, isCheck } = action;
    if (!isCheck) call.apply(table, key, after);
    charge(call, action, before, after);
  }
}

/** A repeated transaction takes no effect: its items are only read, at the price of a transaction. */
function repeat(call: Call, actions: readonly Action[]): void {
  for (const { table, key } of actions) {
    const bytes = table.get(key)?.bytes ?? 0;
    call.countRead(table, key.partition, READS_OF_TRANSACTIONS * readUnits(bytes, true));
  }
}

function prepare(call: Call, action: Action, isFirst: boolean): Prepared {
  const { table, key, condition, change, returnsBlocking } = action;
  const before = table.get(key);
  const refused = (reason: CancellationReason) => ({ action, before, after: before?.item, reason });
  if (isFirst && call.conflicts()) return refused(CONFLICT_REASON);
  if (!call.isOpen(table, key, 'write')) return refused(THROUGHPUT_REASON);
  if (condition !== undefined && !holds(condition, before?.item)) {
    const shown = returnsBlocking && before !== undefined ? { Item: before.item } : {};
    return refused({ Code: 'ConditionalCheckFailed', Message: CONDITION_FAILED, ...shown });
  }
  try {
    return { action, before, after: change(before?.item), reason: { Code: 'None' } };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // The result of an update is known only now.
    return refused({ Code: 'ValidationError', Message: error.message });
  }
}

const CONFLICT_REASON: CancellationReason = { Code: 'TransactionConflict', Message: CONFLICT };

const THROUGHPUT_REASON: CancellationReason = {
  Code: 'ProvisionedThroughputExceeded',
  Message: 'The level of configured provisioned throughput for the table was exceeded.',
};

/** Twice the units of a separate write; a cancelled transaction costs as much. */
function charge(call: Call, { table, key }: Action, before: Stored | undefined, after: Item | undefined) {
  const units = writeUnits(before?.bytes ?? 0, after === undefined ? 0 : itemBytes(after));
  call.countWrite(table, key.partition, WRITES_OF_TRANSACTIONS * units);
}

function readToken(parameters: Parameters): string | undefined {
  const token = parameters.text('ClientRequestToken');
  const charactersMax = LIMITS.clientRequestTokenCharactersMax;
  if (token === undefined || (token.length > 0 && token.length <= charactersMax)) return token;
  throw constraintError(
    token,
    'clientRequestToken',
    token.length === 0
      ? 'Member must have length greater than or equal to 1'
      : `Member must have length less than or equal to ${charactersMax}`,
  );
}

function checkCount(count: number): void {
  const max = LIMITS.transactionActionsMax;
  if (count > 0 && count <= max) return;
  throw constraintError(
    `[${count}]`,
    'transactItems',
    `Member must have length ${count === 0 ? 'greater than or equal to 1' : `less than or equal to ${max}`}`,
  );
}

/** For a deleted or checked item the present item counts. */
function checkBytes(prepared: readonly Prepared[]): void {
  const sizes = prepared.map(({ before, after }) =>
    Math.max(before?.bytes ?? 0, after === undefined ? 0 : itemBytes(after)),
  );
  if (sizes.reduce((sum, size) => sum + size, 0) <= LIMITS.transactionBytesMax) return;
  throw validationError('Transaction request exceeds the 4MB transaction size limit');
}
