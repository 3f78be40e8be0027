/** A package is not installed beside the command; the message says how to install it. */
export class MissingPackageError extends Error {
  override readonly name = 'MissingPackageError';
}

/**
 * A package that only some users install, as the clients of AWS: `await installed(import('NAME'))`.
 *
 * @throws {MissingPackageError}
 */
export async function installed<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const [, name] = /^Cannot find package '([^']+)'/.exec(message) ?? [];
    if (code !== 'ERR_MODULE_NOT_FOUND' || name === undefined) throw error;
    throw new MissingPackageError(
      `This needs the package ${name}, which is not installed beside apus: \`npm install -g ${name}\`, or without -g where apus was installed so.`,
      { cause: error },
    );
  }
}
