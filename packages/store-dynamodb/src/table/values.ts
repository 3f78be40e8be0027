import type { AttributeValue } from '@aws-sdk/client-dynamodb';

export type Item = Readonly<Record<string, AttributeValue>>;

/** The version of the layout, in `v` of all items. An item of another version is not understood: `LayoutError`. */
export const VERSION = 2;

export const text = (value: string): AttributeValue => ({ S: value });
export const number = (value: number): AttributeValue => ({ N: String(value) });
export const bytes = (value: Uint8Array): AttributeValue => ({ B: value });

export function textOf(item: Item | undefined, name: string): string | undefined {
  return item?.[name]?.S;
}

export function numberOf(item: Item | undefined, name: string): number | undefined {
  const value = item?.[name]?.N;
  return value === undefined ? undefined : Number(value);
}

export function bytesOf(item: Item | undefined, name: string): Uint8Array | undefined {
  return item?.[name]?.B;
}

/** Marks bytes within JSON; no MQTT string and no name of ours contains U+0000. */
const BUFFER = '\0b';
const ARRAY = '\0u';

/** JSON in which byte arrays survive. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => {
    if (isSerializedBuffer(each)) return { [BUFFER]: Buffer.from(each.data).toString('base64') };
    if (each instanceof Uint8Array) return { [ARRAY]: Buffer.from(each).toString('base64') };
    return each;
  });
}

export function fromJson(json: string): unknown {
  return JSON.parse(json, (_key, each: unknown) => {
    if (typeof each !== 'object' || each === null) return each;
    if (BUFFER in each) return Buffer.from(String(each[BUFFER]), 'base64');
    return ARRAY in each ? new Uint8Array(Buffer.from(String(each[ARRAY]), 'base64')) : each;
  });
}

/** A Buffer has turned itself into this form before a replacer sees it. */
function isSerializedBuffer(value: unknown): value is { data: number[] } {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('data' in value)) return false;
  return value.type === 'Buffer' && Array.isArray(value.data);
}
