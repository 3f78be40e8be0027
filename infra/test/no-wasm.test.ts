import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { crc32c, lz4Compress } from '../functions/no-wasm.ts';

// As the client of Kafka has it.
const own = createRequire(import.meta.url)(
  createRequire(createRequire(import.meta.url).resolve('@platformatic/kafka')).resolve(
    '@platformatic/wasm-utils',
  ),
) as { crc32c(data: Uint8Array): number };

it('knows the check value of CRC-32C', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe306_9283);
  expect(crc32c({ buffer: Buffer.from('123456789') })).toBe(0xe306_9283);
});

it.each([0, 1, 7, 8, 9, 4_095, 4_096, 100_000])('has the checksum of the library for %i bytes', (length) => {
  const bytes = randomBytes(length);
  expect(crc32c(bytes)).toBe(own.crc32c(bytes));
});

it('says that it compresses nothing', () => {
  expect(lz4Compress).toThrow('compresses no records');
});
