/** Words for values that the code names. */
export const decodeWords = {
  kinds: { added: 'added', removed: 'removed', changed: 'changed' },
  looks: { tree: 'Tree', text: 'Text', changes: 'Changes' },
  formats: {
    text: 'Text',
    json: 'JSON',
    cbor: 'CBOR',
    msgpack: 'MessagePack',
    protobuf: 'Protobuf',
    base64: 'Base64',
    hex: 'Hex',
  },
} as const;
