/** A mistake in the configuration of authentication, in a sentence for the operator. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}
