import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readStreams, type StreamDeclaration } from '@apus/broker';
import type { TopicCatalogue } from '@apus/topics';
import type { Command } from './command.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { writeTopicsPage } from './topics-page.ts';

const TENANT = 'default';

const PAGE: Flags = {
  out: { value: 'DIRECTORY', help: 'Where page writes its files; made when it is not there.' },
};

const DOCUMENT: Flags = {
  tenant: { value: 'NAME', help: 'The tenant whose developers it is for.', default: TENANT },
  streams: { value: 'FILE', help: 'The streams that the broker keeps, as `apus serve` takes them.' },
};

export const topics: Command = {
  name: 'topics',
  summary: 'Checks a file of topics, and writes its AsyncAPI document and its page.',
  usage: 'check FILE | asyncapi FILE | page FILE --out DIRECTORY',
  description: [
    'check reads a file as `apus serve --topics FILE` does, and says what it describes, or what is wrong and where.',
    'asyncapi prints the document for developers, which a node answers at /api/v5/asyncapi.json: for a page beside a deployment, say.',
    'page writes the page for developers with that document, which a node answers at /portal/: files for any web host.',
  ].join('\n'),
  flags: { Document: { ...PAGE, ...DOCUMENT } },
  async run(values) {
    const [action, path, ...others] = values.positionals;
    const run = action === undefined || !Object.hasOwn(ACTIONS, action) ? undefined : ACTIONS[action];
    if (run === undefined || path === undefined || others.length > 0)
      throw new UsageError('`apus topics` takes check FILE, asyncapi FILE or page FILE --out DIRECTORY.');
    if (action !== 'page') values.refuse(PAGE, 'is for `apus topics page`.');
    if (action === 'check') values.refuse(DOCUMENT, 'is for `apus topics asyncapi` and `page`.');
    run(await catalogueIn(path), values);
    return 0;
  },
};

const ACTIONS: Readonly<Record<string, (catalogue: TopicCatalogue, values: Values) => void>> = {
  check(catalogue) {
    for (const line of linesOf(catalogue)) console.log(line);
  },
  asyncapi: (catalogue, values) => console.log(JSON.stringify(documentOf(catalogue, values), undefined, 2)),
  page(catalogue, values) {
    const directory = values.text('out');
    if (directory === undefined) throw new UsageError('`apus topics page` needs --out DIRECTORY.');
    writeTopicsPage(directory, documentOf(catalogue, values));
    console.log(`Written: ${join(directory, 'index.html')}`);
    if (catalogue.topics.servers.length === 0)
      console.error(
        'The file names no servers: the page has no programs, and nothing to try. Add "servers".',
      );
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
