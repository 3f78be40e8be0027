import { createHash } from 'node:crypto';
import type { Clock } from '@apus/emulator/service';
import type { MessageDraft } from './message.ts';
import type { QueueSettings } from './queue-options.ts';

/** The answer to a send; a duplicate gets the same one. */
export interface Sent {
  readonly messageId: string;
  readonly sequenceNumber: string | undefined;
}

/** The deduplication ids of the last five minutes, those of deleted messages included. */
export class Deduplication {
  readonly #clock: Clock;
  readonly #settings: QueueSettings;
  readonly #rememberMs: number;
  /** In the order in which they are forgotten. */
  readonly #seen = new Map<string, { readonly sent: Sent; readonly untilMs: number }>();

  constructor(clock: Clock, settings: QueueSettings, rememberSeconds: number) {
    this.#clock = clock;
    this.#settings = settings;
    this.#rememberMs = rememberSeconds * 1000;
  }

  /** The answer to the first send, if this is a duplicate. */
  find(draft: MessageDraft): Sent | undefined {
    this.#forget();
    return this.#seen.get(this.#key(draft))?.sent;
  }

  remember(draft: MessageDraft, sent: Sent): void {
    this.#seen.set(this.#key(draft), { sent, untilMs: this.#clock.now() + this.#rememberMs });
  }

  #key({ groupId, deduplicationId }: MessageDraft): string {
    const scope = this.#settings.deduplicationScope === 'messageGroup' ? groupId : '';
    return JSON.stringify([scope, deduplicationId]);
  }

  #forget(): void {
    const nowMs = this.#clock.now();
    for (const [key, { untilMs }] of this.#seen) {
      if (untilMs > nowMs) return;
      this.#seen.delete(key);
    }
  }
}

export function contentDeduplicationId(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}
