import { Unavailable } from '@apus/broker';

/**
 * DynamoDB throttles or does not answer, and the retries for which a handler has time did not help. 0x97 Quota
 * exceeded.
 */
export class ThrottledError extends Unavailable {
  override readonly name = 'ThrottledError';
  readonly reasonCode = 0x97;

  constructor(operation: string, attempts: number, cause: unknown) {
    super(`DynamoDB refused ${operation} ${attempts} times; try again later`, { cause });
  }
}

/** Other processes have changed the same item at every attempt. This passes, like throttling. 0x97 Quota exceeded. */
export class ContentionError extends Unavailable {
  override readonly name = 'ContentionError';
  readonly reasonCode = 0x97;

  constructor(what: string, attempts: number) {
    super(`others changed ${what} at each of ${attempts} attempts; try again later`);
  }
}

/**
 * It is unknown whether a write was made, and repeating it could destroy a later write. The event comes again, and
 * does the rest. 0x97 Quota exceeded.
 */
export class InDoubtError extends Unavailable {
  override readonly name = 'InDoubtError';
  readonly reasonCode = 0x97;

  constructor(operation: string, cause: unknown) {
    super(`DynamoDB did not say whether it made ${operation}`, { cause });
  }
}

/** The table has items of another layout. Nothing is read or changed, and this does not pass. */
export class LayoutError extends Error {
  override readonly name = 'LayoutError';

  constructor(tableName: string, found: string | undefined, understood: number) {
    super(
      `The table ${tableName} has items of layout ${found ?? 'unknown'}, and this version of Apus reads layout ${understood}. ` +
        'Deploy this version as a new stack, or go back to the version that wrote the table.',
    );
  }
}

/** An item would exceed the 400 KB of DynamoDB, and is not stored in pieces. 0x95 Packet too large. */
export class ItemTooLargeError extends Unavailable {
  override readonly name = 'ItemTooLargeError';
  readonly reasonCode = 0x95;

  constructor(what: string, bytes: number, bytesMax: number) {
    super(`${what} takes ${bytes} bytes; at most ${bytesMax} can be stored`);
  }
}
