/** Compares payloads with what the owner has said about their topics. */
export interface PayloadCheck {
  /** Why the payload may not be published to the topic, in a sentence without its end; undefined where it may. */
  problemOf(tenant: string, topic: string, payload: Uint8Array): string | undefined;
}
