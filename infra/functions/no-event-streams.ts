/**
 * Replaces `@smithy/core/event-streams`, which the SDK loads for operations whose answers are event streams. No
 * function here calls such an operation.
 */
function refuse(): never {
  throw new Error('this function was bundled without event streams');
}

export class EventStreamSerde {
  constructor() {
    refuse();
  }
}

export const eventStreamSerdeProvider = refuse;

/** A client with such an operation sets this up when it is constructed. */
export const resolveEventStreamSerdeConfig = <T>(config: T): T => config;
