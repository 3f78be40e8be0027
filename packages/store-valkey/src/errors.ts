/** The engine cannot be used: says which, why, and what to do. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}
