import { type Command, CommandError } from './command.ts';
import { BROKER_FLAGS, operating, operatorFrom, WHO_FLAGS, whoFrom } from './operate-flags.ts';
import { printLine } from './print.ts';

export const unban: Command = {
  name: 'unban',
  summary: 'Lifts a ban.',
  usage: '(--client-id ID | --user NAME | --token JTI | --address IP) [--url URL | --stack NAME]',
  description:
    'The banned clients may connect again, in a deployment within half a minute. The sessions that the ban ended are gone.',
  flags: { Whom: WHO_FLAGS, Broker: BROKER_FLAGS },
  async run(values) {
    const { as, who } = whoFrom(values, 'unban');
    const operator = operatorFrom(values);
    if (!(await operating(() => operator.unban(as, who))))
      throw new CommandError(`There is no ban of the ${as} "${who}".`);
    printLine(`The ban of the ${as} "${who}" has been taken back.`);
    return 0;
  },
};
