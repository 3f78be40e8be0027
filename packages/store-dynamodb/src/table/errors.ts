import { Unavailable } from '@apus/broker';

/** DynamoDB throttles or is not there, and the retries that a handler has time for did not help. 0x97 Quota exceeded. */
export class ThrottledError extends Unavailable {
  override readonly name = 'ThrottledError';
  readonly reasonCode = 0x97;

  constructor(operation: string, attempts: number, cause: unknown) {
    super(`DynamoDB refused ${operation} ${attempts} times; try again later`, { cause });
  }
}

/** Others changed the same item at every attempt. It ends by itself, like throttling. 0x97 Quota exceeded. */
export class ContentionError extends Unavailable {
  override readonly name = 'ContentionError';
  readonly reasonCode = 0x97;

  constructor(what: string, attempts: number) {
    super(`others changed ${what} at each of ${attempts} attempts; try again later`);
  }
}

/**
 * It is unknown whether a write was made, and a repetition could destroy a later write. The caller's event comes again,
 * and does the rest. 0x97 Quota exceeded.
 */
export class InDoubtError extends Unavailable {
  override readonly name = 'InDoubtError';
  readonly reasonCode = 0x97;

  constructor(operation: string, cause: unknown) {
    super(`DynamoDB did not say whether it made ${operation}`, { cause });
  }
}

/** The table holds items of another layout. Nothing is read of it, or changed; it does not end by itself. */
export class LayoutError extends Error {
  override readonly name = 'LayoutError';

  constructor(tableName: string, found: string | undefined, understood: number) {
    super(
      `The table ${tableName} has items of layout ${found ?? 'unknown'}, and this version of Apus reads layout ${understood}. ` +
        'Deploy this version as a new stack, or go back to the version that wrote the table.',
    );
  }
}

/** An item would exceed the 400 KB of DynamoDB and is not one that is stored in pieces. 0x95 Packet too large. */
export class ItemTooLargeError extends Unavailable {
  override readonly name = 'ItemTooLargeError';
  readonly reasonCode = 0x95;

  constructor(what: string, bytes: number, bytesMax: number) {
    super(`${what} takes ${bytes} bytes; at most ${bytesMax} can be stored`);
  }
}
