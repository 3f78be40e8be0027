import type { BanEntry } from '@apus/identity';
import type { Command } from './command.ts';
import { BROKER_FLAGS, operating, operatorFrom } from './operate-flags.ts';
import { printLine } from './print.ts';

export const bans: Command = {
  name: 'bans',
  summary: 'Lists the bans.',
  usage: '[--json] [--url URL | --stack NAME]',
  description: '',
  flags: {
    List: { json: { help: 'Prints each ban as a line of JSON, with the field names of EMQX.' } },
    Broker: BROKER_FLAGS,
  },
  async run(values) {
    values.refusePositionals('bans');
    const operator = operatorFrom(values);
    const line = values.isSet('json') ? JSON.stringify : lineOf;
    await operating(async () => {
      for await (const each of operator.bans()) printLine(line(each));
    });
    return 0;
  },
};

function lineOf({ as, who, until, reason, issued_before: before }: BanEntry): string {
  const end = until === 'infinity' ? '' : `until ${until}`;
  const issued = before === undefined ? '' : `issued before ${before}`;
  return [as.padEnd(8), who, issued, end, reason].filter((part) => part !== '').join('  ');
}
