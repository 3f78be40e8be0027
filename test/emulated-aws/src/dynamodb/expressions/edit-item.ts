import { validationError } from '../errors.ts';
import { type AttributeValue, copyOf, type Item } from '../values/attribute-value.ts';
import { type Branch, byNextStep, leafOf } from './branches.ts';

/** The value for the end of a path; undefined: none. */
export type Edit = Branch<AttributeValue | undefined>;

/** The item with its edits. Throws a ValidationException where a path does not exist. */
export function editItem(item: Item, edits: readonly Edit[]): Item {
  return editMap(item, edits);
}

function edit(value: AttributeValue | undefined, edits: readonly Edit[]): AttributeValue | undefined {
  const leaf = leafOf(edits);
  if (leaf !== undefined) return leaf.leaf;
  if (value?.M !== undefined) return { M: editMap(value.M, edits) };
  if (value?.L !== undefined) return { L: editList(value.L, edits) };
  throw invalidPath();
}

function editMap(map: Item, edits: readonly Edit[]): Item {
  const edited = copyOf(map);
  for (const [name, below] of byNextStep(edits)) {
    if (typeof name !== 'string') throw invalidPath();
    const value = edit(map[name], below);
    if (value === undefined) delete edited[name];
    else edited[name] = value;
  }
  return edited;
}

/**
 * Every index refers to the original list: a removed element leaves a hole until the end, and an element set beyond the
 * end is appended.
 */
function editList(list: readonly AttributeValue[], edits: readonly Edit[]): readonly AttributeValue[] {
  const edited: (AttributeValue | undefined)[] = [...list];
  for (const [index, below] of byNextStep(edits)) {
    if (typeof index !== 'number') throw invalidPath();
    edited[index] = edit(list[index], below);
  }
  return edited.filter((element) => element !== undefined);
}

function invalidPath() {
  return validationError('The document path provided in the update expression is invalid for update');
}
