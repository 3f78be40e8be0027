/**
 * The limits of one page. The page ends before the message that would exceed either. The first message always fits,
 * however large, so reading page after page comes to an end.
 */
export interface PageLimit {
  readonly messages: number;
  /** Bytes of topics and payloads. */
  readonly bytes: number;
}
