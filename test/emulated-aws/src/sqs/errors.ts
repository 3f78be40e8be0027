const SQS = 'com.amazonaws.sqs#';
const CORAL = 'com.amazon.coral.service#';
const QUERY = 'AWS.SimpleQueueService.';

/**
 * An answer that is not 200. SQS speaks AWS JSON with the error codes of its older Query protocol beside it, in the
 * header `x-amzn-query-error`: SDKs choose their exception class by either.
 */
export class SqsError extends Error {
  override readonly name = 'SqsError';
  /** `__type` of the body. */
  readonly type: string;
  /** The code of the Query protocol. A failed entry of a batch carries it too. */
  readonly code: string;
  readonly status: number;

  constructor(type: string, code: string, message: string, status = 400) {
    super(message);
    this.type = type;
    this.code = code;
    this.status = status;
  }

  get senderFault(): boolean {
    return this.status < 500;
  }
}

export function queueDoesNotExist(): SqsError {
  return new SqsError(
    `${SQS}QueueDoesNotExist`,
    `${QUERY}NonExistentQueue`,
    'The specified queue does not exist.',
  );
}

export function invalidParameter(message: string): SqsError {
  return new SqsError(`${CORAL}InvalidParameterValueException`, 'InvalidParameterValue', message);
}

/** For one parameter: `Value 901 for parameter DelaySeconds is invalid. Reason: …`. */
export function invalidValue(value: unknown, parameter: string, reason: string): SqsError {
  return invalidParameter(`Value ${String(value)} for parameter ${parameter} is invalid. Reason: ${reason}`);
}

export function missingParameter(parameter: string): SqsError {
  return new SqsError(
    `${CORAL}MissingRequiredParameterException`,
    'MissingParameter',
    `The request must contain the parameter ${parameter}.`,
  );
}

export function invalidAttributeName(name: string): SqsError {
  return new SqsError(`${SQS}InvalidAttributeName`, 'InvalidAttributeName', `Unknown Attribute ${name}.`);
}

export function invalidAttributeValue(name: string): SqsError {
  return new SqsError(
    `${SQS}InvalidAttributeValue`,
    'InvalidAttributeValue',
    `Invalid value for the parameter ${name}.`,
  );
}

export function invalidMessageContents(): SqsError {
  return new SqsError(
    `${SQS}InvalidMessageContents`,
    'InvalidMessageContents',
    'Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF',
  );
}

export function emptyBatch(entryType: string): SqsError {
  const message = `There should be at least one ${entryType} in the request.`;
  return new SqsError(`${SQS}EmptyBatchRequest`, `${QUERY}EmptyBatchRequest`, message);
}

export function tooManyEntries(max: number, sent: number): SqsError {
  const message = `Maximum number of entries per request are ${max}. You have sent ${sent}.`;
  return new SqsError(`${SQS}TooManyEntriesInBatchRequest`, `${QUERY}TooManyEntriesInBatchRequest`, message);
}

export function entryIdsNotDistinct(id: string): SqsError {
  const type = 'BatchEntryIdsNotDistinct';
  return new SqsError(`${SQS}${type}`, `${QUERY}${type}`, `Id ${id} repeated.`);
}

export function invalidEntryId(): SqsError {
  return new SqsError(
    `${SQS}InvalidBatchEntryId`,
    `${QUERY}InvalidBatchEntryId`,
    'A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.',
  );
}

export function batchTooLong(max: number, sent: number): SqsError {
  const message = `Batch requests cannot be longer than ${max} bytes. You have sent ${sent} bytes.`;
  return new SqsError(`${SQS}BatchRequestTooLong`, `${QUERY}BatchRequestTooLong`, message);
}

export function receiptHandleIsInvalid(handle: string): SqsError {
  const message = `The input receipt handle "${handle}" is not a valid receipt handle.`;
  return new SqsError(`${SQS}ReceiptHandleIsInvalid`, 'ReceiptHandleIsInvalid', message, 404);
}

export function messageNotInflight(): SqsError {
  const type = 'MessageNotInflight';
  return new SqsError(`${SQS}${type}`, `${QUERY}${type}`, 'The specified message is not in flight.');
}

export function overLimit(): SqsError {
  return new SqsError(
    `${SQS}OverLimit`,
    'OverLimit',
    'Too many messages are in flight for the queue. Delete messages before you receive more.',
    403,
  );
}

export function requestThrottled(): SqsError {
  return new SqsError(`${SQS}RequestThrottled`, 'RequestThrottled', 'Request is throttled.', 403);
}

export function queueNameExists(): SqsError {
  return new SqsError(
    `${SQS}QueueNameExists`,
    'QueueAlreadyExists',
    'A queue already exists with the same name and a different value for attribute(s)',
  );
}

export function purgeInProgress(name: string, seconds: number): SqsError {
  const message = `Only one PurgeQueue operation on ${name} is allowed every ${seconds} seconds.`;
  return new SqsError(`${SQS}PurgeQueueInProgress`, `${QUERY}PurgeQueueInProgress`, message, 403);
}

export function unsupported(message: string): SqsError {
  return new SqsError(`${SQS}UnsupportedOperation`, `${QUERY}UnsupportedOperation`, message);
}

export function serializationError(message: string): SqsError {
  return new SqsError(`${CORAL}SerializationException`, 'SerializationException', message);
}

export function unknownOperation(target: string): SqsError {
  return new SqsError(`${CORAL}UnknownOperationException`, 'InvalidAction', `Unknown operation ${target}`);
}

export function internalError(): SqsError {
  const message = 'We encountered an internal error. Please try again.';
  return new SqsError(`${CORAL}InternalFailure`, 'InternalFailure', message, 500);
}
