const BYTES_PER_ROW = 16;

/** Rows of an address, sixteen bytes and their ASCII, as `hexdump -C` prints them. */
export function hexDump(bytes: Uint8Array, bytesMax: number): string {
  const rows: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, bytesMax); at += BYTES_PER_ROW) {
    rows.push(rowText(at, bytes.subarray(at, Math.min(at + BYTES_PER_ROW, bytesMax))));
  }
  return rows.join('\n');
}

function rowText(at: number, row: Uint8Array): string {
  const digits = Array.from(row, (byte) => byte.toString(16).padStart(2, '0'));
  const halves = [digits.slice(0, 8).join(' '), digits.slice(8).join(' ')].join('  ');
  const characters = Array.from(row, (byte) =>
    byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.',
  );
  return `${at.toString(16).padStart(8, '0')}  ${halves.padEnd(BYTES_PER_ROW * 3)}  ${characters.join('')}`;
}
