import { measure } from './measure.ts';
import { DOORS, MEMORY_ATTACKS } from './memory-attacks.ts';

const HEAD = ['attack', 'door', 'the process grows by', 'the broker'];

/** Prints the table of loadtest/results/memory.md. `program` is a built `apus.js`; it may be of another version. */
export async function main(program: string): Promise<void> {
  print(HEAD);
  print(HEAD.map(() => '---'));
  for (const attack of MEMORY_ATTACKS)
    for (const door of DOORS) {
      const { growthBytes, said, isServing } = await measure(program, attack, door);
      const others = isServing ? 'others are served' : 'others are not served';
      print([attack.name, door, `${Math.round(growthBytes / 1_000_000)} MB`, `${said}; ${others}`]);
    }
}

function print(cells: readonly string[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}
