import { SAMPLE_BYTES_MAX, SAMPLES_MAX } from './limits.ts';

/** The newest payload of each topic of each tenant, if the owner allows to show it. */
export class Samples {
  readonly #payloads = new Map<string, Uint8Array>();

  keep(tenant: string, topic: string, payload: Uint8Array): void {
    if (payload.length > SAMPLE_BYTES_MAX) return;
    const key = keyOf(tenant, topic);
    if (!this.#payloads.has(key) && this.#payloads.size >= SAMPLES_MAX) return;
    // A copy: the bytes may be part of a frame.
    this.#payloads.set(key, Uint8Array.from(payload));
  }

  /** Undefined if no payload has come yet. */
  newest(tenant: string, topic: string): unknown {
    const payload = this.#payloads.get(keyOf(tenant, topic));
    return payload === undefined ? undefined : JSON.parse(new TextDecoder().decode(payload));
  }
}

function keyOf(tenant: string, topic: string): string {
  return `${tenant}/${topic}`;
}
