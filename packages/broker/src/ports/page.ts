/**
 * What one page may hold. It ends before the message that would exceed either; but a page that could hold nothing
 * holds one message, whatever its size, so that reading page after page comes to an end.
 */
export interface PageLimit {
  readonly messages: number;
  /** Topic and payload. */
  readonly bytes: number;
}
