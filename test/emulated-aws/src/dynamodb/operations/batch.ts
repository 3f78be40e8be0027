import { validationError } from '../errors.ts';
import type { Key } from '../storage/key-schema.ts';

/** A batch may name an item once. */
export function refuseDuplicates(keys: readonly Key[]): void {
  refuseRepeatedKeys(
    keys.map((key) => ({ key })),
    'Provided list of item keys contains duplicates',
  );
}

/** An item may be named once. Keys of several tables come with the table's name. */
export function refuseRepeatedKeys(
  places: readonly { readonly table?: string; readonly key: Key }[],
  otherwise: string,
): void {
  const texts = new Set(places.map(({ table, key }) => JSON.stringify([table, key.attributes])));
  if (texts.size < places.length) throw validationError(otherwise);
}
