import { type QuotaHolder, quotaHolderKey, type RetainedHolder, steadyNow } from '@apus/broker';
import { BYTES_SAMPLE, COUNT_CACHE_MS, COUNT_SAMPLE } from '../limits.ts';
import type { Table } from '../table/table.ts';
import { type Item, number, numberOf, text, textOf } from '../table/values.ts';
import { sampleFor } from './held-sample.ts';
import type { HoldingAccount, QuotaHoldings } from './quota-holdings.ts';

/** The sweep counts a full holder at most this often: TTL removes messages, and no process subtracts them. */
const COUNT_EVERY_MS = 600_000;

/** Holders that an environment knows. Beyond it all are forgotten, and read anew. */
const KNOWN_MAX = 10_000;

/** `rh` kind and name of the holder; `rn` and `rb` the messages and bytes that were counted for it. */
const HOLDER = 'rh';
const COUNTED_MESSAGES = 'rn';
const COUNTED_BYTES = 'rb';

interface Known {
  messages: number;
  bytes: number;
  readonly readAtMs: number;
  countAskedAtMs: number;
}

/**
 * About how much each identity retains (`sampleFor`). A message's item has the amount that was counted for it, which
 * is subtracted when the item is deleted. So the counts drift only if TTL deletes an item [SEC-QUOTA-8].
 */
export class RetainedHoldings {
  readonly #table: Table;
  readonly #holdings: QuotaHoldings;
  readonly #known = new Map<string, Known>();

  constructor(table: Table, holdings: QuotaHoldings) {
    this.#table = table;
    this.#holdings = holdings;
  }

  /** Whether the holder may retain so much more. */
  async hasRoom(limits: RetainedHolder | undefined, messages: number, bytes: number): Promise<boolean> {
    if (limits === undefined || isUnlimited(limits)) return true;
    const known = await this.#read(limits.holder);
    const hasRoom =
      (messages <= 0 || known.messages < limits.messagesMax) &&
      (bytes <= 0 || known.bytes + bytes <= limits.bytesMax);
    if (!hasRoom) await this.#wantCount(limits.holder, known);
    return hasRoom;
  }

  /** A tenant is full, perhaps of messages that TTL has removed: asks the sweep to count sooner than once a day. */
  async wantTenantCount(tenant: string): Promise<void> {
    const holder = { tenant, kind: 'tenant', name: '' } as const;
    await this.#wantCount(holder, await this.#read(holder));
  }

  /** Whether the message of an item counts for this holder. */
  isOf(limits: RetainedHolder | undefined, tenant: string, item: Item): boolean {
    const holder = retainedHolderIn(tenant, item);
    if (limits === undefined || holder === undefined) return false;
    return quotaHolderKey(holder) === quotaHolderKey(limits.holder);
  }

  /** The fields of a message's item that name its holder and the counted amount. */
  fieldsFor(limits: RetainedHolder | undefined, bytes: number): Item {
    if (limits === undefined || isUnlimited(limits)) return {};
    const { kind, name } = limits.holder;
    return {
      [HOLDER]: text(`${kind}\0${name}`),
      [COUNTED_MESSAGES]: number(this.#sampled(1, sampleFor(limits.messagesMax, COUNT_SAMPLE))),
      [COUNTED_BYTES]: number(this.#sampled(bytes, sampleFor(limits.bytesMax, BYTES_SAMPLE))),
    };
  }

  /** The item of a message was written (1), or replaced or deleted (-1). */
  async count(tenant: string, item: Item | undefined, sign: 1 | -1): Promise<void> {
    const holder = item && retainedHolderIn(tenant, item);
    const messages = sign * (numberOf(item, COUNTED_MESSAGES) ?? 0);
    const bytes = sign * (numberOf(item, COUNTED_BYTES) ?? 0);
    if (holder === undefined || (messages === 0 && bytes === 0)) return;
    await this.#holdings.add(holder, { retainedMessages: messages, retainedBytes: bytes });
    const known = this.#known.get(quotaHolderKey(holder));
    if (known === undefined) return;
    known.messages += messages;
    known.bytes += bytes;
  }

  async #read(holder: HoldingAccount): Promise<Known> {
    const key = quotaHolderKey(holder);
    const nowMs = steadyNow(this.#table.settings.clock);
    const known = this.#known.get(key);
    if (known !== undefined && nowMs - known.readAtMs < COUNT_CACHE_MS) return known;
    const { retainedMessages, retainedBytes } = await this.#holdings.read(holder);
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    const countAskedAtMs = known?.countAskedAtMs ?? Number.NEGATIVE_INFINITY;
    const read = { messages: retainedMessages, bytes: retainedBytes, readAtMs: nowMs, countAskedAtMs };
    this.#known.set(key, read);
    return read;
  }

  async #wantCount(holder: HoldingAccount, known: Known): Promise<void> {
    const nowMs = steadyNow(this.#table.settings.clock);
    if (nowMs - known.countAskedAtMs < COUNT_EVERY_MS) return;
    known.countAskedAtMs = nowMs;
    await this.#holdings.askForCount(holder);
  }

  /** An amount below the sample is counted as the sample, the more likely the larger it is. */
  #sampled(amount: number, sample: number): number {
    if (amount >= sample) return amount;
    return this.#table.settings.random() * sample < amount ? sample : 0;
  }
}

/** Undefined where it is retained in the name of no client. */
export function retainedHolderIn(tenant: string, item: Item): QuotaHolder | undefined {
  const [, kind, name] = /^(identity|address|client)\0(.*)$/s.exec(textOf(item, HOLDER) ?? '') ?? [];
  return name === undefined ? undefined : { tenant, kind: kind as QuotaHolder['kind'], name };
}

function isUnlimited({ messagesMax, bytesMax }: RetainedHolder): boolean {
  return messagesMax === Number.POSITIVE_INFINITY && bytesMax === Number.POSITIVE_INFINITY;
}
