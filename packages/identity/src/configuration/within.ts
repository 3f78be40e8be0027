import { ConfigurationError } from '../configuration-error.ts';

/** Puts the place before the messages of errors. */
export function within<T>(where: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigurationError) || error.message.startsWith(where)) throw error;
    throw new ConfigurationError(`${where}: ${error.message}`, { cause: error });
  }
}
