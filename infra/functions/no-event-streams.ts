/**
 * In the place of `@smithy/core/event-streams`, which the SDK loads for operations whose answers are streams of events.
 * No function here calls such an operation.
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

/** A client that has such an operation sets it up when it is made. */
export const resolveEventStreamSerdeConfig = <T>(config: T): T => config;
