import type { Command } from './command.ts';
import { UsageError } from './flags.ts';
import { readNewPassword } from './new-password.ts';

export const passwd: Command = {
  name: 'passwd',
  summary: 'Makes the hash of a password for a users file.',
  usage: '',
  description: [
    'Asks for the password, or reads the first line of standard input, and prints the hash. A users file:',
    '',
    '  {"users": [{',
    '    "name": "ada",',
    '    "password": "scrypt:…",',
    '    "publish": ["%u/#"],',
    '    "subscribe": ["%u/#", "news/+"]',
    '  }]}',
    '',
    'In a topic filter %u is the user name, and %c a client identifier that only this user may have (docs/rules.md).',
  ].join('\n'),
  flags: {},
  async run(values) {
    // A password on the command line would show in the list of processes.
    if (values.positionals.length > 0) throw new UsageError('`apus passwd` asks for the password.');
    console.log(await readNewPassword());
    return 0;
  },
};
