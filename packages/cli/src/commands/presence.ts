import type { MemberLine } from '@apus/api';
import type { Command } from './command.ts';
import { UsageError } from './flags.ts';
import { BROKER_FLAGS, operating, operatorFrom } from './operate-flags.ts';
import { printLine } from './print.ts';

export const presence: Command = {
  name: 'presence',
  summary: 'Lists the members of a room: clients that have published to $presence/ROOM/MEMBER.',
  usage: 'ROOM [--json] [--url URL]',
  description: 'Example: apus presence room-7\nWatch members come and go: apus sub -t "\\$presence/room-7/+"',
  flags: { List: { json: { help: 'Prints each as a line of JSON.' } }, Broker: BROKER_FLAGS },
  async run(values) {
    const [room, ...others] = values.positionals;
    if (room === undefined || room === '' || others.length > 0)
      throw new UsageError('`apus presence` takes the name of one room.');
    const operator = operatorFrom(values);
    const line = values.isSet('json') ? JSON.stringify : lineOf;
    await operating(async () => {
      for await (const each of operator.members(room)) printLine(line(each));
    });
    return 0;
  },
};

function lineOf({ member, payload, joined_at, clientids }: MemberLine): string {
  return [member, joined_at, clientids.join(' '), Buffer.from(payload, 'base64').toString()].join('  ');
}
