/**
 * The limits of one page. It ends before the message that would exceed either; but the first message always fits, even
 * if it is larger, so that reading page after page comes to an end.
 */
export interface PageLimit {
  readonly messages: number;
  /** Topic and payload. */
  readonly bytes: number;
}
