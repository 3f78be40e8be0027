import { validationError } from '../errors.ts';
import { type AttributeValue, type Item, setOf } from '../values/attribute-value.ts';
import { addNumbers } from '../values/numbers.ts';
import { branchOf } from './branches.ts';
import { editItem } from './edit-item.ts';
import { valueAt } from './path.ts';
import type { Assigned, Change, Update } from './update.ts';

/**
 * Returns the item after the update. Every right-hand side and every path refers to the item before the update: no two
 * changes can see each other. Throws a ValidationException if the update does not fit the item.
 */
export function applyUpdate(update: Update, before: Item): Item {
  const edits = update.map((change) => branchOf(change.path, valueAfter(change, before)));
  return editItem(before, edits);
}

/** The value after the change at its path; undefined: none. */
function valueAfter(change: Change, before: Item): AttributeValue | undefined {
  switch (change.kind) {
    case 'set':
      return resolve(change.assigned, before);
    case 'remove':
      return undefined;
    case 'add':
      return increased(valueAt(before, change.path), change.value);
    case 'delete':
      return decreased(valueAt(before, change.path), change.value);
  }
}

function increased(there: AttributeValue | undefined, value: AttributeValue): AttributeValue {
  if (there === undefined) return value;
  if (there.N !== undefined && value.N !== undefined) return { N: addNumbers(there.N, value.N, 1) };
  const [set, more] = [setOf(there), setOf(value)];
  if (set === undefined || more === undefined || set.type !== more.type) throw incorrectType();
  return { [set.type]: [...new Set([...set.members, ...more.members])] };
}

/** Empty sets do not exist. */
function decreased(there: AttributeValue | undefined, value: AttributeValue): AttributeValue | undefined {
  if (there === undefined) return undefined;
  const [set, less] = [setOf(there), setOf(value)];
  if (set === undefined || less === undefined || set.type !== less.type) throw incorrectType();
  const removed = new Set(less.members);
  const members = set.members.filter((member) => !removed.has(member));
  return members.length === 0 ? undefined : { [set.type]: members };
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
