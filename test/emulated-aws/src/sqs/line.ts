import type { QueuedMessage } from './message.ts';

/** Whether a message is received, cannot be (it was removed during the look), or ends the search. */
export type Verdict = 'take' | 'removed' | 'stop';

/** The order in which a queue delivers its messages. The queue itself keeps their state. */
export interface Line {
  /** Whether a receive would find something. */
  readonly hasAvailable: boolean;
  /** A message was sent. */
  add(message: QueuedMessage): void;
  /** Its state has changed: a delay or a visibility timeout has begun or is over. */
  changed(message: QueuedMessage, before: QueuedMessage['state']): void;
  /** It is gone. */
  remove(message: QueuedMessage, before: QueuedMessage['state']): void;
  /** Messages to be received, at most this many. */
  choose(messagesMax: number, judge: (message: QueuedMessage) => Verdict): QueuedMessage[];
}
