/** Why the node does not start, in a sentence for its operator. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
