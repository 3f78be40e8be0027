import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** Reads one line: from a terminal without showing it, else from standard input. */
export async function readPassword(prompt: string): Promise<string> {
  const isTerminal = process.stdin.isTTY === true;
  if (isTerminal) process.stderr.write(prompt);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: silent, terminal: isTerminal });
  try {
    return await firstLine(lines);
  } finally {
    lines.close();
    if (isTerminal) process.stderr.write('\n');
  }
}

function firstLine(lines: ReturnType<typeof createInterface>): Promise<string> {
  return new Promise((resolve) => {
    lines.once('line', resolve);
    lines.once('close', () => resolve(''));
  });
}
