import { PACKET_SIZE_MAX } from '@apus/mqtt';
import { CommandError } from './command.ts';

const LF = 0x0a;
const CR = 0x0d;

/** The lines of a stream, each as its bytes. A line ends with LF or CRLF. */
export async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  for await (const chunk of input) {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      const line = Buffer.concat([...pieces, chunk.subarray(start, end)]);
      yield line.at(-1) === CR ? line.subarray(0, -1) : line;
      pieces = [];
      start = end + 1;
    }
    pieces.push(chunk.subarray(start));
    if (pieces.reduce((sum, { length }) => sum + length, 0) > PACKET_SIZE_MAX)
      throw new CommandError(`A line has more than ${PACKET_SIZE_MAX} bytes: no packet holds it.`);
  }
  const last = Buffer.concat(pieces);
  if (last.length > 0) yield last;
}
