import type { Awaitable, Identity } from '@apus/broker';
import type { FrameContents, FrameQuota, QuotaScope } from '@apus/door';
import type { SharedQuotasOptions } from './delivery-quota.ts';
import type { SharedMessageQuota } from './message-quota.ts';
import { tellExhausted } from './quota-log.ts';
import { costsOf, perSecond } from './rates.ts';
import { type Exhausted, firstExhausted, SharedQuota } from './shared-quota.ts';

/**
 * How much may come at once. A client that is cut for exceeding its rate has sent this much at most. At five times its
 * rate, the most that the stage allows, a client has sent this much after two and a half seconds.
 */
const BURST_MS = 10_000;

/**
 * How long an identity that was cut is refused. Without this pause the client would come back at once and send as many
 * frames as its debt has shrunk by, and each reconnect costs more than those frames.
 */
const FINE_MS = 10_000;

/** The frame and its reply. */
const MESSAGES_OF_A_FRAME = 2;

/**
 * Limits frames, publishes and bytes of one identity, over all environments together. They are charged to one account,
 * so half of one rate and half of another use all of it [SEC-QUOTA-2] [SEC-QUOTA-3].
 */
export class SharedFrameQuota implements FrameQuota {
  readonly #options: SharedQuotasOptions;
  readonly #messages: SharedMessageQuota;
  readonly #quota: SharedQuota;

  constructor(options: SharedQuotasOptions, messages: SharedMessageQuota) {
    const { accounts, clock } = options;
    this.#options = options;
    this.#messages = messages;
    this.#quota = new SharedQuota({ of: 'frames', debtMsMax: BURST_MS, accounts, clock });
  }

  take(sender: Identity, clientId: string, contents: FrameContents): Awaitable<QuotaScope | undefined> {
    const { frames, publishes, bytes } = contents;
    const costs = costsOf(
      this.#options.quotas,
      sender,
      (rates) =>
        perSecond(frames, rates.framesPerSecondMax) +
        perSecond(publishes, rates.publishesPerSecondMax) +
        perSecond(bytes, rates.bytesPerSecondMax),
    );
    const takeMessages = () =>
      this.#messages.take({ identity: sender, clientId }, frames * MESSAGES_OF_A_FRAME, this.#quota);
    const exhausted = firstExhausted(this.#quota.take(sender, clientId, costs), takeMessages);
    if (exhausted instanceof Promise) return exhausted.then((each) => this.#answer(each));
    return exhausted === undefined ? undefined : this.#answer(exhausted);
  }

  isOverdrawn(sender: Identity, clientId: string): boolean {
    return (
      this.#quota.isOverdrawn(sender, clientId) ||
      this.#messages.isOverdrawn({ identity: sender, clientId }, this.#quota)
    );
  }

  async #answer(exhausted: Exhausted | undefined): Promise<QuotaScope | undefined> {
    if (exhausted === undefined) return undefined;
    tellExhausted(this.#options.log, this.#options.meter, exhausted);
    if (exhausted.scope === 'identity' && exhausted.isNews)
      await this.#quota.fine(exhausted.account, FINE_MS);
    return exhausted.scope;
  }
}
