import type { LoggedMessage, MessageLog } from '../../engine/types.ts';
import { HISTORY_MAX } from './limits.ts';

/** Kept even after the log has dropped them: the shown value, and the one that it is compared with. */
const KEPT_MIN = 2;

/** The last messages of one topic, oldest first: those that the log still holds, and no more than `HISTORY_MAX`. */
export class TopicHistory {
  readonly #topic: string;
  readonly #log: MessageLog;
  #messages: readonly LoggedMessage[];

  constructor(topic: string, log: MessageLog) {
    this.#topic = topic;
    this.#log = log;
    this.#messages = lookBack(topic, log);
  }

  /** A new array after every change. */
  get messages(): readonly LoggedMessage[] {
    return this.#messages;
  }

  take(messages: readonly LoggedMessage[]): void {
    const added = messages.filter((message) => isOf(message, this.#topic));
    const kept = added.length === 0 ? this.#messages : [...this.#messages, ...added].slice(-HISTORY_MAX);
    // A message keeps its whole batch in memory: so none is kept longer than in the log, which is bounded in bytes.
    let gone = 0;
    while (gone < kept.length - KEPT_MIN && (kept[gone]?.sequence ?? 0) < this.#log.firstSequence) gone += 1;
    this.#messages = gone === 0 ? kept : kept.slice(gone);
  }
}

function isOf(message: LoggedMessage | undefined, topic: string): message is LoggedMessage {
  return message?.topic === topic && message.direction === 'received';
}

function lookBack(topic: string, log: MessageLog): LoggedMessage[] {
  const found: LoggedMessage[] = [];
  for (let sequence = log.endSequence - 1; sequence >= log.firstSequence; sequence -= 1) {
    const message = log.at(sequence);
    if (!isOf(message, topic)) continue;
    found.push(message);
    if (found.length === HISTORY_MAX) break;
  }
  return found.reverse();
}
