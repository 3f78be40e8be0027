import { readFileSync } from 'node:fs';
import { readStreams, type StreamDeclaration } from '@apus/broker';
import type { TopicCatalogue } from '@apus/topics';
import type { Command } from './command.ts';
import { UsageError, type Values } from './flags.ts';

const TENANT = 'default';

export const topics: Command = {
  name: 'topics',
  summary: 'Checks a file of topics, and writes its AsyncAPI document.',
  usage: 'check FILE | asyncapi FILE',
  description: [
    'check reads a file as `apus serve --topics FILE` does, and says what it describes, or what is wrong and where.',
    'asyncapi prints the document for developers, which a node answers at /api/v5/asyncapi.json: for a page beside a deployment, say.',
  ].join('\n'),
  flags: {
    Document: {
      tenant: { value: 'NAME', help: 'The tenant whose developers it is for.', default: TENANT },
      streams: { value: 'FILE', help: 'The streams that the broker keeps, as `apus serve` takes them.' },
    },
  },
  async run(values) {
    const [action, path, ...others] = values.positionals;
    if ((action !== 'check' && action !== 'asyncapi') || path === undefined || others.length > 0)
      throw new UsageError('`apus topics` takes check FILE or asyncapi FILE.');
    const catalogue = await catalogueIn(path);
    if (action === 'check') for (const line of linesOf(catalogue)) console.log(line);
    else console.log(JSON.stringify(documentOf(catalogue, values), undefined, 2));
    return 0;
  },
};

async function catalogueIn(path: string): Promise<TopicCatalogue> {
  const { readTopicsFile } = await import('@apus/topics');
  try {
    return readTopicsFile(path);
  } catch (error) {
    throw new UsageError(`${path}: ${(error as Error).message}`);
  }
}

function linesOf({ topics: file }: TopicCatalogue): readonly string[] {
  return file.topics.map(({ topic, title, checkPayload }) =>
    [topic, title, ...(checkPayload ? ['checked'] : [])].join('  '),
  );
}

function documentOf(catalogue: TopicCatalogue, values: Values): object {
  const tenant = values.text('tenant') ?? TENANT;
  return catalogue.asyncApi({ tenant, servers: [], streams: streamsIn(values.text('streams')) });
}

function streamsIn(path: string | undefined): readonly StreamDeclaration[] {
  if (path === undefined) return [];
  try {
    const { streams } = JSON.parse(readFileSync(path, 'utf8')) as { readonly streams: unknown };
    return readStreams(streams, 'streams').all;
  } catch (error) {
    throw new UsageError(`--streams ${path}: ${(error as Error).message}`);
  }
}
