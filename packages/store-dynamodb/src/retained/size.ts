import type { RetainedLimits } from '@apus/broker';
import { BYTES_SAMPLE, COUNT_SAMPLE } from '../limits.ts';
import { SampledCount } from '../table/sampled-count.ts';
import type { Table } from '../table/table.ts';

/** The names of the two numbers. */
export const RETAINED_COUNTS = { messages: 'retained', bytes: 'retained-bytes' } as const;

/** How much is retained for each tenant: messages and bytes, both sampled. */
export class RetainedSize {
  readonly #messages: SampledCount;
  readonly #bytes: SampledCount;

  constructor(table: Table) {
    this.#messages = new SampledCount(table, RETAINED_COUNTS.messages, COUNT_SAMPLE);
    this.#bytes = new SampledCount(table, RETAINED_COUNTS.bytes, BYTES_SAMPLE);
  }

  /** Whether so much more exceeds a limit. */
  async hasRoom(
    tenant: string,
    growth: { readonly messages: number; readonly bytes: number },
    { messagesMax, bytesMax }: RetainedLimits,
  ): Promise<boolean> {
    if (growth.messages > 0 && (await this.#messages.read(tenant)) >= messagesMax) return false;
    return growth.bytes <= 0 || (await this.#bytes.read(tenant)) + growth.bytes <= bytesMax;
  }

  async add(tenant: string, messages: 1 | 0 | -1, bytes: number): Promise<void> {
    if (messages !== 0) await this.#messages.add(tenant, messages);
    if (bytes !== 0) await this.#bytes.add(tenant, bytes);
  }

  /** Writes the counts of a sweep. */
  async set(tenant: string, messages: number, bytes: number): Promise<void> {
    await this.#messages.set(tenant, messages);
    await this.#bytes.set(tenant, bytes);
  }
}
