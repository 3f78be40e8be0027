import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../test/support/runs.ts';
import { readEmptyResponse } from '../../src/http/empty-response.ts';
import { HttpFormatError, type HttpResponse, readResponse } from '../../src/http/response.ts';

const lines = (...each: string[]): string => each.join('\r\n');

const OK: HttpResponse = { status: 200, body: '', keepsAlive: true };

describe('a response', () => {
  it.each<[string, string, HttpResponse]>([
    ['without a body', lines('HTTP/1.1 200 OK', 'Content-Length: 0', '', ''), OK],
    ['without a reason', lines('HTTP/1.1 200', 'content-length:0', '', ''), OK],
    [
      '204, which has no body and no length',
      lines('HTTP/1.1 204 No Content', 'x: y', '', ''),
      { ...OK, status: 204 },
    ],
    [
      'with a length',
      lines('HTTP/1.1 410 Gone', 'CONTENT-LENGTH:  5 ', '', 'hello'),
      { ...OK, status: 410, body: 'hello' },
    ],
    [
      'with the same length twice',
      lines('HTTP/1.1 200 OK', 'Content-Length: 2', 'Content-Length: 2', '', 'ab'),
      { ...OK, body: 'ab' },
    ],
    [
      'in chunks, with an extension and a trailer',
      lines(
        'HTTP/1.1 429 Too Many Requests',
        'Transfer-Encoding: chunked',
        '',
        '5;a=b',
        'hello',
        'A',
        ' and more!',
        '0',
        'x: y',
        '',
        '',
      ),
      { ...OK, status: 429, body: 'hello and more!' },
    ],
    ['in no chunk', lines('HTTP/1.1 200 OK', 'Transfer-Encoding: Chunked', '', '0', '', ''), OK],
    [
      'that closes',
      lines('HTTP/1.1 200 OK', 'Connection: close', 'Content-Length: 0', '', ''),
      { ...OK, keepsAlive: false },
    ],
    ['of HTTP/1.0', lines('HTTP/1.0 200 OK', 'Content-Length: 0', '', ''), { ...OK, keepsAlive: false }],
    [
      'behind an informational one',
      lines('HTTP/1.1 103 Early Hints', 'Link: x', '', 'HTTP/1.1 200 OK', 'Content-Length: 0', '', ''),
      OK,
    ],
    [
      'as API Gateway sends it',
      lines(
        'HTTP/1.1 200 OK',
        'Date: Sat, 29 Aug 2026 12:00:00 GMT',
        'Content-Type: application/json',
        'Content-Length: 0',
        'Connection: keep-alive',
        'x-amzn-RequestId: 1d0-a',
        '',
        '',
      ),
      OK,
    ],
  ])('%s is read, and not before its last byte is there', (_what, bytes, response) => {
    for (let length = 0; length < bytes.length; length += 1) {
      expect(readResponse(bytes.slice(0, length), false), `${length} bytes`).toBeUndefined();
    }
    expect(readResponse(bytes, false)).toEqual(response);
  });

  it('without a length ends with the connection', () => {
    const bytes = lines('HTTP/1.1 500 Oh', '', 'and so on');
    expect(readResponse(bytes, false)).toBeUndefined();
    expect(readResponse(bytes, true)).toEqual({ status: 500, body: 'and so on', keepsAlive: false });
  });

  it.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['HTTP/2', lines('HTTP/2 200', '', '')],
    ['a status that is none', lines('HTTP/1.1 99 What', '', '')],
    ['a field without a colon', lines('HTTP/1.1 200 OK', 'Content-Length 0', '', '')],
    ['a space before the colon', lines('HTTP/1.1 200 OK', 'Content-Length : 0', '', '')],
    ['a field that is folded', lines('HTTP/1.1 200 OK', 'X: a', ' b: c', '', '')],
    ['a field without a name', lines('HTTP/1.1 200 OK', ': a', '', '')],
    ['two lengths', lines('HTTP/1.1 200 OK', 'Content-Length: 0', 'Content-Length: 1', '', 'a')],
    ['a length that is none', lines('HTTP/1.1 200 OK', 'Content-Length: -1', '', '')],
    [
      'a length and chunks',
      lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', 'Content-Length: 5', '', '0', '', ''),
    ],
    [
      'a coding that was not requested',
      lines('HTTP/1.1 200 OK', 'Transfer-Encoding: gzip, chunked', '', '0', '', ''),
    ],
    [
      'a chunk without a size',
      lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', 'x', 'a', '0', '', ''),
    ],
    [
      'a chunk that is longer than it says',
      lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '1', 'abcd', '0', '', ''),
    ],
    ['more than was asked for', lines('HTTP/1.1 200 OK', 'Content-Length: 0', '', 'HTTP/1.1 200 OK')],
    ['no end', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(70_000)}`],
  ])('is refused: %s', (_what, bytes) => {
    expect(() => readResponse(bytes, false)).toThrow(HttpFormatError);
  });

  it.each([
    ['in its head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['in its body', lines('HTTP/1.1 200 OK', 'Content-Length: 5', '', 'abc')],
    ['in a chunk', lines('HTTP/1.1 200 OK', 'Transfer-Encoding: chunked', '', '5', 'abc')],
  ])('that the end of the connection truncates %s is refused', (_where, bytes) => {
    expect(() => readResponse(bytes, true)).toThrow(HttpFormatError);
  });
});

describe('a response that is read where it lies', () => {
  const read = (text: string) => {
    const bytes = Buffer.alloc(1_024, 'x');
    return readEmptyResponse(bytes, bytes.write(text, 'latin1'));
  };

  it.each([
    [
      'as API Gateway sends it',
      lines('HTTP/1.1 200 OK', 'Date: Sat', 'Content-Length: 0', 'Connection: keep-alive', '', ''),
    ],
    ['without a reason', lines('HTTP/1.1 200', 'content-length:0', '', '')],
    [
      'of a connection that is gone',
      lines('HTTP/1.1 410 Gone', 'x-amzn-errortype: GoneException', 'CONTENT-LENGTH: \t0', '', ''),
    ],
  ])('is one without a body, %s', (_name, text) => {
    expect(read(text)).toEqual(readResponse(text, false));
  });

  it.each([
    ['part of a head', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n'],
    ['a line that ends with LF', 'HTTP/1.1 200 OK\nContent-Length: 0\r\n\r\n'],
    ['HTTP/1.0', lines('HTTP/1.0 200 OK', 'Content-Length: 0', '', '')],
    ['a status of four digits', lines('HTTP/1.1 2000', 'Content-Length: 0', '', '')],
    ['no number', lines('HTTP/1.1 2x0 OK', 'Content-Length: 0', '', '')],
    ['what is informational', lines('HTTP/1.1 100 Continue', 'Content-Length: 0', '', '')],
    ['one with a body', lines('HTTP/1.1 200 OK', 'Content-Length: 1', '', 'x')],
    ['a length of two digits', lines('HTTP/1.1 200 OK', 'Content-Length: 00', '', '')],
    ['two lengths', lines('HTTP/1.1 200 OK', 'Content-Length: 0', 'Content-Length: 0', '', '')],
    ['no length', lines('HTTP/1.1 200 OK', 'Date: Sat', '', '')],
    ['chunks', lines('HTTP/1.1 200 OK', 'Content-Length: 0', 'Transfer-Encoding: chunked', '', '')],
    ['a connection that closes', lines('HTTP/1.1 200 OK', 'Content-Length: 0', 'Connection: close', '', '')],
    ['a field without a name', lines('HTTP/1.1 200 OK', 'Content-Length: 0', ': x', '', '')],
    ['a field without a colon', lines('HTTP/1.1 200 OK', 'Content-Length: 0', 'x', '', '')],
    ['something behind it', lines('HTTP/1.1 200 OK', 'Content-Length: 0', '', 'x')],
  ])('is not %s', (_name, text) => {
    expect(read(text)).toBeUndefined();
  });

  it('equals one that is read as text, for any content', () => {
    const piece = fc.constantFrom(
      ...['HTTP/1.1 ', '200', '410', '204', ' ', 'OK', '\r\n', '\r', '\n', ':', '0', '1', '\t', 'x', 'é'],
      ...[
        'Content-Length',
        'content-length: 0',
        'Transfer-Encoding: chunked',
        'Connection',
        'Keep-Alive',
        'close',
      ],
    );
    const field = fc.array(piece, { maxLength: 4 }).map((pieces) => `${pieces.join('')}\r\n`);
    const start = fc.constantFrom('HTTP/1.1 200 OK\r\n', 'HTTP/1.1 429\r\n', '');
    const text = fc.tuple(start, fc.array(field, { maxLength: 5 }), fc.constantFrom('\r\n', ''));
    const anything = text.map(([line, fields, end]) => line + fields.join('') + end);
    fc.assert(
      fc.property(anything, (each) => {
        const response = read(each);
        if (response !== undefined) expect(readResponse(each, false)).toEqual(response);
      }),
      { numRuns: runs(2_000) },
    );
  });
});
