/** A request cannot be read, or contradicts itself. The message is a sentence for its sender. */
export class OperatorRequestError extends Error {
  override readonly name = 'OperatorRequestError';
}
