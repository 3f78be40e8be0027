import { hashPassword, PASSWORD_BYTES_MAX } from '@apus/identity';
import { CommandError } from './command.ts';
import { readPassword } from './read-password.ts';

/**
 * Asks for a password, or reads the first line of standard input, and returns its hash. A password on the command line
 * would be visible to all users of the machine.
 */
export async function readNewPassword(): Promise<string> {
  const password = await readPassword('Password: ');
  if (password === '') throw new CommandError('The password is empty.');
  const bytes = Buffer.from(password);
  if (bytes.length > PASSWORD_BYTES_MAX)
    throw new CommandError(`The password is longer than ${PASSWORD_BYTES_MAX} bytes.`);
  return await hashPassword(bytes);
}
