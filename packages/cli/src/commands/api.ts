import { apiPage, openApiDocument } from '@apus/api';
import type { Command } from './command.ts';
import { UsageError } from './flags.ts';

export const api: Command = {
  name: 'api',
  summary: 'Prints the OpenAPI document of the HTTP API.',
  usage: '[--markdown]',
  description: 'A node answers the same document at /api/v5/openapi.json.',
  flags: { Document: { markdown: { help: 'Prints a page in Markdown in its place.' } } },
  async run(values) {
    if (values.positionals.length > 0) throw new UsageError('`apus api` takes no arguments.');
    console.log(
      values.isSet('markdown') ? apiPage().trimEnd() : JSON.stringify(openApiDocument(), undefined, 2),
    );
    return 0;
  },
};
