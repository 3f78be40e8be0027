import type { Awaitable, Clock, Message } from '@apus/broker';
import type { KeptMessage, KeptMessages } from '@apus/door';
import type { DeadLetter, DeadLetters } from '@apus/node';
import type { Target } from './target.ts';

/** Most dead letters of one rule. Above it the rule keeps trying, and gives up no message. */
export const DEAD_LETTERS_MAX = 10_000;
export const DEAD_LETTER_BYTES_MAX = 64 * 1024 * 1024;

/** Characters of an error that are kept. */
const ERROR_LENGTH_MAX = 500;

/** The messages that a rule has given up. They are on the disk if the store is. */
export class RuleDeadLetters implements DeadLetters {
  readonly #kept: KeptMessages;
  readonly #target: Target;
  readonly #clock: Clock;
  readonly #sent: (count: number) => void;

  /** @param sent the target has taken a letter after all */
  constructor(kept: KeptMessages, target: Target, clock: Clock, sent: (count: number) => void) {
    this.#kept = kept;
    this.#target = target;
    this.#clock = clock;
    this.#sent = sent;
  }

  get count(): number {
    return this.#kept.count;
  }

  add(message: Message, error: string, attempts: number): Awaitable<boolean> {
    const facts = {
      error: error.slice(0, ERROR_LENGTH_MAX),
      attempts: String(attempts),
      failedAtMs: String(this.#clock.now()),
    };
    return this.#kept.put({ key: message.id, message, facts });
  }

  async *all(): AsyncGenerator<DeadLetter> {
    for await (const kept of this.#kept.all('+')) yield letterOf(kept);
  }

  async get(id: string): Promise<DeadLetter | undefined> {
    if (!/^[\w-]+$/.test(id)) return undefined;
    const kept = await this.#kept.get(id);
    return kept && letterOf(kept);
  }

  async send(letter: DeadLetter): Promise<string | undefined> {
    const failure = await this.#target.send([letter.message]);
    if (failure === undefined) {
      this.#sent(1);
      await this.discard(letter);
    } else await this.add(letter.message, failure.error, letter.attempts + 1);
    return failure?.error;
  }

  discard({ message }: DeadLetter): Awaitable<void> {
    return this.#kept.delete({ key: message.id, message });
  }
}

function letterOf({ message, facts }: KeptMessage): DeadLetter {
  const { error = '', attempts, failedAtMs } = facts;
  return { message, error, attempts: Number(attempts), failedAtMs: Number(failedAtMs) };
}
