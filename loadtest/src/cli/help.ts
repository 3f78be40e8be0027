import type { Scenario } from '../scenario/scenario.ts';
import { FLAGS } from './arguments.ts';

const LINE_LENGTH = 96;
const INDENT = '      ';

export function helpText(scenarios: readonly Scenario[]): string {
  const flags = Object.entries(FLAGS).map(([name, { value, help }]) =>
    [`  --${name}${value === undefined ? '' : ` ${value}`}`, ...wrapped(help)].join('\n'),
  );
  return [
    'Loads a broker with a scenario, and ends with a report: deliveries, loss, duplicates, order, latency, the bill.',
    '',
    'Usage: npm run loadtest -- SCENARIO --target URL [FLAGS]',
    '       npm run loadtest -- list                       all scenarios with their sizes',
    '       npm run loadtest -- report FOLDER...           one report of several parts (--ledgers)',
    '       npm run loadtest -- export SCENARIO FOLDER     the scenario as a script for Artillery anywhere',
    '',
    'Example: npm run loadtest -- p2p-1K-1K-1K-1K --target ws://127.0.0.1:8083/mqtt',
    '',
    'Scenarios:',
    ...scenarios.map(({ name, title }) => `  ${name.padEnd(26)} ${title}`),
    '',
    'Flags:',
    ...flags,
  ].join('\n');
}

export function listText(scenarios: readonly Scenario[]): string {
  return scenarios
    .map(({ name, title, source, published, fullSize, basic, generator }) =>
      [
        name,
        `  ${title}`,
        `  Source: ${source}`,
        ...(published === undefined ? [] : [`  Published: ${published}`]),
        `  Full size: ${fullSize} ${basic ? 'Run at full size by default' : 'Scaled to the machine by default'}, with the ${generator} generator.`,
      ].join('\n'),
    )
    .join('\n\n');
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = INDENT;
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > LINE_LENGTH) {
      lines.push(line.trimEnd());
      line = INDENT;
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}
