import { plainLines, plainText } from '@apus/broker';

/** Prints a line that has names of clients in it. */
export function printLine(text: string): void {
  console.log(plainText(text));
}

/** A payload for people: where standard output is no terminal, another program gets its bytes. */
export function bytesToShow(text: string | Buffer): Buffer {
  return Buffer.from(process.stdout.isTTY ? plainLines(text.toString()) : text);
}
