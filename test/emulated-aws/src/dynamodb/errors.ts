import type { Item } from './values/attribute-value.ts';

const DYNAMODB = 'com.amazonaws.dynamodb.v20120810#';
const SERVICE = 'com.amazon.coral.service#';
export const CONDITION_FAILED = 'The conditional request failed';
export const CONFLICT = 'Transaction is ongoing for the item';
const VALIDATION = 'com.amazon.coral.validate#';

/** The reason why one action of a transaction prevented the others, or `None`. */
export interface CancellationReason {
  readonly Code:
    | 'None'
    | 'ConditionalCheckFailed'
    | 'ProvisionedThroughputExceeded'
    | 'TransactionConflict'
    | 'ValidationError';
  readonly Message?: string;
  readonly Item?: Item;
}

/** The fields of an error beside its message. */
export interface ErrorDetails {
  /** The item that made a conditional write fail, if the caller asked for it. */
  readonly Item?: Item;
  /** The reasons, in the order of the actions. */
  readonly CancellationReasons?: readonly CancellationReason[];
}

/** An answer other than 200, in AWS's words. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly type: string;
  readonly status: number;
  readonly #details: ErrorDetails;

  constructor(type: string, message: string, status = 400, details: ErrorDetails = {}) {
    super(message);
    this.type = type;
    this.status = status;
    this.#details = details;
  }

  /** The short name, such as `ValidationException`. */
  get exception(): string {
    return this.type.slice(this.type.indexOf('#') + 1);
  }

  /** The name on the wire. */
  get body(): object {
    return { __type: this.type, message: this.message, ...this.#details };
  }
}

export function validationError(message: string): ServiceError {
  return new ServiceError(`${VALIDATION}ValidationException`, message);
}

/** A member that breaks its own rule: `Value 'x' at 'select' failed to satisfy constraint: …`. */
export function constraintError(value: unknown, member: string, constraint: string): ServiceError {
  const shown = value === undefined || value === null ? 'null' : `'${String(value)}'`;
  return validationError(
    `1 validation error detected: Value ${shown} at '${member}' failed to satisfy constraint: ${constraint}`,
  );
}

/** For values: `One or more parameter values were invalid: …`. */
export function invalidValue(message: string): ServiceError {
  return validationError(`One or more parameter values were invalid: ${message}`);
}

export function serializationError(message: string): ServiceError {
  return new ServiceError(`${SERVICE}SerializationException`, message);
}

export function unknownOperation(): ServiceError {
  return new ServiceError(`${SERVICE}UnknownOperationException`, '');
}

export function conditionFailed(item: Item | undefined): ServiceError {
  return new ServiceError(
    `${DYNAMODB}ConditionalCheckFailedException`,
    CONDITION_FAILED,
    400,
    item === undefined ? {} : { Item: item },
  );
}

export function transactionCanceled(reasons: readonly CancellationReason[]): ServiceError {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  return new ServiceError(
    `${DYNAMODB}TransactionCanceledException`,
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    400,
    { CancellationReasons: reasons },
  );
}

/** For a write of one item while a transaction on it is in progress. */
export function transactionConflict(): ServiceError {
  return new ServiceError(`${DYNAMODB}TransactionConflictException`, CONFLICT);
}

export function tokenMismatch(): ServiceError {
  return new ServiceError(
    `${DYNAMODB}IdempotentParameterMismatchException`,
    'Request token already in use for another request with a different payload',
  );
}

export function tableNotFound(): ServiceError {
  return new ServiceError(`${DYNAMODB}ResourceNotFoundException`, 'Requested resource not found');
}

export function tableInUse(tableName: string): ServiceError {
  return new ServiceError(`${DYNAMODB}ResourceInUseException`, `Table already exists: ${tableName}`);
}

/** For a partition or table that accepts no more at the moment. */
export function throughputExceeded(): ServiceError {
  return new ServiceError(
    `${DYNAMODB}ProvisionedThroughputExceededException`,
    'The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.',
  );
}

/** For an on-demand table that has not scaled up yet. */
export function throttled(): ServiceError {
  return new ServiceError(
    `${SERVICE}ThrottlingException`,
    'Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your table or index so please try again shortly.',
  );
}

export function internalError(): ServiceError {
  return new ServiceError(`${DYNAMODB}InternalServerError`, 'Internal server error', 500);
}
