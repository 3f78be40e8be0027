import { validationError } from '../errors.ts';
import { type AttributeValue, type Item, setOf } from '../values/attribute-value.ts';
import { addNumbers } from '../values/numbers.ts';
import { Draft } from './draft.ts';
import { valueAt } from './path.ts';
import type { Assigned, Change, Update } from './update.ts';

/**
 * The item as the update leaves it. Every right-hand side, and every index of a list, means the item as it was before.
 * Throws a ValidationException where the update does not fit the item.
 */
export function applyUpdate(update: Update, before: Item): Item {
  const draft = new Draft(before);
  // In the order of SET, REMOVE, ADD and DELETE, paths do not overlap: only lists tell an order, and Draft keeps indexes.
  for (const change of update) apply(draft, change, before);
  return draft.finish();
}

function apply(draft: Draft, change: Change, before: Item): void {
  const { path } = change;
  if (change.kind === 'remove') {
    draft.remove(path);
    return;
  }
  const there = valueAt(before, path);
  if (change.kind === 'set') draft.set(path, resolve(change.assigned, before));
  else if (change.kind === 'add') draft.set(path, added(there, change.value));
  else deleteMembers(draft, change, there);
}

function deleteMembers(draft: Draft, { path, value }: Change & { kind: 'delete' }, there?: AttributeValue) {
  if (there === undefined) {
    draft.refuseMissingParent(path);
    return;
  }
  const [set, less] = [setOf(there), setOf(value)];
  if (set === undefined || less === undefined || set.type !== less.type) throw incorrectType();
  const members = set.members.filter((member) => !less.members.includes(member));
  // There is no empty set.
  if (members.length === 0) draft.remove(path);
  else draft.set(path, { [set.type]: members });
}

function added(there: AttributeValue | undefined, value: AttributeValue): AttributeValue {
  if (there === undefined) return value;
  if (there.N !== undefined && value.N !== undefined) return { N: addNumbers(there.N, value.N, 1) };
  const [set, more] = [setOf(there), setOf(value)];
  if (set === undefined || more === undefined || set.type !== more.type) throw incorrectType();
  return { [set.type]: [...new Set([...set.members, ...more.members])] };
}

function resolve(assigned: Assigned, item: Item): AttributeValue {
  switch (assigned.kind) {
    case 'value':
      return assigned.value;
    case 'path': {
      const value = valueAt(item, assigned.path);
      if (value !== undefined) return value;
      throw validationError('The provided expression refers to an attribute that does not exist in the item');
    }
    case 'if_not_exists':
      return valueAt(item, assigned.path) ?? resolve(assigned.otherwise, item);
    case 'list_append': {
      const [first, second] = [resolve(assigned.first, item).L, resolve(assigned.second, item).L];
      if (first === undefined || second === undefined) throw incorrectType();
      return { L: [...first, ...second] };
    }
    default: {
      const [left, right] = [resolve(assigned.left, item).N, resolve(assigned.right, item).N];
      if (left === undefined || right === undefined) throw incorrectType();
      return { N: addNumbers(left, right, assigned.kind === 'sum' ? 1 : -1) };
    }
  }
}

function incorrectType() {
  return validationError('An operand in the update expression has an incorrect data type');
}
