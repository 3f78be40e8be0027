import { type Command, CommandError } from './command.ts';
import { UsageError } from './flags.ts';
import { BROKER_FLAGS, operating, operatorFrom } from './operate-flags.ts';
import { printLine } from './print.ts';

export const kick: Command = {
  name: 'kick',
  summary: 'Ends the connection of a client.',
  usage: 'CLIENT_ID [--url URL | --stack NAME]',
  description: [
    'The client is told (0x98 in MQTT 5), its will is sent, and its session stays as long as it asked for. It may come',
    'straight back, as most clients do by themselves: `apus ban` keeps it out.',
  ].join('\n'),
  flags: { Broker: BROKER_FLAGS },
  async run(values) {
    const [clientId, ...more] = values.positionals;
    if (clientId === undefined || more.length > 0)
      throw new UsageError('`apus kick` takes one client identifier.');
    const operator = operatorFrom(values);
    if (!(await operating(() => operator.kick(clientId))))
      throw new CommandError(`No client "${clientId}" is connected.`);
    printLine(`The connection of "${clientId}" has been ended.`);
    return 0;
  },
};
