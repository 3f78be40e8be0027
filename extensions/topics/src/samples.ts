import { SAMPLE_BYTES_MAX, SAMPLES_MAX } from './limits.ts';

/** The newest payload of each described topic of each tenant, if the owner allows to show it. */
export class Samples {
  readonly #samples = new Map<string, { readonly topicName: string; readonly payload: Uint8Array }>();

  /** @param topicName the topic of the message, which the described one matches */
  keep(tenant: string, topic: string, topicName: string, payload: Uint8Array): void {
    if (payload.length > SAMPLE_BYTES_MAX) return;
    const key = keyOf(tenant, topic);
    if (!this.#samples.has(key) && this.#samples.size >= SAMPLES_MAX) return;
    // A copy: the bytes may be part of a frame.
    this.#samples.set(key, { topicName, payload: Uint8Array.from(payload) });
  }

  /** Undefined if no payload has come yet. */
  newest(tenant: string, topic: string): unknown {
    const sample = this.#samples.get(keyOf(tenant, topic));
    return sample === undefined ? undefined : JSON.parse(new TextDecoder().decode(sample.payload));
  }

  /** The topic of the newest message. */
  topicName(tenant: string, topic: string): string | undefined {
    return this.#samples.get(keyOf(tenant, topic))?.topicName;
  }
}

function keyOf(tenant: string, topic: string): string {
  return `${tenant}/${topic}`;
}
