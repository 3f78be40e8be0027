import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import { protobufDecoder, readProtobufSchema } from '../../../src/features/decode/decoders/protobuf.ts';

const PLANT = `
  syntax = "proto3";
  package plant;
  import "google/protobuf/timestamp.proto";
  import "common.proto";
  message Reading {
    string sensor_id = 1;
    double celsius = 2;
    sint32 drift = 3;
    uint64 count = 4;
    repeated int32 raw = 5;
    repeated string tags = 6;
    map<string, plant.common.Unit> units = 7;
    State state = 8;
    google.protobuf.Timestamp at = 9;
    oneof origin { string robot = 10; bytes photo = 11; }
    enum State { UNKNOWN = 0; RUNNING = 1; }
  }
`;
const COMMON = 'syntax = "proto3"; package plant.common; message Unit { string name = 1; int64 scale = 2; }';
const FILES = [
  { name: 'plant.proto', text: PLANT },
  { name: 'common.proto', text: COMMON },
];

/** As another program would send it, written by the library itself. */
function encoded(files: typeof FILES, type: string, message: object): Uint8Array {
  const root = new protobuf.Root();
  for (const { text } of files) protobuf.parse(text, root, { keepCase: true });
  const timestamp = protobuf.common.get('google/protobuf/timestamp.proto')?.nested;
  if (timestamp !== undefined) root.addJSON(timestamp);
  const found = root.lookupType(type);
  return Uint8Array.from(found.encode(found.fromObject(message)).finish());
}

describe('Protobuf', () => {
  test('a message is read by schemas that import one another', () => {
    const payload = encoded(FILES, 'plant.Reading', {
      sensor_id: 'a7',
      celsius: 21.5,
      drift: -3,
      count: '18446744073709551615',
      raw: [1, -2, 300],
      tags: ['x', 'y'],
      units: { t: { name: 'K', scale: '-7' } },
      state: 1,
      at: { seconds: 1_700_000_000, nanos: 250_000_000 },
      photo: new Uint8Array([1, 2]),
    });
    expect(protobufDecoder(FILES, 'plant.Reading')(payload)).toEqual({
      sensor_id: 'a7',
      celsius: 21.5,
      drift: -3,
      count: 18_446_744_073_709_551_615n,
      raw: [1, -2, 300],
      tags: ['x', 'y'],
      units: { t: { name: 'K', scale: -7 } },
      state: 'RUNNING',
      at: new Date(1_700_000_000_250),
      photo: new Uint8Array([1, 2]),
    });
  });

  test('the messages of a schema are listed, and those of Google are not', () => {
    expect(readProtobufSchema(FILES).messageTypes).toEqual(['plant.Reading', 'plant.common.Unit']);
  });

  test('an import that is missing and a mistake are named', () => {
    expect(() => readProtobufSchema(FILES.slice(0, 1))).toThrow(/plant\.common\.Unit/);
    expect(() => readProtobufSchema([{ name: 'broken.proto', text: 'message {' }])).toThrow(/broken\.proto/);
  });

  test('a field that the schema does not know is shown as such', () => {
    const payload = encoded([{ name: 'a', text: COMMON }], 'plant.common.Unit', { name: 'K', scale: '5' });
    const older = [{ name: 'b', text: 'syntax = "proto3"; message Unit { string name = 1; }' }];
    expect(protobufDecoder(older, 'Unit')(payload)).toEqual({ name: 'K', 'unknown field 2': null });
  });

  test.each([
    ['text', new TextEncoder().encode('{"a":1}')],
    ['a length beyond the end', new Uint8Array([0x0a, 0x7f, 0x61])],
    ['another type than the schema says', new Uint8Array([0x08, 1])],
    ['half a field', new Uint8Array([0x10])],
    ['the field 0', new Uint8Array([0x02, 0])],
  ])('%s is refused', (_what, payload) => {
    expect(() => protobufDecoder([{ name: 'c', text: COMMON }], 'plant.common.Unit')(payload)).toThrow();
  });

  test('messages that are nested too deep are refused', () => {
    const nested = [{ name: 'n', text: 'syntax = "proto3"; message Node { Node next = 1; }' }];
    let payload: Uint8Array = new Uint8Array(0);
    for (let depth = 0; depth < 300; depth += 1) {
      const length =
        payload.length < 128 ? [payload.length] : [(payload.length & 0x7f) | 0x80, payload.length >> 7];
      payload = Uint8Array.from([0x0a, ...length, ...payload]);
    }
    expect(() => protobufDecoder(nested, 'Node')(payload)).toThrow(/nested deeper/);
  });
});
