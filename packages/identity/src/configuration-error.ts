/** What is wrong with the configuration of who may connect, in a sentence for the operator. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}
