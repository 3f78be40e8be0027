/** Checks payloads against the owner's descriptions of their topics. */
export interface PayloadCheck {
  /**
   * The reason why the payload may not be published to the topic, as a sentence without a full stop; undefined if it
   * may.
   */
  problemOf(tenant: string, topic: string, payload: Uint8Array): string | undefined;
}
