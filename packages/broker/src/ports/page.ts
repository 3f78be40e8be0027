/**
 * The limits of one page. It ends before the message that would exceed either; but the first message always fits,
 * whatever its size, so that reading page after page comes to an end.
 */
export interface PageLimit {
  readonly messages: number;
  /** Topic and payload. */
  readonly bytes: number;
  /** Of a queue: what is sent at once may overtake the page, and waits until the page has arrived. @default false */
  readonly isOvertaken?: boolean;
}
