import type { ClientLine } from '../operate/operator.ts';
import type { Command } from './command.ts';
import { BROKER_FLAGS, operating, operatorFrom } from './operate-flags.ts';
import { printLine } from './print.ts';

const COUNT_DEFAULT = 100;

export const clients: Command = {
  name: 'clients',
  summary: 'Lists the connected clients, and the sessions without a connection.',
  usage: '[--user NAME] [--count COUNT] [--json] [--url URL | --stack NAME]',
  description:
    'The token of a client is shown by its `jti`, for `apus ban --token`. At a deployment the command reads the whole table.',
  flags: {
    List: {
      user: { value: 'NAME', help: 'Lists only the clients of this user.' },
      count: { value: 'COUNT', help: 'Lists at most this many.', default: String(COUNT_DEFAULT) },
      json: { help: 'Prints each client as a line of JSON.' },
    },
    Broker: BROKER_FLAGS,
  },
  async run(values) {
    values.refusePositionals('clients');
    const operator = operatorFrom(values);
    const line = values.isSet('json') ? JSON.stringify : lineOf;
    let left = values.count('count') ?? COUNT_DEFAULT;
    await operating(async () => {
      for await (const each of operator.clients(values.text('user'))) {
        if (left === 0) return;
        left -= 1;
        printLine(line(each));
      }
    });
    return 0;
  },
};

function lineOf({ clientId, username, token, isConnected, connectedAt }: ClientLine): string {
  const since = isConnected ? `connected since ${connectedAt}` : 'away';
  const by = token === undefined || token === null ? '' : `token ${token}`;
  return [clientId, username ?? 'anonymous', by, since].filter((part) => part !== '').join('  ');
}
