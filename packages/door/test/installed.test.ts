import { installed, MissingPackageError } from '@apus/door';
import { expect, test } from 'vitest';

test('a package that is not installed is named, and any other failure is passed on', async () => {
  const failure = (message: string) => Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' });
  const missing = installed(
    Promise.reject(failure("Cannot find package '@aws-sdk/x' imported from /a/b.js")),
  );
  await expect(missing).rejects.toThrow(MissingPackageError);
  await expect(missing).rejects.toThrow('`npm install -g @aws-sdk/x`');
  const file = failure("Cannot find module '/a/c.js' imported from /a/b.js");
  await expect(installed(Promise.reject(file))).rejects.toBe(file);
});
