import { isUtf8 } from 'node:buffer';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CommandError } from './command.ts';
import { linesOf } from './lines.ts';

/** Reads one line: from a terminal without showing it, else from standard input. */
export async function readPassword(prompt: string): Promise<string> {
  if (process.stdin.isTTY !== true) return await firstLineOfInput();
  process.stderr.write(prompt);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await firstLine(lines);
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}

async function firstLineOfInput(): Promise<string> {
  for await (const line of linesOf(process.stdin)) {
    if (isUtf8(line)) return line.toString();
    throw new CommandError('The first line of standard input is not UTF-8.');
  }
  return '';
}

function firstLine(lines: ReturnType<typeof createInterface>): Promise<string> {
  return new Promise((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => resolve(''));
  });
}
