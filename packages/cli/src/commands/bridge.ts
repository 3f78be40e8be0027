import type { BridgeConfiguration } from '@apus/bridges';
import type { Command } from './command.ts';
import { UsageError } from './flags.ts';

export const bridge: Command = {
  name: 'bridge',
  summary: 'Checks a file of bridges.',
  usage: 'check FILE',
  description: [
    'Reads a file as `apus serve --bridges FILE` does, with the certificates, files and environment variables that it',
    'refers to, and says what it declares, or what is wrong and where. It connects to nothing.',
  ].join('\n'),
  flags: {},
  async run(values) {
    const [action, path, ...others] = values.positionals;
    if (action !== 'check' || path === undefined || others.length > 0)
      throw new UsageError('`apus bridge` takes `check` and one file.');
    const { readBridgesFile } = await import('@apus/bridges');
    for (const each of readBridgesFile(path)) console.log(lineOf(each));
    return 0;
  },
};

function lineOf(bridge: BridgeConfiguration): string {
  const remote = bridge.kind === 'kafka' ? `kafka ${bridge.brokers.join(',')}` : bridge.url;
  const topics = bridge.kind === 'kafka' ? bridge.topics : undefined;
  return `${bridge.name}  ${remote}  in: ${topics?.join(', ') ?? bridge.in.length}, out: ${bridge.out.length}`;
}
