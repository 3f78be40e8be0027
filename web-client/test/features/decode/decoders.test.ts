import avsc from 'avsc';
import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import { avroDecoder } from '../../../src/features/decode/decoders/avro.ts';
import { protobufDecoder, readProtobufSchema } from '../../../src/features/decode/decoders/protobuf.ts';
import { sparkplugDecoder } from '../../../src/features/decode/decoders/sparkplug.ts';
import { SPARKPLUG_SCHEMA } from '../../../src/features/decode/decoders/sparkplug-schema.ts';
import { ExactNumber } from '../../../src/features/decode/value.ts';

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
    expect(protobufDecoder(FILES, 'plant.Reading')(payload, '')).toEqual({
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
    expect(protobufDecoder(older, 'Unit')(payload, '')).toEqual({ name: 'K', 'unknown field 2': null });
  });

  test.each([
    ['text', new TextEncoder().encode('{"a":1}')],
    ['a length beyond the end', new Uint8Array([0x0a, 0x7f, 0x61])],
    ['another type than the schema says', new Uint8Array([0x08, 1])],
    ['half a field', new Uint8Array([0x10])],
    ['the field 0', new Uint8Array([0x02, 0])],
  ])('%s is refused', (_what, payload) => {
    expect(() => protobufDecoder([{ name: 'c', text: COMMON }], 'plant.common.Unit')(payload, '')).toThrow();
  });

  test('messages that are nested too deep are refused', () => {
    const nested = [{ name: 'n', text: 'syntax = "proto3"; message Node { Node next = 1; }' }];
    let payload: Uint8Array = new Uint8Array(0);
    for (let depth = 0; depth < 300; depth += 1) {
      const length =
        payload.length < 128 ? [payload.length] : [(payload.length & 0x7f) | 0x80, payload.length >> 7];
      payload = Uint8Array.from([0x0a, ...length, ...payload]);
    }
    expect(() => protobufDecoder(nested, 'Node')(payload, '')).toThrow(/nested deeper/);
  });
});

const READING = {
  type: 'record',
  name: 'Reading',
  namespace: 'plant',
  fields: [
    { name: 'sensor', type: 'string' },
    { name: 'celsius', type: ['null', 'double'], default: null },
    { name: 'count', type: 'long' },
    { name: 'small', type: 'int' },
    { name: 'ratio', type: 'float' },
    { name: 'ok', type: 'boolean' },
    { name: 'state', type: { type: 'enum', name: 'State', symbols: ['OFF', 'ON'] } },
    { name: 'before', type: ['null', 'State'], default: null },
    { name: 'raw', type: { type: 'array', items: 'int' } },
    { name: 'units', type: { type: 'map', values: 'string' } },
    { name: 'hash', type: { type: 'fixed', name: 'Hash', size: 2 } },
    { name: 'photo', type: 'bytes' },
    { name: 'next', type: ['null', 'Reading'], default: null },
  ],
} as const;

const VALUE = {
  sensor: 'ä7',
  celsius: { double: -1.25 },
  count: 4_503_599_627_370_495,
  small: -300,
  ratio: 0.5,
  ok: true,
  state: 'ON',
  before: null,
  raw: [1, -1, 70_000],
  units: { t: 'K' },
  hash: Buffer.from([1, 2]),
  photo: Buffer.from([3]),
  next: null,
};

