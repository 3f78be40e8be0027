import { expect, test } from 'vitest';
import { payloadBytes } from '../../../src/features/publish/draft-request.ts';
import { PAYLOAD_FILE_BYTES_MAX, payloadOfFile } from '../../../src/features/publish/payload-file.ts';
import type { FiledMessage } from '../../../src/features/transfer/message-record.ts';
import { readText } from '../../../src/features/transfer/read-file.ts';

function messagesOf(text: string): readonly FiledMessage[] {
  const content = readText(text);
  return content.type === 'messages' ? content.messages : [];
}

const textOf = ({ payload }: FiledMessage): string => new TextDecoder().decode(payload);

test('JSON Lines of other programs have a payload that is text or JSON', () => {
  const lines = [
    '{"topic":"a","payload":"x"}',
    '{"topic":"b","payload":{"v":[1,2]}}',
    '{"topic":"c","payload":3}',
  ];
  expect(messagesOf(lines.join('\n')).map(textOf)).toEqual(['x', '{"v":[1,2]}', '3']);
});

test.each([
  ['JSON', Buffer.from('{"a":1}'), 'json'],
  ['text with the marks of Windows', Buffer.from('\ufeffa\r\nb'), 'text'],
  ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]), 'hex'],
] as const)('%s from a file is in the editor byte for byte', async (_what, bytes, format) => {
  const draft = await payloadOfFile(new Blob([bytes]));
  expect(draft?.format).toBe(format);
  expect(Buffer.from(payloadBytes(draft?.payload ?? '', format) ?? [])).toEqual(bytes);
});

test('a file that is larger than a packet may be is refused, and one of just that size is not', async () => {
  const fits = new Blob([new Uint8Array(PAYLOAD_FILE_BYTES_MAX)]);
  expect(await payloadOfFile(fits)).toBeDefined();
  expect(await payloadOfFile(new Blob([fits, 'x']))).toBeUndefined();
});
