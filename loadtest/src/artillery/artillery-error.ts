/** Artillery could not be installed or run, or not with this scenario: the message says what to do. */
export class ArtilleryError extends Error {
  override readonly name = 'ArtilleryError';
}
