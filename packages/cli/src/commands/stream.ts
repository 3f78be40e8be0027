import type { StreamLine } from '../operate/operator.ts';
import type { Command } from './command.ts';
import { UsageError } from './flags.ts';
import { BROKER_FLAGS, operating, operatorFrom } from './operate-flags.ts';

export const stream: Command = {
  name: 'stream',
  summary: 'Lists the streams of a broker: topics whose messages it keeps.',
  usage: 'list [--json] [--url URL | --stack NAME]',
  description: 'Example: apus stream list',
  flags: { List: { json: { help: 'A line of JSON for each.' } }, Broker: BROKER_FLAGS },
  async run(values) {
    const [action, ...others] = values.positionals;
    if (action !== 'list' || others.length > 0)
      throw new UsageError('`apus stream` takes `list`, and flags.');
    const operator = operatorFrom(values);
    const line = values.isSet('json') ? JSON.stringify : lineOf;
    await operating(async () => {
      for (const each of await operator.streams()) console.log(line(each));
    });
    return 0;
  },
};

function lineOf({
  name,
  topic_filter,
  topics,
  messages,
  bytes,
  keep_seconds,
  messages_max,
}: StreamLine): string {
  return [
    name,
    topic_filter,
    `${messages} messages of ${topics} topics, ${bytes} bytes`,
    `hands out ${messages_max} of a topic for ${keep_seconds} s`,
  ].join('  ');
}
