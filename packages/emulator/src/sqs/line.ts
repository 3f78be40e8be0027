import type { QueuedMessage } from './message.ts';

/** Whether a message is received, cannot be (it was removed when it was looked at), or ends the search. */
export type Verdict = 'take' | 'removed' | 'stop';

/** In what order a queue gives out its messages. The queue itself keeps their state. */
export interface Line {
  /** Whether a receive would find something. */
  readonly hasAvailable: boolean;
  /** A message was sent. */
  add(message: QueuedMessage): void;
  /** Its state is another one: a delay or a visibility timeout is over, or has begun. */
  changed(message: QueuedMessage, before: QueuedMessage['state']): void;
  /** It is gone. */
  remove(message: QueuedMessage, before: QueuedMessage['state']): void;
  /** Messages to be received, at most this many. */
  choose(messagesMax: number, judge: (message: QueuedMessage) => Verdict): QueuedMessage[];
}
