import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { CommandError } from '../commands/command.ts';

/** Programs, in the order in which they are looked for. */
const NAMES = ['valkey-server', 'redis-server'];

/** @throws {CommandError} if none is on the PATH */
export function findEngine(path = process.env.PATH ?? ''): string {
  for (const name of NAMES)
    for (const directory of path.split(delimiter)) {
      const program = join(directory, name);
      if (directory !== '' && isExecutable(program)) return program;
    }
  throw new CommandError(
    '--workers needs Valkey or Redis, and neither valkey-server nor redis-server is on the PATH: `apt-get install redis-server` brings one; or run one in a container (`docker run -p 127.0.0.1:6379:6379 valkey/valkey`) and name it with --cluster redis://127.0.0.1:6379.',
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
