import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const DOCS = new URL('../../docs/', import.meta.url);
const PAGES = readdirSync(DOCS).filter((name) => name.endsWith('.md'));

/** The lines of a page's examples, and its commands within sentences. */
function commandsOf(page: string): readonly string[] {
  const text = readFileSync(new URL(page, DOCS), 'utf8');
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
    block.replaceAll('\\\n', ' ').split('\n'),
  );
  return [
    ...blocks,
    ...[...text.matchAll(/`(aws [a-z]+ [a-z-]+ -[^`]*)`/g)].map(([, inline = '']) => inline),
  ];
}

/** Whether it asks AWS, and so the Region of a profile unless it names one. */
function asksAws(command: string): boolean {
  return /^(\w+=\$\()?aws /.test(command) || /\bapus .*--(stack|secret-id) /.test(command);
}

describe('a command of the documentation that asks AWS names the Region: the profile may have another', () => {
  it.each(PAGES)('%s', (page) => {
    const asking = commandsOf(page).filter(asksAws);
    expect(asking.filter((command) => !command.includes('--region'))).toEqual([]);
  });

  it('such commands are found', () => {
    expect(commandsOf('runbook.md').filter(asksAws).length).toBeGreaterThan(12);
  });
});
