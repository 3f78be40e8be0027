/** Artillery could not be installed or run, or not with this scenario: the message says how to solve it. */
export class ArtilleryError extends Error {
  override readonly name = 'ArtilleryError';
}