describe('Avro', () => {
  const type = avsc.Type.forSchema(READING as never, { wrapUnions: true });
  const decode = avroDecoder(JSON.stringify(READING));

  test('a datum is read as the reference library has written it', () => {
    const payload = type.toBuffer({ ...VALUE, next: { 'plant.Reading': VALUE } });
    const plain = { ...VALUE, celsius: -1.25, hash: new Uint8Array([1, 2]), photo: new Uint8Array([3]) };
    const read = decode(Uint8Array.from(payload), '');
    expect(read).toEqual({ ...plain, next: plain });
  });

  test('the header of a schema registry, and that of a single object, are left out', () => {
    const datum = type.toBuffer(VALUE);
    const registry = Uint8Array.from([0, 0, 0, 0, 42, ...datum]);
    const single = Uint8Array.from([0xc3, 1, 1, 2, 3, 4, 5, 6, 7, 8, ...datum]);
    const bare = decode(Uint8Array.from(datum), '');
    expect(decode(registry, '')).toEqual(bare);
    expect(decode(single, '')).toEqual(bare);
  });

  test('logical types have the values that they stand for', () => {
    const read = (schema: object, ...payload: number[]) =>
      avroDecoder(JSON.stringify(schema))(Uint8Array.from(payload), '');
    expect(read({ type: 'long', logicalType: 'timestamp-millis' }, 0xd0, 0x0f)).toEqual(new Date(1_000));
    expect(read({ type: 'int', logicalType: 'date' }, 2)).toEqual(new Date('1970-01-02'));
    const decimal = { type: 'bytes', logicalType: 'decimal', precision: 4, scale: 2 };
    expect(read(decimal, 4, 0xff, 0x85)).toEqual(new ExactNumber('-1.23'));
  });

  test.each([
    ['bytes that are left over', [2, 0x61, 0]],
    ['a string that is longer than the payload', [40, 0x61]],
    ['text that is no UTF-8', [2, 0xff]],
    ['nothing', []],
  ])('%s is refused', (_what, payload) => {
    expect(() => avroDecoder('"string"')(Uint8Array.from(payload), '')).toThrow();
  });

  test('a few bytes cannot claim a million items', () => {
    const nulls = avroDecoder('{"type":"array","items":"null"}');
    expect(() => nulls(Uint8Array.from([0x80, 0x89, 0x7a, 0]), '')).toThrow(/more than 50,000 values/);
  });

  test.each([
    ['{', /JSON/],
    ['"Unknown"', /not defined/],
    ['{"type":"record","name":"a"}', /no fields/],
  ])('the schema %s is refused', (schema, why) => {
    expect(() => avroDecoder(schema)).toThrow(why);
  });
});

describe('Sparkplug B', () => {
  const files = [{ name: 'sparkplug_b.proto', text: SPARKPLUG_SCHEMA }];
  const payload = (message: object) => encoded(files, 'sparkplug.Payload', message);
  const birth = payload({
    timestamp: '1700000000000',
    seq: 0,
    metrics: [
      { name: 'temperature', alias: 7, datatype: 10, double_value: 20.5 },
      { name: 'offset', alias: 8, datatype: 3, int_value: 4_294_967_291 },
      { name: 'since', datatype: 13, long_value: '1700000000000' },
      { name: 'gone', datatype: 12, is_null: true },
    ],
  });

  test('metrics are by their names, with values of their types', () => {
    expect(sparkplugDecoder()(birth, 'spBv1.0/g/NBIRTH/n')).toEqual({
      timestamp: new Date(1_700_000_000_000),
      seq: 0,
      metrics: {
        temperature: { value: 20.5, type: 'Double', alias: 7 },
        offset: { value: -5, type: 'Int32', alias: 8 },
        since: { value: new Date(1_700_000_000_000), type: 'DateTime' },
        gone: { value: null, type: 'String', is_null: true },
      },
    });
  });

  test('data with aliases has the names and types of the birth before it, of its own node', () => {
    const decode = sparkplugDecoder();
    const data = payload({ seq: 1, metrics: [{ alias: 8, int_value: 4_294_967_295 }] });
    decode(birth, 'spBv1.0/g/DBIRTH/n/d');
    expect(decode(data, 'spBv1.0/g/DDATA/n/d')).toEqual({
      seq: 1,
      metrics: { offset: { value: -1, type: 'Int32', alias: 8 } },
    });
    expect(decode(data, 'spBv1.0/g/NDATA/other')).toMatchObject({
      metrics: { 'alias 8': { value: 4_294_967_295 } },
    });
  });

  test('several values of one metric stay apart', () => {
    const history = [1, 2].map((value) => ({
      name: 'm',
      datatype: 7,
      is_historical: true,
      int_value: value,
    }));
    expect(sparkplugDecoder()(payload({ metrics: history }), 'spBv1.0/g/NDATA/n')).toMatchObject({
      metrics: { m: { value: 1 }, 'm (2)': { value: 2 } },
    });
  });

  test('the state of a host, which is JSON, is none of it', () => {
    const state = new TextEncoder().encode('{"online":true,"timestamp":1}');
    expect(() => sparkplugDecoder()(state, 'spBv1.0/STATE/h')).toThrow();
  });
});
