import { parseArgs } from 'node:util';
import { measureObject } from './measure.ts';
import { OPERATIONS } from './operations.ts';
import { differences, tableOf, writeRows } from './table.ts';

const HELP = `npm run bench:object -- [--write] [--only NAME]

Counts what each operation at the object door is billed for, in workerd, and compares it with the table of
loadtest/results/object-operations.md.

  --write      Puts what was counted in the place of the table.
  --only NAME  Operations with NAME in their names.
`;

export async function main(argv: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      write: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    say(HELP);
    return 0;
  }
  const rows = await measureObject(OPERATIONS.filter(({ name }) => name.includes(values.only)));
  say(`${tableOf(rows)}\n`);
  if (values.write && values.only === '') {
    writeRows(rows);
    return 0;
  }
  const found = rows.flatMap(differences);
  say(found.length === 0 ? 'The table says the same.\n' : `${found.join('\n')}\n`);
  return found.length === 0 ? 0 : 1;
}

function say(text: string): void {
  process.stdout.write(text);
}
