/** The engine cannot be used: the message says which engine, why, and what to do. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
}
